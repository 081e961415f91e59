#!/usr/bin/env python3
"""Threads that wait for a device which is not the host (waiting_runtime.c, a stand-in for a runtime): that time is a category
of its own, in sums, in parts of a run, and on the timeline; and no work."""
import json
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from device_case import waiting_targets
from measured import Measurement, clocks, idleness_of, line_of, tap
from report import check_spans

TARGETS, COPY, KERNEL, BYTES = 4, 0.02, 0.03, 1000
DEVICE = TARGETS * (COPY + KERNEL)
TYPE = "gfx90a"


def measure(directory, kind, how, *options, once=()):
    run = Measurement(directory, waiting_targets(), kind, how, *once, options=("-e", "task-clock@f1000", *options), timeout=60)
    assert run.done.returncode == 0, run.done
    return run, clocks(run.done.stdout)["on_host"]


def text_of(view, run, *options):
    return tap.must(tap.REPORT, "-q", "--view", view, *options, run.output)


def check_sums(row):
    parts = ("work_s", "overhead_s", "lockwait_s", "idle_s", "tool_s", "core_wait_s", "blocked_s", "device_s")
    found = sum(float(row[name] or 0) for name in parts)
    tap.timed(abs(found - float(row["wall_s"])) < 0.02 + 0.03 * float(row["wall_s"]), found, row)


def check_device_time(rows, device):
    """All of it is on the critical path, since the program has one thread."""
    check_spans(rows)
    work, found, span = (float(rows[0][name]) for name in ("work", "device_time", "span"))
    assert abs(found - device) < 1e-5 and abs(span - work - found) < 1e-8, (rows, device)
    target, copy = rows[1:]
    assert (target["kind"], copy["kind"]) == ("target", "copy-to-device"), rows
    assert abs(float(target["device_time"]) - found) < 3e-9, rows
    assert (target["instances"], target["executions"]) == (str(TARGETS),) * 2, rows
    assert (copy["instances"], copy["executions"], float(copy["work"])) == (str(TARGETS), str(TARGETS), 0), rows
    assert TARGETS * COPY - 1e-4 <= float(copy["device_time"]) <= found - TARGETS * KERNEL + 1e-4, rows
    critical = float(target["critical_path"]) + float(copy["critical_path"])
    assert found <= critical <= float(target["work"]) + found + 1e-8, rows


def check_parts(run, rows):
    """Two parts of the run add up to the whole, also if they meet in a wait."""
    parts = [run.view("parallelism", *part)[0] for part in (("--to", "0.15"), ("--from", "0.15"))]
    for name in ("work", "device_time", "span"):
        found = sum(float(part[name] or 0) for part in parts)
        assert abs(found - float(rows[0][name])) < 1e-6, (name, parts, rows)


@tap.case
def waiting_is_a_category(directory):
    for how in ("poll", "sleep"):
        for mode in ("online", "log"):
            run, own = measure(directory, TYPE, how, "-p", mode)
            row, = run.view("threads")
            assert float(row["device_s"]) >= DEVICE, (how, row)
            tap.timed(abs(float(row["work_s"]) - own) < 0.02 and float(row["overhead_s"]) < 0.01, how, row, own)
            tap.timed(float(row["blocked_s"]) < 0.02, how, row)
            check_sums(row)
            for options in (), ("--legend",):
                assert max(map(len, text_of("threads", run, *options).splitlines())) <= 80, how
            assert "or waited for such a thread or a device" in " ".join(text_of("efficiency", run).split()), how
            rows = run.view("parallelism")
            check_device_time(rows, float(row["device_s"]))
            tap.timed(abs(float(rows[0]["work"]) - own) < 0.03, how, rows, own)
            if mode == "log":
                check_parts(run, rows)
                line = line_of("waiting_targets.c", "    runtime_target(i")
                found, = run.view("whatif", "--what-if", f"waiting_targets.c:{line}=1000000")  # as if devices were free
                tap.timed(abs(float(found["span"]) - own) < 0.02, found, own)
                assert float(found["span_high"]) - float(found["span_low"]) < 0.02, found  # no error of device time
            target, = (line for line in run.view("regions") if line["kind"] == "target" and line["thread"] == "SUM")
            assert (target["device"], target["executions"]) == ("0", str(TARGETS)), target
            assert DEVICE <= float(row["device_s"]) <= float(target["exec_s"]) + 1e-6, (row, target)


@tap.case
def device_and_host(directory):
    run, own = measure(directory, TYPE, "poll")
    device, = (row for row in run.view("devices") if row["kind"] == "device")
    assert (device["type"], device["targets"], device["to_bytes"]) == (TYPE, str(TARGETS), str(TARGETS * BYTES)), device
    assert DEVICE <= float(device["busy_s"]) and TARGETS * COPY <= float(device["to_s"]), device
    assert float(device["busy_s"]) >= float(device["target_s"]) - 1e-6, device
    tap.timed(float(device["overlap_s"]) < 0.01, device)  # the host waits
    work = sum(float(row["idle_s"]) for row in run.view("devices") if row["kind"] == "work")
    tap.timed(abs(work - own / 2) < 0.03, work, own)  # what it did before the first target is not meant


