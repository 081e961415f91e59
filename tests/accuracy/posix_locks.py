#!/usr/bin/env python3
"""Waiting for locks of POSIX and C11 is exact, and charged to the code that releases them; threads that OpenMP does not
know are workers.

The waiting threads measure their waits with their own clocks around the calls, which contain the tool's work there."""
import csv
import io
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, idleness_of, line_of, lockwait_of, near, sum_of, tap, work_of
from report import report

KINDS = ("mutex", "rwlock", "writers", "spinlock", "c11", "timed")
NAMES = {"mutex": "mutex", "timed": "mutex", "c11": "mutex", "rwlock": "rwlock", "writers": "rwlock", "spinlock": "spinlock"}
OFF = 0.002  # seconds for which a wait of the tool and one by the program's clocks differ, with three waits at a time


def measure(directory, *arguments, options=(), compiler="gcc", status=0):
    program = build("posix_locks.c", compiler)
    run = Measurement(directory, program, *arguments, options=("-e", "task-clock@f1000", *options))
    assert run.done.returncode == status, run.done
    return run, clocks(run.done.stdout)


def is_near(value, own, what):
    tap.timed(abs(value - own) < 0.02 * own + OFF, f"{what}: {value:.4f}, the program's own clocks {own:.4f}")


def taken(run):
    """How often locks were acquired, as the text of the view says."""
    text = tap.must(tap.REPORT, "--view", "locks", run.output)
    return int(text.split("were acquired ")[1].split()[0])


@tap.case
def the_context_that_releases_a_lock_has_the_waiting(directory):
    for kind in KINDS:
        run, own = measure(directory, kind, "blame")
        row, = run.view("locks")
        is_near(float(row["wait_s"]), own["long"] + own["short"], kind)
        is_near(float(row["longest_s"]), own["long"] / 2, kind)
        assert row["lock"] == "held_lock" and row["kind"] == NAMES[kind] and row["locks"] == "1", row
        assert row["waits"] == "4" or kind == "rwlock" or row["waits"] in ("5", "6"), row  # the waiting ones meet each other
        assert row["threads"] == "2" and row["function"] == "wait_for_it", row
        tap.timed(row["held_by"] == "hold_long", row)
        assert taken(run) == own["acquisitions"], kind
        nodes, ready = run.tree(), sum(float(thread["core_wait_s"]) + float(thread["waiting_no_core_s"])
                                       for thread in run.threads())
        for which, function in (("long", "hold_long"), ("short", "hold_short")):
            value = lockwait_of(nodes, function)
            tap.timed(own[which] - 0.02 * own[which] - OFF - ready < value < 1.02 * own[which] + OFF,
                      f"{kind}, {function}: {value}, own {own[which]}, without a core {ready}")
        near(float(row["held_pct"]), 100 * own["long"] / (own["long"] + own["short"]), 0.03, kind)


@tap.case
def a_lock_is_waited_for_in_a_chain(directory):
    for kind, options in (("mutex", ()), ("writers", ("-t",)), ("c11", ("-p", "off"))):
        run, own = measure(directory, kind, "chain", options=options)
        rows = {row["held_by"]: row for row in run.view("locks")}
        for which, holder in (("first", "hold_first"), ("second", "hold_second"), ("third", "hold_third")):
            is_near(float(rows[holder]["wait_s"]), own[which], f"{kind} {options}: {holder}")
            assert rows[holder]["waits"] == "1" and rows[holder]["lock"] == f"{which}_lock", rows[holder]
        waits = {row["function"]: row["line"] for row in rows.values()}
        assert waits["link_of"] == str(line_of("posix_locks.c", "acquire_as(0, &first_lock, false); /* waits */")), waits
        assert taken(run) == own["acquisitions"]
        if options == ("-t",):
            intervals = [row for row in run.view("timeline") if row["category"] == "lock_wait"]
            seconds = sum(float(row["end_s"]) - float(row["start_s"]) for row in intervals)
            is_near(seconds, own["first"] + own["second"] + own["third"], "timeline")


@tap.case
def holds_after_waits_are_timed(directory):
    """Each lock's own, without waits for conditions; they bound the run's time."""
    for kind, options in (("mutex", ()), ("timed", ("-c", "locks")), ("writers", ("-p", "off")), ("spinlock", ()), ("c11", ("-t",))):
        run, own = measure(directory, kind, "held", options=options)
        rows = {row["lock"]: row for row in run.view("locks")}
        for which in ("first", "second"):
            row = rows[f"{which}_lock"]
            is_near(float(row["held_s"]), own[which], f"{kind}: {which}")
            assert row["waits"] == "1", (row, own)
    run, _ = measure(directory, "rwlock", "blame")
    row, = run.view("locks")
    assert row["held_s"] == "", row  # readers hold it at the same time


