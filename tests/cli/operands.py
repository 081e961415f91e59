#!/usr/bin/env python3
"""hpcprof-lite's operands and short words: VIEW, the newest directory, several runs, --sort by a part of a name."""
import csv
import io
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from report import golden_report, report, table
from tap import GOLDEN, LAUNCHER, OTHER_USER, REPORT, case, main, must, need_root, run


def measured(directory, name, at=None, golden="basic", launch=None):
    """A copy of a golden measurement that was launched at a time."""
    path = shutil.copytree(os.path.join(GOLDEN, golden), os.path.join(directory, name))
    if at is not None or launch:
        with open(os.path.join(path, "launch"), "w", encoding="ascii") as file:
            file.write(f"{launch or name}\n")
        os.utime(file.name, (at or 1, at or 1))
    return path


def refused(*arguments, **how):
    """The one line that refuses a command line."""
    done = report("-q", *arguments, **how)
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and not done.stdout and len(lines) == 1, done
    assert lines[0].startswith("hpcprof-lite: "), lines
    return lines[0]


def same_report(cwd, arguments, expected):
    """Two command lines have the same report, which is not empty."""
    one, other = (report("-q", "-f", "csv", *words, cwd=cwd) for words in (arguments, expected))
    assert one.stdout and one.returncode == 0 and one.stdout == other.stdout, (arguments, one, other.stderr)


# ---- commands in reports ----


@case
def commands_work_when_pasted(directory):
    """A shell runs the command after "next:", whatever the directory is called, and however long its name is."""
    for name in ("it's $HOME; a name", "long " * 40):
        path = measured(directory, name)
        text = report("-q", path).stdout
        assert all(len(line) <= 80 for line in text.splitlines()), text
        command = text.split("\nnext: ")[1].split("\nmore: ")[0]
        done = must("sh", "-c", command, PATH=f"{os.path.dirname(REPORT)}:{os.environ['PATH']}")
        assert done == report("--view", "topdown", path).stdout, command


# ---- VIEW ----

@case
def the_first_operand_may_be_the_view(_):
    for view in ("flat", "threads", "critical-path", "region-tree"):
        same_report(GOLDEN, (view, "basic"), ("--view", view, "basic"))
    same_report(GOLDEN, ("flat", "--max-rows", "2", "basic"), ("--view", "flat", "--max-rows", "2", "basic"))
    same_report(GOLDEN, ("basic",), ("--view", "summary", "basic"))


@case
def the_name_of_a_view_and_of_a_file_is_refused(directory):
    """One line tells how to give either; with --view, all operands are directories."""
    measured(directory, "flat")
    measured(directory, "threads", golden="two")
    with open(os.path.join(directory, "topdown"), "w", encoding="ascii"):
        pass
    for words, name in ((("flat",), "flat"), (("flat", "./threads"), "flat"), (("topdown", "./flat"), "topdown"),
                        (("./flat", "threads"), "threads"), (("summary", "flat"), "flat"),
                        (("--merge", "./flat", "threads"), "threads")):
        line = refused(*words, cwd=directory)
        assert line.endswith(f"write --view {name} or ./{name}") and f"'{name}' is a view" in line, line
    same_report(directory, ("./flat",), ("--view", "summary", "./flat"))
    same_report(directory, ("--view", "threads", "flat"), ("--view", "threads", "./flat"))
    same_report(directory, ("--view", "flat", "threads"), ("--view", "flat", "./threads"))
    same_report(directory, ("summary", "./flat"), ("./flat",))


@case
def a_misspelt_view_is_no_directory(directory):
    assert "no directory 'flt': did you mean the view 'flat'?" in refused("flt", "basic", cwd=GOLDEN)
    measured(directory, "flt")
    same_report(directory, ("flt",), ("./flt",))
    done = report("-q", "elsewhere", cwd=GOLDEN)
    assert done.returncode == 1 and "cannot read directory 'elsewhere'" in done.stderr, done


# ---- no DIR ----

