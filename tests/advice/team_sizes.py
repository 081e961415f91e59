#!/usr/bin/env python3
"""With how many threads regions would take least time: whether the forecasts agree with the programs' own clocks.

Usage: team_sizes.py [--long] [-k CASE]     (--long: each case by both compilers)"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from busy import TWO, need_two_processors
from measured import Measurement, build, line_of, tap
from report import rows

SETTINGS = {"OMP_WAIT_POLICY": "passive"}


def measure(directory, compiler, kind, threads):
    need_two_processors()
    place = os.path.join(directory, f"{compiler}-{kind}-{threads}")
    os.makedirs(place, exist_ok=True)
    run = Measurement(place, build("team_sizes.c", compiler), kind, prefix=TWO, OMP_NUM_THREADS=str(threads),
                      **SETTINGS)
    assert run.done.returncode == 0, run.done
    return run


def region(table, place):
    line = line_of("team_sizes.c", f"/* {place} */")
    row, = (row for row in table if row["kind"] == "parallel" and row["thread"] == "SUM")
    assert abs(int(row["line"]) - line) <= 1, (line, row)
    return row


def should_have(row, threads):
    """Whether the region, which had two, takes least time with that many; with one, it gains enough to be shown."""
    gain = float(row["best_gain_s"] or 0)
    enough = gain > 0.02 * float(row["exec_s"]) / 2 if threads == 1 else gain == 0
    tap.timed(row["best_threads"] == str(threads) and enough, {name: row[name] for name in (
        "exec_s", "body_s", "startup_s", "exit_barrier_s", "best_threads", "best_gain_s")})


def elapsed(compiler, kind, threads):
    """Of the program alone, as it measures it: the median of some runs."""
    return statistics.median(float(tap.must(*TWO, build("team_sizes.c", compiler), kind, str(threads), **SETTINGS))
                             for _ in range(3))


def text(*directories):
    return tap.must(tap.REPORT, "--view", "regions", *directories)


def check_sign(compiler, kind, fewer):
    one, two = elapsed(compiler, kind, 1), elapsed(compiler, kind, 2)
    tap.timed(one < two if fewer else two < one, compiler, kind, one, two)


def small(directory, compiler):
    run = measure(directory, compiler, "small", 2)
    row = region(run.view("regions"), "divided")
    assert row["executions"] == "20000", row
    should_have(row, 1)
    assert "best: 1 thread instead of 2" in text(run.output), row
    found = [row for row in run.view("advice") if row["class"] in ("region-overhead", "region-threads")]
    tap.timed(found, run.view("advice"))
    assert len(found) == 1 and "num_threads(1)" in found[0]["evidence"], found
    check_sign(compiler, "small", True)


def large(directory, compiler):
    run = measure(directory, compiler, "large", 2)
    row = region(run.view("regions"), "divided")
    should_have(row, 2)
    assert "best:" not in text(run.output), row
    assert not [row for row in run.view("advice") if "num_threads(" in row["evidence"]], run.view("advice")
    check_sign(compiler, "large", False)


def shared(directory, compiler):
    run, alone = (measure(directory, compiler, "shared", threads) for threads in (2, 1))
    row = region(rows("regions", run.output, alone.output), "shared")
    should_have(row, 1)
    assert "best: 1 thread instead of 2" in text(run.output, alone.output), row
    found = {row["class"]: row for row in rows("advice", run.output, alone.output)}
    tap.timed("region-threads" in found, found)
    finding = found["region-threads"]
    assert (finding["line"], finding["name"], finding["forecast"]) == (row["line"], row["name"], "times"), finding
    assert "with num_threads(1)" in finding["evidence"] and "s with one thread)" in finding["evidence"], finding
    assert "num_threads" in finding["remedy"] and alone.output in finding["command"], finding
    check_sign(compiler, "shared", True)


def check(directory, case, compiler):
    """By that compiler, with --long by both."""
    for one in ("gcc", "clang") if "--long" in sys.argv else (compiler,):
        tap.again(case, directory, one)


@tap.case
def small_regions_should_have_one_thread(directory):
    check(directory, small, "clang")


@tap.case
def large_regions_should_have_all(directory):
    check(directory, large, "gcc")


@tap.case
def a_run_with_one_thread_shows_that_threads_hinder_each_other(directory):
    check(directory, shared, "gcc")


@tap.case
def runs_of_another_command_are_refused(directory):
    run, other = measure(directory, "gcc", "small", 2), measure(directory, "gcc", "large", 1)
    refused = tap.run(tap.REPORT, "--view", "regions", run.output, other.output)
    assert refused.returncode == 2 and "different runs" in refused.stderr, refused


tap.main()
