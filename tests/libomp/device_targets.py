#!/usr/bin/env python3
"""Target constructs of clang's code on devices (device_targets.c): executions, times, work, contexts, and the same behaviour
as alone; without a device, and killed."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, tap, work_of

LIBRARIES = os.path.join(tap.DEPS, "libomp-19")
LIBOMPTARGET = os.path.join(LIBRARIES, "libomptarget.so")
FOUND = {"LD_LIBRARY_PATH": LIBRARIES}  # libomptarget looks for libomp.so by that name


def program():
    if not os.path.exists(LIBOMPTARGET) or not shutil.which("clang-linker-wrapper-19"):
        raise tap.Skip("no clang 19 for devices (scripts/setup --full)")
    return build("device_targets.c", "clang-19", "-fopenmp-targets=x86_64-pc-linux-gnu", "-nogpulib",
                 "-Wno-unknown-assumption")


def measure(directory, what, *options, status=0, **settings):
    run = Measurement(directory, program(), what, options=("-e", "task-clock@f1000", *options), timeout=60, **FOUND,
                      **settings)
    assert run.done.returncode == status and "wrong" not in run.done.stdout, (what, run.done)
    return run, clocks(run.done.stdout) if status == 0 else {}


def executions(run):
    """Kind → executions."""
    found = {}
    for row in run.view("regions"):
        if row["thread"] == "SUM":
            found[row["kind"]] = found.get(row["kind"], 0) + int(row["executions"])
    return found


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
