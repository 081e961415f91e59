#!/usr/bin/env python3
"""Target constructs of clang's code on devices (device_targets.c): executions, times, work, contexts, and the same behaviour
as alone; without a device, and killed."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from device_case import FOUND, device_program, executions, executions_and_bytes, measure_program
from measured import clocks, tap, work_of


def program():
    return device_program("device_targets.c")


def measure(directory, what, *options, status=0, **settings):
    run = measure_program(directory, program(), what, options=options, status=status, **settings)
    return run, clocks(run.done.stdout) if status == 0 else {}


def sums(run):
    """Rows of regions for all threads of a construct, by kind."""
    return {row["kind"]: row for row in run.view("regions") if row["thread"] == "SUM"}


@tap.case
def executions_of_constructs(directory):
    for mode in (("-p", "online"), ("-p", "log", "-t")):
        run, _ = measure(directory, "counts", *mode)
        found = executions(run)
        wanted = {"target": 7, "target-enter-data": 2, "target-exit-data": 2, "target-update": 1}
        assert {kind: found.get(kind) for kind in wanted} == wanted, (mode, found)
        places = {(row["kind"], row["line"]) for row in run.view("parallelism") if row["kind"] == "target"}
        assert len(places) == 3 and all(line for _, line in places), places
    run, _ = measure(directory, "loop")
    assert executions(run)["target"] == 10000, executions(run)


@tap.case
def operations(directory):
    """Their number and bytes follow from the source: arrays are moved where they are mapped first, not for each region."""
    run, _ = measure(directory, "counts", "-p", "online")
    rows = [row for row in run.view("regions") if row["thread"] == "SUM"]
    found = executions_and_bytes(run)
    array = 8 * 1000
    # two arrays by target data and enter data, two for the last region; from: an update, two ends of data, one region
    wanted = {"device-alloc": (4, 4 * array), "device-free": (4, 0), "copy-to-device": (3, 3 * array),
              "copy-from-device": (4, 4 * array), "target-submit": (7, 0)}
    assert {kind: found.get(kind) for kind in wanted} == wanted, found
    tree = run.view("region-tree")
    kinds = {row["id"]: row["kind"] for row in tree}
    below = {(row["kind"], kinds[row["parent_id"]]) for row in tree if row["kind"] in wanted}
    assert {kind for _, kind in below} == {"target", "target-enter-data", "target-exit-data", "target-update"}, below
    assert ("copy-from-device", "target-update") in below and ("target-submit", "target") in below, below
    assert all(float(row["exec_s"]) > 0 for row in rows if row["kind"] in wanted), rows
    for row in rows:
        if row["kind"] in ("target", "target-enter-data", "target-exit-data", "target-update"):
            inside = sum(float(part["incl_s"]) for part in tree if part["thread"] == "SUM" and part["kind"] in wanted and
                         kinds[part["parent_id"]] == row["kind"] and part["line"] == row["line"])
            assert inside <= float(row["exec_s"]) + 1e-6, (row, inside)


@tap.case
def numbers_of_devices(directory):
    """Constructs of one place on two devices are two; calls that move data have a place and a device, too."""
    run, _ = measure(directory, "two")
    rows = [row for row in run.view("regions") if row["thread"] == "SUM"]
    targets = sorted((row["device"], row["name"]) for row in rows if row["kind"] == "target")
    assert targets == [("0", "two, device 0"), ("1", "two, device 1")], targets
    below = {row["device"] for row in rows if row["kind"] == "target-submit"}
    assert below == {"0", "1"} and not any(row["device"] for row in rows if row["kind"] == "task"), rows
    assert {row["teams"] for row in rows if row["kind"] == "target"} == {"1"}, rows
    run, _ = measure(directory, "calls")
    rows = {row["kind"]: row for row in run.view("regions") if row["thread"] == "SUM"}
    assert rows["copy-to-device"]["device"] == "1" and rows["copy-to-device"]["bytes"] == str(8 * 1000), rows
    followed = [(row["kind"], row["instances"], row["executions"]) for row in run.view("parallelism")][1:]
    assert followed == [("copy-to-device", "1", "1")], followed  # in no target construct; no allocation
    run, _ = measure(directory, "teams")
    assert sums(run)["target"]["teams"] == "2", sums(run)


def devices(run):
    """Rows of devices by number, and for how long the first one was idle because of the functions of the host."""
    rows, idle = run.view("devices"), {}
    for row in rows:
        if row["kind"] == "work" and row["device"] == "0":
            idle[row["function"]] = idle.get(row["function"], 0) + float(row["idle_s"])
    return {row["device"]: row for row in rows if row["kind"] == "device"}, idle


@tap.case
def times_of_devices(directory):
    """Busy while the region runs, idle while the host works, which has its place; bytes and numbers as in regions."""
    run, own = measure(directory, "serial")
    rows, idle = devices(run)
    assert set(rows) == {"0"} and rows["0"]["targets"] == "1", rows
    row = rows["0"]
    busy, left = float(row["busy_s"]), float(row["idle_s"])
    assert own["on_device"] - 1e-3 < busy < float(sums(run)["target"]["exec_s"]) + 0.05, (row, own)
    assert own["on_host"] - 1e-3 < left and row["overlap_s"] == "", (row, own)  # the host is the device
    working = sum(idle.get(name, 0) for name in ("on_host", "burn", "burn_clock", "clock_gettime"))
    tap.timed(abs(working - own["on_host"]) < 0.02 + 0.05 * own["on_host"], idle, own)
    assert sum(idle.values()) < left + 0.02, (idle, row)
    run, _ = measure(directory, "counts")
    row = devices(run)[0]["0"]
    array = 8 * 1000
    wanted = {"targets": 7, "to_copies": 3, "to_bytes": 3 * array, "from_copies": 4, "from_bytes": 4 * array,
              "allocations": 4, "allocated_bytes": 4 * array}
    assert {name: int(row[name]) for name in wanted} == wanted and row["times"] == "host", row
    run, own = measure(directory, "two")
    rows, _ = devices(run)
    assert sorted(rows) == ["0", "1"], rows
    for row in rows.values():
        assert float(row["busy_s"]) >= own["on_device"] / 2 - 1e-3, (rows, own)
    run, own = measure(directory, "killed", status=-9)
    tap.timed(0.28 < float(devices(run)[0]["0"]["busy_s"]), devices(run))  # until its last sample before 0.3 s


@tap.case
def small_regions_are_found(directory):
    run, _ = measure(directory, "loop")
    rows = [row for row in run.view("advice") if row["class"] == "offload"]
    assert any(f"{10000} executions" in row["evidence"] and "loop" in row["remedy"] for row in rows), run.view("advice")
    run, _ = measure(directory, "serial")
    assert not any(row["class"] == "offload" for row in run.view("advice")), run.view("advice")


@tap.case
def time_is_work(directory):
    """Here the host is the device: its time is that of the thread that waits for it."""
    for mode in ("off", "online", "log"):
        run, own = measure(directory, "serial", "-p", mode)
        nodes = run.tree()
        found = work_of(nodes, "on_device", "main")
        tap.timed(abs(found - own["on_device"]) < 0.03 + 0.05 * own["on_device"], mode, found, own)
        paths = {tuple(node.path()[:-1]) for node in nodes if node.name == "on_device"}
        assert all(path[:1] == ("main",) and not any("libomptarget" in name for name in path) for path in paths), paths
        if mode == "off":
            continue
        row = sums(run)["target"]
        assert float(row["exec_s"]) >= own["on_device"], (row, own)
        assert float(sums(run)["target-submit"]["exec_s"]) >= own["on_device"], (sums(run), own)  # the host runs it there
        found, = (float(row["work"]) for row in run.view("parallelism") if row["kind"] == "target")
        tap.timed(own["on_device"] - 0.01 < found < own["on_device"] + 0.05, found, own)


@tap.case
def beside_work_of_the_host(directory):
    for mode in ("online", "log"):
        run, own = measure(directory, "beside", "-p", mode)
        assert len(run.threads()) == 2, run.threads()
        row = run.view("parallelism")[0]
        tap.timed(abs(float(row["work"]) - sum(own.values())) < 0.06, row, own)
        tap.timed(abs(float(row["span"]) - max(own.values())) < 0.06, row, own)
        tap.timed(abs(work_of(run.tree(), "on_device", "main") - own["on_device"]) < 0.05, mode, own)
        assert executions(run)["target"] == 1, executions(run)
    run, own = measure(directory, "two")
    row = run.view("parallelism")[0]
    tap.timed(abs(float(row["work"]) - own["on_device"]) < 0.06, row, own)
    tap.timed(float(row["span"]) < 0.6 * own["on_device"] + 0.05, row, own)
    assert executions(run)["target"] == 2, executions(run)


@tap.case
def without_a_device(directory):
    """LLVM's runtime announces nothing: the region is a part of the code around it."""
    run, own = measure(directory, "serial", OMP_TARGET_OFFLOAD="DISABLED")
    done = tap.run(tap.REPORT, "-q", "--view", "devices", run.output)
    assert done.returncode and "no target construct is known to have used a device" in done.stderr, done
    found = work_of(run.tree(), "on_device", "main")
    tap.timed(abs(found - own["on_device"]) < 0.03 + 0.05 * own["on_device"], found, own)
    run, own = measure(directory, "beside", OMP_TARGET_OFFLOAD="DISABLED")
    row = run.view("parallelism")[0]
    tap.timed(abs(float(row["work"]) - sum(own.values())) < 0.06, row, own)


@tap.case
def same_behaviour(directory):
    for what in ("inner", "counts", "fork"):
        run, _ = measure(directory, what, "-p", "log")
        alone = tap.run(program(), what, timeout=60, **FOUND)
        assert (alone.returncode, alone.stderr) == (0, ""), alone
        assert alone.stdout.splitlines()[:-2] == run.done.stdout.splitlines()[:-2], (alone, run.done)
    run, _ = measure(directory, "killed", status=-9)
    tap.timed(work_of(run.tree(), "on_device", "main") > 0.1, run.done)  # of 0.3 s
    done = tap.run(program(), "counts", timeout=60, OMP_TARGET_OFFLOAD="MANDATORY", **FOUND)
    run, _ = measure(directory, "counts", OMP_TARGET_OFFLOAD="MANDATORY")
    assert done.returncode == run.done.returncode == 0, (done, run.done)


tap.main()
