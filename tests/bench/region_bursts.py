#!/usr/bin/env python3
"""What regions of two threads cost, by the shortest of many bursts (region_bursts.c), which other load on the machine
hardly changes.

Usage: region_bursts.py [-n ROUNDS] [--seconds S] [-l LAUNCHER]...

Each round runs each form plain, under tools with empty callbacks, and measured with -p off, by default and with -p
online; with several launchers, by each.  Prints the elapsed time of a region, the least of all rounds, and its ratio to
plain: where the threads' processors are near to each other, and where they are far apart.  What had too few bursts is
left out.  Threads spin where they wait, so that the ratio of CPU time is the same."""
import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import costs
import short_events
import tap
from measured import build

FORMS, MODES, DISTANCES = ("region", "loops"), ("off", "default", "online"), ("near", "far")
BOUND = {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}


def ways_of(gcc, launchers):
    plain = costs.alone(gcc)
    plain.name = "plain"
    ways = [plain]
    for flags, name in () if gcc else (((), "empty_off.so"), (("-DGRAPH",), "empty.so")):
        tool = short_events.empty_tool(*flags, name=name)
        ways.append(costs.Way(name[:-len(".so")], settings={**plain.settings, "OMP_TOOL_LIBRARIES": tool}))
    for number, launcher in enumerate(launchers):
        for mode in MODES:
            way = costs.lite(200, mode, gcc, launcher)
            way.name = f"{mode}, {number + 1}" if len(launchers) > 1 else mode
            ways.append(way)
    return ways


def least_of(directory, program, form, way, seconds):
    """ns of a region, near and far; 0: not known."""
    prefix = [part.replace("{out}", os.path.join(directory, "out")) for part in way.prefix]
    done = tap.must(*prefix, program, form, str(seconds), **BOUND, **way.settings)
    return [float(word) for word in done.split()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=9, dest="rounds")
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("-l", "--launcher", action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for compiler in ("clang", "gcc"):
            program = build("region_bursts.c", compiler, "-O2")
            ways = ways_of(compiler == "gcc", options.launcher or [tap.LAUNCHER])
            for form in FORMS:
                found = {way.name: [] for way in ways}
                for _ in range(options.rounds):
                    for way in ways:
                        found[way.name].append(least_of(directory, program, form, way, options.seconds))
                for i, where in enumerate(DISTANCES):
                    least = {name: min((run[i] for run in runs if run[i]), default=0) for name, runs in found.items()}
                    for name, ns in least.items():
                        if ns and least["plain"]:
                            print(f"{form}, {compiler}, {where:4} {name:12} {ns:8.0f} ns {ns / least['plain']:8.3f}")


if __name__ == "__main__":
    main()
