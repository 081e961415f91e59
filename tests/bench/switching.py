#!/usr/bin/env python3
"""Prints what records of switches cost: programs with about 100, 10,000 and 100,000 switches in a second of CPU time,
in which a thread sleeps, in a call that hpcrun-lite sees, or two threads hand a token to each other by a futex, which it
does not see.

Each round runs a program alone, and under hpcrun-lite in four ways, all on one CPU:
records        without samples, so that only records of switches cost something, beside the event that would sample
no records     likewise, where the user may lock no memory for records
no perf_event  likewise, where kernel.perf_event_paranoid is 3 or a seccomp filter forbids perf_event
200/s          with the default samples, whose cost is added; threads that switch more than 10,000 times a second end
               their records at a sample

Figures are medians and quartiles over the rounds, of CPU time since the program's first step.  The same for an
unprivileged user: setpriv --reuid 65534 --regid 65534 --clear-groups tests/bench/switching.py.

Usage: switching.py [-n ROUNDS] [--seconds S] [-l LAUNCHER]"""
import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import costs
import tap
from figures_table import Table
from measured import build

BARS = {100: 1.001, 10000: 1.01, 100000: 1.02}
FORMS = ("handover", "sleep")
NS, NS_MORE = 1000, 300  # of a switch; of the records alone, where the thread has another event


class Run:
    """What one run has printed."""

    def __init__(self, done):
        if done.returncode:
            raise RuntimeError(f"{done.args} ended with {done.returncode}: {done.stderr}")
        _, self.cpu, self.wall = map(int, done.stderr.split("\n")[0].split())


def rounds(program, form, count, work, ways, number):
    """{way: [Run of each round]}"""
    found = {name: [] for name in ways}
    names = list(ways)
    for at in range(number):
        for name in names[at % len(names):] + names[:at % len(names)]:
            found[name].append(Run(tap.run(*ways[name], program, form, str(count), str(work))))
    return found


def print_rate(table, options, program, steps, form, rate, ways):
    work, count = int(steps / rate), max(2, int(rate * options.seconds))
    found = rounds(program, form, count, work, ways, options.runs)
    plain = found["alone"]
    what = f"{form}, {rate:,} a second"
    for name in list(ways)[1:]:
        runs = found[name]
        spread = costs.ratios(runs, plain, "cpu")
        judged = form == "handover" and (name == "200/s") == (rate == max(BARS))  # calls that are seen cost more
        table.line(what, name, "CPU time", spread, "x", BARS[rate] if judged else None)
        table.line(what, name, "elapsed time", costs.ratios(runs, plain, "wall"), "x")
    for name, base, bar in (("records", "alone", NS if form == "handover" else None), ("records", "no records", NS_MORE)):
        if rate > min(BARS):
            spread = costs.quartiles([(run.cpu - other.cpu) / count for run, other in zip(found[name], found[base])])
            table.line(what, f"{name} - {base}", "CPU time of a switch", spread, "ns", bar)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", dest="runs", type=int, default=11, help="rounds (default 11)")
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU time of a run, about (default 0.5)")
    parser.add_argument("-l", dest="launcher", default=tap.LAUNCHER, help="another hpcrun-lite")
    options = parser.parse_args()
    program, deny = build("switching.c", openmp=False), build("deny_perf_event.c", openmp=False)
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-bench-") as directory:
        launch = (options.launcher, "-q", "--overwrite", "-o", os.path.join(directory, "out"))
        unsampled = (*launch, "-e", costs.NEVER, "--")
        unlocked = ("sh", "-c", 'ulimit -l 0; exec "$@"', "sh")
        ways = {"alone": (), "records": unsampled, "no records": (*unlocked, *unsampled),
                "no perf_event": (deny, *unsampled), "200/s": (*launch, "--")}
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
        steps = 10 * 1000000 * 1e9 / min(Run(tap.run(program, "sleep", "10", "1000000")).cpu for _ in range(5))
        load = " ".join(f"{value:.1f}" for value in os.getloadavg())
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            print(f"user {os.geteuid()}, kernel.perf_event_paranoid {file.read().strip()}, load {load}")
        table = Table()
        table.begin("Switches", "")
        for form in FORMS:
            for rate in BARS:
                print_rate(table, options, program, steps, form, rate, ways)
        table.summary()


main()
