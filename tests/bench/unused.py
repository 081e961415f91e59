#!/usr/bin/env python3
"""What features cost that a run does not use: this build beside an earlier one, both with the default options.

Usage: unused.py BUILD [-n ROUNDS] [--only NAME]...     (BUILD: another build directory, after its scripts/stage)

CPU time: each round runs a program under both builds, and under the earlier one once more, in turn.  Medians and
quartiles of the differences within a round are printed, in percent; those of the earlier build with itself (noise)
tell how small a difference these rounds can show.

Instructions: of one construct or sample under both, as instructions.py counts them.  They hardly depend on the load.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import costs
import tap
import workloads

PROGRAMS = ("C mini-app, clang", "C mini-app, gcc", "regions of 10 us", "tasks of 10 us", "chunks", "locks held 0.5 us",
            "30 frames deep", "empty criticals")


def percent(runs, base):
    low, middle, high = (100 * (ratio - 1) for ratio in costs.ratios(runs, base, "cpu"))
    return f"{middle:+7.2f} ({low:+6.2f} ..{high:+6.2f})"


def compare_times(launcher, options):
    print(f"{'CPU time, -p online, 200/s':28} {'s':>6} {'this build, %':>26} {'noise, %':>26}")
    with tempfile.TemporaryDirectory() as directory:
        bench = costs.Bench(directory)
        for work in (*workloads.built(), *workloads.extremes()):
            if not any(part.lower() in work.name.lower() for part in options.only or PROGRAMS):
                continue
            ways = [costs.lite(200, "online", work.gcc, path) for path in (launcher, tap.LAUNCHER, launcher)]
            done = bench.rounds(work.command, ways, options.runs, work.settings)
            before, now, again = (done[way] for way in ways)
            print(f"{work.name:28} {costs.quartiles([cost.cpu for cost in before])[1]:6.2f} {percent(now, before):>26} "
                  f"{percent(again, before):>26}", flush=True)


def instructions(build):
    """Construct or sample → its instructions, measured with that build."""
    script = os.path.join(tap.SCRIPT, "instructions.py")
    environment = {**os.environ, "HPCRUN_LITE_TEST_BUILD": build}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    return {name: float(count) for name, count in re.findall(r"^# (.+): ([\d.]+) instructions,", done.stdout, re.M)}


def compare_instructions(build):
    before, now = instructions(build), instructions(tap.BUILD)
    print(f"{'instructions':28} {'before':>9} {'now':>9} {'%':>7}")
    for name in before:
        if before[name] and name in now:
            print(f"{name:28} {before[name]:9.0f} {now[name]:9.0f} {100 * (now[name] / before[name] - 1):+7.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("-n", dest="runs", type=int, default=9, metavar="ROUNDS")
    parser.add_argument("--only", action="append", metavar="NAME", help="only programs whose name contains it")
    options = parser.parse_args()
    try:
        with open(os.path.join(options.build, "stage-prefix"), encoding="utf-8") as file:
            launcher = os.path.join(file.read().strip(), "hpcrun-lite")
    except FileNotFoundError:
        parser.error(f"nothing is built in {options.build}: first run scripts/stage there")
    print(f"load {' '.join(f'{load:.1f}' for load in os.getloadavg())}, {options.runs} rounds")
    compare_times(launcher, options)
    compare_instructions(options.build)


main()
