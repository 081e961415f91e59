#!/usr/bin/env python3
"""How fast the HTML report is with many calling contexts, in headless Chromium.

Usage: page_times.py [-b BUILD] [--contexts N] [--page FILE] [--keep DIRECTORY]

Bars, for 10^6 contexts on an idle machine: drawn 5 s after navigation; 30 frames a second while the icicle is zoomed
and moved.  "possible" is the number of frames for which the page's own CPU time suffices; other programs that run at
the same time change it less than the number of frames that were shown.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "html"))
from browser import Browser
from scaling import TOP, measure

# Moves in each frame, as a user with a mouse does, and returns the milliseconds between frames.
FRAMES = """new Promise((done) => {
  const canvas = document.querySelector('#panel-contexts canvas.icicle'), times = [];
  const place = canvas.getBoundingClientRect();
  let frame = 0;
  const step = (now) => {
    times.push(now);
    if (frame === %(frames)d)
      return done(times.slice(1).map((time, at) => time - times[at]));
    canvas.dispatchEvent(new WheelEvent('wheel', { bubbles: true, cancelable: true,
      clientX: place.left + place.width * 0.37, clientY: place.top + 90, %(event)s }));
    frame += 1;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
MOVES = (("zoom in", "ctrlKey: true, deltaY: -40"), ("move right", "shiftKey: true, deltaX: 25, deltaY: 0"),
         ("move down", "deltaY: frame % 20 < 10 ? 12 : -12"), ("zoom out", "ctrlKey: true, deltaY: 40"))
# Changes of the address's fragment, and what they show.
CHANGES = (("select the last context", "{ context: last }"), ("collapse recursion", "{ collapse: '1' }"),
           ("show recursion", "{ collapse: '' }"), ("colour by idleness", "{ colour: 'idleness' }"),
           ("search", "{ search: '1+0' }"), ("bottom-up", "{ tree: 'bottomup', context: '' }"))


def cpu_seconds(browser):
    """CPU time of the page's main thread."""
    found = {metric["name"]: metric["value"] for metric in browser.call("Performance.getMetrics")["metrics"]}
    return found["ThreadTime"]


def print_moves(browser, frames):
    print(f"{'':>24} {'shown/s':>8} {'worst ms':>9} {'possible/s':>10}")
    for name, event in MOVES:
        before = cpu_seconds(browser)
        times = browser.evaluate(FRAMES % {"frames": frames, "event": event})
        busy = (cpu_seconds(browser) - before) / frames
        shown, possible = 1000 / statistics.mean(times), 1 / max(busy, 1e-6)
        print(f"{name:>24} {shown:8.1f} {max(times):9.1f} {possible:10.1f}", flush=True)


def print_changes(browser):
    print(f"{'':>24} {'ms':>8}")
    for name, change in CHANGES:
        took = browser.evaluate("""(async () => {
            const table = await loadTable('topdown'), last = table.text('id', table.rows - 1);
            const begin = performance.now();
            changeState(%s);
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            return performance.now() - begin; })()""" % change)
        print(f"{name:>24} {took:8.0f}", flush=True)


def make_page(options, top):
    """Writes the report of a synthetic measurement; returns its path."""
    path, page = os.path.join(top, "measured"), os.path.join(top, "report.html")
    subprocess.run([os.path.join(options.build, "tests", "synthesize"), "--threads", "2", "--contexts",
                    str(options.contexts), "--depth", "40", "--common", "100", path], check=True)
    report = os.path.join(options.build, "hpcprof-lite", "hpcprof-lite")
    wall, cpu, memory = measure([report, "-q", "-f", "html", "-o", page, path])
    print(f"{'write the page':>24} {wall:8.2f} s, {cpu:.2f} s of CPU, {memory / 1e6:.0f} MB of memory", flush=True)
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-b", default=os.path.join(TOP, "build"), dest="build")
    parser.add_argument("--contexts", type=int, default=1000000)
    parser.add_argument("--frames", type=int, default=90, help="of each move")
    parser.add_argument("--page", help="a report that exists")
    parser.add_argument("--keep", help="directory for the measurement while it is needed (default: /tmp)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.keep) as top:
        page = options.page or make_page(options, top)
        print(f"{'size':>24} {os.path.getsize(page) / 1e6:8.2f} MB, load {os.getloadavg()[0]:.1f}")
        with Browser(1600, 1000) as browser:
            browser.call("Performance.enable")
            begin = time.monotonic()
            browser.open(page, "#tab=contexts")
            wall = time.monotonic() - begin
            rows = browser.evaluate("loadTable('topdown').then((table) => table.rows)")
            cpu = cpu_seconds(browser)
            print(f"{'drawn after':>24} {wall:8.2f} s, {cpu:.2f} s of CPU in the page; {rows:,} contexts")
            print_moves(browser, options.frames)
            print_changes(browser)
            for message in browser.messages:
                print(message)


if __name__ == "__main__":
    sys.exit(main())
