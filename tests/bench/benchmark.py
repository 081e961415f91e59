#!/usr/bin/env python3
"""Prints the costs of hpcrun-lite and hpcprof-lite, as ratios with their spread, and the promised limits (the bars).

All runs are interleaved: each round runs a program alone and in every other way, and a ratio compares runs of one
round. Medians and quartiles are printed.  Without options it runs all programs at 200 samples/s with -p off and online,
and some of them at other rates, with -p log and under other profilers.  It takes about half an hour; --quick a few
minutes, --all hours.

--short measures the programs whose events are short instead: plain, under a tool with empty callbacks, under
HPCToolkit if it is installed, and in all modes; also in ns an event; and prints the tables of doc/performance.md.
--short --size 0.1 -n 3 takes a minute on an idle machine.

On a busy machine, look at CPU ratios, and at how near the quartiles are.  A bar between the quartiles is marked with a
tilde.  The load is printed at the beginning and at the end.
"""
import argparse
import os
import re
import shutil
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import costs
import details
import short_events
import tap
import workloads
from figures_table import Table

MODES, RATES = ("off", "online", "log"), (200, 1000, 5000)
LOGGED = ("2,000,000 tasks of 0.5 us", "100,000 empty regions", "tasks of 10 us", "1,000 contexts")
FASTER = ("primecount 1e15", "C++ templates, g++", "C mini-app, clang", "30 frames deep", "200 frames deep",
          "1,000 frames deep",
          "1,000 contexts")


def ways_of(work, options):
    """The ways to run a program, besides alone."""
    if options.rates or options.modes:
        chosen = [(rate, mode) for rate in options.rates or RATES[:1] for mode in options.modes or MODES[:2]]
    elif options.all:
        chosen = [(rate, mode) for rate in RATES for mode in MODES]
    else:
        chosen = [(200, "off"), (200, "online")]
        if not options.quick:
            chosen += [(rate, "off") for rate in RATES[1:] if work.name in FASTER]
            chosen += [(200, "log")] if work.name.removesuffix(", gcc") in LOGGED else []
    return [costs.lite(rate, mode, work.gcc, options.launcher) for rate, mode in chosen]


def peers_of(work, options):
    if options.quick or options.no_peers or options.rates or options.modes:
        return []
    if options.all:
        return [peer for rate in RATES for peer in costs.peers(rate, work.gcc)]
    return list(costs.peers(200, work.gcc)) if work.kind == "real" or work.name in FASTER else []


def print_way(table, work, way, runs, base):
    """One line: both ratios, memory, files."""
    cpu, wall = costs.ratios(runs, base, "cpu"), costs.ratios(runs, base, "wall")
    rss, faults = costs.differences(runs, base, "rss_kib"), costs.differences(runs, base, "faults")
    files, size = (costs.quartiles([getattr(cost, name) for cost in runs]) for name in ("files", "bytes"))
    ours = way.mode in MODES
    bar = work.bars.get(way.mode) if way.rate == 200 and way in work.judged else None
    judged = [("cpu", table.keep(work.name, way.name, "CPU ratio", cpu, "", bar), bar)]
    table.keep(work.name, way.name, "wall ratio", wall, "")
    most = 16 * 1024 + 256 * work.threads if ours and way in work.judged else None
    judged.append(("mem", table.keep(work.name, way.name, "memory", rss, "KiB", most), most))
    table.keep(work.name, way.name, "page faults", faults, "")
    table.keep(work.name, way.name, "bytes", size, "B")
    table.keep(work.name, way.name, "files", files, "")
    shown = [f"{name} {'' if name == 'mem' else f'<= {limit} '}{what}" for name, what, limit in judged
             if limit is not None and (name == "cpu" or what != "met")]
    print(f"{work.name:26} {way.name:20} {cpu[1]:7.3f} {cpu[0]:6.3f} ..{cpu[2]:6.3f} {wall[1]:7.3f} {wall[0]:6.3f} ..{wall[2]:6.3f}"
          f" {rss[1] / 1024:7.1f} {faults[1]:8.0f} {files[1]:4.0f} {size[1] / 1000:10.1f}  {', '.join(shown)}".rstrip(), flush=True)


def print_work(table, bench, work, options):
    """All ways of one program."""
    ours, others, plain = ways_of(work, options), peers_of(work, options), costs.alone(work.gcc)
    work.judged = set(ours)
    done = bench.rounds(work.command, [plain, *ours, *others], options.runs, work.settings)
    base = done[plain]
    print(f"{work.name:26} {'alone':20} CPU {statistics.median(cost.cpu for cost in base):.2f} s, "
          f"{statistics.median(cost.rss_kib for cost in base) / 1024:.1f} MiB", flush=True)
    for way in (*ours, *others):
        print_way(table, work, way, done[way], base)
    said = [cost.said.strip().splitlines()[-1] for way in ours for cost in done[way]]
    lost = [line for line in said if not re.search(r"(nothing lost|; \d+ samples inside the tool)$", line)]
    if lost:
        print(f"{work.name:26} {lost[0]}", flush=True)


