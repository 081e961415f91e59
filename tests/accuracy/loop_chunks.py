"""Chunks of loops in the view regions (loop_chunks.c): the schedule that the source demands, the sizes of chunks, and the
longest chunk, which has the iteration that sleeps.

Usage: loop_chunks.py [-k CASE]"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, combinations, libomps, tap

ITERATIONS, TOOK = 64, 0.04
OPTIONS = ("-e", "task-clock@f50")  # samples are not needed
SETTINGS = {"OMP_SCHEDULE": "dynamic,5", "OMP_NUM_THREADS": "2"}
# Of each loop in the order of the source: schedule, chunk size, smallest and largest chunk, the iteration that sleeps.
DYNAMIC = [("dynamic", "4", 4, 4, 37), ("guided", "1", 1, None, 1), ("runtime", "", 4, 5, 50), ("dynamic", "1", 1, 1, 20),
           ("dynamic", "2", 2, 2, 63), ("dynamic", "3", 1, 3, 0), ("dynamic", "", 8, 16, 60), ("dynamic", "1", 1, 1, None)]
STATIC = [("static", "", 32, 32, 40), ("static", "5", 5, 5, None)]


def loops(run):
    rows = [row for row in run.view("regions") if row["kind"] == "for" and row["thread"] == "SUM"]
    return sorted(rows, key=lambda row: int(row["line"]))


def check_loop(row, schedule, size, least, most, slow):
    assert (row["schedule"], row["chunk_size"], row["chunk_min"]) == (schedule, size, str(least)), row
    assert row["chunk_max"] == str(most) if most else int(row["chunk_max"]) in (16, 32), row
    if slow is None:
        return
    first, count = int(row["longest_chunk_first"]), int(row["longest_chunk_iterations"])
    tap.timed(TOOK <= float(row["longest_chunk_s"]) < 1.5 * TOOK, row)
    tap.timed(first <= slow < first + count, row)


def check(directory, compiler, *options, expected, **settings):
    run = Measurement(directory, build("loop_chunks.c", compiler), options=(*OPTIONS, *options), **SETTINGS, **settings)
    assert run.done.returncode == 0, run.done
    rows = loops(run)
    assert len(rows) == len(expected), rows
    for row, loop in zip(rows, expected):
        check_loop(row, *loop)
    return rows


@tap.case
def loops_of_gcc(directory):
    """Schedule, sizes of chunks, and the longest chunk without waiting for a lock."""
    # GCC's code counts down as the source does: the chunk with iteration 0 is the last one.
    rows = check(directory, "gcc", expected=DYNAMIC)
    tap.timed(float(rows[7]["longest_chunk_s"]) < 1.4 * TOOK, rows[7])


@tap.case
def loops_of_clang(directory):
    """The same on every libomp, but not how long a static chunk takes if a thread has several."""
    # Clang's code counts iterations from 0, also in a loop that counts down.
    down = ("dynamic", "3", 1, 3, ITERATIONS - 1)
    expected = [*DYNAMIC[:5], down, *DYNAMIC[6:], *STATIC]
    for (library,) in combinations(libomps()):
        rows = check(directory, "clang", "--omp-runtime", library, expected=expected)
        tap.timed(float(rows[7]["longest_chunk_s"]) < 1.4 * TOOK, rows[7])
        assert not rows[-1]["longest_chunk_s"] and not rows[-1]["longest_chunk_first"], rows[-1]


if __name__ == "__main__":
    tap.main()