@tap.case
def waits_that_do_not_end_are_listed(directory):
    for kind, mode in (("mutex", "open"), ("writers", "open"), ("mutex", "killed"), ("spinlock", "killed")):
        run, own = measure(directory, kind, mode, status=-9 if mode == "killed" else 0)
        done = tap.run(tap.REPORT, "--view", "locks", "-f", "csv", run.output)
        assert ("was killed" in done.stderr) == (mode == "killed"), done
        row, = csv.DictReader(io.StringIO(done.stdout))
        assert row["lock"] == "held_lock" and row["waits"] == row["threads"] == "1", row
        assert row["function"] == "wait_for_ever" and row["longest_s"] == row["wait_s"], row
        tap.timed(abs(float(row["wait_s"]) - own["open"]) < 0.03, row, own)
        if mode == "open":
            waits = sum(float(thread["lockwait_s"]) + float(thread["waiting_no_core_s"]) for thread in run.threads())
            tap.timed(abs(float(row["wait_s"]) - waits) < 0.01, row, waits)


@tap.case
def threads_wait_for_a_routine_that_runs_once(directory):
    for kind in ("mutex", "c11"):
        run, own = measure(directory, kind, "once")
        nodes = run.tree()
        all_s, inside_s = sum_of(nodes, "blocked_incl_s", "call_routine"), sum_of(nodes, "blocked_incl_s", "routine")
        is_near(all_s - inside_s, own["waited"], kind)
        is_near(inside_s, own["routine"], f"{kind}: the routine itself sleeps")


@tap.case
def parts_of_a_run_add_up(directory):
    for options in (("-t",), ("-t", "-p", "off")):
        run, _ = measure(directory, "mutex", "blame", options=options)
        middle = str(max(float(thread["wall_s"]) for thread in run.threads()) / 2)
        parts = [run.threads()] + [run.view("threads", *part) for part in (("--to", middle), ("--from", middle))]
        for column in ("lockwait_s", "blocked_s"):
            whole, first, second = (sum(float(thread[column]) for thread in part) for part in parts)
            assert abs(whole - first - second) < 1e-3, (options, column, whole, first, second)
            assert first > 0 or column == "blocked_s", (options, whole, first, second)
        done = report(run.output, "--view", "locks", "--from", middle)
        assert done.returncode and "locks are not known for a part of a run" in done.stderr, done
        assert not any(row["class"] == "mutex" for row in run.view("advice", "--from", middle)), "of the whole run"


@tap.case
def locks_of_one_variable_and_of_one_place_are_one_row(directory):
    for kind in ("mutex", "spinlock"):
        run, own = measure(directory, kind, "many")
        rows = {row["lock"]: row for row in run.view("locks")}
        assert set(rows) <= {"array", ""} and "" in rows, rows
        assert all(row["function"] == "take_many" for row in rows.values()), rows
        assert rows[""]["locks"] == "1" and int(rows.get("array", {"locks": "1"})["locks"]) <= 8, rows
        assert taken(run) == own["acquisitions"]
        assert all(row["acquisitions"] == "" for row in rows.values()), rows  # without -c locks
        waits = sum(float(row["wait_s"]) for row in rows.values())
        threads = sum(float(row["lockwait_s"]) + float(row["waiting_no_core_s"]) for row in run.threads())
        assert threads - 1e-3 <= waits, (threads, waits)  # which lack the time without a core


@tap.case
def threads_outside_openmp_make_nothing_serial(directory):
    for compiler in ("gcc", "clang"):
        run, _ = measure(directory, "mutex", "outside", compiler=compiler)
        nodes = run.tree()
        found = {row["class"]: row for row in run.view("advice")}
        tap.timed("serial" not in found or float(found["serial"]["gain_pct"]) < 10, compiler, found)
        near(work_of(nodes, "work_outside"), 0.6, 0.1, compiler)
        # the parked worker waits while both work: each has half of that
        shares = [node.value("idleness_incl_s") for node in nodes if node.name == "work_outside"]
        assert len(shares) == 2, shares
        near(min(shares), max(shares), 0.25, f"{compiler}: idleness")


tap.main()
