#!/usr/bin/env python3
"""Programs that end in a target construct, fork, or have many (target_ends.c), by clang on devices and by GCC on the host:
the same output and status as alone, and what was measured until then.  And what the kernel counts in a target region."""
import functools
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from device_case import FOUND, device_program, executions, old_device_program, old_libraries
from measured import Measurement, build, tap

STATUS = {"abort": -6, "exit": 3, "_exit": 4, "term": -15, "fault": -11, "nowait": 6, "forks": 0, "loop": 0}
PAGES, FEW = 500, 100


@functools.lru_cache(maxsize=None)
def programs():
    """Names → programs, and their settings: those that can be built here."""
    builders = {"clang 19": lambda: (device_program("target_ends.c"), FOUND),
                "clang 19 without libomp.so": lambda: (device_program("target_ends.c"), {}),
                "clang 14": lambda: (old_device_program("target_ends.c", 14), {"LD_LIBRARY_PATH": old_libraries(14)}),
                "gcc": lambda: (build("target_ends.c", "gcc"), {})}
    found = {}
    for name, builder in builders.items():
        try:
            found[name] = builder()
        except tap.Skip as reason:
            print(f"# {reason}", flush=True)
    return found


def measure(directory, name, mode, *options):
    program, settings = programs()[name]
    return Measurement(directory, program, mode, options=("-q", "-e", "task-clock@f1000", *options), timeout=60, **settings)


@tap.case
def the_same_as_alone(directory):
    for name, (program, settings) in programs().items():
        for mode, status in STATUS.items():
            alone = tap.run(program, mode, timeout=60, **settings)
            run = measure(directory, name, mode, *(("-p", "log", "-t") if len(mode) % 2 else ()))
            assert alone.returncode == status, (name, mode, alone)
            assert (alone.returncode, alone.stdout, alone.stderr) == \
                (run.done.returncode, run.done.stdout, run.done.stderr), (name, mode, alone, run.done)
            expected = {"forks": 2, "loop": 10000}.get(mode, 1)
            assert executions(run).get("target", 0) == expected, (name, mode, executions(run))


@tap.case
def page_faults_of_a_region(directory):
    """Counted by the kernel for the construct, by -c for it and its function, and sampled with -e."""
    for name in programs():
        run = measure(directory, name, "faults", "-c", "page-faults")
        for column in ("page_faults", "page-faults"):
            counts = [int(row[column]) for row in run.view("regions") if row["kind"] == "target" and
                      row["thread"] == "SUM" and int(row[column]) >= PAGES]
            assert len(counts) == 1 and counts[0] < PAGES + FEW, (name, column, counts)
        run = measure(directory, name, "faults", "-e", "page-faults@10")
        sampled = sum(float(node.row["page-faults_excl"] or 0) for node in run.tree() if "faults" in node.path())
        assert abs(sampled - PAGES) <= FEW, (name, sampled)


@tap.case
def system_time_of_a_region(directory):
    for name in programs():
        run = measure(directory, name, "calls")
        own = float(run.done.stdout.split()[1])
        found = max(float(row["system_s"]) for row in run.view("regions") if row["kind"] == "target" and
                    row["thread"] == "SUM")
        tap.timed(abs(found - own) < 0.012 + 0.2 * own, name, found, own)  # the kernel counts time in its ticks


tap.main()
