#!/usr/bin/env python3
"""hpcprof-lite where each of its allocations in turn finds no memory: it says so, exits 1 and never crashes; a report
that is not whole is never presented as one."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from tap import GOLDEN, REPORT, Skip, case, compile_c, environment, main, run

HERE = os.path.dirname(os.path.abspath(__file__))
# View, its options, the measurements.
REPORTS = [("summary", (), "recorded"), ("topdown", ("-f", "csv"), "events"), ("topdown", ("--root", "#2"), "blame"),
           ("bottomup", ("-f", "csv"), "blame"), ("flat", ("-f", "json"), "blame"), ("threads", (), "two"),
           ("efficiency", (), "blame"), ("parallelism", ("--what-if", "#2=16"), "recorded"),
           ("critical-path", ("-f", "csv"), "recorded"), ("whatif", (), "recorded"),
           ("whatif", ("-f", "csv", "--what-if", "#1=2,#3=4", "--what-if", "#2=3"), "recorded-time"),
           ("speedup", ("-f", "csv"), "recorded")]


def library(directory):
    """Builds what makes allocations fail."""
    with open(os.path.join(HERE, "fail_malloc.c"), encoding="utf-8") as file:
        return compile_c(directory, "fail_malloc.so", file.read(), "-shared", "-fPIC", "-ldl")


def report(preload, arguments, **settings):
    return subprocess.run([REPORT, "-q", *arguments], cwd=GOLDEN, timeout=60, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment(LC_ALL="C.UTF-8", LD_PRELOAD=preload, **settings))


def allocations(preload, arguments):
    """The sound report and how many allocations it takes."""
    reader, writer = os.pipe()
    done = subprocess.run([REPORT, "-q", *arguments], cwd=GOLDEN, timeout=60, check=True, stdout=subprocess.PIPE,
                          pass_fds=[writer], env=environment(LC_ALL="C.UTF-8", LD_PRELOAD=preload,
                                                             FAIL_COUNT=str(writer)))
    os.close(writer)
    with os.fdopen(reader) as file:
        return done.stdout, int(file.read())


def attempt(preload, arguments, whole, number, settings):
    """Fails one allocation, or all from one on."""
    done = report(preload, arguments, FAIL_AT=str(number), **settings)
    said = done.stderr.decode().splitlines()
    told = done.returncode in (1, 2) and said and all(line.startswith("hpcprof-lite: ") for line in said)
    unharmed = done.returncode == 0 and done.stdout == whole and not said
    assert told or unharmed, (arguments, number, settings, done)
    return bool(told)


@case
def want_of_memory_is_said(directory):
    preload = library(directory)
    for view, options, where in REPORTS:
        for threads in ("1", "2") if view == "summary" else ("1",):
            arguments = ("-j", threads, "--view", view, *options, where)
            whole, count = allocations(preload, arguments)
            assert count > 50, (arguments, count)
            with ThreadPoolExecutor(2) as pool:
                for settings in ({}, {"FAIL_ALL": "1"}):
                    told = list(pool.map(lambda number: attempt(preload, arguments, whole, number, settings),
                                         range(1, count + 1)))
                    assert sum(told) > count // 2, (arguments, settings, sum(told), count)


@case
def want_of_memory_for_symbols_is_said(directory):
    """The same with a real program's symbols: what is read in a child process fails there."""
    preload = library(directory)
    launcher = os.environ.get("HPCRUN_LITE_TEST_LAUNCHER", "hpcrun-lite")
    program = compile_c(directory, "busy", """
        #include <time.h>
        static volatile double x;
        int main(void) { while (clock() < CLOCKS_PER_SEC / 5) x += 1; return 0; }""")
    out = os.path.join(directory, "measured")
    done = run(launcher, "-o", out, program, cwd=directory)
    if done.returncode:
        raise Skip(f"cannot measure here: {done.stderr}")
    arguments = ("-j", "1", "--view", "topdown", "-f", "csv", out)
    whole, count = allocations(preload, arguments)
    assert b"main" in whole
    with ThreadPoolExecutor(2) as pool:
        for settings in ({}, {"FAIL_ALL": "1"}):
            for number, done in pool.map(lambda n: (n, report(preload, arguments, FAIL_AT=str(n), **settings)),
                                         range(1, count + 1, 3)):
                assert done.returncode in (0, 1, 2), (number, settings, done)
                assert done.returncode == 0 or done.stderr, (number, settings, done)


main()
