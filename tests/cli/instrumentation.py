#!/usr/bin/env python3
"""Marks, phases and counters of programs: sums are exact, times are the program's own, and nothing is needed without
the tool."""
import collections
import functools
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import trace_formats as formats
from measured import build
from report import report, rows, table
from tap import INCLUDE, LAUNCHER, REPORT, case, compile_c, main, must, need_program, run, shared_directory, timed

MANY_COUNTERS = """
#include <stdio.h>
#include "hpcrun-lite.h"
int main(int count, char **arguments)
{
  char name[64];
  for (int i = 0; i < 25; i++) {
    snprintf(name, sizeof name, "counter-%s-%d", arguments[count - 1], i);
    hpcrun_lite_counter(name, i);
  }
  return 0;
}
"""
REGION = """
#include "hpcrun-lite.h"
int main(void)
{
  for (int i = 0; i < 3; i++) {
    hpcrun_lite_region_begin("setup");
    hpcrun_lite_region_end();
  }
  return 0;
}
"""
CLOCKS = 50e-6  # s by which the counter, scaled to ns, and the program's clock may differ in these short runs


def measured(directory, *arguments, options=(), status=0):
    output = os.path.join(directory, "measurement")
    done = run(LAUNCHER, "-q", *options, "-o", output, build("instrumented.c"), *arguments)
    assert done.returncode == status, done
    return output, done


def counters(output):
    """{counter: its row of all threads}, {(counter, thread): row}."""
    found = rows("user-counters", output)
    return ({row["counter"]: row for row in found if not row["thread"]},
            {(row["counter"], row["process"], row["thread"]): row for row in found if row["thread"]})


def figures(row):
    return tuple(int(row[name]) for name in ("values", "sum", "min", "max"))


@case
def sums_of_counters_are_exact_for_each_thread_and_context(directory):
    for threads in 1, 2, 5:
        place = os.path.join(directory, str(threads))
        os.mkdir(place)
        output, _ = measured(place, "sums", str(threads))
        every, each = counters(output)
        count = 100 * threads
        odd = range(1, count, 2)
        assert figures(every["calls"]) == (len(odd), len(odd), 1, 1)
        values = [*range(count), *(1000 + i for i in odd)]
        assert figures(every["items"]) == (len(values), sum(values), 0, 1000 + odd[-1]), every
        wanted = []
        for thread in range(threads):
            own = range(100 * thread, 100 * thread + 100)
            values = [*own, *(1000 + i for i in own if i % 2)]
            wanted.append((len(values), sum(values), min(values), max(values)))
        assert sorted(figures(row) for (name, *_), row in each.items() if name == "items") == sorted(wanted)
        tree = rows("topdown", output)
        inclusive = collections.Counter()
        for row in tree:
            inclusive[row["name"]] += int(row["items_incl"])
        assert inclusive["left"] == sum(range(count)) and inclusive["right"] == sum(1000 + i for i in odd), inclusive
        everything = inclusive["left"] + inclusive["right"]
        assert sum(int(row["items_excl"]) for row in tree) == int(tree[0]["items_incl"]) == everything
        assert int(tree[0]["calls_incl"]) == len(odd)


@case
def values_are_in_the_trace_one_by_one(directory):
    output, _ = measured(directory, "sums", "2", options=("-t",))
    found = collections.defaultdict(list)
    path = os.path.join(directory, "perfetto")
    must(REPORT, "timeline", "-f", "perfetto", "-o", path, output)
    for event in formats._load(path)["traceEvents"]:
        if event["ph"] == "C" and event["name"] != "working threads":
            found[event["name"]].append(event["args"]["value"])
    for thread in range(2):
        own = range(100 * thread, 100 * thread + 100)
        wanted = [value for i in own for value in ([i, 1000 + i] if i % 2 else [i])]
        assert wanted in found.values(), found
    assert sorted(map(len, found.values())) == [50, 50, 150, 150], {name: len(all) for name, all in found.items()}


