#!/usr/bin/env python3
"""How long the views of the timeline take: to build the index of a synthetic trace, and with it; and without it.

Usage: index_times.py [-j THREADS] [-b BUILD] [--events N] [--keep DIRECTORY]

Bars, with two cores: 10^8 events are indexed in 30 s, and any view with the index takes 0.3 s, of the whole run or of
a part of it.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from scaling import TOP, measure

# name, view, format, part of the run
STEPS = (("build the index", "timeline", "text", "--index"), ("timeline, text", "timeline", "text"),
         ("timeline, JSON", "timeline", "json"), ("phases", "phases", "text"), ("phases, CSV", "phases", "csv"),
         ("timeline, 1 ms of it", "timeline", "text", (0.5, 0)), ("phases, 1 ms of it", "phases", "text", (0.5, 0)),
         ("timeline, 10 % of it", "timeline", "text", (0.4, 0.5)), ("phases, 10 % of it", "phases", "text", (0.4, 0.5)),
         ("timeline, 90 % of it", "timeline", "text", (0.1, 1)), ("phases, 90 % of it", "phases", "text", (0.1, 1)),
         ("JSON, 90 % of it", "timeline", "json", (0.1, 1)), ("phases without index", "phases", "csv", "gone"))


def length(report, path):
    """How long the run takes, in s."""
    found = json.loads(subprocess.run([report, "-q", "--view", "timeline", "-f", "json", path], check=True,
                                      stdout=subprocess.PIPE).stdout)
    return max(row["end_s"] for row in found["rows"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)), dest="threads")
    parser.add_argument("-b", default=os.path.join(TOP, "build"), dest="build")
    parser.add_argument("--events", type=int, default=100000000, help="of 4 threads together")
    parser.add_argument("--keep", help="directory for the measurement while it is needed (default: /tmp)")
    options = parser.parse_args()
    report = os.path.join(options.build, "hpcprof-lite", "hpcprof-lite")
    with tempfile.TemporaryDirectory(dir=options.keep) as top:
        path = os.path.join(top, "measured")
        subprocess.run([os.path.join(options.build, "tests", "synthesize"), "--threads", "4", "--contexts", "1000",
                        "--events", str(options.events), path], check=True)
        print(f"{options.events:,} events, {options.threads} threads of hpcprof-lite")
        print(f"{'':>24} {'wall s':>8} {'cpu s':>8} {'MB':>7}")
        seconds = 0
        for name, view, form, *more in STEPS:
            if more == ["gone"]:
                os.remove(next(entry.path for entry in os.scandir(path) if entry.name.endswith(".index")))
                more = []
            elif more and more[0] != "--index":
                seconds = seconds or length(report, path)
                begin, end = more[0]
                more = ["--from", f"{begin * seconds:.6f}", "--to", f"{end * seconds or begin * seconds + 0.001:.6f}"]
            wall, cpu, memory = measure([report, "-q", "-j", str(options.threads), "--view", view, "-f", form, *more,
                                         path])
            print(f"{name:>24} {wall:8.2f} {cpu:8.2f} {memory / 1e6:7.1f}", flush=True)
        for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
            print(f"{os.path.splitext(entry.name)[1]:>24} {entry.stat().st_size / 1e6:8.2f} MB")


if __name__ == "__main__":
    sys.exit(main())
