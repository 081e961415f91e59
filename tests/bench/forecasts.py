"""Compares the forecasts of advice with programs that were really repaired: tests/bench/forecasts.py [NAME]...

For each ill of tests/advice/ills.c and pieces.c, compiled with gcc and clang: the elapsed time of the ill and of the repaired program,
medians of interleaved runs, and the forecast with and without a graph log.  A forecast is fine where the measured gain
is in its range, give or take 15 % of the run.  Elapsed times mean something only where nothing else runs: the load by
others is printed, and rows with more than a twentieth of a core of it are marked.  Exits 1 where an unmarked row is
wrong.
"""
import os
import statistics
import sys
import tempfile

sys.path[:0] = [os.path.join(sys.path[0], "..", folder) for folder in ("support", "advice")]
import tap
from measured import Measurement, openmp_flags

ILLS = ("serial", "imbalance", "chunk-overhead", "task-overhead", "few-chunks", "region-overhead", "contention",
        "dependences", "creation", "oversubscription", "nesting", "blocking", "barrier")
# Name, its source, the class of its finding.
PROGRAMS = [(name, "ills", name) for name in ILLS] + [
    ("last", "pieces", "last-piece"), ("chunks", "pieces", "few-chunks"), ("mirrored", "pieces", "barrier")]
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
REPETITIONS, TOLERANCE, LOAD = 5, 0.15, 0.05


def forecast(directory, program, name, kind, mode):
    found = Measurement(directory, program, name, "ill", options=("-p", mode), **ENVIRONMENT).view("advice")
    return next((row for row in found if row["class"] == kind), None)


def compare(directory, program, compiler, name, kind):
    """Prints a row and returns whether it is right."""
    with tap.Others() as others:
        times = [[float(tap.must(program, name, how, **ENVIRONMENT).split()[0]) for how in ("ill", "repaired")]
                 for _ in range(REPETITIONS)]
        rows = [forecast(directory, program, name, kind, mode) for mode in ("online", "log")]
    ill, repaired = (statistics.median(column) for column in zip(*times))
    texts, fine = [], True
    for row in rows:
        low, high = (float(row[column]) if row else 0 for column in ("gain_low_s", "gain_high_s"))
        right = row and low - TOLERANCE * ill < ill - repaired < high + TOLERANCE * ill
        fine = fine and right
        texts.append(f"{low:6.3f} to {high:6.3f} {'' if right else 'WRONG':5}")
    loaded = others.cores > LOAD
    print(f"{compiler:5} {name:16} {ill:6.3f} - {repaired:6.3f} = {ill - repaired:6.3f} s; forecast {texts[0]}; "
          f"log {texts[1]}; others {others.cores:.2f} cores{' (disturbed)' if loaded else ''}", flush=True)
    return fine or loaded


def main():
    tap.take_charge()
    chosen, fine = [row for row in PROGRAMS if row[0] in sys.argv[1:] or len(sys.argv) == 1], True
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-bench-") as directory:
        for compiler in ("gcc", "clang"):
            for source in ("ills", "pieces"):
                tap.must(compiler, "-O1", "-g", *openmp_flags(compiler), "-I", tap.SUPPORT,
                         os.path.join(tap.TESTS, "advice", source + ".c"), "-o", os.path.join(directory, source + compiler),
                         "-lm")
            for name, source, kind in chosen:
                fine = compare(directory, os.path.join(directory, source + compiler), compiler, name, kind) and fine
    sys.exit(0 if fine else 1)


main()