HEADING = (f"{'program':26} {'way':20} {'CPU':>7} {'quartiles':>15} {'wall':>7} {'quartiles':>15} {'+MiB':>7} {'+faults':>8} {'file':>4}"
           f" {'KB':>10}  bar")


def print_works(table, bench, options, kind, title, made):
    chosen = [work for work in made if wanted(work.name, options)]
    if not chosen:
        return
    table.begin(title, HEADING)
    for work in chosen:
        print_work(table, bench, work, options)
    for mode in MODES:
        medians = [float(row[5]) for row in table.rows
                   if row[0] == title and row[2] == f"200/s -p {mode}" and row[3] == "CPU ratio"]
        if kind == "real" and len(medians) > 2:
            table.line("median over these programs", f"200/s -p {mode}", "CPU ratio", costs.quartiles(medians), "",
                       workloads.REAL_MEDIAN if mode == "off" else None)


def wanted(name, options):
    return not options.only or any(part.lower() in name.lower() for part in options.only)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--quick", action="store_true", help="fewer runs, at 200 samples/s only, without other profilers")
    amount.add_argument("--all", action="store_true", help="every program at every rate, with every -p, and other profilers at every rate")
    amount.add_argument("--short", action="store_true", help="programs with short events")
    parser.add_argument("--size", type=float, default=1, help="with --short, what part of the events (default 1)")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="with --short, beside so many busy processes")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="rows whose name contains this (a program, or: samples, events, trace, memory, reports); repeatable")
    parser.add_argument("-n", dest="runs", type=int, help="rounds (default 7, with --quick 3)")
    parser.add_argument("--rates", type=lambda text: [int(part) for part in text.split(",")],
                        help="samples/s, with commas")
    parser.add_argument("--modes", type=lambda text: text.split(","),
                        help="of -p, with commas; with --short also default and trace (-t)")
    parser.add_argument("--no-peers", action="store_true", help="without perf and gprofng")
    parser.add_argument("--csv", metavar="FILE", help="also write all figures there")
    parser.add_argument("--program", nargs=argparse.REMAINDER, help="measure this command instead (the last option)")
    parser.add_argument("-l", dest="launcher", default=tap.LAUNCHER, help="another hpcrun-lite")
    options = parser.parse_args()
    options.runs = options.runs or (3 if options.quick else 7)
    modes = short_events.WAYS if options.short else MODES
    if options.modes and set(options.modes) - set(modes):
        parser.error(f"modes are {', '.join(modes)}")
    if not 0 < options.size <= 100 or options.busy < 0:
        parser.error("--size needs a number above 0, --busy one of processes")
    if not os.path.exists(options.launcher):
        parser.error(f"no {options.launcher}: first run scripts/stage")
    return options


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    return f"{time.strftime('%Y-%m-%d %H:%M')}, {os.cpu_count()} cores, {model}, Linux {os.uname().release}, load {' '.join(f'{load:.1f}' for load in os.getloadavg())}"


def main():
    options = arguments()
    table = Table()
    print(machine())
    print(f"{options.runs} rounds; CPU and wall: ratio to the program alone; +MiB, +faults: beyond the program alone")
    with tempfile.TemporaryDirectory() as directory:
        bench = costs.Bench(directory)
        if options.short:
            print(f"{short_events.clocks()}; size {options.size:g}; {options.busy} busy "
                  f"process{'es' * (options.busy != 1)} beside the programs")
            short_events.short_events(table, bench, options, wanted)
        elif options.program:
            command = [shutil.which(options.program[0]) or options.program[0], *options.program[1:]]
            options.only = None
            print_works(table, bench, options, "given", "Given",
                        [workloads.Work(" ".join(options.program)[:26], command, "given")])
        else:
            print_works(table, bench, options, "real", "Programs from Debian, on libgomp", workloads.debian(directory))
            print_works(table, bench, options, "real", "Programs built here", workloads.built())
            print_works(table, bench, options, "extreme", "Extremes",
                        (*workloads.extremes(), *workloads.other_languages()))
            for name, section in details.SECTIONS:
                if wanted(name, options):
                    section(table, bench, options)
    table.summary()
    print(f"load at the end {' '.join(f'{load:.1f}' for load in os.getloadavg())}")
    if options.csv:
        table.write(options.csv)


sys.exit(main())
