#!/usr/bin/env python3
"""--compare and --fail-if: rows, significance, exit status, formats, refusals; --long compares equal runs of a real
program 20 times."""
import os
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap
from report import golden_report, report, rows, table
from tap import BUILD, LAUNCHER, case, main, must

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")
SYNTHESIZE = os.path.join(BUILD, "tests", "synthesize")
FIRST, SECOND = "app+0x1000", "app+0x2000"  # functions without a name; the first one can be made slower

# Two functions of different lengths in iterations of different lengths, so that no period fits that of the samples.
PROGRAM = r"""
static volatile double sink;
__attribute__((noinline)) void solve(long n)
{
  double s = 1;
  for (long i = 0; i < n; i++)
    s = s * 1.0000001 + 0.5;
  sink = s;
}
%s
__attribute__((noinline)) void assemble(long n)
{
  double s = 1;
  for (long i = 0; i < n; i++)
    s = s * 1.0000002 + 0.25;
  sink = s;
}
int main(void)
{
#pragma omp parallel for
  for (int i = 0; i < 500; i++) {
    solve((700000 + i * 1000) * SLOWER / 100);
    assemble(313000 + i * 700);
  }
  return 0;
}
"""


def synthetic(directory, name, *options, contexts=6000):
    """A measurement with five functions."""
    place = os.path.join(directory, name)
    must(SYNTHESIZE, "--contexts", str(contexts), "--addresses", "5", "--stride", "4096", *options, place)
    return place


def compare(*arguments):
    return report("-q", "--compare", *arguments)


def by_name(found):
    return {row["name"]: row for row in found}


def refused(*arguments):
    done = golden_report(*arguments)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2 and not done.stdout and len(lines) == 1, done
    return lines[0]


