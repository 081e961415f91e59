#!/usr/bin/env python3
"""Nanoseconds that one OpenMP construct takes: without a tool, with a tool whose callbacks are empty, and under hpcrun-lite.

Usage: events.py [-n RUNS] [-l LAUNCHER] [OPTION of hpcrun-lite]...

Runs are interleaved; the table shows medians.  The last column is what hpcrun-lite costs beyond empty callbacks.
"""
import argparse
import os
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
STAGE = os.path.join(TOP, "build", "stage", "usr", "local")
COUNTS = {"critical": 3000000, "lock": 3000000, "region": 1000000, "region2": 100000, "barrier2": 200000, "task": 500000, "task1": 500000,
          "dynamic": 1000000}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--runs", type=int, default=5)
    parser.add_argument("-l", "--launcher", default=os.path.join(STAGE, "bin", "hpcrun-lite"))
    options, more = parser.parse_known_args()
    libomp = os.path.join(STAGE, "lib", "x86_64-linux-gnu", "hpcrun-lite", "omp", "libomp.so.5")
    with tempfile.TemporaryDirectory() as directory:
        program, tool = os.path.join(directory, "events"), os.path.join(directory, "empty_tool.so")
        subprocess.run(["clang", "-O1", "-fopenmp", os.path.join(HERE, "events.c"), "-o", program], check=True)
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-I", TOP, os.path.join(HERE, "empty_tool.c"), "-o", tool], check=True)
        measured = [options.launcher, "-q", "--overwrite", "-o", os.path.join(directory, "m"), "--omp-runtime", libomp, *more, "--"]
        plain = dict(os.environ, LD_PRELOAD=libomp, OMP_TOOL="disabled")
        empty = dict(os.environ, LD_PRELOAD=libomp, OMP_TOOL_LIBRARIES=tool)
        print(f"{'ns each':12}{'no tool':>10}{'empty':>10}{'hpcrun-lite':>13}{'beyond':>9}")
        for name, count in COUNTS.items():
            command = [program, name, str(count)]
            times = []
            for _ in range(options.runs):
                times.append([float(subprocess.run(line, env=environment, check=True, capture_output=True, text=True).stdout)
                              for line, environment in ((command, plain), (command, empty), (measured + command, dict(os.environ)))])
            none, callbacks, ours = (statistics.median(column) for column in zip(*times))
            print(f"{name:12}{none:10.1f}{callbacks:10.1f}{ours:13.1f}{ours - callbacks:9.1f}", flush=True)


main()
