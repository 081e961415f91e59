#!/usr/bin/env python3
"""The program's locks are not held longer for the tool: its instructions between the runtime's acquisition and the
program's work, and between that and the runtime's release.

held_locks.c counts them by stepping, so neither clocks nor other processes matter.  What remains is a handful of notes
and one reading of the clock at either side, not the bookkeeping.  Stepping makes the kernel interrupt the thread after
each instruction; the tool then asks for the thread's CPU time, as after each switch of threads.  That is not counted.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap
from measured import build

OF_QUERIES = re.compile(r"(work_clock_(query|rebase|calibrate)|query_kernel|to_ticks|rseq_\w+|sys_thread_cpu_ns)(\.\w+)*")
# The most instructions after an acquisition and before a release, and readings of the clock.  With -p off there are
# none where GCC's runtime is known not to let the thread wait; libomp does not say so before.  A thread that was
# switched while it waited notes that, in 17 instructions; here, each single step is a switch.
LIMITS = {("gcc", "off"): (90, 90, 0, 0), ("gcc", "online"): (210, 90, 1, 1),
          ("clang", "off"): (145, 0, 1, 0), ("clang", "online"): (280, 0, 1, 0)}


def ranges_of_queries():
    """The addresses of the functions that ask the kernel for CPU time, in the tool's file."""
    found = []
    for line in tap.must("nm", "-S", "--defined-only", tap.LIBRARY).splitlines():
        words = line.split()
        if len(words) == 4 and OF_QUERIES.fullmatch(words[3]):
            found.append(f"{int(words[0], 16):x}-{int(words[0], 16) + int(words[1], 16):x}")
    assert found, "the library has no symbols"
    return found


def check(directory, compiler, mode, lock):
    done = tap.run(tap.LAUNCHER, "-q", "--overwrite", "-o", os.path.join(directory, "measured"), "-e", "task-clock@3600000000",
                   "-p", mode, "--", build("held_locks.c", compiler), lock, *ranges_of_queries(), cwd=directory,
                   OMP_NUM_THREADS="2")
    assert done.returncode == 0, done
    counts = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(counts) == 10, done.stdout
    usual = sorted(counts)[len(counts) // 2]  # a sample may fall between
    print(f"# {lock} by {compiler}, {mode}: {usual}", flush=True)
    assert all(count <= limit for count, limit in zip(usual, LIMITS[compiler, mode])), (lock, usual, LIMITS[compiler, mode])


def as_case(compiler, mode):
    def function(directory):
        for lock in ("critical", "named", "lock"):
            check(directory, compiler, mode, lock)
    function.__name__ = f"{compiler}_{mode}"
    return function


@tap.case
def an_end_inside_a_critical_section(directory):
    """The section in which the program ends is counted, though only its release would record it."""
    for compiler in ("gcc", "clang"):
        where = os.path.join(directory, compiler)
        done = tap.run(tap.LAUNCHER, "-q", "-o", where, "--", build("held_locks.c", compiler), "inside", cwd=directory,
                       OMP_NUM_THREADS="2")
        assert done.returncode == 0, done
        view = json.loads(tap.must(tap.REPORT, "--view", "regions", "-f", "json", where))
        counts = [row["exec_count"] for row in view["rows"] if row["kind"] == "critical"]
        assert set(counts) == {301}, (compiler, counts)


tap.need_program("nm")
for each in LIMITS:
    tap.case(as_case(*each))
tap.main()
