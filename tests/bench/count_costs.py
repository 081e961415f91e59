#!/usr/bin/env python3
"""What counting events (-c) costs at the boundaries between constructs: with a read of perf_event's group, with
getrusage(), and where boundaries are left out.

Usage: count_costs.py [RUNS]

A program enters empty critical sections, of which each has three boundaries.  At the first thousand the counters are
read, because time for 4096 reads is saved up at the start; later nearly all are left out.  Each figure is CPU time, the least of
RUNS runs, by default 7: other load only adds to it.  The difference to the line without -c is what counting costs."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap
from measured import build

THREE = "page-faults,context-switches,cpu-migrations"
BY_USAGE = "page-faults,context-switches"
WAYS = [("without -c", (), False), ("one event", ("-c", "page-faults"), False), ("three events", ("-c", THREE), False),
        ("getrusage", ("-c", BY_USAGE), True)]
BOUNDARIES = 3


def measure(program, deny, mode, runs):
    """Way → ns for a section, of the first ones and of later ones."""
    least = {}
    for _ in range(runs):
        for name, options, denied in WAYS:
            with tempfile.TemporaryDirectory() as directory:
                done = tap.must(*((deny,) if denied else ()), tap.LAUNCHER, "-q", "--config", "none", "-e",
                                "task-clock@f1", "-p", mode, *options, "-o", os.path.join(directory, "run"), program)
            found = [float(word) for word in done.split()]
            least[name] = [min(pair) for pair in zip(least.get(name, found), found)]
    return least


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    program, deny = build("critical_sections.c", "gcc"), build("deny_perf_event.c", "gcc", openmp=False)
    print(f"{'':22}{'ns a section':>24}{'ns more a boundary':>24}")
    print(f"{'':22}{'first':>12}{'later':>12}{'read':>12}{'left out':>12}")
    for mode in ("online", "log"):
        least = measure(program, deny, mode, runs)
        for name, _, _ in WAYS:
            more = [(a - b) / BOUNDARIES for a, b in zip(least[name], least["without -c"])]
            print(f"-p {mode:7}{name:12}" + "".join(f"{value:12.0f}" for value in least[name] + more))


main()
