#!/usr/bin/env python3
"""Lanes of devices (waiting_runtime.c, a stand-in for a runtime): in OTF2 and in the profile for Firefox they have the same
uses, which follow from the source, as in the timeline for Perfetto."""
import decimal
import functools
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from device_case import waiting_targets
from measured import tap
import trace_formats as formats

TARGETS, COPY, KERNEL = 4, 0.02, 0.03
MODULE = os.path.join(os.path.dirname(tap.LIBRARY), "hpcprof-lite-otf2.so")


@functools.lru_cache(maxsize=None)
def measurement():
    output = os.path.join(tap.shared_directory(), "lanes")
    tap.must(tap.LAUNCHER, "-q", "-t", "-o", output, waiting_targets(), "gfx90a", "sleep")
    return output


def exported(directory, form):
    path = os.path.join(directory, form)
    tap.must(tap.REPORT, "-q", "-f", form, "-o", path, measurement())
    return path


@functools.lru_cache(maxsize=None)
def expected():
    """(kind, construct, begin, end) in ns, of device 0; their number and least length follow from the source."""
    events = json.loads(tap.must(tap.REPORT, "-q", "-f", "perfetto", measurement()), parse_float=decimal.Decimal)["traceEvents"]
    uses = [(event["name"], event["args"]["construct"], int(event["ts"] * 1000), int((event["ts"] + event["dur"]) * 1000))
            for event in events if event.get("cat") == "device"]
    for kind, least in (("copy to device", COPY), ("target", KERNEL)):
        long = [use for use in uses if use[0] == kind and use[3] - use[2] >= (least - 1e-4) * 1e9]
        assert len(long) == TARGETS, (kind, uses)
    assert all(before[3] <= after[2] for before, after in zip(uses, uses[1:])), uses
    assert len({use[1] for use in uses}) == 2, uses
    return uses


@tap.case
def otf2_has_a_location_for_the_device(directory):
    if not os.path.exists(MODULE) or not shutil.which("otf2-print"):
        raise tap.Skip("built without OTF2, or no otf2-print")
    archive = os.path.join(exported(directory, "otf2"), "traces.otf2")
    definitions = tap.must("otf2-print", "-G", archive)
    found, = re.findall(r'\nLOCATION +(\d+)  Name: "device 0 \(as the host knows\)" <\d+>, Type: ACCELERATOR_STREAM,'
                        r' # Events: (\d+), Group: .*<0>', definitions)
    assert definitions.count("Type: CPU_THREAD") == 1 and int(found[1]) == 2 * len(expected()), definitions
    done = tap.run("otf2-print", archive)
    assert done.returncode == 0 and not done.stderr, done
    events = re.findall(r'(ENTER|LEAVE) +%s +(\d+)  Region: "(.*)" <\d+>' % found[0], done.stdout)
    uses = [(construct, begin, end) for _, construct, begin, end in expected()]
    assert [(kind, int(at), name) for kind, at, name in events] == \
           [event for name, begin, end in uses for event in (("ENTER", begin, name), ("LEAVE", end, name))], (events, uses)


@tap.case
def firefox_has_a_thread_for_the_device(directory):
    path = exported(directory, "firefox")
    with open(path, encoding="utf-8") as file:
        profile = json.load(file, parse_float=decimal.Decimal)
    thread, device = profile["threads"]
    assert device["name"] == "device 0 (as the host knows)" and device["pid"] == thread["pid"], device["name"]
    assert profile["meta"]["initialVisibleThreads"] == [0, 1] and device["samples"]["length"] == 0
    strings, markers = profile["shared"]["stringArray"], device["markers"]
    assert all(len(markers[name]) == markers["length"] for name in ("name", "startTime", "endTime", "phase", "category", "data"))
    found = [(strings[name], int(begin * 10**6), int(end * 10**6))
             for name, begin, end in zip(markers["name"], markers["startTime"], markers["endTime"])]
    assert found == [(construct, begin, end) for _, construct, begin, end in expected()], found
    assert set(markers["phase"]) == {1} and {one["type"] for one in markers["data"]} == {"device"}
    assert profile["meta"]["categories"][markers["category"][0]]["name"] == "device"
    shutil.move(path, path + ".json")
    with formats.FirefoxProfiler(path + ".json") as profiler:
        shown = profiler.ask("thread", "markers", "--thread", "t-1")
        assert shown["totalMarkerCount"] == len(found), shown
        assert {one["markerName"] for one in shown["byType"]} == {name for name, *_ in found}, shown


tap.main()
