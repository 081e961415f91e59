#!/usr/bin/env python3
"""Prints time and memory of hpcprof-lite --view grains for a log of many tasks: grain_costs.py [N], fib(N), by default
34: 18 million tasks, whose log takes 260 MB."""
import os
import resource
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap

PROGRAM = """
#include <stdlib.h>
static int fib(int n)
{
  int a, b;
  if (n < 2)
    return n;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(int argc, char **argv)
{
  int result = 0;
#pragma omp parallel
#pragma omp single
  result = fib(atoi(argv[argc - 1]));
  return result == 0;
}
"""


def main():
    n = sys.argv[1] if len(sys.argv) > 1 else "34"
    with tempfile.TemporaryDirectory() as directory:
        program = tap.compile_c(directory, "fib", PROGRAM, "-O2", "-fopenmp", compiler="clang")
        out = os.path.join(directory, "measured")
        tap.must(tap.LAUNCHER, "-q", "-p", "log", "-o", out, program, n, timeout=900)
        size = sum(os.path.getsize(os.path.join(out, name)) for name in os.listdir(out) if name.endswith(".graph"))
        print(f"fib({n}): log of {size / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}")
        for options in ((), ("-f", "csv")):
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = tap.run(tap.REPORT, "--view", "grains", *options, "-o", os.path.join(directory, "report"), out,
                           timeout=1800)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{' '.join(options) or 'text':8} {time.monotonic() - began:6.1f} s elapsed, {cpu:6.1f} s of CPU, "
                  f"status {done.returncode}")
        peak = tap.run("/usr/bin/env", "time", "-f", "%M", tap.REPORT, "--view", "grains", out, timeout=1800)
        print(f"peak memory {int(peak.stderr.split()[-1]) / 1024:.0f} MB")


if __name__ == "__main__":
    main()