def build(directory, slower, moved=""):
    """A build of the program whose solve() takes that many percent of its time."""
    folder = os.path.join(directory, f"build{slower}")
    os.makedirs(folder)
    source = os.path.join(folder, "program.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM.replace("%s", moved))
    must("gcc", "-g", "-O2", "-fopenmp", f"-DSLOWER={slower}", source, "-o", os.path.join(folder, "program"))
    return os.path.join(folder, "program")


def measure(directory, name, program):
    place = os.path.join(directory, name)
    must(LAUNCHER, "-q", "-e", "task-clock@f2000", "-o", place, program, OMP_NUM_THREADS="2")
    return place


@case
def equal_runs_pass_20_times(directory):
    base = synthetic(directory, "base", "--noise", "1000")
    conditions = ("--fail-if", f"work_excl_s of {FIRST} > +5%", "--fail-if", f"work_excl_s of {SECOND} > +5%",
                  "--fail-if", "work > +2%", "--fail-if", "elapsed > +5%", "--fail-if", "cpu > +5%")
    marked = 0
    for i in range(20):
        done = compare(base, synthetic(directory, f"new{i}", "--noise", str(1 + i)), *conditions)
        assert done.returncode == 0 and not done.stderr, done
        marked += len(re.findall("%  ?!", done.stdout))
    assert marked <= 1, marked


@case
def a_slower_function_fails(directory):
    base = synthetic(directory, "base", "--noise", "1")
    slow = synthetic(directory, "slow", "--noise", "2", "--slower", "15")
    done = compare(base, slow, "--fail-if", f"work_excl_s of {FIRST} > +5%", "--fail-if",
                   f"work_excl_s of {SECOND} > +5%")
    assert done.returncode == 3, done
    line, = done.stderr.splitlines()
    assert line.startswith(f"hpcprof-lite: --fail-if 'work_excl_s of {FIRST} > +5%' holds: from "), line
    changed = by_name(rows("flat", "-q", "--compare", base, slow))
    assert float(changed[FIRST]["significance"]) < 0.01 < float(changed[SECOND]["significance"])
    assert 1.10 < float(changed[FIRST]["ratio"]) < 1.20
    marked = [text for text in compare(base, slow, "--view", "flat").stdout.splitlines() if " ! " in text]
    assert len(marked) == 1 and FIRST in marked[0], marked


@case
def too_few_samples_are_not_significant(directory):
    base = synthetic(directory, "base", "--noise", "1", contexts=100)
    slow = synthetic(directory, "slow", "--noise", "1", "--slower", "20", contexts=100)
    done = compare(base, slow, "--fail-if", f"work_excl_s of {FIRST} > +5%")
    text = " ".join(done.stdout.split())
    assert done.returncode == 0 and f"not significant: work_excl_s of {FIRST} > +5%" in text, done
    assert re.search(r"its samples show only changes beyond \d\d %", text), done


@case
def repeated_runs_are_tested_by_their_variance(directory):
    bases = [synthetic(directory, f"base{i}", "--noise", str(1 + i), contexts=3000) for i in range(4)]
    news = [synthetic(directory, f"new{i}", "--noise", str(11 + i), "--slower", "10", contexts=3000) for i in range(4)]
    condition = ("--fail-if", f"work_excl_s of {FIRST} > +5%", "--fail-if", f"work_excl_s of {SECOND} > +5%")
    for arguments in ((",".join(bases), *news), (",".join(bases), ",".join(news))):
        done = compare(*arguments, *condition)
        assert done.returncode == 3 and len(done.stderr.splitlines()) == 1 and FIRST in done.stderr, done
        assert "base0 and 3 more runs" in done.stdout
    flat = by_name(rows("flat", "-q", "--compare", ",".join(bases), *news))
    means = [[float(by_name(rows("flat", "-q", run))[FIRST]["work_excl_s"]) for run in side] for side in (bases, news)]
    for side, column in zip(means, ("base", "new")):
        assert abs(sum(side) / 4 - float(flat[FIRST][column])) < 2e-9, (side, flat[FIRST])


@case
def tables_are_those_of_the_new_side_with_five_columns_more(directory):
    base = synthetic(directory, "base", "--noise", "1", contexts=300)
    new = synthetic(directory, "new", "--noise", "2", contexts=300)
    more = ["base", "new", "difference", "ratio", "significance"]
    for view, metric in (("topdown", "work_incl_s"), ("bottomup", "work_excl_s"), ("flat", "work_excl_s")):
        plain, both = rows(view, "-q", new), rows(view, "-q", "--compare", base, new)
        old = rows(view, "-q", base)
        assert list(both[0]) == list(plain[0]) + more
        assert len(both) >= max(len(plain), len(old))
        for row in both:
            assert row["new"] == row[metric], row
            assert abs(float(row["new"]) - float(row["base"]) - float(row["difference"])) < 2e-9
        for column in ("samples", "work_excl_s", "overhead_excl_s", "idleness_excl_s"):
            found, wanted = (sum(float(row[column]) for row in some[1:]) for some in (both, plain))
            assert abs(found - wanted) < 1e-6, (view, column)
        assert abs(sum(float(row["base"]) for row in both[1:]) - sum(float(row[metric]) for row in old[1:])) < 1e-6
    parents = {row["id"]: row for row in both}
    assert all(row["parent_id"] in parents for row in both[1:])


@case
def a_run_equals_itself(directory):
    run = synthetic(directory, "run", contexts=300)
    for view in ("summary", "topdown", "bottomup", "flat"):
        for row in rows(view, "-q", "--compare", run, run):
            assert float(row["difference"]) == 0 and row["significance"] in ("", "1.000000"), row
    done = report("-q", "--view", "topdown", "-f", "json", "--compare", run, run)
    assert done.returncode == 0 and '"significance":1.000000' in done.stdout.replace(" ", "")


@case
def other_columns_can_be_compared(directory):
    base = synthetic(directory, "base", contexts=300)
    new = synthetic(directory, "new", "--slower", "30", contexts=300)
    for metric in ("overhead_excl_s", "idleness_incl_s", "samples"):
        for row in rows("flat", "-q", "--compare", base, "--metric", metric, new):
            assert float(row["new"]) == float(row[metric]), row
    assert "cannot compare 'speed'" in refused("-q", "--compare", "basic", "--view", "flat", "--metric", "speed", "basic")
    assert "cannot compare 'name'" in refused("-q", "--compare", "basic", "--view", "flat", "--metric", "name", "basic")


@case
def rows_are_sorted_by_any_column(directory):
    base = synthetic(directory, "base", "--noise", "1")
    new = synthetic(directory, "new", "--noise", "2", "--slower", "30")
    standard = rows("flat", "-q", "--compare", base, new)
    ids = {row["name"]: row["id"] for row in standard}
    for column, key in (("difference", lambda row: -abs(float(row["difference"]))),
                        ("base", lambda row: -float(row["base"])), ("new", lambda row: -float(row["new"])),
                        ("ratio", lambda row: -float(row["ratio"] or 0)),
                        ("significance", lambda row: float(row["significance"] or 2)),
                        ("work_incl_s", None), ("name", lambda row: row["name"])):
        found = rows("flat", "-q", "--compare", base, "--sort", column, new)
        assert {row["name"]: row["id"] for row in found} == ids, column
        assert key is None or found[1:] == sorted(found[1:], key=key), (column, found)
    assert standard == rows("flat", "-q", "--compare", base, "--sort", "difference", new)
    assert standard == rows("flat", "-q", "--compare", base, "--sort", "diff", new)
    assert list(rows("flat", "-q", "--compare", base, "--columns", "name,new,base", new)[0]) == ["name", "new", "base"]
    assert "cannot be sorted by 'speed'" in refused("-q", "--compare", "basic", "--view", "flat", "--sort", "speed",
                                                    "basic")


@case
def regions_are_compared_by_their_times(_):
    done = golden_report("-q", "--compare", "constructs", "--view", "regions", "-f", "csv", "constructs")
    plain = [row for row in table(golden_report("-q", "--view", "regions", "-f", "csv", "constructs").stdout.decode())
             if row["thread"] == "SUM"]
    both = {(row["kind"], row["name"], row["line"]): row for row in table(done.stdout.decode())}
    assert len(both) == len(plain)
    for row in plain:
        found = both[row["kind"], row["name"], row["line"]]
        for column in row:
            if column not in ("region", "context_id", "note"):
                assert found[column] == row[column], (column, row, found)
        assert found["new"] == (row["exec_s"] or "0.000000000")


@case
def parallelism_is_compared(_):
    plain = table(golden_report("-q", "--view", "parallelism", "-f", "csv", "constructs2").stdout.decode())
    done = golden_report("-q", "--compare", "constructs", "--view", "parallelism", "-f", "csv", "constructs2")
    both = table(done.stdout.decode())
    old = table(golden_report("-q", "--view", "parallelism", "-f", "csv", "constructs").stdout.decode())
    assert done.returncode == 0 and len(both) == len(plain) and both[0]["kind"] == "program"
    for row in both:
        key = ("kind", "name", "line")
        same, before = (next(one for one in some if all(one[k] == row[k] for k in key)) for some in (plain, old))
        for column in same:
            if column != "note":
                assert row[column] == same[column], (column, row, same)
        assert (row["base"], row["new"]) == (before["span"], same["span"])
    share = golden_report("-q", "--compare", "constructs", "--view", "parallelism", "--metric", "critical_path", "-f",
                          "csv", "constructs2")
    critical = table(share.stdout.decode())
    assert abs(sum(float(row["new"]) for row in critical) - float(critical[0]["span"])) < 1e-8
    assert "cannot compare 'body_s'" in refused("-q", "--compare", "constructs", "--view", "parallelism", "--metric",
                                                "body_s", "constructs")
    for view, what in (("parallelism", "work and span"), ("regions", "times of constructs")):
        done = golden_report("-q", "--compare", "basic", "--view", view, "constructs")
        assert done.returncode == 1 and f"basic was measured without {what}" in done.stderr.decode(), done


@case
def threads_are_compared_with_all_their_columns(directory):
    shape = ("--ranks", "--processes", "2", "--threads", "2")
    base = synthetic(directory, "base", *shape, contexts=300)
    new = synthetic(directory, "new", *shape, "--slower", "30", contexts=300)
    plain = {side: {(row["rank"], row["thread"]): row for row in rows("threads", "-q", place)}
             for side, place in (("base", base), ("new", new))}
    both = rows("threads", "-q", "--compare", base, new)
    assert [(row["rank"], row["process"], row["thread"]) for row in both] == [
        (rank, "1", thread) for rank, thread in sorted(plain["new"])]
    figures = list(both[0])[4:17]
    assert len(both) == 4 and figures[0] == "samples" and figures[-1] == "blocked_s"
    changed = 0
    for row in both:
        old, now = (plain[side][row["rank"], row["thread"]] for side in ("base", "new"))
        assert row["host"] == "" and row["base"] == row["cpu_s_base"] and row["new"] == row["cpu_s"]
        for column in figures:
            assert row[column] == now[column], (column, row, now)
            assert float(row[column + "_base"]) == float(old[column]), (column, row, old)
            difference = float(now[column]) - float(old[column])
            changed += difference != 0
            assert abs(float(row[column + "_difference"]) - difference) < 2e-9
            ratio = row[column + "_ratio"]
            assert bool(ratio) == (float(old[column]) > 0), row
            assert not ratio or abs(float(ratio) - float(now[column]) / float(old[column])) < 1e-6
    assert changed > 4
    work = rows("threads", "-q", "--compare", base, "--metric", "work_s", "--sort", "difference", "--max-rows", "3", new)
    assert len(work) == 3 and all(row["new"] == row["work_s"] for row in work)
    sizes = [abs(float(row["difference"])) for row in work]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 0
    text = report("-q", "--compare", base, "--view", "threads", new).stdout
    assert len(re.findall("rank [01], thread [0-9]+$", text, re.M)) == 4 and "work_s" in text, text
    text = report("-q", "--compare", base, "--view", "threads", "--metric", "work_s", new).stdout
    assert "Thread (work_s)" in text and "cpu_s" not in text
    assert '"cpu_s_ratio"' in report("-q", "--compare", base, "--view", "threads", "-f", "json", new).stdout
    assert "cannot compare 'speed'" in refused("-q", "--compare", "basic", "--view", "threads", "--metric", "speed",
                                               "basic")
    assert "cannot be sorted by 'speed'" in refused("-q", "--compare", "basic", "--view", "threads", "--sort", "speed",
                                                    "basic")


@case
def columns_are_named_as_in_csv_or_as_in_text(directory):
    """--metric and --sort take names, headings, and parts of them; --columns chooses columns of the comparison."""
    base = synthetic(directory, "base", "--threads", "3", contexts=300)
    new = synthetic(directory, "new", "--threads", "3", "--slower", "30", contexts=300)
    for view, word, column in (("threads", "Idle", "idle_s"), ("threads", "core wait", "core_wait_s"),
                               ("threads", "wall_s", "wall_s"), ("flat", "lock_wait_excl_s", "lockwait_excl_s"),
                               ("flat", "overhead_excl", "overhead_excl_s")):
        by_word, by_name_ = (rows(view, "-q", "--compare", base, "--metric", metric, new) for metric in (word, column))
        assert by_word == by_name_ and (view == "flat" or all(row["new"] == row[column] for row in by_word)), word
    done = report("--compare", base, "--view", "flat", "--metric", "work", new)
    assert "can mean work_excl_s" not in done.stderr and "(work_excl_s)" in done.stdout, done
    found = rows("threads", "-q", "--compare", base, "--sort", "Work", new)
    works = [float(row["work_s"]) for row in found]
    assert works == sorted(works, reverse=True), found
    for view, word, parts in (("topdown", "incl", ("work_incl_s", "overhead_incl_s")),
                              ("flat", "self", ("work_excl_s", "overhead_excl_s"))):  # as text shows them
        for row in rows(view, "-q", "--compare", base, "--metric", word, new):
            assert abs(float(row["new"]) - sum(float(row[part]) for part in parts)) < 2e-9, (word, row)
    csv = report("-q", "--compare", base, "--view", "threads", "-f", "csv", "--columns", "thread,new,work_s_base,Idle",
                 new).stdout.splitlines()
    assert csv[0] == "thread,new,work_s_base,idle_samples" or csv[0] == "thread,new,work_s_base,idle_s", csv
    for word in ("id", "kind", "abs_idleness_pct"):
        assert f"cannot compare '{word}'" in refused("-q", "--compare", "basic", "--view", "flat", "--metric", word, "basic")
    assert "needs -f csv or json" in refused("--compare", "basic", "--view", "threads", "--columns", "thread", "basic")


@case
def overheads_and_tasks_are_compared(_):
    plain = {row["line"] + row["name"]: row for row in
             table(golden_report("-q", "--view", "overheads", "-f", "csv", "constructs2").stdout.decode())}
    both = table(golden_report("-q", "--compare", "constructs", "--view", "overheads", "-f", "csv",
                               "constructs2").stdout.decode())
    assert both[0]["kind"] == "program" and len(both) == len(plain)
    for row in both:
        same = plain[row["line"] + row["name"]]
        assert all(row[column] == same[column] for column in same if column != "region"), (row, same)
        assert row["new"] == row["total_s"]
    limited = table(golden_report("-q", "--compare", "constructs", "--view", "overheads", "--percent-limit", "25", "-f",
                                  "csv", "constructs2").stdout.decode())
    sums = [float(row["base"]) + float(row["new"]) for row in both]
    assert len(limited) == sum(one >= 0.25 * sums[0] for one in sums) < len(both), (limited, sums)
    plain = table(golden_report("-q", "--view", "tasks", "-f", "csv", "constructs").stdout.decode())
    both = table(golden_report("-q", "--compare", "constructs", "--view", "tasks", "--metric", "instances", "-f", "csv",
                               "constructs").stdout.decode())
    assert plain and [row["instances"] for row in both] == [row["instances"] for row in plain]
    assert all(float(row["base"]) == float(row["new"]) == float(row["instances"]) for row in both), both


@case
def threads_of_one_side_and_of_several_runs(directory):
    few = [synthetic(directory, f"few{i}", "--threads", "2", "--noise", str(1 + i), contexts=300) for i in range(2)]
    many = synthetic(directory, "many", "--threads", "4", contexts=300)
    both = rows("threads", "-q", "--compare", ",".join(few), many)
    assert [row["thread"] for row in both] == [row["thread"] for row in rows("threads", "-q", many)]
    assert [float(row["work_s_base"]) > 0 for row in both] == [True, True, False, False]
    means = [sum(float(rows("threads", "-q", run)[i]["work_s"]) for run in few) / 2 for i in range(2)]
    for row, mean in zip(both, means):
        assert abs(float(row["work_s_base"]) - mean) < 2e-9, (row, mean)
    gone = rows("threads", "-q", "--compare", many, few[0])
    assert len(gone) == 4 and gone[3]["work_s"] == "0.000000000" and float(gone[3]["work_s_base"]) > 0
    assert " gone " in report("-q", "--view", "threads", "--compare", many, few[0]).stdout


@case
def processes_without_rank_are_compared_in_their_order(directory):
    base = synthetic(directory, "base", "--processes", "3", "--threads", "1", contexts=300)
    both = rows("threads", "-q", "--compare", base, base)
    assert [row["process"] for row in both] == ["1", "2", "3"] and not any(row["rank"] for row in both)
    assert all(float(row["difference"]) == 0 for row in both)
    assert "process 3, thread" in report("-q", "--compare", base, "--view", "threads", base).stdout


@case
def conditions_on_a_context_by_its_id(_):
    found = table(golden_report("-q", "--view", "topdown", "-f", "csv", "alone").stdout.decode())
    row = next(row for row in found if row["kind"] == "function" and float(row["work_incl_s"]) > 0)
    for off, status in ((-0.000001, 3), (0.000001, 0)):
        text = f"work of #{row['id']} > {float(row['work_incl_s']) + off:.9f} s"
        assert golden_report("-q", "--fail-if", text, "alone").returncode == status, text
    assert "differs between runs" in refused("--compare", "alone", "--fail-if", "work of #1 > +5%", "alone")


@case
def incomplete_runs_do_not_pass(_):
    """The figures of a killed run are too small: it must not look like a faster program."""
    for arguments in (("--compare", "alone", "--fail-if", "elapsed > +900%", "killed"),
                      ("--compare", "killed", "--fail-if", "elapsed > +900%", "alone"),
                      ("--fail-if", "elapsed > 900 s", "killed")):
        done = golden_report("-q", *arguments)
        assert done.returncode == 2 and not done.stdout, done
        assert b"of 'killed' was killed, or could not write its file: measure a complete run" in done.stderr, done
    assert golden_report("-q", "--compare", "alone", "killed").returncode == 0


@case
def directories_that_are_no_runs(directory):
    os.mkdir(os.path.join(directory, "nothing"))
    open(os.path.join(directory, "file"), "w", encoding="utf-8").close()
    run = synthetic(directory, "run", contexts=300)
    for wrong in ("nothing", "file", "nowhere"):
        for arguments in ((wrong, "run"), ("run", wrong), (f"run,{wrong}", "run")):
            done = report("-q", "--compare", *arguments, "--fail-if", "elapsed > +5%", cwd=directory)
            assert done.returncode == 1 and not done.stdout and wrong in done.stderr, done
    done = report("--compare", run, run)
    assert done.returncode == 0 and "is on both sides: it is compared with itself" in done.stderr, done
    for twice in ((f"{run},{run}", run), (run, run, os.path.join(directory, ".", "run"))):
        done = report("-q", "--compare", *twice)
        assert done.returncode == 2 and "given twice on one side" in done.stderr, done


@case
def conditions_need_no_base(_):
    for text, status in (("elapsed > 1 us", 3), ("elapsed < 1 us", 0), ("work > 1 ns", 3), ("samples < 1", 0),
                         ("efficiency < 100%", 3), ("efficiency < 0%", 0), ("efficiency > 0.5", 3)):
        for view in ("summary", "threads", "flat"):
            done = golden_report("-q", "--view", view, "--fail-if", text, "alone")
            assert done.returncode == status and bool(done.stderr) == (status == 3), (text, view, done)
            plain = golden_report("-q", "--view", view, "alone")
            assert done.stdout == plain.stdout, (text, view)
    figure = golden_report("-q", "--fail-if", "efficiency < 100%", "alone").stderr
    assert re.search(rb"it is [0-9]+\.[0-9] %", figure), figure


@case
def metrics_are_those_of_the_views(directory):
    """Also of recursive functions, whose inclusive figures count their outermost calls."""
    run = synthetic(directory, "run", contexts=300)
    row = by_name(rows("flat", "-q", run))[SECOND]
    for metric in ("work_incl_s", "work_excl_s", "overhead_incl_s", "overhead_excl_s", "samples"):
        unit = "" if metric == "samples" else "s"
        for off, status in ((-0.000001, 3), (0.000001, 0)):
            limit = f"{float(row[metric]) + off:.9f}"
            done = report("-q", "--fail-if", f"{metric} of {SECOND} > {limit} {unit}", run)
            assert done.returncode == status, (metric, row[metric], done)
    region, = [row for row in table(golden_report("-q", "--view", "regions", "-f", "csv", "constructs").stdout.decode())
               if row["kind"] == "critical" and row["thread"] == "SUM"]
    for off, status in ((-0.000001, 3), (0.000001, 0)):
        text = f"exec_s of {region['name']} > {float(region['exec_s']) + off:.9f} s"
        assert golden_report("-q", "--fail-if", text, "constructs").returncode == status, region


@case
def conditions_that_cannot_be_checked_are_refused(_):
    for text, why in (("work of nowhere > 1 s", "nothing matches its selector"), ("elapsed > 5", "is a time: 2.5 s"),
                      ("elapsed > 5%", "of what is that"), ("efficiency < 2 s", "is a ratio"),
                      ("samples > 2 s", "is a number"), ("gain_s of main > 1 s", "was measured without 'gain_s'"),
                      ("cycles_incl > 1", "was measured without 'cycles_incl'")):
        assert why in refused("-q", "--fail-if", text, "blame"), text
    assert "have no such figure" in refused("-q", "--fail-if", "single_s of app+0x1010 > 1 s", "constructs")


@case
def a_figure_that_one_of_several_runs_knows_is_shown(_):
    """It is the mean over the runs, to which the others add nothing."""
    done = golden_report("-q", "tasks", "--compare", "constructs", "-f", "csv", "constructs", "counted", "charted")
    alone = table(golden_report("-q", "tasks", "-f", "csv", "constructs").stdout.decode())
    found = {row["name"]: row for row in table(done.stdout.decode())}
    assert alone and all(abs(float(found[row["name"]]["exec_s"]) - float(row["exec_s"]) / 3) < 1e-8 for row in alone), found


@case
def amounts_of_different_units_are_not_compared(_):
    done = golden_report("-q", "--compare", "units", "-f", "csv", "constructs")
    items = {row["item"] for row in table(done.stdout.decode())}
    assert done.returncode == 0 and "parallelism" in items and "span" not in items
    assert "different units" in refused("-q", "--compare", "units", "--view", "parallelism", "constructs")
    assert "different units" in refused("-q", "--compare", "units", "--fail-if", "span > +5%", "constructs")
    for row in table(golden_report("-q", "--compare", "units", "--view", "flat", "-f", "csv", "constructs").stdout.decode()):
        assert row["critical_path_incl"] == "", row


@case
def wrong_command_lines_are_refused(_):
    assert "needs --compare BASE" in refused("--fail-if", "elapsed > +5%", "basic")
    assert "no such metric" in refused("--fail-if", "speed > 5", "basic")
    for view in ("region-tree", "efficiency", "timeline", "grains"):
        assert "cannot be compared" in refused("--compare", "basic", "--view", view, "basic")
    assert "--from and --to" in refused("--compare", "basic", "--from", "1", "basic")
    assert "--per-thread" in refused("--compare", "basic", "--view", "regions", "--per-thread", "basic")
    assert "--what-if" in refused("--compare", "units", "--view", "parallelism", "--what-if", "f=2", "units")
    assert "another id" in refused("--compare", "basic", "--view", "flat", "--root", "#3", "basic")
    assert "needs --compare" in refused("--view", "flat", "--metric", "samples", "basic")
    assert "give at least one" in refused("--compare", "basic", "-f", "junit", "basic")
    assert "give --compare or --fail-if" in refused("-f", "markdown", "basic")
    assert "not view 'flat'" in refused("--compare", "basic", "-f", "markdown", "--view", "flat", "basic")
    assert "between the commas" in refused("--compare", ",", "basic")
    done = golden_report("--compare", "nowhere-at-all", "basic")
    assert done.returncode == 1 and b"nowhere-at-all" in done.stderr


@case
def formats_for_ci(directory):
    base = synthetic(directory, "base", "--noise", "1")
    slow = synthetic(directory, "slow", "--noise", "2", "--slower", "15")
    arguments = ("--compare", base, slow, "--fail-if", f"work_excl_s of {FIRST} > +5%", "--fail-if", "elapsed > 1 h")
    assert report(*arguments, "-f", "junit").returncode == 2  # hours are not a unit
    arguments = arguments[:-1] + ("elapsed > 1000 s",)
    done = report("-q", *arguments, "-f", "junit")
    suites = xml.etree.ElementTree.fromstring(done.stdout)
    cases = suites.findall(".//testcase")
    assert done.returncode == 3 and suites.get("failures") == "1" and suites.get("tests") == "2"
    assert [len(one.findall("failure")) for one in cases] == [1, 0]
    assert cases[0].get("name") == f"not work_excl_s of {FIRST} > +5%"
    check_junit(suites)
    done = report("-q", *arguments, "-f", "markdown")
    assert done.returncode == 3 and "| failed | from " in done.stdout and "| passed | it is 10.000 s |" in done.stdout
    assert re.search(rf"\| {re.escape(FIRST)} \| .* \| yes \|", done.stdout), done.stdout


def check_junit(suites):
    """The rules of the schema that Jenkins and GitLab share."""
    suite, = suites
    assert (suites.tag, suite.tag) == ("testsuites", "testsuite")
    for one in (suites, suite):
        assert one.get("name") and float(one.get("time")) >= 0
        assert int(one.get("tests")) == len(suite)
        assert int(one.get("failures")) == len(suite.findall("testcase/failure"))
        assert int(one.get("errors")) == 0
    for one in suite:
        assert one.tag == "testcase" and one.get("name") and one.get("classname") and float(one.get("time")) >= 0
        inner, = one
        assert inner.tag == "system-out" and inner.text or inner.tag == "failure" and inner.get("type") and \
            inner.get("message")


@case
def markdown_tables_have_equal_rows(directory):
    """Also where names contain what separates cells."""
    base, new = (synthetic(directory, name, "--noise", "1", "--module", "a|b`c<d>_*\\e", contexts=300)
                 for name in ("ba|se", "new"))
    done = compare(base, new, "-f", "markdown", "--fail-if", "elapsed > 1000 s", "--fail-if", "work > +5%")
    widths = []
    for line in done.stdout.splitlines() + [""]:
        if line.startswith("|"):
            widths.append(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)))
        else:
            assert len(set(widths)) <= 1 and len(widths) != 1 and "|" not in re.sub(r"\\\|", "", line), done.stdout
            widths = []
    assert done.returncode == 0 and "a\\|b\\`c\\<d\\>\\_\\*" in done.stdout, done.stdout


