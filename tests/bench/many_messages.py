#!/usr/bin/env python3
"""Time and memory of the views of messages on synthetic jobs, by the number of messages and of ranks of hpcprof-lite.

Usage: many_messages.py [-b BUILD] [--ranks N] [--threads N] [--messages N,...] [--processes N,...] [--views NAME,...]
                        [--keep DIRECTORY]

Each row is a view of one job, whose messages are those of all ranks.  MB is the most memory of one process of
hpcprof-lite; ns is CPU time for each message.  Bars: at most 2 GB, linear in the number of messages, and both cores
busy with two processes.
"""
import argparse
import os
import subprocess
import sys
import tempfile

from scaling import TOP, measure, size

sys.path.insert(0, os.path.join(TOP, "tests", "support"))
from jobs import OPEN_MPI

VIEWS = ("messages", "wait-states", "ranks", "parallelism")


def numbers(text):
    return [int(float(number)) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-b", default=os.path.join(TOP, "build"), dest="build")
    parser.add_argument("--ranks", type=int, default=100)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--messages", type=numbers, default=[10**4, 10**5], help="of all ranks together")
    parser.add_argument("--processes", type=numbers, default=[1, 2], help="of hpcprof-lite")
    parser.add_argument("--views", type=lambda text: text.split(","), default=VIEWS)
    parser.add_argument("--keep", help="directory for the measurement while it is needed (default: /tmp)")
    options = parser.parse_args()
    os.environ.update(OPEN_MPI)
    with open(os.path.join(options.build, "stage-prefix"), encoding="utf-8") as file:
        report = os.path.join(file.read().strip(), "hpcprof-lite")  # beside its module of MPI
    print(f"{options.ranks:,} ranks of {options.threads} threads\n"
          f"{'messages':>12} {'file MB':>9} {'view':>12} {'processes':>9} {'wall s':>8} {'cpu s':>8} {'ns':>6} {'cores':>5} "
          f"{'MB':>7}")
    for messages in options.messages:
        with tempfile.TemporaryDirectory(dir=options.keep) as top:
            path = os.path.join(top, "measured")
            subprocess.run([os.path.join(options.build, "tests", "synthesize"), "--processes", str(options.ranks),
                            "--threads", str(options.threads), "--messages", str(messages // options.ranks), path],
                           check=True)
            for view in options.views:
                for processes in options.processes:
                    launch = ["mpirun.openmpi", "-n", str(processes)] if processes > 1 else []
                    wall, cpu, memory = measure([*launch, report, "-q", "--view", view, path])
                    print(f"{messages:12,} {size(path) / 1e6:9.1f} {view:>12} {processes:9} {wall:8.2f} {cpu:8.2f} "
                          f"{cpu * 1e9 / messages:6.0f} {cpu / wall:5.2f} {memory / 1e6:7.0f}", flush=True)


if __name__ == "__main__":
    main()