def check_times(output, text):
    """The marks are in the program's order, at the times of its own clock."""
    told = [line.split(",") for line in text.splitlines()]
    found = rows("marks", output)
    assert [(row["kind"], row["name"]) for row in found] == [(kind, name) for kind, name, *_ in told if name], found
    first, (_, _, before, after) = float(found[0]["start_s"]), told[0]
    starts = iter(found)
    for kind, name, low, high in told:
        if not name:
            continue
        since = float(next(starts)["start_s"]) - first
        assert (int(low) - int(after)) / 1e9 - CLOCKS <= since <= (int(high) - int(before)) / 1e9 + CLOCKS, (name, since)
    phases = [row for row in found if row["kind"] == "phase"]
    assert all(row["start_s"] == row["end_s"] for row in found if row["kind"] == "mark")
    assert all(a["end_s"] == b["start_s"] for a, b in zip(phases, phases[1:])), "phases do not tile"
    assert [row["name"] for row in phases] == ["setup", "solve", "output"]
    last_s = float(phases[-1]["end_s"]) - float(phases[-1]["start_s"])
    assert last_s > 0.02 - CLOCKS, last_s
    timed(last_s < 0.035, last_s)
    return phases


@case
def marks_and_phases_have_the_times_of_the_program(directory):
    output, done = measured(directory, "marks")
    phases = check_times(output, done.stdout)
    shown = rows("phases", output)
    assert [(row["kind"], row["name"], row["start_s"], row["end_s"]) for row in shown] == [
        ("user", row["name"], row["start_s"], row["end_s"]) for row in phases]
    assert "there is no trace" in run(REPORT, "timeline", output).stderr


@case
def phases_have_the_times_of_the_threads_with_a_trace(directory):
    output, done = measured(directory, "marks", options=("-t",))
    check_times(output, done.stdout)
    for row in rows("phases", output):
        if row["kind"] != "user":
            continue
        parts = sum(float(row.get(name + "_s") or 0) for name in formats.CATEGORIES)
        assert abs(parts - float(row["end_s"]) + float(row["start_s"])) < 1e-6, row  # one thread lives all the time
    timeline = rows("timeline", output)
    kinds = collections.Counter(row["kind"] for row in timeline)
    assert kinds["mark"] == 6 and kinds["phase"] == 3, kinds
    starts = [float(row["start_s"]) for row in timeline]
    assert starts == sorted(starts)
    text = report("timeline", output, COLUMNS="400").stdout
    assert "[setup" in text and "[solve" in text and "vready" in text, text
    assert "Phases of the program" in report("phases", output).stdout


@case
def a_killed_program_keeps_what_it_has_said(directory):
    output, done = measured(directory, "killed", status=-9)
    found = table(report("marks", "-f", "csv", output).stdout)
    assert [row["name"] for row in found] == ["setup", "ready", "solve", *["step"] * 5, "output"], found
    told = [line.split(",") for line in done.stdout.splitlines()]
    since = float(found[-1]["start_s"]) - float(found[0]["start_s"])
    output_phase = next(line for line in told if line[1] == "output")
    timed(abs(since - (int(output_phase[2]) - int(told[0][2])) / 1e9) < 1e-3, since)
    all_threads = table(report("user-counters", "-f", "csv", output).stdout)
    assert {row["counter"]: row["sum"] for row in all_threads if not row["thread"]} == {
        "calls": "100", "items": str(sum(range(200)) + sum(1000 + i for i in range(1, 200, 2)))}, all_threads


@case
def a_hundred_thousand_marks_are_kept(directory):
    output, _ = measured(directory, "many", "100000")
    found = rows("marks", output)
    count = collections.Counter((row["thread"], row["name"]) for row in found)
    assert len(found) == 100000 and sorted(count.values()) == [25000] * 4, count
    starts = [float(row["start_s"]) for row in found]
    assert starts == sorted(starts)


@case
def names_are_cut_and_losses_are_counted(directory):
    output, _ = measured(directory, "names")
    found = rows("marks", output)
    assert [row["name"] for row in found] == ["x" * 255, "y" * 254, 'a"b\\c,d\n</script>&\x01\x7f\ufffd\u00e9'], found
    every, _ = counters(output)
    assert len(every) == 32 and figures(every["x" * 255]) == (1, 3, 3, 3)
    lost = {row["item"]: row["value"] for row in rows("summary", output)}["marks or counter values not kept"]
    assert int(lost) == 3 + 100 - 31, lost  # three empty names, counters beyond the 32nd
    assert "marks or counter values not kept" in report(output).stdout


