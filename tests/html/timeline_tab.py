#!/usr/bin/env python3
"""The timeline of the HTML report: its intervals are those of the CSV, sums of a chosen part are those of --from and
--to, and everything can be done by mouse and by keyboard."""
import base64
import collections
import csv
import gzip
import io
import json
import os
import re
import struct
import sys
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import CHROMIUM, Browser, need_browser
from report import report
from tap import BUILD, GOLDEN, INCLUDE, LAUNCHER, REPORT, case, compile_c, main, must, timed
from traced_pages import CELLS, NAMES, SHOWN, TITLES, intervals, ns, page, quiet, seconds_ns, shown_ns, topdown

INTERVALS = """loadTrace().then((trace) => trace.lanes.flatMap((lane) =>
    Array.from({ length: lane.end - lane.first }, (_, i) => {
      const at = trace.interval(lane.first + i), known = (number) => number < 0 ? "" : String(number);
      return [lane.process, lane.rank, lane.thread, secondsText(at.start), secondsText(at.end), at.kind,
        at.category.key, known(at.context), known(at.construct), at.name, known(at.waitFor), known(at.critical)];
    })))"""
THREADS = "Time of each thread in the chosen part"
CONTEXTS = "Contexts with most time in the chosen part"
CONSTRUCTS = "Constructs with most time in the chosen part"
LISTED = "Intervals of the selected thread in the chosen part"
LABELS = "[...document.querySelectorAll('.lanes-label')].map((label) => label.textContent)"
DETAILS = "Object.fromEntries([...document.querySelectorAll('.lane-details > div')].map((pair) => [...pair.children]" \
          ".map((part) => part.textContent)))"
VIEW = "new URLSearchParams(location.hash.slice(1)).get('view')"


# columns of pixels with a line of marks: below the names of marks, and across the axis and the phases
CROSSED = """(() => {
  const canvas = document.querySelector('.lanes-axis'), ratio = devicePixelRatio, { width, height } = canvas;
  const image = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer);
  const line = pixelColours(['--accent'])[0], columns = (from, to) => Array.from({ length: width }, (_, x) => x)
    .filter((x) => [from, to].every((y) => image[Math.round(y * ratio) * width + x] === line)).length;
  return [columns(61, 63), columns(12, 33)];
})()"""


def synthetic(directory, *options):
    path = os.path.join(directory, "synthetic")
    must(os.path.join(BUILD, "tests", "synthesize"), *options, path)
    return path


def box(browser, selector):
    return browser.evaluate("(() => { const box = document.querySelector('%s').getBoundingClientRect();"
                            " return [box.left, box.top, box.width, box.height]; })()" % selector)


def drawn(browser):
    """Waits until what is due has been drawn."""
    browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")


def view(browser):
    """The part of the time in sight in s, after the address has followed."""
    time.sleep(0.3)
    drawn(browser)
    shown = browser.evaluate(VIEW)
    return tuple(float(part) for part in shown.split("-")) if shown else None


@case
def intervals_equal_the_csv(directory):
    with Browser() as browser:
        for name in ("traced", "traced-plain", "traced-samples", "traced-killed", "traced-hostile"):
            expected = intervals(name)
            browser.open(page(directory, name), "#tab=timeline")
            if not expected:
                assert "no timeline" in browser.evaluate("document.getElementById('panel-timeline').textContent")
                continue
            assert sorted(browser.evaluate(INTERVALS)) == sorted(expected), name
        quiet(browser)


@case
def intervals_of_many_processes_equal_the_csv(directory):
    path = synthetic(directory, "--processes", "3", "--ranks", "--threads", "4", "--contexts", "500", "--events",
                     "9000")
    with Browser() as browser:
        browser.open(page(directory, path), "#tab=timeline")
        assert sorted(browser.evaluate(INTERVALS)) == sorted(intervals(path))
        quiet(browser)