@tap.case
def overlap_is_work_of_any_thread(directory):
    """Whether the thread that waits polls meanwhile, or sleeps."""
    for how in ("poll", "sleep"):
        run, own = measure(directory, TYPE, how, once=("beside",))
        device, = (row for row in run.view("devices") if row["kind"] == "device")
        tap.timed(abs(float(device["overlap_s"]) - own) < 0.15 * own, how, device, own)


@tap.case
def idleness_of_others(directory):
    """What a worker waited while the thread slept in target constructs is due to these, though no sample saw it."""
    run, own = measure(directory, TYPE, "sleep", once=("idle",))
    nodes = run.tree()
    whole, on_host, others = (idleness_of(nodes, name) for name in ("main", "on_host", "[between regions: asleep]"))
    assert whole > on_host, (whole, on_host)
    tap.timed(abs(whole - on_host - DEVICE) < 0.15 * DEVICE and abs(on_host - own) < 0.15 * own, whole, on_host, own)
    tap.timed(others < 0.1 * DEVICE, others)


@tap.case
def the_host_as_device(directory):
    """What runs there is work, or the runtime's."""
    run, own = measure(directory, "generic-64bit", "poll")
    row, = run.view("threads")
    assert "device_s" not in row, row
    tap.timed(abs(float(row["overhead_s"]) - (float(row["cpu_s"]) - own)) < 0.03, row, own)
    device, = (row for row in run.view("devices") if row["kind"] == "device")
    assert device["overlap_s"] == "", device


@tap.case
def findings(directory):
    """Copies that are repeated, with the gain of the program that copies once; and host and device that take turns."""
    run, _ = measure(directory, TYPE, "sleep")
    found = {row["evidence"].split(" ", 1)[1].split(" ")[0]: row for row in run.view("advice") if row["class"] == "offload"}
    copies = found["executions"]
    gain = (TARGETS - 1) * COPY
    tap.timed(abs(float(copies["gain_s"]) - gain) < 0.15 * gain, copies)
    assert float(copies["gain_low_s"]) == 0 and copies["confidence"] == "low", copies
    assert "target data" in copies["remedy"] and "devices" in copies["command"], copies
    turns = found["wait"]
    assert "nowait" in turns["remedy"], turns
    tap.timed(float(turns["gain_high_s"]) <= DEVICE + 0.02, turns)
    before = float(run.view("devices")[0]["target_s"])
    run, _ = measure(directory, TYPE, "sleep", once=("once",))
    saved = before - float(run.view("devices")[0]["target_s"])  # elapsed time of the host's work is not as even
    tap.timed(abs(saved - gain) < 0.15 * gain, saved, gain)
    found = [row["evidence"] for row in run.view("advice") if row["class"] == "offload"]
    assert not any("copy" in evidence for evidence in found), found


@tap.case
def timeline(directory):
    run, own = measure(directory, TYPE, "sleep", "-t")
    sums, whole = {}, 0
    for row in run.view("timeline"):
        length = float(row["end_s"]) - float(row["start_s"])
        sums[row["category"]] = sums.get(row["category"], 0) + length
        whole += length
    assert sums["device"] >= DEVICE - 1e-4, sums
    tap.timed(sums["device"] < DEVICE + 0.03 and abs(sums["work"] - own) < 0.03, sums, own)
    text = text_of("timeline", run)
    line, = (line for line in text.splitlines() if line.startswith("d0 "))
    marks = line[3:].strip()
    threads = next(line for line in text.splitlines() if line.startswith(" 1 "))[3:]
    tap.timed(abs(sum(mark in ">#" for mark in marks) - threads.count("D")) <= 2, text)
    assert set(marks) <= set(".>#") and ">" in marks and "#" in marks, text
    events = json.loads(tap.must(tap.REPORT, "-q", "-f", "perfetto", run.output))["traceEvents"]
    uses = [event for event in events if event.get("cat") == "device"]
    spent = {name: sum(float(use["dur"]) for use in uses if use["name"] == name) * 1e-6 for name in ("copy to device", "target")}
    assert spent["copy to device"] >= TARGETS * COPY - 1e-4 and spent["target"] >= TARGETS * KERNEL - 1e-4, spent
    assert abs(sum(spent.values()) - sums["device"]) < 1e-4, (spent, sums)
    first = min(float(row["start_s"]) for row in run.view("timeline") if row["category"] == "device")
    rows = run.view("threads", "--from", f"{first}s", "--to", f"{first + 0.1}s")
    tap.timed(0.09 < float(rows[0]["device_s"]) <= 0.1 + 1e-6, rows)


tap.main()
