#!/usr/bin/env python3
"""Threads of OpenMP that spin without work, while a thread of a library beside them has no core."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file as form
from busy import TWO, need_two_processors
from measured import Measurement, build, no_losses, tap


def measure(directory, policy):
    """The measurement, and sums over its threads."""
    need_two_processors()
    run = Measurement(directory, build("spinning.c"), prefix=TWO, OMP_WAIT_POLICY=policy, OMP_NUM_THREADS="2")
    assert run.done.returncode == 0, run.done
    no_losses(run)
    path, = glob.glob(os.path.join(run.output, "*.hpcrun"))
    threads = [extent.parsed()[0] for extent in form.extents(path) if extent.table == form.THREAD]
    return run, {field: sum(getattr(thread, field) for thread in threads) * 1e-9
                 for field in ("spun_ns", "idle_sampled_ns", "beside_ns", "outside_ns")}


@tap.case
def threads_that_spin_while_others_are_ready_are_found(directory):
    run, sums = measure(directory, "active")
    # Three threads share two cores: while one spins, one of the two others is ready, or waits for the other at the
    # barrier.  A thread that was woken and has not run yet is not seen to be ready.
    # libomp yields its processor while it spins, if there are more threads than processors.
    tap.timed(sums["spun_ns"] > 0.15 * sums["idle_sampled_ns"], sums)
    assert sums["spun_ns"] <= sums["idle_sampled_ns"], sums
    found = {row["class"]: row for row in run.view("advice")}
    tap.timed("spinning" in found, found)
    ready = sum(float(thread["core_wait_s"]) for thread in run.threads())
    evidence = re.search(r"spun for at least ([0-9.]+) s .* were ready without one for ([0-9.]+) s",
                         found["spinning"]["evidence"])
    spun, waited = (float(value) for value in evidence.groups())
    assert abs(spun - sums["spun_ns"]) < 0.001 and abs(waited - ready) < 0.001, (found, sums, ready)
    assert "OMP_WAIT_POLICY=passive" in found["spinning"]["remedy"], found


@tap.case
def threads_that_sleep_are_not(directory):
    run, sums = measure(directory, "passive")
    tap.timed(sums["spun_ns"] < 0.05, sums)


@tap.case
def a_thread_that_was_woken_in_a_call_is_not_serial_code(directory):
    # Both threads of the library work at once, or one is ready: in its barrier, if it was woken there.
    run, sums = measure(directory, "active")
    tap.timed(sums["beside_ns"] > 0.15 * sums["outside_ns"], sums)


tap.main()
