#!/usr/bin/env python3
"""Lanes of devices (waiting_runtime.c, a stand-in for a runtime): in the page, in OTF2 and in the profile for Firefox they
have the same uses, which follow from the source, as the timeline that is exported for Perfetto."""
import decimal
import functools
import json
import os
import re
import shutil
import sys

sys.path[:0] = [os.path.join(sys.path[0], "..", folder) for folder in ("support", "html")]
from browser import Browser, need_browser
from device_case import waiting_targets
from measured import tap
import trace_formats as formats

TARGETS, COPY, KERNEL, BYTES = 4, 0.02, 0.03, 1000
MODULE = os.path.join(os.path.dirname(tap.LIBRARY), "hpcprof-lite-otf2.so")
USES = """loadTrace().then(loadDevices).then((devices) => devices.map((lane) => [lane.lane.thread, lane.device,
    Array.from({ length: lane.count }, (_, at) => [lane.actions[at], lane.starts[at], lane.starts[at] + lane.durations[at]])]))"""
DETAILS = "Object.fromEntries([...document.querySelectorAll('.lane-details > div')].map((pair) => [...pair.children]" \
          ".map((part) => part.textContent)))"
LARGE = "new Column({ name: 'start_ns', bytes: 1, minimum: 5e9 }, 1, Uint8Array.of(7)).integers()[0]"
PIXEL = "pixelColours(['%s'])[0]"


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


@tap.case
def the_page_has_a_lane_for_the_device(directory):
    """By its table, its picture, the pointer and the keyboard."""
    need_browser()
    path = exported(directory, "html")
    shutil.move(path, path + ".html")
    kinds = ("copy to device", "copy from device", "target")
    with Browser() as browser:
        browser.open(path + ".html", "#tab=timeline")
        (thread, number, uses), = browser.evaluate(USES)
        assert (thread, number) == ("1", 0), (thread, number)
        assert [(kinds[action], begin, end) for action, begin, end in uses] == \
               [(kind, begin, end) for kind, _, begin, end in expected()], uses
        labels = browser.evaluate("[...document.querySelectorAll('.lanes-label')].map((label) => label.textContent)")
        assert labels == ["Thread 1", "Device 0"], labels
        legend = browser.evaluate("document.querySelector('.lanes-legend').textContent")
        assert "Device: copy to it" in legend and "Device: rest of target constructs" in legend, legend
        first, last = browser.evaluate("loadTrace().then((trace) => [trace.from, trace.until])")
        assert browser.evaluate(LARGE) == 5000000007, "a use that begins late in the run"
        left, top, width = browser.evaluate("(() => { const box = document.querySelector('.lanes-canvas')"
                                            ".getBoundingClientRect(); return [box.left, box.top, box.width]; })()")
        browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        for kind, colour in (("copy to device", "--copy-to"), ("target", "--on-device")):
            _, construct, begin, end = max((use for use in expected() if use[0] == kind), key=lambda use: use[3] - use[2])
            x = width * ((begin + end) / 2 - first) / (last - first)
            pixel = browser.evaluate("new Uint32Array(document.querySelector('.lanes-canvas').getContext('2d')"
                                     f".getImageData(Math.round({x}), 24 + 12, 1, 1).data.buffer)[0]")
            assert pixel == browser.evaluate(PIXEL % colour), (kind, pixel)
            browser.move(left + x, top + 24 + 12)
            details = browser.evaluate(DETAILS)
            assert details["Device"] == "0, as far as the host knows" and details["Begin"] == f"{begin / 1e9:.9f} s", details
            assert details["Construct"].split()[0] == construct.split()[0], (details, construct)
            tip = browser.evaluate("document.querySelector('.lanes-canvas').title")
            if kind == "target":
                assert "Bytes" not in details and "Target" not in details, details
            else:
                assert details["Bytes"] == f"{TARGETS * BYTES} in {TARGETS} executions of this construct", details
                assert details["Target"].startswith("target ") and str(TARGETS * BYTES) in tip and "in target " in tip, (details, tip)
        browser.move(left + 2, top + 24 + 12)  # before its first use
        assert "Device" not in browser.evaluate(DETAILS) and not browser.evaluate("document.querySelector('.lanes-canvas').title")
        browser.evaluate("document.querySelector('.lanes-scroller').focus()")
        browser.key("ArrowDown")
        for use in expected():
            details = browser.evaluate(DETAILS)
            assert details["Begin"] == f"{use[2] / 1e9:.9f} s", (details, use)
            browser.key("ArrowRight")
        assert not [text for text in browser.messages if "getImageData" not in text] and not browser.requests, browser.messages


# 40 threads that did alike, and their process's two devices.
FOLDED = """(() => {
  const lanes = Array.from({ length: 40 }, (_, i) => ({ number: i, first: 2 * i, end: 2 * i + 1, from: 0, to: 1000, process: "7",
    rank: "", thread: String(i + 1), host: "node" }));
  const trace = { lanes, starts: Float64Array.from(lanes.flatMap(() => [0, 1000])), states: new Uint16Array(80),
    critical: new Int32Array(1).fill(-1), from: 0, until: 1000, positionAt: Trace.prototype.positionAt };
  const rows = new LaneRows(trace, new LaneSums(trace, Uint8Array.of(0), 1), [0, 1].map((device) => ({ lane: lanes[0], device, title: `Device ${device}` })));
  return rows.shown.map((row) => row.title);
})()"""


@tap.case
def devices_do_not_fold_with_threads(directory):
    need_browser()
    path = exported(directory, "html")
    shutil.move(path, path + ".html")
    with Browser() as browser:
        browser.open(path + ".html", "#tab=timeline")
        found = browser.evaluate(FOLDED)
        assert found == ["Thread 1", "Threads 2 to 40 alike", "Device 0", "Device 1"], found


tap.main()