@case
def the_newest_launch_is_reported(directory):
    assert "no measurement directory; measure with: hpcrun-lite COMMAND" in refused(cwd=directory)
    measured(directory, "no-launch")
    os.mkdir(os.path.join(directory, "empty"))  # of a launch that has measured nothing
    with open(os.path.join(directory, "empty", "launch"), "w", encoding="ascii") as file:
        file.write("id\n")
    os.makedirs(os.path.join(directory, "other", "launch"))
    assert "nothing has been measured into 'empty'" in refused(cwd=directory)
    os.mkdir(os.path.join(directory, "empty", "threads-1"))
    assert "'empty' is a series: use hpcprof-lite --scaling" in refused(cwd=directory)
    os.rmdir(os.path.join(directory, "empty", "threads-1"))
    os.utime(file.name, (500, 500))
    measured(directory, "run", at=2000)
    measured(directory, "run-3", at=3000, golden="two")
    measured(directory, "run-2", at=1000)
    os.utime(os.path.join(directory, "run"))  # what hpcprof-lite --index does
    for view in ("summary", "flat"):
        done = report(view, "-f", "csv", cwd=directory)
        assert done.stdout == report(view, "-f", "csv", "run-3", cwd=directory).stdout, done
        assert done.stderr.splitlines()[0] == \
            "hpcprof-lite: reporting 'run-3', the newest measurement directory here", done
    os.utime(os.path.join(directory, "empty", "launch"), (3500, 3500))
    assert report(cwd=directory).stderr.splitlines()[0].endswith(
        "here: the later launch into 'empty' has measured nothing so far")
    os.mkdir(os.path.join(directory, "empty", "threads-2"))
    assert report(cwd=directory).stderr.splitlines()[0].endswith(
        "here: the later launch into 'empty' is a series; see --scaling")
    assert "reporting" not in report("-q", cwd=directory).stderr
    for name in ("run", "run-3"):
        os.utime(os.path.join(directory, name, "launch"), (4000, 4000))
    assert "reporting 'run-3'" in report(cwd=directory).stderr


@case
def an_unreadable_directory_is_not_empty(directory):
    need_root()
    closed = os.path.join(directory, "closed")
    os.mkdir(closed)
    os.chmod(directory, 0o755)
    os.chmod(closed, 0o711)
    done = run(*OTHER_USER, REPORT, "-q", cwd=closed)
    assert done.returncode == 2 and "the current directory cannot be read: Permission denied" in done.stderr, done


@case
def names_cannot_change_the_terminal(directory):
    measured(directory, "a\x1b[31mb", at=1)
    line = report(cwd=directory).stderr.splitlines()[0]
    assert "reporting 'a\\u{1b}[31mb'" in line, line
    line = refused(measured(directory, "c\x1b[2Jd"), os.path.join(GOLDEN, "two"))
    assert "c\\u{1b}[2Jd' and" in line, line


@case
def a_view_stands_before_the_directory(directory):
    for words in (("basic", "flat"), ("basic", "--legend", "flat"), ("flat", "basic", "threads")):
        assert f"no directory '{words[-1]}': the view stands before DIR" in refused(*words, cwd=GOLDEN), words
    measured(directory, "flat")
    measured(directory, "run")
    assert "write --view flat or ./flat" in refused("--merge", "run", "flat", cwd=directory)


@case
def it_is_the_one_that_was_measured_last(directory):
    for name in ("b", "a", "c"):
        must(LAUNCHER, "-q", "-o", name, "sleep", "0.01", cwd=directory)
    must(LAUNCHER, "-q", "--overwrite", "-o", "a", "sleep", "0.01", cwd=directory)
    assert "reporting 'a'" in report(cwd=directory).stderr


# ---- several DIRs ----

@case
def different_runs_are_not_added_silently(directory):
    for names in (("basic", "two"), ("two", "basic", "blame")):
        line = refused("threads", *names, cwd=GOLDEN)
        assert f"'{names[0]}' and '{names[1]}' are different runs" in line and "--merge" in line, line
        done = report("-q", "--merge", "threads", "-f", "csv", *names, cwd=GOLDEN)
        alone = [table(report("-q", "threads", "-f", "csv", name, cwd=GOLDEN).stdout) for name in names]
        assert done.returncode == 0 and len(table(done.stdout)) == sum(map(len, alone)), done
    first, again = (measured(directory, name, at=1) for name in ("first", "again"))
    assert "are different runs" in refused(first, again)
    done = report("-q", first, os.path.join(directory, "nowhere"))  # what holds no measurements is not a run
    assert done.returncode == 1 and done.stdout and "cannot read directory" in done.stderr, done


