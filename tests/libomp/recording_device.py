#!/usr/bin/env python3
"""Devices that record what they do, played by recording_device.c: times by the device's clock, which has another rate than
the host's; records that come late, in any order, not at all, or cannot be used; ends of the program, and a forked child.

No device here records anything: what a real one does is not tested."""
import decimal
import json
import os
import re
import shutil
import sys

sys.path[:0] = [os.path.join(sys.path[0], "..", folder) for folder in ("support", "html")]
from browser import Browser, need_browser
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


LANES = ("device 1: copies to it (as it recorded", "device 1: copies from it (as it recorded",
         "device 1: regions (as it recorded")


def exported(directory, run, form):
    path = os.path.join(directory, form)
    tap.must(tap.REPORT, "-q", "-f", form, "-o", path, run.output)
    return path


def lanes(run, *options, part=""):
    """(begin, end) in ns of what the device has recorded, lane by lane, by the export for Perfetto.  part: of which part of
    the operations the last lane is."""
    events = json.loads(tap.must(tap.REPORT, "-q", "-f", "perfetto", *options, run.output), parse_float=decimal.Decimal)["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    found = {name: [] for name in (LANES[0] + ")", LANES[1] + ")", LANES[2] + part + ")")}
    for event in events:
        if event.get("cat") == "device" and "(as it recorded" in names[event["tid"]]:
            found[names[event["tid"]]].append((int(event["ts"] * 1000), int((event["ts"] + event["dur"]) * 1000)))
    return list(found.values())


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
        run, said = measure(directory, mode, "-t", status=status)
        rows = sorted((row for row in run.view("regions") if row["thread"] == "SUM" and row["kind"] == "target-submit"),
                      key=lambda row: row["device_s"])
        assert len(rows) == 2 and rows[0]["device_s"] == "" and "reported 0 of 1 operations" in rows[0]["note"], rows
        near(rows[1]["device_s"], said["run_s"])
        near(device(run)["recorded_s"], said["busy_s"])
        assert [len(lane) for lane in lanes(run, part=", 1 of 2")] == [1, 1, 1], mode
        found = device(run)  # the open construct may have begun after the last sample of a killed process
        assert float(found["busy_s"]) <= float(found["target_s"]) + 1e-6, found


@tap.case
def a_forked_child_calls_no_device(directory):
    run, said = measure(directory, "forks", "-t")
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


# ---- the timeline ----


@tap.case
def lanes_have_what_the_device_has_recorded(directory):
    """Each operation is an interval, of the length that the device has recorded, and at its time."""
    run, said = measure(directory, "plain", "-t")
    to, back, regions = lanes(run)
    assert len(to) == len(back) == len(regions) == said["targets"], (to, back, regions)
    for copy, region, after in zip(to, regions, back):
        for value, expected in ((copy[1] - copy[0], 2e6), (region[0] - copy[0], 3e6), (region[1] - copy[0], 7e6),
                                (after[0] - copy[0], 6e6), (after[1] - copy[0], 8e6)):
            near(value / 1e9, expected / 1e9)
    middle = to[5][0] + 1000000
    cut = lanes(run, "--from", f"{middle / 1e9:.9f}")
    assert cut == [[(middle, to[5][1]), *to[6:]], back[5:], regions[5:]], (middle, to, cut)


@tap.case
def drawn_lanes_are_marked(directory):
    run, said = measure(directory, "lost", "-t")
    assert [len(lane) for lane in lanes(run, part=", 10 of 20")] == [0, 0, said["reported"]]
    text = tap.must(tap.REPORT, "--view=timeline", run.output, COLUMNS="300")
    assert re.search(r"^ *d1# [.#]*#[.#]*$", text, re.M) and "d1>" not in text and "d1<" not in text, text
    assert "d1#: the device has recorded 10 of 20 operations; the others are not shown.\n" in text, text
    run, _ = measure(directory, "untraced", "-t")
    assert lanes(run) == [[], [], []] and "recorded" not in tap.must(tap.REPORT, "--view=timeline", run.output)


@tap.case
def all_exports_have_the_same_lanes(directory):
    run, _ = measure(directory, "plain", "-t")
    wanted = lanes(run)
    with open(exported(directory, run, "firefox"), encoding="utf-8") as file:
        threads = json.load(file, parse_float=decimal.Decimal)["threads"][-3:]
    assert [thread["name"] for thread in threads] == [name + ")" for name in LANES], threads
    for thread, uses in zip(threads, wanted):
        found = zip(thread["markers"]["startTime"], thread["markers"]["endTime"])
        assert [(int(begin * 10**6), int(end * 10**6)) for begin, end in found] == uses, (thread["name"], uses)
    archive = exported(directory, run, "otf2") if shutil.which("otf2-print") else None
    for name, uses in zip(LANES, wanted) if archive else ():
        definitions = tap.must("otf2-print", "-G", os.path.join(archive, "traces.otf2"))
        number, = re.findall(rf'\nLOCATION +(\d+)  Name: "{re.escape(name)}\)"', definitions)
        events = re.findall(rf"(?:ENTER|LEAVE) +{number} +(\d+)  ", tap.must("otf2-print", os.path.join(archive, "traces.otf2")))
        assert [int(at) for at in events] == [at for use in uses for at in use], (name, events, uses)


@tap.case
def the_page_has_the_same_lanes(directory):
    need_browser()
    run, _ = measure(directory, "plain", "-t")
    wanted = lanes(run)
    path = exported(directory, run, "html")
    shutil.move(path, path + ".html")
    with Browser() as browser:
        browser.open(path + ".html", "#tab=timeline")
        found = browser.evaluate("""loadTrace().then(loadDevices).then((devices) => devices.map((lane) => [lane.title,
            Array.from({ length: lane.count }, (_, at) => [lane.starts[at], lane.starts[at] + lane.durations[at]])]))""")
        assert [name for name, _ in found] == ["Device 1", "Device 1: copies to it", "Device 1: copies from it",
                                               "Device 1: regions"], found
        assert [[tuple(use) for use in uses] for _, uses in found[1:]] == wanted, (found, wanted)
        labels = browser.evaluate("[...document.querySelectorAll('.lanes-label')].map((label) => label.textContent)")
        assert labels == ["Thread 1", *(name for name, _ in found)], labels
        left, top, width = browser.evaluate("(() => { const box = document.querySelector('.lanes-canvas')"
                                            ".getBoundingClientRect(); return [box.left, box.top, box.width]; })()")
        first, last = browser.evaluate("loadTrace().then((trace) => [trace.from, trace.until])")
        begin, end = wanted[2][10]
        browser.move(left + width * ((begin + end) / 2 - first) / (last - first), top + 4 * 24 + 12)
        details = browser.evaluate("document.querySelector('.lane-details').textContent")
        assert "1, as it recorded" in details and "region" in details and "target-submit" in details, details
        assert not [text for text in browser.messages if "getImageData" not in text] and not browser.requests, browser.messages


tap.main()
