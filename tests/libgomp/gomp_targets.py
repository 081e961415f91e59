#!/usr/bin/env python3
"""Target constructs of GCC's code on libgomp without a device (gomp_targets.c): work and span that follow from the source,
executions, contexts, and the same behaviour as alone."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from libgomp_case import QUIET, built, same
from measured import Measurement, build, clocks, tap, work_of
from report import check_spans

program = built("gomp_targets.c", "gcc", name="gomp_targets")

# Work and span (functions of the number of threads if they depend on it), and executions of rows.
FORMS = {
    "serial": (13, 13, {"target": 1}),
    "refused": (20, 20, {"target": 2}),
    "repeated": (3000, 3000, {"target": 1000}),
    "team": (15, 7, {"target": 1}),
    "combined": (60, None, {"target": 1}),
    "tasks_inside": (31, 19, {"target": 1, "task": 3}),
    "in_loop": (39, 9, {"target": 6}),
    "orphaned": (lambda t: 42 + 10 * t, 17, {"target": 6, "for": 1}),
    "shared_inside": (72, 34, {"target": 6, "for": 1, "single": 1}),
    "barriers_inside": (30, 19, {"target": 1, "task": 5}),
    "in_task": (48, 11, {"target": 4, "task": 4}),
    "after_single": (lambda t: 10 + 3 * t, 13, {"target": lambda t: t}),
    "beside": (38, 23, {"target": 1, "task": 1, "task-exec": 1}),
    "chain": (33, 26, {"target": 2, "task": 3}),
    "waits": (18, 14, {"target": 1, "task": 3}),
    "numbered": (10, 10, {"target": 1, "task": None}),
    "moves": (33, 28, {"target-update": 2, "target-enter-data": 1, "target-exit-data": 1}),
    "data": (18, 18, {"target-data": 1, "target": 3, "target-update": 2, "target-enter-data": 1, "target-exit-data": 1}),
    "copies": (16, 2, {"target": 8}),
    "at_end": (lambda t: 48 + t, 5, {"target": 6}),
    "in_group": (17, 14, {"target": 1, "task": 1}),
    "in_final": (13, 13, {"target": 1}),
    "outside": (38, 23, {"target": 1, "task": 1}),
}


def value(what, threads):
    return what(threads) if callable(what) else what


def measure(directory, form, threads, *options):
    run = Measurement(directory, program(), form, str(threads), options=("--work", "user", *options), timeout=60, **QUIET)
    assert run.done.returncode == 0 and run.done.stdout == "done\n", (form, run.done)
    assert "not followed" not in run.done.stderr and "libgomp of GCC" in run.done.stderr, (form, run.done.stderr)
    return run


@tap.case
def closed_forms(directory):
    """Of the measurement, and of the graph that is played again."""
    for form, (work, span, executions) in FORMS.items():
        for threads in (2, 3):
            run = measure(directory, form, threads, "-p", "log")
            table = run.view("parallelism")
            check_spans(table)
            found = float(table[0]["work"]), float(table[0]["span"])
            wanted = value(work, threads), value(span, threads) or found[1]
            assert found == wanted, (form, threads, found, wanted)
            critical = sum(float(row["critical_path"]) for row in table)
            assert critical == found[1], (form, threads, critical, found)
            for row in run.view("speedup"):
                if row["speedup_simulated"]:
                    low, simulated, high = (float(row["speedup_" + name]) for name in ("lower", "simulated", "upper"))
                    assert low <= simulated + 1e-3 and simulated <= high + 1e-3, (form, threads, row)
            counts = {}
            for row in run.view("regions"):
                if row["thread"] == "SUM":
                    counts[row["kind"]] = counts.get(row["kind"], 0) + int(row["executions"])
            for kind, count in executions.items():
                assert counts.get(kind) == value(count, threads), (form, threads, kind, counts)


@tap.case
def rows_of_targets(directory):
    """Their work and span; each below the construct around it."""
    rows = measure(directory, "data", 2).view("parallelism")
    found = {row["kind"]: tuple(float(row[name]) for name in ("instances", "work", "span")) for row in rows}
    assert found["target-data"] == (1, 16, 16) and found["target"] == (3, 15, 15), found
    rows = measure(directory, "tasks_inside", 2).view("parallelism")
    found = {row["kind"]: tuple(float(row[name]) for name in ("instances", "work", "span")) for row in rows}
    assert found["target"] == (1, 22, 10), found
    tree = measure(directory, "data", 2).view("region-tree")
    kinds = {row["id"]: row["kind"] for row in tree}
    assert {kinds[row["parent_id"]] for row in tree if row["kind"] == "target"} == {"target-data"}, tree


@tap.case
def no_device(directory):
    """It is reported where the program may have wanted one; and how many teams and threads it asked for."""
    for form, device in (("combined", "none"), ("data", "none"), ("refused", "")):
        rows = [row for row in measure(directory, form, 2).view("regions") if row["thread"] == "SUM"]
        assert {row["device"] for row in rows if row["kind"].startswith("target")} == {device}, (form, rows)
        if form == "combined":
            asked = [(row["teams"], row["team_threads"]) for row in rows if row["kind"] == "target"]
            assert asked == [("2", "2")], asked


@tap.case
def advice_without_a_device(directory):
    """What ran on the host, if that takes time; not where the program wants the host."""
    timed = build("target_time.c", "gcc")
    run = Measurement(directory, timed, timeout=60)
    row, = (row for row in run.view("advice") if row["class"] == "no-device")
    own = clocks(run.done.stdout)
    assert "MANDATORY" in row["remedy"] and float(row["gain_low_s"]) == 0, row
    tap.timed(float(row["gain_high_s"]) <= sum(own.values()) * 2 + 1, row, own)
    rows = measure(directory, "refused", 2).view("advice")
    assert not any(row["class"] == "no-device" for row in rows), rows


@tap.case
def same_behaviour(directory):
    """In all modes; libgomp 12 can hang by itself in regions after `nowait` outside any."""
    for form in FORMS:
        done = same(directory, program(), form, "2", **QUIET)
        assert done.returncode == 0 and done.stdout == "done\n", (form, done)


@tap.case
def same_behaviour_under_other_settings(directory):
    """With affinity, and where a device is demanded: then the program ends with an error."""
    for form in ("team", "beside", "at_end"):
        same(directory, program(), form, "2", modes=("online",), OMP_PLACES="threads", OMP_PROC_BIND="true", **QUIET)
    done = same(directory, program(), "serial", "2", modes=("online",), OMP_TARGET_OFFLOAD="MANDATORY", **QUIET)
    assert done.returncode in (0, 1), done
    same(directory, program(), "serial", "2", modes=("online",), OMP_TARGET_OFFLOAD="DISABLED", **QUIET)


@tap.case
def time_is_work(directory):
    """Of a region that is a task, and of one that its thread runs: not the runtime's, and in its place."""
    timed = build("target_time.c", "gcc")
    for mode in ("off", "online"):
        run = Measurement(directory, timed, options=("-e", "task-clock@f1000", "-p", mode), timeout=60)
        assert run.done.returncode == 0, run.done
        own, nodes = clocks(run.done.stdout), run.tree()
        for function, below in (("at_once", "calls"), ("as_task", "main"), ("on_host", "main")):
            found = work_of(nodes, function, below)
            tap.timed(abs(found - own[function]) < 0.03 + 0.05 * own[function], mode, function, found, own)
        assert len(run.threads()) == 2, run.threads()
        if mode == "online":
            row = run.view("parallelism")[0]
            tap.timed(abs(float(row["work"]) - sum(own.values())) < 0.05, row, own)
            longest = own["at_once"] + max(own["as_task"], own["on_host"])
            tap.timed(abs(float(row["span"]) - longest) < 0.05, row, own)


tap.main()
