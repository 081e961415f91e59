#!/usr/bin/env python3
"""Target constructs of GCC's code on libgomp with a device (gomp_devices.c), which a plug-in for libgomp plays
(gomp_plugin.c): all are counted, with their device; what libgomp does not report is marked, and not shown as 0."""
import functools
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from libgomp_case import QUIET, built, same
from measured import Measurement, build, line_of, tap

REGIONS, WAIT = 6, 0.005
program = built("gomp_devices.c", "gcc", name="gomp_devices")


@functools.lru_cache(maxsize=None)
def folder():
    """That of a plug-in of the version that this libgomp wants."""
    for version in (1, 2, 3, 4):
        os.makedirs(os.path.join(tap.shared_directory(), f"plugin-{version}"), exist_ok=True)
        plugin = build("gomp_plugin.c", "gcc", "-shared", "-fPIC", f"-DVERSION={version}", openmp=False,
                       name=f"plugin-{version}/libgomp-plugin-nvptx.so.1")
        if "1 devices" in tap.run(program(), LD_LIBRARY_PATH=os.path.dirname(plugin)).stdout:
            return os.path.dirname(plugin)
    raise tap.Skip("this libgomp loads no plug-in of its own for a device")


def measure(directory, *options):
    run = Measurement(directory, program(), options=("-e", "task-clock@f1000", *options), LD_LIBRARY_PATH=folder(), **QUIET)
    assert run.done.returncode == 0 and run.done.stdout == "1 devices, 2.997e+06\n", run.done
    return run


@tap.case
def the_program_behaves_as_alone(directory):
    assert same(directory, program(), LD_LIBRARY_PATH=folder(), **QUIET).stdout.startswith("1 devices")


@tap.case
def what_is_not_known_is_marked(directory):
    for mode in ("online", "log"):
        run = measure(directory, "-p", mode)
        rows = [row for row in run.view("regions") if row["thread"] == "SUM" and row["kind"].startswith("target")]
        wanted = {("target-data", "data", "0"): 1, ("target", "target", "0"): REGIONS, ("target-update", "update", "0"): 1,
                  ("target", "nowait", "0"): 1, ("target", "host", ""): 1}
        found = {(row["kind"], row["line"], row["device"]): int(row["executions"]) for row in rows}
        assert found == {(kind, str(line_of("gomp_devices.c", f"// @ {mark}\n")), device): count
                         for (kind, mark, device), count in wanted.items()}, (wanted, found)
        for row in rows:
            assert row["bytes"] == row["device_s"] == "" and "nor waiting for these" in row["note"], row
        device, = (row for row in run.view("devices") if row["kind"] == "device")
        assert device["targets"] == str(REGIONS + 1) and float(device["busy_s"]) >= REGIONS * WAIT, device
        unknown = [device[name] for name in ("overlap_s", "to_copies", "to_bytes", "from_bytes", "allocations", "times")]
        assert not any(unknown), device
        assert not any("device_s" in row for row in run.view("threads")), "waiting for it is not known"
        assert not any(row["device_time"] for row in run.view("parallelism")), run.view("parallelism")
        text = tap.must(tap.REPORT, "--view=devices", run.output)
        assert "device 0: the runtime reports neither copies nor waiting for the device" in text, text


tap.main()
