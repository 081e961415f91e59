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

LOOP_TASK = 16  # a flag of tasks in the log: its tasks are those of a taskloop
KINDS = {"regions": "parallel", "criticals": "critical", "locks": "lock", "singles": "single", "ordered": "ordered",
         "taskwaits": "taskwait", "taskgroups": "taskgroup", "atomics": "atomic"}


def counted(directory, *command, **settings):
    """What the library counts in a run without the tool: kind → number."""
    path = os.path.join(directory, "counts")
    done = tap.run(*command, cwd=directory, LD_PRELOAD=preload_library("gomp_counter.c"), GOMP_COUNTS=path, **settings)
    assert done.returncode == 0, done
    with open(path, encoding="ascii") as file:
        return {kind: int(value) for kind, value in map(str.split, file)}


def reported(directory, *command, **settings):
    """What the report and the log of a measured run count."""
    done = measure(directory, "log", *command, **settings)
    assert done.returncode == 0 and "libgomp of GCC" in done.stderr, done
    output = os.path.join(directory, "measured-log")
    instances = collections.Counter()
    for row in rows("parallelism", output):
        instances[row["kind"]] += int(row["instances"])
    found = {kind: instances[name] for kind, name in KINDS.items()}
    found["tasks"] = found["chunks"] = 0
    for path in glob.glob(os.path.join(output, "*.graph")):
        for stream in reference_replay.streams(path).values():
            for _, op, operands in stream:
                found["chunks"] += op == reference_replay.CHUNK and operands[1] > 0
                found["tasks"] += op == reference_replay.TASK and not operands[-1] & LOOP_TASK
    return found


def equal(directory, *command, kinds=(*KINDS, "tasks", "chunks"), **settings):
    """All these counts are equal, and one of them at least is not 0."""
    expected, found = counted(directory, *command, **settings), reported(directory, *command, **settings)
    different = {kind: (expected[kind], found[kind]) for kind in kinds if expected[kind] != found[kind]}
    assert not different, f"{command}: counted, reported: {different}"
    assert any(expected[kind] for kind in kinds), expected