HARDLY = """
#include <hpcrun-lite.h>
#include <time.h>
int main(void)
{
  hpcrun_lite_start();
  hpcrun_lite_stop();
  while (clock() < CLOCKS_PER_SEC / 5)
    ;
}
"""


@case
def while_paused_marks_are_kept_and_values_are_not(directory):
    output, _ = measured(directory, "pause")
    assert [row["name"] for row in rows("marks", output)] == ["while paused", "begun while paused"]
    assert figures(counters(output)[0]["items"]) == (2, 21, 1, 20)


@case
def each_process_has_its_own(directory):
    output, _ = measured(directory, "processes", "3")
    found = rows("marks", output)
    assert sorted(row["name"] for row in found) == ["child"] * 3 + ["parent"]
    assert len({row["process"] for row in found}) == 4 and found[-1]["name"] == "parent"
    every, each = counters(output)
    assert figures(every["items"]) == (3, 3, 0, 2) and len(each) == 3


@case
def counters_of_many_processes_leave_room_for_events(directory):
    program = compile_c(directory, "many", MANY_COUNTERS, "-I", INCLUDE)
    runs = [os.path.join(directory, f"run-{number}") for number in range(4)]
    for number in range(3):
        must(LAUNCHER, "-q", "-p", "off", "-o", runs[number], program, str(number))
    must(LAUNCHER, "-q", "-p", "off", "-e", "task-clock", "-e", "page-faults@1", "-o", runs[3], "/bin/true")
    done = run(REPORT, "--merge", "--view", "topdown", "-f", "csv", *runs)
    header = done.stdout.splitlines()[0].split(",")
    assert "page-faults_excl" in header, header
    assert sum(name.startswith("counter-") for name in header) == 2 * 32, header
    assert "contexts do not have the program's counter 'counter-" in done.stderr, done
    listed = run(REPORT, "--merge", "--view", "user-counters", "-f", "csv", *runs).stdout
    assert listed.count("\ncounter-") == 2 * 3 * 25, listed  # of all threads, and of each


NAMES = """
#include <stdio.h>
#include "hpcrun-lite.h"
int main(void)
{
  volatile double sum = 0;
  hpcrun_lite_phase("before");
  hpcrun_lite_counter("page-faults", 5);
  hpcrun_lite_counter("page-faults_user", 6);
  hpcrun_lite_counter("critical_path", 7);
  for (int i = 0; i < 60000000; i++)
    sum += i;
  return 0;
}
"""


@case
def counters_do_not_take_the_names_of_other_columns(directory):
    program, output = compile_c(directory, "names", NAMES, "-I", INCLUDE), os.path.join(directory, "measurement")
    must(LAUNCHER, "-q", "-t", "-c", "page-faults", "-o", output, program)
    for view in "topdown", "flat":
        names = must(REPORT, "--view", view, "-f", "csv", output).splitlines()[0].split(",")
        assert len(set(names)) == len(names) and {"page-faults_user_incl", "critical_path_user_incl"} < set(names), names
    assert table(must(REPORT, "--view", "flat", "-f", "csv", "--sort", "page-faults_user_incl", output))
    assert len(rows("user-counters", output)) == 6, "a line of each, and of its thread"
    text = must(REPORT, "--view", "user-counters", output)
    assert "\n    page-faults\n" in text and max(map(len, text.splitlines())) <= 80, text
    done = run(REPORT, "--view", "user-counters", "--from", "0.02", output)
    assert done.returncode == 1 and "counted nothing between --from and --to" in done.stderr, done


@case
def a_run_that_was_paused_to_its_end_says_so(directory):
    program, output = compile_c(directory, "names", NAMES, "-I", INCLUDE), os.path.join(directory, "measurement")
    must(LAUNCHER, "-q", "--paused", "-o", output, program)
    text = " ".join(must(REPORT, output).split())
    assert "because measuring was paused from the start to the end" in text and "too little" not in text, text


