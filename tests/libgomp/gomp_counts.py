"""What the report and the log count equals what an independent library counts, which is preloaded in a run without the
tool, and behind the tool; the most threads in use and exact waits of programs where they are known.

The rows of the parallelism view count outermost instances of a construct, so that recursive regions are left out; tasks
and chunks are counted in the log, and executions in the regions view, which have all of them.  A nested lock that its
holder takes again is not acquired.

Usage: gomp_counts.py [-k CASE]"""
import collections
import glob
import os
import sys

sys.path[:0] = [os.path.join(sys.path[0], "..", folder) for folder in ("support", "span")]
import reference_replay
from libgomp_case import MODES, QUIET, built, measure
from measured import build, preload_library, tap
from measurement_file import TABLES, extents
from report import rows
from sequences import write_sequences

loops, tasks, calls = (built(f"gomp_{name}.c", "gcc", name=f"gomp_{name}") for name in ("loops", "tasks", "calls"))
figures = built("gomp_figures.c", name="gomp_figures")
REGION_END, TASKWAIT, LOCK_WAIT = 1, 3, 4  # FORMAT_WAIT_REGION_END, _TASKS, _LOCK
LOOP_TASK = 16  # a flag of tasks in the log: its tasks are those of a taskloop
KINDS = {"regions": "parallel", "criticals": "critical", "locks": "lock", "singles": "single", "ordered": "ordered",
         "taskwaits": "taskwait", "taskgroups": "taskgroup", "atomics": "atomic"}


def counter(path):
    """Settings with which the library counts in a process: behind the tool's own, where that is preloaded."""
    return {"LD_PRELOAD": preload_library("gomp_counter.c"), "GOMP_COUNTS": path}


def read_counts(path):
    """What the library counted: kind → number."""
    with open(path, encoding="ascii") as file:
        found = {kind: int(value) for kind, value in map(str.split, file)}
    found["criticals"] += found.pop("atomics")
    return found


def reported(directory, *command, **settings):
    """What the report and the log of a measured run count."""
    done = measure(directory, "log", *command, **settings)
    assert done.returncode == 0 and "libgomp of GCC" in done.stderr, done
    output = os.path.join(directory, "measured-log")
    instances = collections.Counter()
    table = rows("parallelism", output)
    for row in table:
        instances[row["kind"]] += int(row["instances"])
    found = {kind: instances[name] for kind, name in KINDS.items()}
    found["criticals"] += found.pop("atomics")  # GCC's atomics are calls, too
    found["taskgroups"] -= sum(int(row["instances"]) for row in table if row["kind"] == "taskloop")  # their own groups
    executions = collections.Counter()
    for row in rows("regions", output):
        wait = row["kind"] == "ordered" and not float(row["body_s"])  # of a doacross loop
        if row["thread"] == "SUM" and not wait:
            executions[row["kind"]] += int(row["executions"])
    found["executions"] = {kind: executions[name] for kind, name in KINDS.items()}
    found["executions"]["criticals"] += found["executions"].pop("atomics")
    found["tasks"] = found["chunks"] = 0
    for path in glob.glob(os.path.join(output, "*.graph")):
        for stream in reference_replay.streams(path).values():
            for _, op, operands in stream:
                found["chunks"] += op == reference_replay.CHUNK and operands[1] > 0
                found["tasks"] += op == reference_replay.TASK and not operands[-1] & LOOP_TASK
    return found


def equal(directory, *command, kinds=(*(set(KINDS) - {"atomics"}), "tasks", "chunks"), **settings):
    """All these counts are equal, and one of them at least is not 0.

    The library behind the tool sees the calls that reach libgomp; the tool begins the group of a taskloop itself."""
    alone, behind = (os.path.join(directory, name) for name in ("alone", "behind"))
    tap.must(*command, cwd=directory, **counter(alone), **settings)
    found = reported(directory, *command, **counter(behind), **settings)
    expected = read_counts(alone)
    passed = read_counts(behind)
    differ = {kind: (expected[kind], passed[kind]) for kind in expected if expected[kind] != passed[kind]}
    assert not set(differ) - {"taskgroups"}, (command, differ)
    different = {kind: (expected[kind], found[kind]) for kind in kinds if expected[kind] != found[kind]}
    assert not different, f"{command}: counted, reported: {different}"
    # all executions, those of recursive constructs included
    different = {kind: (expected[kind], count) for kind, count in found["executions"].items() if expected[kind] != count}
    assert not different, f"{command}: counted, executions: {different}"
    assert any(expected[kind] for kind in kinds), expected


