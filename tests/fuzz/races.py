#!/usr/bin/env python3
"""tests/unit/test_concurrency.c, what threads share in RT, built with the thread sanitizer: no data race."""
import glob
import os
import platform
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import sanitized_build
import tap

# What the test does not reach is left out: it calls functions outside rt/.
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-w", "-fsanitize=thread", "-ftls-model=initial-exec",
         "-ffunction-sections", "-Wl,--gc-sections", "-I", tap.SOURCE)
SOURCES = sorted(glob.glob(os.path.join(tap.SOURCE, "hpcrun-lite", "rt", "**", "*.c"), recursive=True) +
                 glob.glob(os.path.join(tap.SOURCE, "hpcrun-lite", "arch", platform.machine(), "*.c")))
TEST = os.path.join(tap.TESTS, "unit", "test_concurrency.c")


def compiler():
    for name in ("clang", os.environ.get("CC", "cc")):
        if sanitized_build.links(name, "-shared", "-fPIC", "-fsanitize=thread"):
            return name
    raise tap.Skip("no compiler here has the thread sanitizer")


@tap.group
def concurrency(directory):
    program = os.path.join(directory, "test_concurrency")
    tap.must(compiler(), *FLAGS, *SOURCES, TEST, "-o", program, "-lcmocka", "-lpthread")
    return tap.relay(program)  # it exits with another status than 0 where there was a race


tap.main()
