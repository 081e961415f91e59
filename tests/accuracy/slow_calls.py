#!/usr/bin/env python3
"""Sleep in calls outside OpenMP has a place: exact in long calls, by chance without bias in short ones; with the bytes that
the calls have moved."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, line_of, sum_of, tap
from report import report

KINDS = ("in_read", "in_readv", "in_raw_read", "in_recv", "in_fgets", "in_fread", "in_getline", "in_write", "in_fflush",
         "in_printf", "in_futex", "in_open", "in_flock", "in_wait")
MOVED = {"in_read": 16, "in_readv": 16, "in_raw_read": 16, "in_recv": 16, "in_fread": 16, "in_getline": 16, "in_write": 16,
         "in_printf": 5000}
MESSAGES, SMALL, LARGE = 300, 100, 700


def measure(directory, mode, event="task-clock@f1000", options=(), **settings):
    program = build("slow_calls.c", "gcc", **settings)
    run = Measurement(directory, program, mode, options=("-e", event, *options))
    assert run.done.returncode == 0, run.done  # the program checks what its calls return
    return run, run.tree(), clocks(run.done.stdout)


def total(run, column):
    return sum(float(thread[column]) for thread in run.threads())


@tap.case
def each_kind_of_call_has_its_sleep_and_bytes(directory):
    os.chdir(directory)
    run, nodes, own = measure(directory, "kinds")
    assert set(own) == set(KINDS), own
    ready = total(run, "core_wait_s")
    for call in KINDS:
        slept = sum_of(nodes, "blocked_incl_s", call)
        tap.timed(0.95 * own[call] - ready - 0.001 < slept < 1.05 * own[call] + 0.001, call, slept, own[call], ready)
        assert sum_of(nodes, "blocked_bytes_incl", call) == MOVED.get(call, 0), call


@tap.case
def by_elapsed_time_such_sleep_is_work(directory):
    os.chdir(directory)
    run, nodes, own = measure(directory, "kinds", event="wall@f1000")
    assert not any(nodes[0].value(f"blocked{part}") for part in ("_incl_s", "_near_incl_s", "_bytes_incl")), nodes[0].row
    for call in KINDS:
        slept = sum_of(nodes, "work_incl_s", call)
        tap.timed(0.9 * own[call] - 0.003 < slept < 1.1 * own[call] + 0.003, call, slept, own[call])


@tap.case
def short_calls_are_charged_without_bias(directory):
    # About 700 ms asleep in parts of 2 ms, which are charged to the one line or to the other.
    run, nodes, own = measure(directory, "in_turn", event="task-clock@f500")
    short, longer = (sum_of(nodes, "blocked_incl_s", call) for call in ("in_short", "in_longer"))
    period, asleep = 0.002, total(run, "blocked_s")
    # One part may be charged in advance, or not be charged yet.  The calls contain a little CPU time.
    tap.timed(asleep - 1.5 * period < short + longer < sum(own.values()) + 1.5 * period, short, longer, asleep, own)
    share, parts = own["in_short"] / (own["in_short"] + own["in_longer"]), asleep / period
    error = (share * (1 - share) / parts) ** 0.5
    tap.timed(abs(short / (short + longer) - share) < 5 * error, short, longer, share, error)


@tap.case
def bytes_are_those_of_calls_that_slept(directory):
    run, nodes, _ = measure(directory, "bytes")
    small, large = (sum_of(nodes, "blocked_bytes_incl", call) for call in ("read_small", "read_large"))
    left = nodes[0].value("blocked_bytes_incl") - small - large - sum_of(nodes, "blocked_bytes_incl", "answer")
    assert small % SMALL == 0 and large % LARGE == 0, (small, large)  # each line's own
    # Those of the last few calls are in the root.
    assert 0.8 * MESSAGES < small / SMALL <= MESSAGES and 0.8 * MESSAGES < large / LARGE <= MESSAGES, (small, large)
    requests, all_ = 2 * MESSAGES, MESSAGES * (SMALL + LARGE)  # a request has a byte
    # A reader without a core can find its message there.
    assert 0.97 * all_ <= small + large + left <= all_ + requests, (small, large, left)
    for call in ("read_at_once", "write_at_once"):
        tap.timed(sum_of(nodes, "blocked_bytes_incl", call) <= 3000 * MESSAGES / 10, call)  # another program took the core


@tap.case
def other_sleep_is_near_the_next_sample(directory):
    run, nodes, own = measure(directory, "unseen")
    asleep, near = own["in_system_call"], sum_of(nodes, "blocked_near_incl_s", "in_system_call")
    ready = total(run, "core_wait_s")
    tap.timed(0.95 * asleep - ready < near < 1.05 * asleep, near, asleep, ready)
    tap.timed(nodes[0].value("blocked_incl_s") < 0.1 * asleep, nodes[0].row)
    said = re.sub(r"\s+", " ", tap.must(tap.REPORT, "--legend", run.output))
    assert re.search(r", ([0-9.]+) s of it near (burn|in_system_call) \(", said), said


@tap.case
def a_futex_that_wakes_holds_nothing_back(directory):
    _, _, own = measure(directory, "wakes", event="task-clock@3600000000")  # no sample: it holds itself back
    assert own["held"] == 0, own


@tap.case
def calls_in_regions_are_named(directory):
    run, _, _ = measure(directory, "region")
    found, = [row for row in run.view("advice") if row["class"] == "other"]
    line = line_of("slow_calls.c", "void nap(")
    assert f"blocked in calls, most of it in nap (slow_calls.c:{line})" in found["evidence"], found


@tap.case
def a_place_has_what_its_callers_slept(directory):
    run, _, _ = measure(directory, "callers")
    found = re.search(r"([0-9.]+) s of it in nap ", " ".join(report("--legend", run.output).stdout.split()))
    asleep = total(run, "blocked_s")
    assert found and float(found[1]) <= asleep + 0.001, (found, asleep)
    tap.timed(0.95 * asleep < float(found[1]), (found, asleep))


tap.main()
