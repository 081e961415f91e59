#!/usr/bin/env python3
"""CPU time of programs measured by hpcrun-lite, as a ratio to the same runs without it.

Usage: overhead.py [-n RUNS] [-l LAUNCHER] [-e EVENT] [PROGRAM [ARGUMENT]...]

Runs are interleaved; the table shows medians and the spread (quartiles) of the ratio of neighbouring runs.  A program built by GCC is
compared on the same OpenMP runtime (--omp-runtime), so that the exchange of runtimes is not counted.  Without PROGRAM: empty
regions, and programs of Debian's that are installed.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
STAGE = os.path.join(TOP, "build", "stage", "usr", "local")

EMPTY_REGIONS = """
int main(void)
{
  for (int i = 0; i < 100000; i++) {
#pragma omp parallel num_threads(2)
    __asm__ volatile("");
  }
  return 0;
}
"""


def cpu_seconds(command, directory, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=directory, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(name, command, options, directory):
    libomp = os.path.join(STAGE, "lib", "x86_64-linux-gnu", "hpcrun-lite", "omp", "libomp.so.5")
    plain_environment = dict(os.environ, LD_PRELOAD=libomp)
    output = os.path.join(directory, "measurements")
    measured = [options.launcher, "-q", "--overwrite", "-o", output, "-e", options.event, "--omp-runtime", libomp, "--"] + command
    plain, ratios = [], []
    for _ in range(options.runs):
        plain.append(cpu_seconds(command, directory, plain_environment))
        ratios.append(cpu_seconds(measured, directory, dict(os.environ)) / plain[-1])
    quartiles = statistics.quantiles(ratios, n=4)
    print(f"{name:34} {statistics.median(plain):9.3f} {statistics.median(ratios):8.3f}   {quartiles[0]:.3f} .. {quartiles[2]:.3f}",
          flush=True)


def programs(directory):
    source, program = os.path.join(directory, "empty.c"), os.path.join(directory, "empty")
    with open(source, "w", encoding="utf-8") as file:
        file.write(EMPTY_REGIONS)
    subprocess.run(["clang", "-O1", "-fopenmp", source, "-o", program], check=True)
    yield "100,000 empty regions", [program]
    for name, command in (("gm convert -blur", ["gm", "convert", "-size", "1500x1500", "gradient:red-blue", "-blur", "0x9", "o.ppm"]),
                          ("primecount 1e16", ["primecount", "1e16"])):
        if shutil.which(command[0]):
            yield name, command


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-n", dest="runs", type=int, default=9)
    parser.add_argument("-l", dest="launcher", default=os.path.join(STAGE, "bin", "hpcrun-lite"))
    parser.add_argument("-e", dest="event", default="task-clock@f200")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    print(f"{'program':34} {'CPU s':>9} {'ratio':>8}   quartiles   ({options.runs} runs, {options.event})")
    with tempfile.TemporaryDirectory() as directory:
        chosen = [(" ".join(options.program), options.program)] if options.program else programs(directory)
        for name, command in chosen:
            compare(name, command, options, directory)


sys.exit(main())