@tap.case
def loops_sections_and_exclusion(directory):
    for number in ("2", "4"):
        for program, cases in ((loops, "ordered doacross sections singles collapsed barriers loop_mono loop_guided"),
                               (calls, "crit locks old_sta old_reg direct combined")):
            equal(directory, program(), *cases.split(), OMP_NUM_THREADS=number, **QUIET)


@tap.case
def tasks_and_groups(directory):
    for number in ("2", "4"):
        cases = ("task_rec", "task_clauses", "task_det", "task_groups", "task_flood", "task_depth", "taskloop_many",
                 "taskloop_priority", "tasks_and")
        equal(directory, tasks(), *cases, OMP_NUM_THREADS=number, **QUIET)


def summary(directory, word, item, **settings):
    """The number that the program of known figures prints, and an item of the summary of its run."""
    done = measure(directory, "online", figures(), word, **QUIET, **settings)
    assert done.returncode == 0, done
    table = rows("summary", os.path.join(directory, "measured-online"))
    return float(done.stdout), next(float(row["value"]) for row in table if row["item"] == item)


@tap.case
def the_first_wait_for_a_critical_section(directory):
    together = build("gomp_figures.c", "gcc", "-DTOGETHER", "-shared", "-fPIC", name="together.so")
    waited, found = summary(directory, "criticals", "lock wait", LD_PRELOAD=together)
    tap.timed(waited > 0.05 and found > waited / 2, (waited, found))


@tap.case
def sections_that_are_free_are_not_timed(directory):
    done = measure(directory, "off", calls(), "crit", OMP_NUM_THREADS="1", **QUIET)
    assert done.returncode == 0, done
    path, = glob.glob(os.path.join(directory, "measured-off", "*.hpcrun"))
    timed = [record.count for extent in extents(path) if extent.table == TABLES["waits"]
             for record in extent.parsed() if record.kind == LOCK_WAIT]
    assert not sum(timed), timed


@tap.case
def sections_exclude_calls_past_the_tool(directory):
    for mode in MODES:
        done = measure(directory, mode, figures(), "past", OMP_WAIT_POLICY="active")
        assert done.stdout.split() == ["100000"] * 3, (mode, done)


@tap.case
def a_league_has_the_threads_of_one_team(directory):
    counted, found = summary(directory, "league", "threads_max")
    assert (counted, found) == (6, 2), (counted, found)


@tap.case
def tasks_of_all_kinds_interrupt_a_wait(directory):
    # With and without a record of each creation; no sample divides an interval.
    program, output = build("gomp_waited.cc", "g++"), os.path.join(directory, "measured")
    for options in ((), ("--task-context", "creation")):
        done = tap.run(tap.LAUNCHER, "--overwrite", "-o", output, "-p", "off", "-t", *options,
                       "-e", "task-clock@3600000000", "--", program, **QUIET)
        assert (done.returncode, done.stdout) == (0, "45\n"), done
        path, = glob.glob(os.path.join(output, "*.hpcrun"))
        waits = collections.Counter()
        for extent in extents(path):
            for record in extent.parsed() if extent.table == TABLES["waits"] else ():
                waits[record.kind] += record.count
        assert +waits == {TASKWAIT: 45 + 1, REGION_END: 1}, (options, waits)
        # Work before the first, in each task, and after each wait.  A search for a task can be too short for the trace,
        # or become idleness, and one interval of two.
        intervals = collections.Counter(row["category"] for row in rows("timeline", output))
        assert 1 <= intervals["overhead"] <= 45 + 2 and 2 <= intervals["work"] <= 45 + 3, (options, intervals)


@tap.case
def graphicsmagick(directory):
    tap.need_program("gm")
    equal(directory, "gm", "convert", "-size", "300x300", "gradient:red-blue", "-blur", "0x3", "out.ppm",
          OMP_NUM_THREADS="2", **QUIET)


@tap.case
def primecount(directory):
    tap.need_program("primecount")
    equal(directory, "primecount", "1e11", OMP_NUM_THREADS="1", **QUIET)


@tap.case
def clustal_omega(directory):
    tap.need_program("clustalo")
    write_sequences(os.path.join(directory, "in.fa"), "ACDEFGHIKLMNPQRSTVWY", 60, 100, 0.2)
    equal(directory, "clustalo", "-i", "in.fa", "-o", "out.aln", "--force", "--threads=2", **QUIET)


@tap.case
def fasttree(directory):
    tap.need_program("fasttreeMP")
    write_sequences(os.path.join(directory, "in.fa"), "ACGT", 60, 200, 0.3)
    equal(directory, "fasttreeMP", "-nt", "-gtr", "-seed", "1", "in.fa", OMP_NUM_THREADS="2", **QUIET)


tap.main()
