"""Runs commands and says what they cost: alone, under hpcrun-lite, under other profilers; always interleaved."""
import os
import re
import shutil
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
STAGE = os.path.join(TOP, "build", "stage", "usr", "local")
LAUNCHER = os.path.join(STAGE, "bin", "hpcrun-lite")
REPORT = os.path.join(STAGE, "bin", "hpcprof-lite")
LIBOMP = os.path.join(STAGE, "lib", "x86_64-linux-gnu", "hpcrun-lite", "omp", "libomp.so.5")
NEVER = "task-clock@3600000000"  # one sample an hour


class Cost:
    """Of one run: seconds, KiB, page faults; what a profiler left behind: files and bytes; samples that it says it took."""

    def __init__(self, line, said):
        wall, cpu, self.rss_kib, self.faults, self.status = (int(field) for field in line.split())
        self.wall, self.cpu, self.files, self.bytes = wall / 1e9, cpu / 1e9, 0, 0
        counted = re.search(r"(\d+) samples? of", said)
        self.samples = int(counted[1]) if counted else 0
        self.said = said


class Way:
    """One way to run a program.  prefix: what stands before the command; {out} in it is where the files go."""

    def __init__(self, name, prefix=(), settings=None, rate=0, mode=None):
        self.name, self.prefix, self.settings, self.rate, self.mode = name, prefix, settings or {}, rate, mode


def alone(own_runtime=False):
    """Without a profiler; on the runtime that hpcrun-lite puts under programs, so that the exchange is not counted."""
    return Way("alone, own runtime" if own_runtime else "alone", settings={} if own_runtime else {"LD_PRELOAD": LIBOMP})


def lite(rate, mode, own_runtime=False, launcher=LAUNCHER):
    """Under hpcrun-lite; own_runtime: without being told which runtime, as a user would."""
    event = f"task-clock@f{rate}" if rate else NEVER
    runtime = () if own_runtime else ("--omp-runtime", LIBOMP)
    return Way(f"{rate}/s -p {mode}" + (", libgomp alone" if own_runtime else ""),
               (launcher, "--overwrite", "-o", "{out}", "-e", event, "-p", mode, *runtime, "--"), rate=rate, mode=mode)


def peers(rate):
    """Other profilers that are installed, on the same runtime."""
    same = {"LD_PRELOAD": LIBOMP}
    if shutil.which("perf"):
        for graph in ("fp", "dwarf"):
            yield Way(f"{rate}/s perf {graph}", ("perf", "record", "-q", "-e", "task-clock", "-F", str(rate), "--call-graph", graph,
                                                "-o", "{out}/perf.data", "--"), same, rate, "perf")
    if shutil.which("gprofng"):
        yield Way(f"{rate}/s gprofng", ("gprofng", "collect", "app", "-p", f"{1000000 // rate}u", "-O", "{out}/test.er"), same, rate,
                  "gprofng")


def size_of(directory):
    """Files in a directory, and bytes."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names]
    return len(paths), sum(os.path.getsize(path) for path in paths)


class Bench:
    """A directory to work in, and the program that measures."""

    def __init__(self, directory):
        self.directory = directory
        self.cost = os.path.join(directory, "cost")
        self.out = os.path.join(directory, "out")
        subprocess.run(["gcc", "-O2", os.path.join(HERE, "run_cost.c"), "-o", self.cost], check=True)

    def run(self, command, way, settings=None, stdin=subprocess.DEVNULL, keep=False):
        """One run; what the last one left in self.out goes first, unless it is to be kept."""
        if not keep:
            shutil.rmtree(self.out, ignore_errors=True)
            os.mkdir(self.out, 0o700)
        prefix = [part.replace("{out}", self.out) for part in way.prefix]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HPCRUN_LITE_")}
        environment.update(settings or {})
        preload = way.settings.get("LD_PRELOAD")
        setting = [f"LD_PRELOAD={preload}"] if preload and not prefix else []
        if preload and prefix:  # the program is to have it, not the profiler
            prefix += [shutil.which("env"), f"LD_PRELOAD={preload}"]  # gprofng wants its path
        done = subprocess.run([self.cost, *prefix, *(["env", *setting] if setting else []), *command], cwd=self.directory,
                              env=environment, stdin=stdin, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise RuntimeError(f"{way.name}: {done.stderr}")
        cost = Cost(done.stdout, done.stderr)
        if cost.status:
            raise RuntimeError(f"{way.name}: {' '.join(command)} ended with {cost.status}: {done.stderr[-2000:]}")
        cost.files, cost.bytes = size_of(self.out)
        return cost

    def rounds(self, command, ways, runs, settings=None):
        """Runs all ways in turn, each round beginning with another one: {way: [Cost of each round]}."""
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
