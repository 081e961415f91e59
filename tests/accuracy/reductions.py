"""Reductions of arrays (reductions.c): the combination has a row of its own, where the runtime's calls show it.

Usage: reductions.py [-k CASE]"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, libomps, line_of, tap

TIMES, THREADS = 10, 2
SETTINGS = {"OMP_STACKSIZE": "64M"}  # of the private copies


def combinations_of(directory, compiler, kind, *options):
    """The rows of the combination, by line."""
    run = Measurement(directory, build("reductions.c", compiler), options=options, prefix=("prlimit", "--stack=67108864"),
                      **SETTINGS)
    assert run.done.returncode == 0 and run.done.stdout == "1000\n", run.done
    rows = [row for row in run.view("regions") if row["thread"] == "SUM"]
    outer = sum(float(row["body_s"]) for row in rows if row["kind"] == "parallel")
    found = [row for row in rows if row["kind"] == kind]
    tap.timed(sum(float(row["body_s"]) for row in found) > 0.2 * outer, rows)
    assert all(int(row["exec_count"]) == TIMES * THREADS for row in found), found
    assert kind == "atomic" or "critical" not in {row["kind"] for row in run.view("parallelism")}, rows
    return sorted(int(row["line"]) for row in found)


@tap.case
def combination_by_code_of_clang(directory):
    """Each thread combines its part after its call of libomp, until it waits."""
    first, second = (line_of("reductions.c", text) for text in ("parallel for reduction", "omp for reduction"))
    for library in libomps():
        lines = combinations_of(directory, "clang", "reduction", "--omp-runtime", library)
        assert lines == [first, second], lines


@tap.case
def combination_by_code_of_gcc(directory):
    """It is between calls that begin and end an atomic section."""
    assert len(combinations_of(directory, "gcc", "atomic")) == 2


if __name__ == "__main__":
    tap.main()