def check_sums(browser, rows, places):
    """The grids of a part against the intervals of that part as CSV."""
    titles, threads = browser.evaluate(TITLES % THREADS), browser.evaluate(CELLS % THREADS)
    expected, contexts, constructs = collections.Counter(), collections.Counter(), collections.Counter()
    for row in rows:
        expected[row[2], row[6]] += ns(row)
        constructs[row[8], row[6]] += ns(row)
        if row[10 if row[6] in ("idle", "lock_wait") else 7]:
            contexts[row[10 if row[6] in ("idle", "lock_wait") else 7], row[6]] += ns(row)
    found = {(cells[0], name): amount for cells in threads for name, amount in shown_ns(cells, titles).items()
             if amount}
    assert found == dict(expected), (found, expected)
    sums = browser.evaluate("contextsInRange().then((sums) =>"
                            " [...sums].map(([id, seconds]) => [String(id), [...seconds]]))")
    found = {(id, name): round(amount * 1e9) for id, amounts in sums for name, amount in zip(NAMES.values(), amounts)
             if amount}
    assert found == dict(contexts), (found, contexts)
    titles, cells = browser.evaluate(TITLES % CONTEXTS), browser.evaluate(CELLS % CONTEXTS)
    shown = sorted((one[0], seconds_ns(one[titles.index("Work")])) for one in cells)
    ids = {id for id, _ in contexts}
    assert shown == sorted((places[id], contexts[id, "work"]) for id in ids), (shown, contexts)
    titles = browser.evaluate(TITLES % CONSTRUCTS)
    shown = sum(sum(shown_ns(one, titles).values()) for one in browser.evaluate(CELLS % CONSTRUCTS))
    assert shown == sum(amount for (number, _), amount in constructs.items() if number), (shown, constructs)


