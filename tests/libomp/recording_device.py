#!/usr/bin/env python3
"""Devices that record what they do, played by recording_device.c: times by the device's clock, which has another rate than
the host's; records that come late, in any order, not at all, or cannot be used; ends of the program, and a forked child.

No device here records anything: what a real one does is not tested."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap

KINDS = {"to_s": "copy-to-device", "run_s": "target-submit", "from_s": "copy-from-device"}
CLOCK = 1e-4  # how far the translated length may be off, as a share: the rate comes from two readings of the clocks


def program(*flags):
    headers = os.path.join(tap.DEPS, "libomp-19", "include")
    if not os.path.exists(os.path.join(headers, "omp-tools.h")):
        raise tap.Skip("no omp-tools.h of LLVM 19 (scripts/setup --full)")
    return build("recording_device.c", "gcc", "-idirafter", headers, *flags, openmp=False)


def measure(directory, mode, *options, status=0):
    """The run, and what the program says that the report should have."""
    run = Measurement(directory, program(), mode, options=("-e", "task-clock@f200", *options), timeout=60)
    assert run.done.returncode == status and "wrong" not in run.done.stdout, run.done
    return run, {name: float(value) for name, value in map(str.split, run.done.stdout.splitlines())}


def operations(run):
    return {row["kind"]: row for row in run.view("regions") if row["thread"] == "SUM" and row["device"] == "1"}


def device(run):
    found, = (row for row in run.view("devices") if row["kind"] == "device")
    return found


def near(value, expected):
    """Lengths are exact on the device; the rate of its clock is found with the host's, which may stand still between two
    readings."""
    tap.timed(abs(float(value) - expected) <= CLOCK * expected + 1e-6, value, expected)


def recorded(run, said, note=""):
    """The rows have the device's times, of all operations."""
    rows = operations(run)
    for name, kind in KINDS.items():
        assert rows[kind]["note"] == note, rows[kind]
        near(rows[kind]["device_s"], said[name])
    near(device(run)["recorded_s"], said["busy_s"])


@tap.case
def times_are_those_of_the_device(directory):
    """Copies and kernels overlap; buffers come back in any order, after the constructs have ended."""
    for options in (("-p", "online"), ("-p", "log", "-t")):
        run, said = measure(directory, "plain", *options)
        recorded(run, said)
        rows = operations(run)
        assert rows["target"]["executions"] == rows["target-submit"]["executions"] == "20", rows
        assert device(run)["type"] == "stand-in" and device(run)["times"] == "device", device(run)
        assert device(run)["rejected"] == "0", device(run)


@tap.case
def the_end_fetches_what_is_left(directory):
    recorded(*measure(directory, "at_exit"))


@tap.case
def a_thread_may_end_before_its_records_come(directory):
    recorded(*measure(directory, "ended"))


@tap.case
def a_runtime_may_be_unloaded_before_the_end(directory):
    """Without having ended its device, whose records are lost."""
    host = tap.compile_c(directory, "host", """
        #include <dlfcn.h>
        int main(int count, char **arguments)
        {
          void *runtime = dlopen(arguments[1], RTLD_NOW);
          int (*run)(int, char **) = (int (*)(int, char **))(runtime ? dlsym(runtime, "main") : 0);
          return count < 2 || !run || run(2, (char *[]){arguments[1], "at_exit", 0}) || dlclose(runtime);
        }""", "-ldl")
    run = Measurement(directory, host, program("-shared", "-fPIC"), options=("-e", "task-clock@f200"), timeout=60)
    assert run.done.returncode == 0, run.done
    assert "reported 0 of 20 operations" in operations(run)["target-submit"]["note"], operations(run)


@tap.case
def missing_and_wrong_records_are_said(directory):
    run, said = measure(directory, "lost", "-c", "page-faults,locks")
    row = operations(run)["target-submit"]
    near(row["device_s"], said["run_s"])
    assert f"the device has reported {said['reported']:.0f} of 20 operations" in row["note"], row
    assert int(device(run)["rejected"]) == said["lost"] == 3, device(run)
    summary = tap.must(tap.REPORT, "--view=summary", run.output, COLUMNS="300", LINES="200")
    assert "Devices: 3 records of what devices did, or buffers for them, could not be used" in summary, summary
    assert "counted: page-faults, acquisitions of each lock\n" in summary, summary
    run, said = measure(directory, "greedy")
    assert int(device(run)["rejected"]) == said["lost"] > 0, (said, device(run))


@tap.case
def a_device_may_end_before_the_program(directory):
    run, said = measure(directory, "finalized")
    assert said["flushed"] == said["stopped"] == 1, said
    recorded(run, said, "the device has reported 1 of 2 operations: its time lacks the others")


@tap.case
def ends_of_the_program(directory):
    """In a target construct: by exit(), also while the device hangs, and killed, when the live file has what has come."""
    for mode, status in (("exits", 5), ("stuck", 5), ("killed", -9)):
        run, said = measure(directory, mode, status=status)
        rows = sorted((row for row in run.view("regions") if row["thread"] == "SUM" and row["kind"] == "target-submit"),
                      key=lambda row: row["device_s"])
        assert len(rows) == 2 and rows[0]["device_s"] == "" and "reported 0 of 1 operations" in rows[0]["note"], rows
        near(rows[1]["device_s"], said["run_s"])
        near(device(run)["recorded_s"], said["busy_s"])
        found = device(run)  # the open construct may have begun after the last sample of a killed process
        assert float(found["busy_s"]) <= float(found["target_s"]) + 1e-6, found


@tap.case
def a_forked_child_calls_no_device(directory):
    run, said = measure(directory, "forks")
    rows = [row for row in run.view("regions") if row["thread"] == "SUM" and row["kind"] == "copy-to-device"]
    times = sorted(row["device_s"] for row in rows)
    assert len(rows) == 1 or times[0] == "", rows
    near(times[-1], said["to_s"])


@tap.case
def a_device_without_a_trace_has_the_times_of_the_host(directory):
    run, _ = measure(directory, "untraced")
    rows = operations(run)
    assert all(rows[kind]["device_s"] == "" and rows[kind]["note"] == "" for kind in KINDS.values()), rows
    assert device(run)["recorded_s"] == "" and device(run)["times"] == "host", device(run)


tap.main()
