#!/usr/bin/env python3
"""How large the timeline is in the HTML report, and how fast: bytes for each interval, the time until the page has
drawn itself, and frames per second and CPU time of a frame while zooming.

Usage: timeline_page_times.py [-b BUILD] [--events N] [--contexts N] [--processes N] [--threads N] [--keep DIRECTORY]
                              [MEASUREMENT]

Measures a synthetic trace unless a measurement is given.  Bars: 10^7 events take 40 MB at most with the other tables,
the first picture comes within 5 s, and zooming shows 30 frames a second or more; 256 threads of 10 processes are drawn
in 3 s of the page's CPU time.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

from scaling import TOP, measure

sys.path.insert(0, os.path.join(TOP, "tests", "support"))
sys.path.insert(0, os.path.join(TOP, "tests", "html"))
from browser import Browser

ZOOM = """new Promise((done) => {
  const lanes = document.querySelector(".lanes-scroller"), times = [];
  const step = (now) => {
    times.push(now);
    const at = times.length;
    lanes.dispatchEvent(new KeyboardEvent("keydown", { key: at % 150 < 60 ? "+" : at % 150 < 90 ? "d" : "-" }));
    if (at < 290) requestAnimationFrame(step);
    else done(times.slice(1).map((time, i) => time - times[i]));
  };
  requestAnimationFrame(step);
})"""


def sizes(page):
    """Bytes of the tables of the timeline, and of the page."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    tables = re.findall(r'id="table-(timeline[\w-]*)">([^<]*)<', text)
    return sum(len(content) for _, content in tables), len(text)


def cpu_s(browser):
    """The CPU time of the page's main thread."""
    metrics = browser.call("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def zoom(browser):
    """Zooms in and out.  Returns how long each frame took in ms, sorted, and the mean CPU time of one in ms."""
    before = cpu_s(browser)
    times = sorted(browser.evaluate(ZOOM))
    return times, 1000 * (cpu_s(browser) - before) / len(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-b", default=os.path.join(TOP, "build"), dest="build")
    parser.add_argument("--events", type=int, default=13400000, help="of the threads of a process together: 4 events are 3 intervals")
    parser.add_argument("--processes", default="1")
    parser.add_argument("--threads", default="4", help="of each process")
    parser.add_argument("--contexts", type=int, default=1000)
    parser.add_argument("--keep", help="directory for the measurement while it is needed (default: /tmp)")
    parser.add_argument("measurement", nargs="?")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.keep) as top:
        path, page = options.measurement or os.path.join(top, "measured"), os.path.join(top, "report.html")
        if not options.measurement:
            subprocess.run([os.path.join(options.build, "tests", "synthesize"), "--processes", options.processes, "--ranks",
                            "--threads", options.threads, "--contexts",
                            str(options.contexts), "--events", str(options.events), path], check=True)
        wall, cpu, memory = measure([os.path.join(options.build, "hpcprof-lite", "hpcprof-lite"), "-q", "-f", "html",
                                     "-o", page, path])
        timeline, whole = sizes(page)
        print(f"page written in {wall:.1f} s ({cpu:.1f} s of CPU time), {memory / 1e6:.0f} MB of memory")
        with Browser(1280, 900) as browser:
            browser.call("Performance.enable", timeDomain="threadTicks")
            begin = time.monotonic()
            browser.open(page, "#tab=timeline")
            drawn = time.monotonic() - begin
            drawn_cpu = cpu_s(browser)
            intervals = browser.evaluate("loadTrace().then((trace) => trace.count)")
            frames = zoom(browser)
            browser.evaluate("new Promise((done) => setTimeout(done, 300))")  # the address has followed
            browser.evaluate("document.querySelector('#lane-colours').value = 'context'")
            browser.evaluate("document.querySelector('#lane-colours').dispatchEvent(new Event('change'))")
            coloured = zoom(browser)
        print(f"{intervals:,} intervals: {timeline / 1e6:.2f} MB, {timeline / intervals:.2f} bytes each; "
              f"page: {whole / 1e6:.2f} MB; drawn after {drawn:.2f} s, {drawn_cpu:.2f} s of CPU time")
        for name, (times, cpu_ms) in (("categories", frames), ("functions", coloured)):
            print(f"zooming, colours of {name}: {1000 * len(times) / sum(times):.0f} frames/s, median "
                  f"{times[len(times) // 2]:.1f} ms, 95 % {times[len(times) * 95 // 100]:.1f} ms, "
                  f"longest {times[-1]:.1f} ms; {cpu_ms:.1f} ms of CPU time each")


if __name__ == "__main__":
    sys.exit(main())