@case
def a_run_that_was_hardly_measured_is_not_called_filtered(directory):
    program = compile_c(directory, "hardly", HARDLY, "-I", INCLUDE)
    config = os.path.join(directory, "config.ini")
    with open(config, "w", encoding="ascii") as file:
        file.write("[filter]\nskip-first = 1000 s\n")
    for options, why in ((("--paused",), "perhaps because measuring was paused"),
                         (("--config", config), "a filter leaves out all threads or the whole time")):
        output = os.path.join(directory, f"run{len(options)}")
        must(LAUNCHER, "-q", "-e", "task-clock@f1000", *options, "-o", output, program)
        text = " ".join(must(REPORT, output).split())
        assert f"although the program used CPU time{',' if len(options) == 1 else ':'} {why}" in text, text


@case
def negative_values_are_refused_and_sums_do_not_wrap(directory):
    output, _ = measured(directory, "bad")
    every, _ = counters(output)
    assert figures(every["items"]) == (3, 2**64 - 1, 5, 2**63 - 1), every
    lost = {row["item"]: row["value"] for row in rows("summary", output)}["marks or counter values not kept"]
    assert lost == "2", lost


@case
def omp_control_tool_marks_too(directory):
    """Only runtimes with OMPT have that function: libomp."""
    need_program("clang")
    output = os.path.join(directory, "measurement")
    assert must(LAUNCHER, "-q", "-o", output, build("instrumented.c", "clang"), "control") == "0 0 0\n"
    assert [(row["kind"], row["name"]) for row in rows("marks", output)] == [("mark", "marked"), ("phase", "phase")]


@case
def nothing_changes_without_the_tool(_):
    binary = build("instrumented.c")
    for arguments in ("sums", "2"), ("names",), ("pause",), ("processes", "2"), ("bad",), ("many", "1000"):
        done = run(binary, *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
    assert must(binary, "marks").count("\n") == 10


@functools.lru_cache(maxsize=None)
def fortran(level):
    need_program("gfortran")
    place, source = shared_directory(), os.path.dirname(os.path.abspath(__file__))
    module = os.path.join(place, f"hpcrun_lite{level}.o")
    must("gfortran", level, "-g", "-Wall", "-std=f2008", "-c", os.path.join(INCLUDE, "hpcrun_lite.f90"), "-o", module,
         cwd=place)
    binary = os.path.join(place, "annotated" + level)
    must("gfortran", level, "-g", "-fopenmp", "-I", place, os.path.join(source, "annotated.f90"), module, "-o", binary,
         cwd=place)
    return binary


@case
def fortran_says_the_same(directory):
    for level in "-O0", "-O2":
        alone = must(fortran(level))
        output = os.path.join(directory, level)
        done = run(LAUNCHER, "-q", "-o", output, fortran(level))
        assert (done.returncode, done.stdout) == (0, alone), done
        assert [(row["kind"], row["name"]) for row in rows("marks", output)] == [
            ("phase", "setup"), ("mark", "begin"), ("phase", "output"), ("mark", "x" * 255)]
        every, each = counters(output)
        assert figures(every["items"]) == (100, 5050, 1, 100) and figures(every["bytes"]) == (100, 800, 8, 8)
        assert len(each) == 6
        tree = rows("topdown", output)
        assert sum(int(row["items_excl"]) for row in tree if row["name"] == "leaf") == 5050, "it is the caller's"
        kernel = next(row for row in tree if row["name"] == "kernel")
        assert kernel["kind"] == "user-region" and float(kernel["work_incl_s"]) > 0, kernel


@case
def regions_have_names_without_openmp(directory):
    program = compile_c(directory, "region", REGION, f"-I{INCLUDE}")
    for name, tool in ("without", "enabled"), ("disabled", "disabled"):
        output = os.path.join(directory, name)
        must(LAUNCHER, "-q", "-o", output, program, OMP_TOOL=tool)
        row, = (row for row in rows("regions", output) if row["thread"] == "SUM")
        assert (row["kind"], row["name"], row["exec_count"]) == ("user-region", "setup", "3"), row


@case
def what_is_not_there_is_one_line(directory):
    output = os.path.join(directory, "measurement")
    must(LAUNCHER, "-q", "-o", output, "true")
    for view, missing in ("marks", "has marked nothing"), ("user-counters", "has counted nothing"):
        done = report("-q", view, output)
        assert done.returncode == 1 and missing in done.stderr and done.stderr.count("\n") == 1, done


main()
