#!/usr/bin/env python3
"""How hpcprof-lite grows with threads and contexts: time, cores in use and memory, on synthetic measurements.

Usage: scaling.py [-j THREADS] [-b BUILD] [--quick] [--keep DIRECTORY]

Each row of a table is one measurement (build/tests/synthesize, seeded).  CPU seconds are those of the report; ns is CPU
time for each context of each thread.  The text report reads the files once; csv reads them twice, for the statistics of
threads.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def size(directory):
    return sum(entry.stat().st_size for entry in os.scandir(directory))


def measure(command):
    """Wall time, CPU time and largest memory in bytes of a command."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"scaling.py: {' '.join(command)} ended with {process.returncode}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class Bench:
    def __init__(self, build, threads, keep):
        self.make = os.path.join(build, "tests", "synthesize")
        self.report = os.path.join(build, "hpcprof-lite", "hpcprof-lite")
        self.threads, self.keep = threads, keep

    def row(self, label, processes, threads, contexts, *more):
        with tempfile.TemporaryDirectory(dir=self.keep) as top:
            measured = os.path.join(top, "measured")
            subprocess.run([self.make, "--processes", str(processes), "--threads", str(threads), "--contexts",
                            str(contexts), "--ranks", *more, measured], check=True)
            cells = f"{label:>14} {size(measured) / 1e6:9.2f}"
            for view in (("--view", "topdown"), ("--view", "topdown", "-f", "csv")):
                wall, cpu, memory = measure([self.report, "-q", "-j", str(self.threads), *view, measured])
                each = cpu * 1e9 / (processes * threads * contexts)
                cells += f" {wall:8.2f} {cpu:8.2f} {each:6.0f} {cpu / wall:5.2f} {memory / 1e6:7.1f}"
            print(cells, flush=True)

    def head(self, title, first):
        print(f"\n{title}\n{first:>14} {'file MB':>9}" + 2 * f" {'wall s':>8} {'cpu s':>8} {'ns':>6} {'cores':>5} {'MB':>7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)), dest="threads")
    parser.add_argument("-b", default=os.path.join(TOP, "build"), dest="build")
    parser.add_argument("--quick", action="store_true", help="leave out the largest of each table")
    parser.add_argument("--keep", help="directory for the measurements while they are needed (default: /tmp)")
    options = parser.parse_args()
    bench = Bench(options.build, options.threads, options.keep)
    powers = 3 if options.quick else 4
    print(f"{'':>24} {'text':>38} {'csv, with the statistics of threads':>38}", end="")
    bench.head("threads x 5,000 contexts, 99 % in common; 10 threads a process", "threads")
    for threads in [10**power for power in range(1, powers + 1)]:
        bench.row(f"{threads:,}", threads // 10, 10, 5000, "--common", "99")
    bench.head("the same, all threads in one process", "threads")
    for threads in [10**power for power in range(1, powers + 1)]:
        bench.row(f"{threads:,}", 1, threads, 5000, "--common", "100")
    bench.head("contexts; 4 processes of 1 thread, half in common", "contexts")
    for contexts in [10**power for power in range(3, powers + 3)]:
        bench.row(f"{contexts:,}", 4, 1, contexts, "--common", "50", "--addresses", "1000000", "--stride", "4")
    bench.head("constructs; 4 processes of 4 threads x 1,000 contexts", "constructs")
    for constructs in [10**power for power in range(1, powers + 1)]:
        bench.row(f"{constructs:,}", 4, 4, 1000, "--directives", str(constructs))


if __name__ == "__main__":
    main()
