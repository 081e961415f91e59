"""Runs commands and measures what they cost: alone, under hpcrun-lite, under other profilers; always interleaved."""
import os
import re
import shutil
import statistics
import subprocess

from measured import build
from tap import LAUNCHER, LIBRARY

LIBOMP = os.path.join(os.path.dirname(LIBRARY), "omp", "libomp.so.5")
NEVER = "task-clock@3600000000"  # one sample an hour


class Cost:
    """The cost of one run: seconds, KiB, page faults; files and bytes that a profiler has written; samples that it
    reports."""

    def __init__(self, line, said):
        wall, cpu, self.rss_kib, self.faults, self.status = (int(field) for field in line.split())
        self.wall, self.cpu, self.files, self.bytes = wall / 1e9, cpu / 1e9, 0, 0
        counted = re.search(r"(\d+) samples? of", said)
        self.samples = int(counted[1]) if counted else 0
        self.said = said


class Way:
    """One way to run a program.  prefix: what precedes the command; {out} in it is the directory for files."""

    def __init__(self, name, prefix=(), settings=None, rate=0, mode=None):
        self.name, self.prefix, self.settings, self.rate, self.mode = name, prefix, settings or {}, rate, mode


def alone(own_runtime=False):
    """Without a profiler, on the OpenMP runtime that the program has under hpcrun-lite, too: its own, or LIBOMP."""
    return Way("alone", settings={} if own_runtime else {"LD_PRELOAD": LIBOMP})


def lite(rate, mode, own_runtime=False, launcher=LAUNCHER, trace=None):
    """Under hpcrun-lite.  mode: of -p, or "default" without it.  own_runtime: without naming the runtime, as a user
    would run it.  trace: what -t records."""
    event = f"task-clock@f{rate}" if rate else NEVER
    runtime = () if own_runtime else ("--omp-runtime", LIBOMP)
    options = (*(("-p", mode) if mode != "default" else ()), *((f"--trace={trace}",) if trace else ()))
    return Way(" ".join((f"{rate}/s", *options)),
               (launcher, "--overwrite", "-o", "{out}", "-e", event, *options, *runtime, "--"),
               rate=rate, mode=mode)


def hpctoolkit(rate, own_runtime=False):
    """HPCToolkit, if it is installed."""
    if shutil.which("hpcrun"):
        yield Way("HPCToolkit", ("hpcrun", "-e", f"CPUTIME@f{rate}", "-o", "{out}/hpctoolkit"),
                  alone(own_runtime).settings, rate, "hpctoolkit")


def peers(rate, own_runtime=False):
    """The other profilers that are installed, on the same runtime."""
    same = alone(own_runtime).settings
    yield from hpctoolkit(rate, own_runtime)
    if shutil.which("perf"):
        for graph in ("fp", "dwarf"):
            yield Way(f"{rate}/s perf {graph}", ("perf", "record", "-q", "-e", "task-clock", "-F", str(rate),
                                                 "--call-graph", graph,
                                                "-o", "{out}/perf.data", "--"), same, rate, "perf")
    if shutil.which("gprofng"):
        yield Way(f"{rate}/s gprofng", ("gprofng", "collect", "app", "-p", f"{1000000 // rate}u", "-O",
                                        "{out}/test.er"), same, rate,
                  "gprofng")


def size_of(directory):
    """Files in a directory, and bytes."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names]
    return len(paths), sum(os.path.getsize(path) for path in paths)


class Bench:
    """A directory to work in, and the program that measures."""

    def __init__(self, directory):
        self.directory = directory
        self.cost = build("run_cost.c", "gcc", "-O2", openmp=False)
        self.out = os.path.join(directory, "out")

    def empty_out(self):
        shutil.rmtree(self.out, ignore_errors=True)
        os.mkdir(self.out, 0o700)

    def line(self, command, way):
        """The command as run_cost or env runs it that way."""
        assignments = [f"{name}={value}" for name, value in way.settings.items()]
        if assignments and way.prefix:  # for the program, not for the profiler
            assignments.insert(0, shutil.which("env"))  # gprofng needs its path
        return [*(part.replace("{out}", self.out) for part in way.prefix), *assignments, *command]

    def run(self, command, way, settings=None, stdin=subprocess.DEVNULL, keep=False):
        """One run.  Before it, the files of the last one in self.out are removed, unless keep is set."""
        if not keep:
            self.empty_out()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HPCRUN_LITE_")}
        environment.update(settings or {})
        done = subprocess.run([self.cost, *self.line(command, way)], cwd=self.directory, env=environment, stdin=stdin,
                              capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise RuntimeError(f"{way.name}: {done.stderr}")
        cost = Cost(done.stdout, done.stderr)
        if cost.status:
            raise RuntimeError(f"{way.name}: {' '.join(command)} ended with {cost.status}: {done.stderr[-2000:]}")
        cost.files, cost.bytes = size_of(self.out)
        return cost

    def rounds(self, command, ways, runs, settings=None):
        """Runs all ways in turn, each round beginning with another way: {way: [Cost of each round]}."""
        costs = {way: [] for way in ways}
        for number in range(runs):
            at = number % len(ways)
            for way in ways[at:] + ways[:at]:
                costs[way].append(self.run(command, way, settings))
        return costs


def quartiles(values):
    """(lower quartile, median, upper quartile)"""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, statistics.median(values), high


def ratios(costs, base, quantity):
    return quartiles([getattr(cost, quantity) / getattr(plain, quantity) for cost, plain in zip(costs, base)])


def differences(costs, base, quantity):
    return quartiles([getattr(cost, quantity) - getattr(plain, quantity) for cost, plain in zip(costs, base)])