@case
def directories_of_one_job_are_added(directory):
    first = measured(directory, "first", launch="PMI_JOBID=1")
    second = measured(directory, "second", launch="PMI_JOBID=1", golden="two")
    same_report(directory, ("threads", first, second), ("--merge", "threads", first, second))
    assert "are different runs" in refused(first, second, measured(directory, "third", launch="PMI_JOBID=2"))


@case
def a_directory_by_two_names_is_read_once(directory):
    path = measured(directory, "run")
    os.symlink("run", os.path.join(directory, "link"))
    same_report(directory, ("threads", "run", "./run/", path, "link"), ("threads", "run"))


@case
def advice_takes_a_run_on_one_thread_for_comparison(_):
    done = report("-q", "advice", "-f", "csv", "blame", "alone", cwd=GOLDEN)
    row, = (row for row in csv.DictReader(io.StringIO(done.stdout)) if row["class"] == "inflation")
    assert row["gain_s"] == "0.037500000" and row["command"].endswith("efficiency blame alone"), row
    assert report(*row["command"].split()[1:], cwd=GOLDEN).returncode == 0, row
    for names in (("blame", "two"), ("alone", "blame"), ("blame", "alone", "blames")):
        assert "are different runs" in refused("advice", *names, cwd=GOLDEN), names
        assert report("-q", "--merge", "advice", *names, cwd=GOLDEN).returncode == 0, names


@case
def commands_of_advice_are_about_the_same_run(_):
    for arguments in (("--merge", "constructs", "places"), ("--from", "0.1", "--to", "0.3", "traced")):
        done = report("-q", "advice", "-f", "csv", *arguments, cwd=GOLDEN)
        commands = [row["command"] for row in csv.DictReader(io.StringIO(done.stdout)) if row["confidence"]]
        assert done.returncode == 0 and commands, done
        for command in commands:
            words = command.split()
            assert words[-len(arguments):] == list(arguments), command
            assert report(*words[1:], cwd=GOLDEN).returncode == 0, command


@case
def efficiency_takes_a_run_on_one_thread_for_comparison(_):
    done = report("-q", "efficiency", "-f", "csv", "blame", "alone", cwd=GOLDEN)
    assert done.returncode == 0 and "\nwork_inflation,0.150000000" in done.stdout, done
    for names in (("blame", "blames"), ("blame", "two"), ("blame", "alone", "blames")):
        assert "are different runs" in refused("efficiency", *names, cwd=GOLDEN), names
        assert report("-q", "--merge", "efficiency", *names, cwd=GOLDEN).returncode == 0, names


@case
def merge_needs_several_directories(_):
    assert "--merge adds up several runs" in refused("--merge", "basic", cwd=GOLDEN)
    assert "shows one run" in refused("timeline", "--merge", "traced", "traced-plain", cwd=GOLDEN)


# ---- --sort ----

def order(view, word, name):
    """The rows of a view in the order of a column."""
    done = golden_report("-q", view, "-f", "csv", "--sort", word, name)
    assert done.returncode == 0, done
    return done.stdout


@case
def sort_needs_only_a_part_of_a_name(_):
    orders = {}
    for view, name, word, column in (
            ("topdown", "blame", "idle", "idleness_incl_s"),
            ("critical-path", "graph", "critical", "critical_path_incl"),
            ("flat", "blame", "idle", "idleness_excl_s"), ("bottomup", "blame", "lock", "lockwait_excl_s"),
            ("flat", "blame", "IDLENESS_INCL", "idleness_incl_s"), ("flat", "blame", "rel", "rel_idleness_pct"),
            ("flat", "two", "cache", "cache-misses_excl"), ("topdown", "two", "misses", "cache-misses_incl"),
            ("threads", "places", "idle", "idle_s"), ("threads", "places", "core", "core_wait_s"),
            ("regions", "constructs", "exit", "exit_s"), ("regions", "constructs", "gain", "gain_s"),
            ("region-tree", "constructs", "excl", "excl_s"), ("overheads", "constructs", "sync", "sync_s"),
            ("tasks", "constructs", "p90", "exec_p90_s"), ("parallelism", "graph", "iter", "iteration_parallelism")):
        assert order(view, word, name) == order(view, column, name), (view, word)
        orders.setdefault(view, set()).add(order(view, column, name))
    assert order("flat", "idle", "blame") != order("flat", "idleness_incl_s", "blame")
    assert len(orders["flat"]) > 1 and len(orders["threads"]) > 1