@case
def workflows_of_the_manual_are_yaml(_):
    """With the steps in the order in which they need each other; skipped without a parser."""
    try:
        import yaml
    except ImportError:
        return
    with open(os.path.join(tap.SOURCE, "doc", "compare.md"), encoding="utf-8") as file:
        github, gitlab = (yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", file.read(), re.S))
    steps = github["jobs"]["compare"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    commands = "\n".join(step.get("run", "") for step in steps), "\n".join(gitlab["performance"]["script"])
    for text in commands:
        compared, = re.findall(r"hpcprof-lite\s+(--compare.*)", text)
        conditions = re.findall("--fail-if '([^']*)'", compared)
        assert conditions == ["elapsed > +5%", "work of solve > +5%"], compared
        for name in re.findall(r"new\d", compared):
            assert f"{name[:-1]}$i" in text and text.index("new$i") < text.index("--compare")
        assert [len(side.split(",")) for side in re.findall(r"--compare (\S+)", compared)] == [5]
        done = tap.run("bash", "-n", "-c", text)
        assert done.returncode == 0, done
    assert gitlab["performance"]["cache"]["paths"] == ["baseline/"] and "baseline/complete" in commands[1]
    assert [step["with"]["path"] for step in steps if "cache" in step.get("uses", "")] == ["profiler", "baseline"]


@case
def another_build_of_a_real_program(directory):
    base = measure(directory, "base", build(directory, 100))
    slow = measure(directory, "slow", build(directory, 130, moved="int unused;\n\n\n"))
    done = compare(base, slow, "--fail-if", "work of solve > +5%")
    assert done.returncode == 3 and "work of solve > +5%" in done.stderr, done
    joined = rows("topdown", "-q", "--compare", base, slow)
    for name in ("main", "solve", "assemble"):
        row, = [row for row in joined if row["name"] == name]
        assert name == "main" or float(row["base"]) > 0 < float(row["new"]), row
    region, = [row for row in joined if row["kind"] == "parallel"]
    assert float(region["base"]) > 0 < float(region["new"]), region
    row, = rows("regions", "-q", "--compare", base, slow)
    assert float(row["base"]) > 0 < float(row["new"]) and int(row["line"]) > 20, row


@case
def a_base_whose_executable_was_replaced(directory):
    """Its functions have no names any more: solve() has not become infinitely slower."""
    program = build(directory, 100)
    base = measure(directory, "base", program)
    os.remove(program)
    os.rename(build(directory, 101), program)
    new = measure(directory, "new", program)
    done = compare(base, new, "--fail-if", "work of solve > +5%")
    assert done.returncode == 2 and "'%s' has no names" % base in done.stderr and not done.stdout, done
    assert "keep each build in a directory of its own" in done.stderr
    assert compare(base, new, "--fail-if", "work > +900%").returncode == 0


MOVED = r"""%s
static volatile double sink;
__attribute__((noinline)) void spin(int n)
{
  double s = 1;
  for (int i = 0; i < n * 1000; i++)
    s = s * 1.000001 + 1;
  sink = s;
}
__attribute__((noinline)) void alpha(void)
{
#pragma omp parallel for
  for (int i = 0; i < 100; i++)
    spin(2000);
}
__attribute__((noinline)) void beta(void)
{
#pragma omp parallel
#pragma omp KIND
  spin(2000);
}
__attribute__((noinline)) void LAST(void)
{
#pragma omp parallel for
  for (int i = 0; i < 8; i++)
    spin(2000);
}
int main(void)
{
  alpha();
  beta();
  LAST();
  return 0;
}
"""


@case
def lines_that_moved_and_constructs_that_differ(directory):
    """Twenty lines more, a function with another name, a construct of another kind; and the new build's directory was
    renamed."""
    runs = []
    for side, moved, kind, last in (("base", "", "critical", "gamma_"), ("new", "\n" * 20, "single", "delta")):
        folder = os.path.join(directory, "build-" + side)
        os.mkdir(folder)
        source, program = os.path.join(folder, "moved.c"), os.path.join(folder, "moved")
        with open(source, "w", encoding="utf-8") as file:
            file.write(MOVED.replace("%s", moved).replace("KIND", kind).replace("LAST", last))
        must("gcc", "-g", "-O2", "-fopenmp", source, "-o", program)
        runs.append(measure(directory, side, program))
    os.rename(runs[1], runs[1] + "-renamed")
    base, new = runs[0], runs[1] + "-renamed"
    pairs = {(row["kind"], row["name"]): row for row in rows("regions", "-q", "--compare", base, new)}
    for key, old, now in ((("parallel", "alpha"), True, True), (("parallel", "beta"), True, True),
                          (("critical", "beta"), True, False), (("single", "beta"), False, True),
                          (("parallel", "gamma_"), True, False), (("parallel", "delta"), False, True)):
        assert (float(pairs[key]["base"]) > 0, float(pairs[key]["new"]) > 0) == (old, now), (key, pairs[key])
    at = MOVED.split("\n").index("#pragma omp parallel for") + 1 + 20  # where alpha's region is in the new build
    for text, status, what in ((f"work of moved.c:{at - 2}-{at + 2} > +300%", 0, ""),
                               (f"exec_s of moved.c:{at} > +900%", 0, ""), (f"exec_s of moved.c:{at} < +900%", 3, "from "),
                               (f"exec_s of moved.c:{at - 20} > +900%", 2, "may have moved: name the function")):
        done = compare(base, new, "--fail-if", text)
        if "whose threads had no core" in done.stderr:  # beside other programs, times are not judged
            continue
        assert done.returncode == status and what in done.stderr and " new" not in done.stderr, (text, done)
        assert "gone" not in done.stdout[done.stdout.find("Conditions"):], done.stdout


@case
def equal_runs_of_a_real_program(directory):
    """With --long 20 times, and then a program of which one function is slower by a tenth."""
    program = build(directory, 100)
    runs = 5 if LONG else 2
    for attempt in range(20 if LONG else 1):
        pairs = [[measure(directory, f"{side}{attempt}-{i}", program) for side in "ab"] for i in range(runs)]
        base, new = zip(*pairs)  # alternating, so that both sides met the same load of the machine
        done = compare(",".join(base), *new, "--fail-if", "work of solve > +5%", "--fail-if", "work > +5%")
        assert done.returncode == 0, (attempt, done)
    if LONG:
        slow = build(directory, 110)
        pairs = [[measure(directory, f"{name}{i}", what) for name, what in (("fast", program), ("slow", slow))]
                 for i in range(runs)]
        base, new = zip(*pairs)
        done = compare(",".join(base), *new, "--fail-if", "work of solve > +5%")
        assert done.returncode == 3 and "solve" in done.stderr, done


main()
