#!/usr/bin/env python3
"""hpcprof-lite's command line: selection, limits, sorting, output, and refusals."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from report import contents, golden_files, golden_report, golden_rows as rows, table as csv_table
from tap import GOLDEN, REPORT, Skip, case, main, start


def refused(*arguments):
    """The one line that refuses a command line."""
    done = golden_report(*arguments)
    assert done.returncode == 2 and not done.stdout, done
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1 and lines[0].startswith("hpcprof-lite: "), lines
    return lines[0]


@case
def ids_select_a_context(_):
    table = rows("--view", "topdown", "basic")
    for row in table[1:]:
        part = rows("--view", "topdown", "--root", "#" + row["id"], "basic")
        assert part[0]["work_incl_s"] == row["work_incl_s"] and part[1]["id"] == row["id"], row
    named = next(row for row in table if row["kind"] == "parallel")
    part = rows("--view", "flat", "--root", named["name"], "basic")
    assert part[0]["work_incl_s"] == named["work_incl_s"]


@case
def limits_report_what_they_leave_out(_):
    whole = rows("--view", "topdown", "basic")
    assert len(rows("--view", "topdown", "--max-rows", "3", "basic")) == 4
    assert max(int(row["depth"]) for row in rows("--view", "topdown", "--depth", "2", "basic")) == 2
    some = rows("--view", "topdown", "--percent-limit", "10", "basic")
    assert 1 < len(some) < len(whole)
    text = golden_report("-q", "--view", "topdown", "--percent-limit", "10", "basic").stdout.decode()
    assert f"{len(whole) - len(some)} rows below 10 % omitted" in text
    ids = {row["id"]: row["name"] for row in whole}
    assert all(ids[row["id"]] == row["name"] for row in some)


@case
def every_csv_column_can_be_sorted_by(_):
    """In the views that can be sorted, also those that a run has only in certain cases."""
    seen = set()
    for golden in ("basic", "constructs", "counted", "marked"):
        for view in ("topdown", "bottomup", "flat", "critical-path", "parallelism", "regions", "region-tree", "overheads",
                     "tasks", "threads"):
            table = rows("--view", view, golden)
            for column in table[0] if table else ():
                if (view, column) in seen:
                    continue
                seen.add((view, column))
                done = golden_report("-q", "--view", view, "-f", "csv", "--sort", column, golden)
                assert done.returncode == 0 or b"cannot be sorted or shortened" in done.stderr, (golden, view, column, done)
                if done.returncode:
                    break


@case
def sort_orders_siblings(_):
    table = rows("--view", "flat", "--sort", "name", "basic")
    names = [row["name"] for row in table[1:]]
    assert names == sorted(names)
    work = [float(row["work_incl_s"]) for row in rows("--view", "flat", "--sort", "work_incl_s", "basic")[1:]]
    assert work == sorted(work, reverse=True)
    counts = [row["cache-misses_excl"] for row in rows("--view", "flat", "--sort", "cache-misses_excl", "two")[1:]]
    assert counts[0] == "123000"
    threads = [int(row["samples"]) for row in rows("--view", "threads", "--sort", "samples", "two")]
    assert threads == sorted(threads, reverse=True)
    usual = rows("--view", "flat", "basic")
    assert not any(row["lockwait_incl_s"] for row in usual)
    unmeasured = rows("--view", "flat", "--sort", "lockwait_incl_s", "basic")
    assert sorted(unmeasured, key=str) == sorted(usual, key=str), unmeasured
    assert "cannot be sorted by 'speed'" in refused("-q", "--view", "flat", "--sort", "speed", "basic")


NAMES = ("id", "parent_id", "depth", "line", "_rank", "_process", "_thread")


def key_of(column, row):
    """What siblings are sorted by, in ascending order."""
    if column in ("file", "line"):
        return row["file"], int(row["line"] or 0)
    if column in ("kind", "name", "module"):
        return row[column]
    if column in ("parent_id", "depth"):  # in which siblings are equal
        return int(row["id"])
    if column.endswith(NAMES):  # without a number last
        return float(row[column] or "inf")
    return -float(row[column] or 0)


@case
def trees_are_sorted_by_every_column(_):
    for view, run in (("topdown", "blame"), ("bottomup", "two"), ("flat", "two"), ("critical-path", "graph")):
        usual = rows("--view", view, run)
        for column in usual[0]:
            table = rows("--view", view, "--sort", column, run)
            assert sorted(table, key=str) == sorted(usual, key=str), (view, column)
            siblings = {}
            for row in table:
                siblings.setdefault(row["parent_id"], []).append(key_of(column, row))
            assert all(keys == sorted(keys) for keys in siblings.values()), (view, column, siblings)


@case
def what_text_shows_can_be_named(_):
    """Figures of text are columns, too: their headings and names select and sort."""
    for word, column, inclusive in (("Incl s", "incl_s", True), ("incl", "incl_s", True), ("Self s", "self_s", False),
                                    ("self", "self_s", False)):
        table = rows("-q", "--view", "flat", "--sort", word, "--columns", f"{word},work_incl_s,work_excl_s,"
                     "overhead_incl_s,overhead_excl_s", "blame")
        part = "_incl_s" if inclusive else "_excl_s"
        for row in table:
            assert abs(float(row[column]) - float(row["work" + part]) - float(row["overhead" + part])) < 1e-8, row
        found = [float(row[column]) for row in table[1:]]
        assert found == sorted(found, reverse=True) and found[0] > 0, (word, found)
    idle = [float(row["idleness_incl_s"]) for row in rows("-q", "--view", "flat", "--sort", "Idle%", "blame")[1:]]
    assert idle == sorted(idle, reverse=True) and idle[0] > idle[-1]
    assert idle != [float(row["idleness_incl_s"]) for row in rows("--view", "flat", "--sort", "idle", "blame")[1:]]
    several = golden_report("--view", "topdown", "--sort", "pct", "blame").stderr.decode().splitlines()
    assert several[-1].endswith("rel_idleness_pct, incl_pct, self_pct, ovhd_pct, lock_pct, crit_pct: it is taken for incl_pct"), several


@case
def trees_show_the_columns_that_are_chosen(_):
    csv = rows("--view", "topdown", "--percent-limit", "0", "two")
    text = golden_report("--view", "topdown", "--percent-limit", "0", "--columns", "id,thread_work_max_s,name",
                         "two").stdout.decode().splitlines()
    assert text[0].split() == ["id", "thread_work_max_s", "Name"], text
    for row, line in zip(csv, text[1:]):
        assert line.split()[:2] == [row["id"], f"{float(row['thread_work_max_s']):.6f}"], (line, row)
    only = rows("--view", "flat", "--columns", "name,work_excl_s", "two")
    assert list(only[0]) == ["name", "work_excl_s"], only
    assert "view 'source' is no table as text" in refused("--view", "source", "--columns", "text", "basic")
    assert list(rows("--view", "source", "--columns", "line,work_s", "basic")[0]) == ["line", "work_s"]
    assert list(rows("--view", "efficiency", "--columns", "metric,gain", "alone")[0]) == ["metric", "gain_s"]
    assert list(rows("--view", "summary", "--columns", "item,value", "basic")[0]) == ["item", "value"]


@case
def text_omits_what_has_no_room(_):
    """The least important columns go first; figures stay in any terminal."""
    shown = []
    for columns in (200, 80, 60, 40):
        text = golden_report("--view", "topdown", "blame", COLUMNS=str(columns)).stdout.decode()
        shown.append(text.splitlines()[0].split())
        assert ("Some columns need more width" in text) == (columns < 80), (columns, text)
        assert "0.050*" in text and "* fewer than 20 samples" in text and "0.200*" not in text, text
        assert all(len(line) <= columns for line in text.split("Percentages")[0].splitlines()), (columns, text)
    assert [len(heads) for heads in shown] == sorted((len(heads) for heads in shown), reverse=True), shown
    assert "Idle%" in shown[1] and "Idle%" not in shown[3] and shown[3] == ["Incl", "s", "%", "Self", "s", "Name"], shown


@case
def columns_choose_from_streams(_):
    """Single grains, and what the timeline merges: CSV has the chosen columns in their order."""
    for view, run, names in (("grains", "recorded", "problems,path,exec_s"),
                             ("timeline", "charted", "end_s,value,kind,context_id"),
                             ("timeline", "charted-hostile", "name,start_s")):
        whole = csv_table(golden_report("-q", "-f", "csv", "--view", view, run).stdout.decode())
        chosen = golden_report("-q", "-f", "csv", "--view", view, "--columns", names, run).stdout.decode()
        assert chosen.splitlines()[0] == names
        assert csv_table(chosen) == [{name: row[name] for name in names.split(",")} for row in whole], (view, run)
    assert "value" not in rows("--view", "timeline", "traced")[0]
    assert {row["value"] for row in rows("--view", "timeline", "--columns", "value,kind", "traced")} == {""}


@case
def lines_of_json_are_the_rows(_):
    """Each line of -f jsonl is an object; CSV without its header is the rest of CSV."""
    for how in (("--view", "threads", "two"), ("--view", "topdown", "events"), ("--view", "grains", "recorded"),
                ("--view", "timeline", "charted"), ("--view", "tasks", "plain"),
                ("--view", "flat", "--columns", "name,work_incl_s,name", "blame"),
                ("--view", "regions", "--compare", "constructs", "constructs2")):
        csv = golden_report("-q", "-f", "csv", *how).stdout.decode()
        lines = golden_report("-q", "-f", "jsonl", *how).stdout.decode().splitlines()
        found = [{name: "" if cell is None else cell for name, cell in json.loads(line).items()} for line in lines]
        assert len(found) == len(csv_table(csv)), how
        for row, expected in zip(found, csv_table(csv)):
            assert list(row) == list(expected), how
            assert all(str(row[name]) == cell or float(row[name]) == float(cell) for name, cell in expected.items()), row
        assert golden_report("-q", "-f", "csv", "--no-header", *how).stdout.decode() == csv[csv.index("\n") + 1:], how
    refused("--no-header", "-f", "jsonl", "threads", "two")
    refused("-f", "jsonl", "--view", "grain-graph", "recorded")


@case
def columns_choose_rows_and_leave_arrays(_):
    """The further arrays of a JSON document have all their columns."""
    for view, run, names, arrays in (("timeline", ("charted",), "work_s,host", {"states", "lanes", "marks", "counters"}),
                                     ("grains", ("--grain-groups", "recorded"), "exec_s,kind", {"curve"})):
        whole = json.loads(golden_report("-q", "-f", "json", "--view", view, *run).stdout)
        chosen = json.loads(golden_report("-q", "-f", "json", "--view", view, "--columns", names, *run).stdout)
        assert chosen["columns"] == names.split(",") and set(whole) - {"view", "run", "columns", "rows"} == arrays, whole
        assert chosen["rows"] == [{name: row[name] for name in names.split(",")} for row in whole["rows"]]
        assert all(chosen[array] == whole[array] for array in arrays)


@case
def chosen_columns_of_grains_have_no_lines_below(_):
    groups = rows("--view", "grains", "--grain-groups", "recorded")
    text = golden_report("-q", "--view", "grains", "--columns", "grains,creator_name", "recorded").stdout.decode()
    lines = text.split("\n\n")[1].splitlines()
    assert [line.split() for line in lines] == [["Grains", "creator_name"], *(
        [row["grains"], *filter(None, [row["creator_name"]])] for row in groups)], text


@case
def nothing_is_written_to_the_directory(directory):
    before = sorted(os.listdir(os.path.join(GOLDEN, "two")))
    output = os.path.join(directory, "out.csv")
    assert golden_report("-q", "--view", "flat", "-f", "csv", "-o", output, "two").returncode == 0
    assert contents(output) == golden_report("-q", "--view", "flat", "-f", "csv", "two").stdout
    assert os.listdir(directory) == ["out.csv"]
    assert sorted(os.listdir(os.path.join(GOLDEN, "two"))) == before


@case
def output_that_cannot_be_written_is_reported(directory):
    missing = os.path.join(directory, "no", "file")
    done = golden_report("-q", "-o", missing, "basic")
    assert done.returncode == 1 and missing in done.stderr.decode()
    done = golden_report("-q", "-o", "/dev/full", "--view", "topdown", "basic")
    assert done.returncode == 1 and b"cannot write" in done.stderr, done
    for name, reason in (("/proc/x", b"no files can be created in this directory"), ("/none/x", b"No such file")):
        done = golden_report("-q", "-o", name, "--view", "topdown", "basic")
        assert done.returncode == 1 and done.stderr.startswith(b"hpcprof-lite: cannot write '%s': %s" % (name.encode(), reason)), done


@case
def a_closed_pipe_ends_quietly(_):
    done = start(REPORT, "-q", "--view", "topdown", "-f", "json", "basic", cwd=GOLDEN)
    done.stdout.close()
    done.stdout = None
    _, error = done.communicate(timeout=60)
    assert error == "" and done.returncode >= 0


@case
def directories_without_measurements(directory):
    done = golden_report(directory)
    assert done.returncode == 1 and b"no measurements" in done.stderr and not done.stdout
    done = golden_report(os.path.join(directory, "none"))
    assert done.returncode == 1 and b"cannot read directory" in done.stderr
    done = golden_report("-q", "--view", "flat", "-f", "csv", directory, "basic")
    assert done.returncode == 1 and done.stdout == golden_report("-q", "--view", "flat", "-f", "csv", "basic").stdout
    os.mkfifo(os.path.join(directory, "pipe.hpcrun"))
    os.mkdir(os.path.join(directory, "dir.hpcrun"))
    done = golden_report(directory)
    assert done.returncode == 1 and done.stderr.decode().count("not a regular file") == 2


@case
def sound_files_beside_damaged_ones(directory):
    for name in ("basic", "foreign", "truncated"):
        for file in golden_files(".hpcrun", name)[name]:
            os.symlink(file, os.path.join(directory, name + ".hpcrun"))
    done = golden_report("-q", "--view", "threads", "-f", "csv", directory)
    assert done.returncode == 1
    assert b"foreign.hpcrun" in done.stderr and b"truncated.hpcrun" in done.stderr
    assert b"basic.hpcrun" not in done.stderr
    assert b"\n100,,1,node1,61,0,1,0.540000000,0.050000000" in done.stdout, done.stdout


@case
def a_file_that_memory_cannot_hold_costs_only_itself(directory):
    """A sparse file may have any size."""
    if "HPCRUN_LITE_TEST_REPORT" in os.environ:
        raise Skip("the sanitizers reserve more address space than the limit")
    for file in golden_files(".hpcrun", "two")["two"]:
        os.symlink(file, os.path.join(directory, os.path.basename(file)))
    sparse = os.path.join(directory, "sparse-1-1.hpcrun")
    with open(sparse, "wb") as file:
        file.truncate(3 << 30)
    done = golden_report("-q", "--view", "threads", "-f", "csv", directory, limits={"AS": 1 << 30})
    whole = golden_report("-q", "--view", "threads", "-f", "csv", "two")
    assert done.returncode == 1 and done.stdout == whole.stdout, done
    assert re.fullmatch(rf"hpcprof-lite: cannot read {sparse}: not enough memory for its {3 << 30} bytes\n",
                        done.stderr.decode()), done.stderr


@case
def a_page_is_made_however_much_is_wrong(_):
    """Comparisons that fail for more reasons than are kept."""
    for name in ("astray", "lies", "hostile"):
        done = golden_report("-q", "-f", "html", "--compare", "basic", name)
        assert done.returncode == 1 and b"</html>" in done.stdout, (name, done.returncode)
        assert len(done.stderr.splitlines()) > 8, done.stderr


@case
def refusals_name_the_views_that_have_an_option(_):
    """Exactly these accept it, whatever view is asked for."""
    views = refused("--view", "nonsense", "basic").split("one of ")[1].split(", ")
    text = golden_report("--help").stdout.decode()
    for option in (["--idleness", "core"], ["--what-if", "f=2"], ["--root", "f"], ["--depth", "1"], ["--per-thread"],
                   ["--percent-limit", "1"], ["--compare", "base"], ["--scaling"], ["--live"]):
        accepted, named = set(), set()
        for view in views:
            drawn = ["-f", "json"] if view == "grain-graph" and option[0] not in ("--live", "--scaling") else []
            line = golden_report("--view", view, *drawn, *option, "nowhere").stderr.decode()
            if not re.match(f"hpcprof-lite: (view '{view}' |--per-thread has no effect)", line):
                accepted.add(view)
            elif " needs " in line or " use " in line:
                told = re.split(" needs | use ", line)[-1 if option[0] != "--root" else 1]
                named.add(frozenset(re.findall(r"[a-z-]+", told)) & set(views))
        accepted -= {"grain-graph"} if option[0] == "--root" else set()  # there, it is the path of a grain
        assert named == {frozenset(accepted)} and accepted, (option, accepted, named)
        told = re.search(rf"\n      {option[0]}(?![a-z-]).*(?:\n {{26}}.*)*", text)[0]
        if option[0] in ("--compare", "--live"):
            assert set(re.findall(r"[a-z-]+", told)) & set(views) == accepted, told


@case
def some_formats_are_not_for_a_terminal(_):
    for name in ("pprof", "html"):
        ours, its = os.openpty()
        with start(REPORT, "-f", name, os.path.join(GOLDEN, "basic"), stdout=its) as process:
            os.close(its)
            errors = process.communicate(timeout=60)[1]
        os.close(ours)
        assert process.returncode == 2 and f"format {name} is not for a terminal: write it to a file with --output" in errors, errors
    assert golden_report("-q", "-f", "pprof", "basic").stdout.startswith(b"\x1f\x8b")


@case
def the_command_line_is_checked(_):
    assert "no measurement directory" in refused()
    for name in ("x", "grape", "total"):
        assert f"there is no view '{name}': one of summary" in refused("--view", name, "basic")
    for name, meant in (("phase", "phases"), ("timelin", "timeline"), ("Flat", "flat"), ("graingraph", "grain-graph")):
        assert f"there is no view '{name}': did you mean '{meant}'?" in refused("--view", name, "basic")
    assert "there is no format 'xml': one of text, csv" in refused("-f", "xml", "basic")
    for name, meant in (("jsn", "json"), ("Csv", "csv"), ("speedscop", "speedscope"), ("graphm", "graphml")):
        assert f"there is no format '{name}': did you mean '{meant}'?" in refused("-f", name, "basic")
    for name, meant in (("--veiw", "--view"), ("--formt=csv", "--format"), ("--max-row", None), ("--rot", "--root"),
                        ("--percent-limits", "--percent-limit"), ("--no-such", None), ("-veiw", None)):
        line = refused(name, "basic") if meant else golden_report(name, "basic").stderr.decode()
        assert ("did you mean" in line) == bool(meant), line
        assert not meant or f"unknown option '{name}': did you mean '{meant}'?" in line, line
    assert "thread, core or shared, not 'cores'" in refused("--idleness", "cores", "basic")
    for view in ("advice", "regions", "region-tree", "overheads", "tasks", "parallelism", "whatif", "speedup", "grains",
                 "threads"):
        assert "--idleness needs summary" in refused("--view", view, "--idleness", "core", "basic"), view
    assert "has no columns" in refused("--view", "advice", "--legend", "basic")
    for view in ("marks", "user-counters"):
        assert "has no legend" in refused("--view", view, "--legend", "basic"), view
    for words in (("-f", "csv"), ("-f", "json"), ("--view", "advice", "-f", "csv"), ("-f", "perfetto")):
        assert "--legend explains the columns of a text" in refused("--legend", *words, "basic"), words
    assert "shows no source text" in refused("-I", "/", "basic")
    assert "no directory" in refused("-q", "--view", "source", "-I", "/nowhere", "basic")
    assert "needs a directory" in refused("--view", "source", "-I", "", "basic")
    assert "always shows lines" in refused("--view", "source", "--lines", "basic")
    assert "cannot be sorted" in refused("--view", "source", "--sort", "work_s", "basic")
    assert "--max-rows needs text" in refused("--view", "source", "--max-rows", "3", "-f", "csv", "basic")
    assert "functions, files and lines" in refused("--view", "source", "--root", "#2", "basic")
    for value in ("nobody", "nothing.c", "nothing.c:3"):
        assert "nothing matches" in refused("-q", "--view", "source", "--root", value, "basic")
    for value in ("", "f", "f=", "f=x", "f=0", "f=-2", "f=inf", "f=nan", "f=1e999", "f=2,", "f=2,g", "=2", "#x=2",
                  "@=2",
                  ",".join(["f=2"] * 17)):
        assert f"--what-if {value}" in refused("--view", "whatif", "--what-if", value, "graph"), value
    assert "shows no scenarios" in refused("--view", "flat", "--what-if", "f=2", "graph")
    assert "shows one scenario" in refused("--view", "parallelism", "--what-if", "f=2", "--what-if", "g=2", "graph")
    for value in ("nobody=2", "app+0x2000=2,nobody=2", "@phase 2=2", "x.c:1-2=4"):
        for view in ("whatif", "parallelism"):
            assert "nothing matches '--what-if" in refused("-q", "--view", view, "--what-if", value, "graph"), value
    for value in ("copy-to-device", "copy-from-device:x.c:3"):
        for view in ("whatif", "parallelism"):
            said = refused("-q", "--view", view, "--what-if", f"app+0x2000=2,{value}=2", "graph")
            assert f"'--what-if {value}': the run has no such copies; see the kinds" in said and "regions" in said, said
    assert "unknown option '--wat'" in refused("--wat", "basic")
    assert "needs a value" in refused("basic", "--view")
    for value in ("0", "-1", "x", "", "99999999999"):
        assert "--depth" in refused("--view", "flat", "--depth", value, "basic")
    for value in ("-1", "101", "nan", "x"):
        assert "--percent-limit" in refused("--view", "flat", "--percent-limit", value, "basic")
    for value in ("@", "#x", "a.c:5-3", ""):
        assert "--root" in refused("--view", "flat", "--root", value, "basic")
    assert "shows no functions" in refused("--view", "threads", "--lines", "basic")
    for how in (("--view", "flat"), ("--view", "topdown", "--compare", "basic"), ("-f", "html")):
        assert "--collapse-recursion joins contexts of one run" in refused(*how, "--collapse-recursion", "basic")
    assert "has no levels: --depth needs" in refused("--view", "regions", "--depth", "2", "constructs")
    assert "omits no light rows" in refused("--view", "grains", "--percent-limit", "1", "recorded")
    assert "has no effect on this report" in refused("--view", "tasks", "--per-thread", "constructs")
    assert "cannot be sorted" in refused("--view", "efficiency", "--sort", "value", "basic")
    for value in ("nobody", "@nobody"):
        assert "nothing matches" in refused("-q", "--view", "flat", "--root", value, "basic")
    assert golden_report("--", "basic").returncode == 0
    assert golden_report("--version").stdout.startswith(b"hpcprof-lite ")
    assert golden_report("--what-if", "main=2", "--help").stdout.startswith(b"Usage: ")


main()