@case
def where_several_columns_fit_the_first_that_is_shown_is_taken(_):
    for view, name, word, column, others in (
            ("tasks", "constructs", "below", "share_below_1us_pct", "share_below_10us_pct"),
            ("threads", "constructs", "Lock", "lockwait_samples", "lockwait_s")):
        done = report(view, "--sort", word, name, cwd=GOLDEN)
        line = f"hpcprof-lite: --sort '{word}' can mean {column}, {others}: it is taken for {column}"
        assert done.returncode == 0 and line in done.stderr.splitlines(), done
        assert order(view, word, name) == order(view, column, name), (view, word)


@case
def headings_and_other_spellings_name_columns(_):
    for view, name, word, column in (
            ("topdown", "blame", "Incl s", "incl_s"), ("topdown", "blame", "self", "self_s"),
            ("threads", "constructs", "CPU", "cpu_s"), ("threads", "constructs", "lock_wait_s", "lockwait_s"),
            ("threads", "constructs", "idle", "idle_s"), ("threads", "constructs", "Lock wait s", "lockwait_s"),
            ("overheads", "constructs", "Sync%", "sync_pct"), ("parallelism", "graph", "Crit%", "critical_path_pct")):
        assert order(view, word, name) == order(view, column, name), (view, word)


@case
def what_fits_no_column_is_refused_with_all_of_them(_):
    for word in ("colour", ""):
        line = refused("flat", "--sort", word, "two", cwd=GOLDEN)
        assert f"by '{word}': its columns are id, " in line and "work_excl_s" in line and "cache-misses_incl" in line, line
    columns = {"regions": "region, kind", "region-tree": "id, parent_id", "threads": "process, rank",
               "overheads": "region, kind", "tasks": "kind, name", "parallelism": "kind, name"}
    for view, first in columns.items():
        listed = refused(view, "--sort", "zzz", "constructs", cwd=GOLDEN).split("its columns are ")[1]
        header = golden_report("-q", view, "-f", "csv", "constructs").stdout.decode().splitlines()[0].split(",")
        assert listed.startswith(first) and set(header) <= set(listed.split(", ")), (view, listed)
        for column in listed.split(", "):
            assert order(view, column, "constructs"), (view, column)


@case
def columns_are_chosen_in_csv_json_and_text(_):
    done = golden_report("-q", "threads", "-f", "csv", "--columns", "cpu,Thread,host", "constructs")
    assert done.stdout.decode().splitlines()[0] == "cpu_s,thread,host", done
    done = golden_report("-q", "threads", "-f", "json", "--columns", "cpu,Thread", "constructs")
    assert json.loads(done.stdout)["columns"] == ["cpu_s", "thread"], done
    text = report("-q", "threads", "--columns", "cpu_s,thread,tool_s", "constructs", cwd=GOLDEN).stdout.splitlines()
    assert ["CPU", "Thread", "tool_s"] in [line.split() for line in text], text
    done = golden_report("topdown", "-q", "-f", "json", "--columns", "name,name,id", "graph")
    assert json.loads(done.stdout)["columns"] == ["name", "id"], done
    done = golden_report("parallelism", "-q", "-f", "csv", "--columns", "lock_bound", "graph")
    whole = list(csv.DictReader(io.StringIO(golden_report("parallelism", "-q", "-f", "csv", "graph").stdout.decode())))
    assert [row["lock_bound"] for row in csv.DictReader(io.StringIO(done.stdout.decode()))] == \
        [row["lock_bound"] for row in whole], done
    text = report("-q", "tasks", "--columns", "construct,exec", "constructs", cwd=GOLDEN).stdout
    assert "creation" not in text and not any(line.endswith(" ") for line in text.splitlines()), text
    text = report("-q", "topdown", "--columns", "name,incl,kind", "graph", cwd=GOLDEN).stdout
    at = next(line.index("kind") for line in text.splitlines() if line.endswith("kind"))
    rows = [line for line in text.splitlines() if line.endswith(("root", "function", "parallel", "task"))]
    assert len(rows) > 2 and all(line[at - 1] == " " != line[at] for line in rows), text
    assert "has no column 'colour': its columns are " in refused("threads", "--columns", "cpu,colour", "two", cwd=GOLDEN)
    assert "--columns needs -f csv or json" in refused("summary", "--columns", "item", "two", cwd=GOLDEN)
    assert "--columns chooses columns of a view" in refused("-f", "html", "--columns", "item", "two", cwd=GOLDEN)


main()
