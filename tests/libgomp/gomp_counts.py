"""What the report and the log count equals what an independent library counts that is preloaded in a run without the tool.

The rows of the parallelism view count outermost instances of a construct, so that recursive regions are left out; tasks
and chunks are counted in the log, which has all of them.  Nested locks acquired again by their holder are no acquisitions.

Usage: gomp_counts.py [-k CASE]"""
import collections
import glob
import os
import sys

sys.path[:0] = [os.path.join(sys.path[0], "..", folder) for folder in ("support", "span")]
import reference_replay
from libgomp_case import QUIET, built, measure
from measured import preload_library, tap
from report import rows
from sequences import write_sequences

loops, tasks, calls = (built(f"gomp_{name}.c", "gcc", name=f"gomp_{name}") for name in ("loops", "tasks", "calls"))
LOOP_TASK = 16  # a flag of tasks in the log: its tasks are those of a taskloop
KINDS = {"regions": "parallel", "criticals": "critical", "locks": "lock", "singles": "single", "ordered": "ordered",
         "taskwaits": "taskwait", "taskgroups": "taskgroup", "atomics": "atomic"}


def counted(directory, *command, **settings):
    """What the library counts in a run without the tool: kind → number."""
    path = os.path.join(directory, "counts")
    done = tap.run(*command, cwd=directory, LD_PRELOAD=preload_library("gomp_counter.c"), GOMP_COUNTS=path, **settings)
    assert done.returncode == 0, done
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
    found["tasks"] = found["chunks"] = 0
    for path in glob.glob(os.path.join(output, "*.graph")):
        for stream in reference_replay.streams(path).values():
            for _, op, operands in stream:
                found["chunks"] += op == reference_replay.CHUNK and operands[1] > 0
                found["tasks"] += op == reference_replay.TASK and not operands[-1] & LOOP_TASK
    return found


def equal(directory, *command, kinds=(*(set(KINDS) - {"atomics"}), "tasks", "chunks"), **settings):
    """All these counts are equal, and one of them at least is not 0."""
    expected, found = counted(directory, *command, **settings), reported(directory, *command, **settings)
    different = {kind: (expected[kind], found[kind]) for kind in kinds if expected[kind] != found[kind]}
    assert not different, f"{command}: counted, reported: {different}"
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
        equal(directory, tasks(), "task_rec", "task_clauses", "task_det", "task_groups", "task_flood", "task_depth",
              "tasks_and", OMP_NUM_THREADS=number, **QUIET)


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
