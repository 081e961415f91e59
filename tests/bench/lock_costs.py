#!/usr/bin/env python3
"""Prints what locks, conditions, semaphores and reads of pipes cost under hpcrun-lite, in ns, alone and measured in each
of the ways of MODES, and the ratio: CPU time of what waits for nobody, elapsed time of the others.

Each round runs a program alone and in each way, and begins with another of them.  Figures are medians and quartiles
over the rounds; differences and ratios are those of the same round.  Bars hold without samples (the first way).

--instructions prints instead how many instructions a pair costs that waits for nobody, counted by callgrind in one
thread, as the difference between a run with many and one with few.

Usage: lock_costs.py [-n ROUNDS] [--seconds S] [-l LAUNCHER] [--csv FILE] [--instructions]"""
import argparse
import glob
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import costs
import tap
from figures_table import Table
from measured import build

MODES = {"-p off, no samples": ("-p", "off", "-e", costs.NEVER), "-p off": ("-p", "off"), "default": (), "-c locks": ("-c", "locks")}
# A form of lock_costs.c: what one of it is, and how many ns more it may take.
FORMS = {"mutex": ("free mutex, lock and unlock", 5), "rwlock": ("free rwlock, read and unlock", 5),
         "semaphore": ("semaphore, post and wait", None), "contended": ("one mutex for two threads", 150),
         "condition": ("condition, both threads wake", 2 * 100), "pipe": ("pipe, both threads read", None)}
FEW, MANY = 1000, 11000  # pairs under callgrind


def time_of(prefix, program, form, count):
    done = tap.run(*prefix, program, form, str(count))
    if done.returncode:
        raise RuntimeError(f"{done.args} ended with {done.returncode}: {done.stderr}")
    return float(done.stderr.splitlines()[-1])


def ways_of(launcher, directory):
    """{way: what precedes the command}, alone first."""
    launch = (launcher, "-q", "--overwrite", "-o", os.path.join(directory, "out"))
    return {"alone": (), **{mode: (*launch, *options, "--") for mode, options in MODES.items()}}


def print_form(table, options, program, form, ways):
    """A line for the time alone, and two for each way."""
    what, bar = FORMS[form]
    slowest = max(time_of(prefix, program, form, 2000) for prefix in ways.values())
    count = max(2000, int(options.seconds * 1e9 / slowest))
    found, names = {name: [] for name in ways}, list(ways)
    for at in range(options.runs):
        for name in names[at % len(names):] + names[:at % len(names)]:
            found[name].append(time_of(ways[name], program, form, count))
    table.line(what, "alone", "time", costs.quartiles(found["alone"]), "ns")
    for name in names[1:]:
        pairs = list(zip(found[name], found["alone"]))
        table.line(what, name, "more", costs.quartiles([one - other for one, other in pairs]), "ns",
                   bar if name == names[1] else None)
        table.line(what, name, "ratio", costs.quartiles([one / other for one, other in pairs]), "x")


def instructions(prefix, program, form, count, directory):
    """Of all code, in the process that runs the program."""
    for path in glob.glob(os.path.join(directory, "callgrind.*")):
        os.remove(path)
    tap.must(*prefix, "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={directory}/callgrind.%p", program, form,
             str(count))
    totals = []
    for path in glob.glob(os.path.join(directory, "callgrind.*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            totals += re.findall(r"^(?:totals|summary): (\d+)", file.read(), re.M)
    return max(map(int, totals))


def print_instructions(table, program, ways, directory):
    for form in ("mutex-1", "rwlock-1", "semaphore-1"):
        for name, prefix in ways.items():
            few, many = (instructions(prefix, program, form, count, directory) for count in (FEW, MANY))
            each = (many - few) / (MANY - FEW)
            table.line(FORMS[form.removesuffix("-1")][0], name, "instructions", (each, each, each), "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", dest="runs", type=int, default=11, help="rounds (default 11)")
    parser.add_argument("--seconds", type=float, default=0.2, help="elapsed time of a run, about (default 0.2)")
    parser.add_argument("-l", dest="launcher", default=tap.LAUNCHER, help="another hpcrun-lite")
    parser.add_argument("--csv", help="write the figures to a file")
    parser.add_argument("--instructions", action="store_true", help="count instructions of free pairs")
    options = parser.parse_args()
    program, table = build("lock_costs.c", "gcc", "-O2", openmp=False), Table()
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-bench-") as directory:
        ways = ways_of(options.launcher, directory)
        table.begin("Locks and waits", f"load {' '.join(f'{value:.1f}' for value in os.getloadavg())}")
        if options.instructions:
            print_instructions(table, program, ways, directory)
        else:
            for form in FORMS:
                print_form(table, options, program, form, ways)
    table.summary()
    if options.csv:
        table.write(options.csv)


if __name__ == "__main__":
    main()
