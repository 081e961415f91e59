#!/usr/bin/env python3
"""Threads of libraries beside OpenMP: those of oneTBB, and those of a BLAS that is built with POSIX threads."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, idleness_of, near, tap, work_of

SETTINGS = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2"}
BLAS = os.path.join(tap.DEPS, "openblas-pthread", "libopenblas.so.0")


def threads_outside(run):
    """The rows of threads that are not OpenMP's: they are never idle."""
    return [row for row in run.threads() if row["thread"] != "1" and float(row["idle_s"]) == 0]


@tap.case
def threads_of_tbb_are_workers(directory):
    if not os.path.exists("/usr/include/oneapi/tbb/parallel_for.h"):
        raise tap.Skip("no libtbb-dev")
    program = build("library_threads.cpp", "g++", "-Wl,--no-as-needed,-ltbb", name="tbb_threads")
    run = Measurement(directory, program, options=("-e", "task-clock@f1000"), **SETTINGS)
    own, nodes = clocks(run.done.stdout), run.tree()
    for body, what in (("tbb_body", "tbb"), ("openmp_body", "openmp")):
        near(work_of(nodes, body), own[what], 0.1, body)
    tap.timed(sum(float(row["work_s"]) for row in threads_outside(run)) > 0, run.threads())  # if one got a core in time
    assert idleness_of(nodes, "tbb_body") > 0, "OpenMP's worker has no work meanwhile"
    alone = tap.run(program, **SETTINGS)
    assert alone.returncode == run.done.returncode == 0 and clocks(alone.stdout).keys() == own.keys(), run.done


@tap.case
def threads_of_a_blas_are_workers(directory):
    if not os.path.exists(BLAS):
        raise tap.Skip("no libopenblas0-pthread in build-deps")
    program, settings = build("blas_threads.c"), {**SETTINGS, "OPENBLAS_NUM_THREADS": "2"}
    alone = tap.run(program, BLAS, **settings)
    run = Measurement(directory, program, BLAS, options=("-e", "task-clock@f1000"), **settings)
    assert alone.returncode == run.done.returncode == 0 and alone.stdout == run.done.stdout, (alone, run.done)
    outside = threads_outside(run)
    inside = [node for node in run.tree() if os.path.basename(node.module).startswith("libopenblas")]
    assert outside and inside, run.threads()
    assert sum(float(row["cpu_s"]) for row in outside) > 0, outside
    assert sum(node.value("work_excl_s") for node in inside) > 0, inside


tap.main()