@case
def sums_of_a_part_are_those_of_from_and_to(directory):
    whole = intervals("traced")
    tree = topdown()
    begin, end = min(float(row[3]) for row in whole), max(float(row[4]) for row in whole)
    edges = sorted({float(row[3]) for row in whole})
    parts = ((begin, end), (begin + (end - begin) / 3, begin + (end - begin) / 1.7),
             (edges[len(edges) // 3] + 1e-9, edges[len(edges) // 2] + 7e-9), (edges[2], edges[3]))
    path = page(directory, "traced")
    with Browser() as browser:
        for first, last in parts:
            part = f"{first:.9f}", f"{last:.9f}"
            browser.open(path, f"#tab=timeline&from={part[0]}&to={part[1]}")
            rows = []
            for row in whole:  # what --from and --to show, by hand
                start, stop = max(first, float(row[3])), min(last, float(row[4]))
                if stop > start + 1e-10:
                    rows.append([*row[:3], f"{start:.9f}", f"{stop:.9f}", *row[5:]])
            check_sums(browser, rows, {row["id"]: row["name"] for row in tree})
            told, clipped = collections.Counter(), collections.Counter()
            for row in intervals("traced", "--from", part[0], "--to", part[1]):
                told[row[2], row[6]] += ns(row)
            for row in rows:
                clipped[row[2], row[6]] += ns(row)
            assert told == clipped, (part, told, clipped)
        quiet(browser)


@case
def time_below_a_context_adds_up(directory):
    with Browser() as browser:
        browser.open(page(directory, "traced"), "#tab=timeline&from=0&to=1000")
        found = browser.evaluate("""Promise.all([contextsInRange(), loadTable("topdown")]).then(([sums, tree]) => {
          const ids = tree.column("id").numbers, parents = tree.column("parent_id").numbers;
          return [[...inclusiveInRange(sums, ids, parents, 0)], [...ids], [...parents],
            [...sums].map(([id, seconds]) => [id, seconds[0]])];
        })""")
        below, ids, parents, own = found
        amounts = dict(own)
        for row, identity in enumerate(ids):
            children = sum(amount for amount, parent in zip(below, parents) if parent == identity)
            assert abs(below[row] - children - amounts.get(identity, 0)) < 1e-12, (row, found)
        assert abs(below[0] - sum(amounts.values())) < 1e-12 and below[0] > 0


@case
def wheel_keys_and_drags_zoom(directory):
    with Browser() as browser:
        browser.open(page(directory, "traced"), "#tab=timeline")
        first, last = browser.evaluate("loadTrace().then((trace) => [trace.from / 1e9, trace.until / 1e9])")
        left, top, width, _ = box(browser, ".lanes-canvas")
        assert view(browser) is None
        browser.wheel(left + width / 4, top + 12, -400)
        begin, end = view(browser)
        middle = first + (last - first) / 4
        assert end - begin < 0.6 * (last - first), (begin, end)
        assert abs((middle - begin) / (end - begin) - 0.25) < 0.002, (begin, end, "the time below the pointer stays")
        browser.evaluate("document.querySelector('.lanes-scroller').focus()")
        browser.key("d")
        moved = view(browser)
        assert abs(moved[0] - begin - (end - begin) / 10) < 2e-9 and abs(moved[1] - moved[0] - end + begin) < 3e-9
        browser.key("+")
        closer = view(browser)
        assert abs((closer[1] - closer[0]) * 1.25 - end + begin) < 1e-8
        browser.key("Home")
        assert view(browser) is None
        for kind, share in (("mousePressed", 0.5), ("mouseMoved", 0.6), ("mouseMoved", 0.75), ("mouseReleased", 0.75)):
            browser.call("Input.dispatchMouseEvent", type=kind, x=left + width * share, y=top + 12, button="left",
                         buttons=int(kind != "mouseReleased"), clickCount=1)
        chosen = browser.evaluate("chosenRange()")
        for name, share in (("from", 0.5), ("to", 0.75)):
            assert abs(chosen[name] / 1e9 - first - share * (last - first)) < 2 * (last - first) / width, chosen
        browser.evaluate("document.querySelector('.lanes-scroller').focus()")
        browser.key("End")
        assert view(browser) == (round(chosen["from"] / 1e9, 9), round(chosen["to"] / 1e9, 9))
        browser.key("Escape")
        assert browser.evaluate("chosenRange()") is None
        for _ in range(120):
            browser.key("+")
        begin, end = view(browser)
        assert abs(end - begin - 1e-6) < 2e-9, "zooming ends at a microsecond"
        for _ in range(140):
            browser.key("-")
        assert view(browser) is None
        quiet(browser)


@case
def intervals_are_reached_by_keyboard_and_by_links(directory):
    rows = [row for row in intervals("traced") if row[2] == "2"]
    path = page(directory, "traced")
    with Browser() as browser:
        browser.open(path, "#tab=timeline")
        browser.evaluate("document.querySelector('.lanes-scroller').focus()")
        browser.key("ArrowDown")
        browser.key("ArrowRight")
        for row in rows[1:]:
            details = browser.evaluate(DETAILS)
            assert details["Thread"] == "2" and details["Begin"] == row[3] + " s", (details, row)
            assert NAMES[details["Category"]] == row[6] and bool(row[10]) == ("Waits for" in details), (details, row)
            browser.key("ArrowRight")
        browser.key("ArrowLeft")
        listed = browser.evaluate(CELLS % LISTED)
        assert [cells[0] for cells in listed] == [row[3] + " s" for row in rows], listed
        fragment = browser.evaluate("location.hash")
        assert f"lane={rows[0][0]}.2" in fragment and f"at={rows[-2][3]}" in fragment, fragment
        browser.key("[")
        assert browser.evaluate("chosenRange()")["from"] == round(float(rows[-2][3]) * 1e9)
        browser.key("]")
        assert browser.evaluate("chosenRange()")["to"] == round(float(rows[-2][4]) * 1e9)
        browser.key("Enter")
        begin, end = view(browser)
        assert abs(begin - float(rows[-2][3])) < 2e-6 and end - begin >= ns(rows[-2]) / 1e9 - 1e-9, (begin, end)
        browser.open(path, fragment)
        assert browser.evaluate(DETAILS)["Begin"] == rows[-2][3] + " s"
        quiet(browser)


@case
def the_blame_for_a_wait_lights_up(directory):
    rows = intervals("traced")
    waits = [row for row in rows if row[10] and ns(row) > 100000]
    assert waits
    with Browser() as browser:
        browser.open(page(directory, "traced"), "#tab=timeline")
        threads = sorted({int(row[2]) for row in rows})
        first, last = browser.evaluate("loadTrace().then((trace) => [trace.from / 1e9, trace.until / 1e9])")
        left, top, width, _ = box(browser, ".lanes-canvas")
        picture = "document.querySelector('.lanes-canvas').toDataURL()"
        longest = max(waits, key=ns)
        x = left + width * ((float(longest[3]) + float(longest[4])) / 2 - first) / (last - first)
        drawn(browser)
        before = browser.evaluate(picture)
        browser.move(x, top + 24 * threads.index(int(longest[2])) + 12)
        drawn(browser)
        details = browser.evaluate(DETAILS)
        assert details["Begin"] == longest[3] + " s" and details["Waits for"], (details, longest)
        assert browser.evaluate(picture) != before
        browser.move(x, top - 100)
        drawn(browser)
        assert browser.evaluate(picture) == before
        for row in waits:
            browser.open(os.path.join(directory, "traced.html"),
                         f"#tab=timeline&lane={row[0]}.{row[2]}&at={row[3]}&view={row[3]}-{row[4]}")
            drawn(browser)
            check_blame(browser, row, rows, threads)
        browser.messages = [text for text in browser.messages if "getImageData" not in text]  # this test's own
        quiet(browser)


def check_blame(browser, wait, rows, threads):
    """What an interval waits for, meanwhile, is shown in its colour; everything else of other threads is faded."""
    above = {int(row["id"]): int(row["parent_id"] or -1) for row in topdown()}
    colours = dict(browser.evaluate("laneCategories.map(({ key, colour }) => [key, pixelColours([colour])[0]])"))
    first, last = browser.evaluate("loadTrace().then((trace) => [trace.from / 1e9, trace.until / 1e9])")
    begin, end = view(browser) or (first, last)
    width, blamed, looked = box(browser, ".lanes-canvas")[2], set(), 0
    for other in rows:
        start, stop = max(float(wait[3]), float(other[3])), min(float(wait[4]), float(other[4]))
        if other[0] != wait[0] or other[2] == wait[2] or stop <= start:
            continue
        at = int(other[7] or -1) if other[6] in ("work", "overhead") else -1
        while at not in (-1, None) and at != int(wait[10]):
            at = above.get(at)
        if at == int(wait[10]):
            blamed.add(other[2])
        if (stop - start) / (end - begin) * width < 8 or other[6] == "gap":
            continue
        x, y = round(((start + stop) / 2 - begin) / (end - begin) * width), 24 * threads.index(int(other[2])) + 3
        pixel = browser.evaluate("new Uint32Array(document.querySelector('.lanes-canvas').getContext('2d')"
                                 f".getImageData({x}, {y}, 1, 1).data.buffer)[0]")
        assert (pixel == colours[other[6]]) == (at == int(wait[10])), (wait, other, pixel, colours)
        looked += 1
    told = browser.evaluate(DETAILS).get("To blame", "")
    assert set(re.findall(r"thread (\d+)", told)) == blamed and looked, (wait, told, blamed)


@case
def a_context_contains_what_it_calls(directory):
    with Browser() as browser:
        browser.open(page(directory, "traced"))
        wrong = browser.evaluate("""Promise.all([loadTrace(), loadTable("topdown")]).then(([trace, tree]) => {
          const parents = tree.column("parent_id").numbers;
          const above = new Map([...tree.column("id").numbers].map((id, row) => [id, parents[row]]));
          const below = (id, context) => id === context || (above.has(id) && below(above.get(id), context));
          return [...above.keys()].flatMap((context) => [...trace.statesBelow(context)].filter((marked, state) =>
            Boolean(marked) !== (trace.categoryOf[state] <= 1 && below(trace.contextOf[state], context)))
            .map(() => context));
        })""")
        assert wrong == [], wrong


@case
def processes_fold_and_unfold(directory):
    path = synthetic(directory, "--processes", "2", "--ranks", "--threads", "3", "--contexts", "100", "--events", "900")
    with Browser() as browser:
        browser.open(page(directory, path), "#tab=timeline")
        names = browser.evaluate(LABELS)
        assert len(names) == 8 and names[0].startswith("\u25beRank 0") and names[4].startswith("\u25beRank 1"), names
        browser.evaluate("document.querySelector('.lanes-scroller').focus()")
        browser.key("Enter")
        browser.wait(LABELS + ".length === 5")
        assert browser.evaluate(LABELS)[0].startswith("\u25b8Rank 0")
        browser.key("Enter")
        browser.wait(LABELS + ".length === 8")
        left, top, _, _ = box(browser, ".lanes-labels")
        browser.click(left + 20, top + 4 * 24 + 12)
        browser.wait(LABELS + ".length === 5")
        quiet(browser)


# Lanes of 40 threads, each of which works for a part of the run and is idle then.
ALIKE = """(() => {
  const until = [0.2, ...Array(19).fill(0.5), ...Array(20).fill(0.9)];
  until[29] = 0.8;
  until[34] = 0.6;
  const starts = Float64Array.from(until.flatMap((part) => [0, 1000 * part, 1000]));
  const states = Uint16Array.from(until.flatMap(() => [0, 1, 0])), critical = new Int32Array(2).fill(-1);
  const lanes = until.map((_, i) => ({ number: i, first: 3 * i, end: 3 * i + 2, from: 0, to: 1000, process: "7", rank: "",
    thread: String(i + 1), host: "node" }));
  const trace = { lanes, starts, states, critical, from: 0, until: 1000, positionAt: Trace.prototype.positionAt };
  const rows = new LaneRows(trace, new LaneSums(trace, Uint8Array.of(0, 1), 2), []), titles = () => rows.shown.map((row) => row.title);
  const found = [titles()];
  rows.toggle(rows.shown[2]);
  found.push(titles());
  const text = rows.foldsText, again = new LaneRows(trace, new LaneSums(trace, Uint8Array.of(0, 1), 2), []);
  again.foldsText = text;
  found.push(again.shown.map((row) => row.title));
  return found;
})()"""


@case
def neighbours_that_did_alike_share_a_row(directory):
    with Browser() as browser:
        browser.open(page(directory, "traced"), "#tab=timeline")
        folded, unfolded, again = browser.evaluate(ALIKE)
        assert folded == ["Thread 1", "Threads 2 to 20 alike", "Threads 21 to 34 alike", "Thread 35", "Threads 36 to 40 alike"], folded
        assert unfolded == folded[:3] + [f"Thread {number}" for number in range(21, 35)] + folded[3:] == again, unfolded
        path = synthetic(directory, "--processes", "2", "--ranks", "--threads", "20", "--contexts", "60", "--events", "4000")
        browser.open(page(directory, path), "#tab=timeline")
        drawn(browser)
        names = browser.evaluate(LABELS)
        assert len(names) == 6 and names[2] == "\u25b8Threads 2 to 20 alike" == names[5], names
        left, top, width, _ = box(browser, ".lanes-canvas")
        browser.click(left + width / 2, top + 2 * 24 + 12)
        browser.wait(LABELS + ".length > 10")
        assert browser.evaluate(LABELS)[2:5] == ["\u25beThreads 2 to 20 alike", "Thread 2", "Thread 3"]
        assert "folds=alike" in browser.evaluate("location.hash")
        quiet(browser)


# Of several views: how far the sums of columns are from those that LaneSums has of each column, in ns; for GroupSums, in parts of
# the lanes' time in a bucket.  Then calls for each frame.
COLUMN_SUMS = """(async () => {
  const trace = await loadTrace(), classes = laneCategories.length, sums = new LaneSums(trace, trace.categoryOf, classes);
  const group = new GroupSums(sums, trace.lanes), columns = 97, length = trace.until - trace.from, found = [];
  for (const [at, part] of [[0, 1], [0.3, 1 / 7], [0.5, 1 / 200], [0.9, 1 / 5000]]) {
    const view = { from: trace.from + at * length, to: trace.from + (at + part) * length }, step = (view.to - view.from) / columns;
    const exact = new ColumnSums(sums, view, columns), rough = group.columns(view, columns);
    trace.lanes.forEach((lane) => exact.add(lane));
    const times = exact.sum;
    let off = 0, offOfGroup = 0;
    for (let x = 0; x < columns; x++) {
      const wanted = new Float64Array(sums.width);
      for (const lane of trace.lanes)
        sums.between(lane, view.from + x * step, view.from + (x + 1) * step).forEach((time, i) => { wanted[i] += time; });
      for (let i = 0; i < sums.width; i++) {
        off = Math.max(off, Math.abs(times[x * sums.width + i] - wanted[i]));
        offOfGroup = Math.max(offOfGroup, Math.abs(rough[x * sums.width + i] - wanted[i]));
      }
    }
    found.push([off, offOfGroup / (trace.lanes.length * group.step), group.suits(view, columns)]);
  }
  return found;
})()"""

CALLS = """(() => {
  const counts = { addUntil: 0, positionAt: 0 };
  for (const [kind, name] of [[LaneCursor, "addUntil"], [Trace, "positionAt"]]) {
    const old = kind.prototype[name];
    kind.prototype[name] = function (...given) { counts[name]++; return old.apply(this, given); };
  }
  window.callsFor = async (key, times) => {
    Object.assign(counts, { addUntil: 0, positionAt: 0 });
    for (let i = 0; i < times; i++) {
      document.querySelector(".lanes-scroller").dispatchEvent(new KeyboardEvent("keydown", { key }));
      await new Promise(requestAnimationFrame);
    }
    return (counts.addUntil + counts.positionAt) / times;
  };
})()"""


@case
def a_frame_of_many_lanes_costs_little(directory):
    path = synthetic(directory, "--processes", "2", "--threads", "128", "--contexts", "200", "--events", "200000")
    with Browser() as browser:
        browser.open(page(directory, path), "#tab=timeline")
        drawn(browser)
        found = browser.evaluate(COLUMN_SUMS)
        assert all(off < 1 for off, _, _ in found), found
        assert [suits for _, _, suits in found] == [True, True, False, False], found
        assert all(off < 0.5 for _, off, suits in found if suits), found
        lanes = browser.evaluate("loadTrace().then((trace) => trace.lanes.length)")
        assert lanes == 256 and len(browser.evaluate(LABELS)) <= 18
        browser.evaluate(CALLS)
        width = browser.evaluate("document.querySelector('.lanes-canvas').clientWidth")
        # near, two searches for each lane in sight, and one for each pixel of rows with names; far, a bounded number for each pixel of a row
        for key, times in (("d", 4), ("+", 30), ("-", 30)):
            calls = browser.evaluate(f"callsFor('{key}', {times})")
            assert calls < 3 * lanes + 8 * width, (key, calls, lanes, width)
        quiet(browser)


@case
def thousands_of_lanes_are_drawn_soon(directory):
    path = synthetic(directory, "--processes", "10", "--ranks", "--threads", "256", "--contexts", "200", "--events", "100000")
    with Browser() as browser:
        browser.call("Performance.enable", timeDomain="threadTicks")
        browser.open(page(directory, path), "#tab=timeline")
        drawn(browser)
        measured = {metric["name"]: metric["value"] for metric in browser.call("Performance.getMetrics")["metrics"]}
        assert browser.evaluate("loadTrace().then((trace) => trace.lanes.length)") == 2560
        assert len(browser.evaluate(LABELS)) <= 30, browser.evaluate(LABELS)
        timed(measured["TaskDuration"] <= 3, measured)
        quiet(browser)


@case
def colours_stand_for_functions_and_constructs(directory):
    with Browser() as browser:
        browser.open(page(directory, "traced"), "#tab=timeline")
        picture = "document.querySelector('.lanes-canvas').toDataURL()"
        legend = "document.querySelector('.lanes-legend').textContent"
        pictures = set()
        for key in ("category", "context", "construct"):
            browser.evaluate(f"changeState({{ colour: '{key}' }})")
            drawn(browser)
            pictures.add(browser.evaluate(picture))
        assert len(pictures) == 3
        assert "Outside all constructs" in browser.evaluate(legend)
        browser.evaluate("changeState({ colour: 'context' })")
        named = {row["name"] for row in topdown()}
        assert any(name in browser.evaluate(legend) for name in named)
        quiet(browser)


@case
def a_phase_is_a_part_of_the_run(directory):
    done = report("-q", "--view", "phases", "-f", "csv", "traced", cwd=GOLDEN)
    phases = [row for row in csv.DictReader(io.StringIO(done.stdout)) if not row["step"]]
    with Browser() as browser:
        browser.open(page(directory, "traced"), "#tab=timeline")
        cells = browser.evaluate(CELLS % "Phases")
        assert [one[1] for one in cells] == [row["name"] for row in phases] and phases, (cells, phases)
        browser.evaluate("document.querySelector('[aria-label=Phases] .grid-scroller').focus()")
        browser.key("End")
        chosen = browser.evaluate("chosenRange()")
        assert [chosen["from"], chosen["to"]] == [round(float(phases[-1][key]) * 1e9) for key in ("start_s", "end_s")]


@case
def the_slowest_repetition_of_a_phase_is_a_part_of_the_run(directory):
    path = synthetic(directory, "--threads", "2", "--contexts", "20", "--events", "4000")
    done = report("-q", "--view", "phases", "-f", "csv", path)
    rows = [row for row in csv.DictReader(io.StringIO(done.stdout)) if not row["step"]]
    repeated = next(row for row in rows if int(row["instances"]) > 1)
    with Browser() as browser:
        browser.open(page(directory, path), "#tab=timeline")
        names = [cells[1] for cells in browser.evaluate(CELLS % "Phases")]
        place = next(i for i, name in enumerate(names) if "slowest" in name)
        assert f"slowest of {repeated['instances']} repetitions: number {repeated['slowest']}" in names[place], names
        assert names[place - 1] == repeated["name"], names
        browser.evaluate("document.querySelector('[aria-label=Phases] .grid-scroller').focus()")
        for _ in range(place + 1):
            browser.key("ArrowDown")
        chosen, start = browser.evaluate("chosenRange()"), round(float(repeated["slowest_start_s"]) * 1e9)
        assert chosen == {"from": start, "to": start + round(float(repeated["slowest_s"]) * 1e9)}, (chosen, repeated)
        quiet(browser)


@case
def runs_without_a_trace_say_so(directory):
    with Browser() as browser:
        browser.open(page(directory, "recorded"), "#tab=timeline")
        assert "hpcrun-lite -t" in browser.evaluate("document.getElementById('panel-timeline').textContent")
        quiet(browser)


def table(text, name):
    """The header and the cells of a small table of the page."""
    data = gzip.decompress(base64.b64decode(re.search(f'id="table-{name}">([^<]*)<', text).group(1)))
    size = struct.unpack("<I", data[:4])[0]
    return json.loads(data[4:4 + size]), data[4 + size:]


@case
def what_does_not_fit_is_counted(directory):
    path = synthetic(directory, "--threads", "4", "--contexts", "100", "--events", "16400000")
    written = os.path.join(directory, "large.html")
    must(REPORT, "-q", "-f", "html", "-o", written, path)
    with open(written, encoding="utf-8") as file:
        text = file.read()
    columns = {column["name"]: column["minimum"] for column in table(text, "timeline-extent")[0]["columns"]}
    assert table(text, "timeline")[0]["rows"] == columns["intervals"] <= 12000000, columns
    until = f"{columns['until_ns'] / 1e9:.9f}"
    behind = [row for row in intervals(path, "--from", until) if row[3] != until]
    begins = [row for row in intervals(path, "--from", f"{columns['until_ns'] / 1e9 - 1e-9:.9f}", "--to",
                                       f"{columns['until_ns'] / 1e9 + 1e-6:.9f}") if row[3] == until]
    assert len(behind) + len(begins) == columns["left_out"] > 0, (columns, len(behind), len(begins))
    if CHROMIUM:
        with Browser() as browser:
            browser.open(written, "#tab=timeline")
            notice = browser.evaluate("document.querySelector('#panel-timeline .notice').textContent")
            assert str(columns["left_out"]) in notice and until in notice, notice
            quiet(browser)


@case
def marks_and_phases_of_the_program_are_shown_with_their_names(directory):
    need_browser()
    output, path = os.path.join(directory, "measurement"), os.path.join(directory, "page.html")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "instrumented.c")
    binary = compile_c(directory, "instrumented", open(source, encoding="utf-8").read(), "-fopenmp", "-I", INCLUDE)
    must(LAUNCHER, "-q", "-t", "-o", output, binary, "marks")
    must(REPORT, "-q", "-f", "html", "-o", path, output)
    with Browser() as browser:
        browser.open(path, "#tab=timeline")
        drawn(browser)
        marks = browser.evaluate(CELLS % "Marks")
        assert [cells[0] for cells in marks] == ["ready", *["step"] * 5], marks
        names = [cells[1] for cells in browser.evaluate(CELLS % "Phases")]
        assert names[:3] == ["setup", "solve", "output"], names
        assert browser.evaluate("document.querySelector('.lanes-axis').classList.contains('with-marks')")
        below, crossed = browser.evaluate(CROSSED)
        assert below and not crossed, (below, crossed)
        titles, cells = browser.evaluate(TITLES % "Phases"), browser.evaluate(SHOWN % "Phases")
        assert titles[2:5] == ["Start (s)", "Time", "Work %"], titles
        for row in cells:
            assert re.fullmatch(r"\d+\.\d{6}", row[2]) and re.fullmatch(r"[\d.]+\xa0(s|ms|\xb5s|ns)", row[3]), row
        quiet(browser)


if __name__ == "__main__":
    main()
