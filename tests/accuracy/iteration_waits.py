"""Waits of doacross loops (iteration_waits.c), for which no runtime announces when they begin: they are waits, and no
work, and are charged to the thread that ends the awaited iteration.

Usage: iteration_waits.py [-k CASE]"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, libomps, line_of, tap
from report import report

ITERATIONS, TOOK = 8, 0.02
RUNS = (("gcc", ()), *(("clang", ("--omp-runtime", library)) for library in libomps()))


def measure(directory, form, compiler, options, *more, **settings):
    run = Measurement(directory, build("iteration_waits.c", compiler), form, options=(*options, *more), **settings)
    assert run.done.returncode == 0, run.done
    return run


def row_of(run, kind):
    found = [row for row in run.view("regions") if row["kind"] == kind and row["thread"] == "SUM"]
    assert len(found) <= 1, found
    return found[0] if found else None


def check_work(run, iterations):
    """What threads do while they wait is no work."""
    loop, = (row for row in run.view("parallelism") if row["kind"] == "for")
    tap.timed(0.95 * iterations * TOOK < float(loop["work"]) < 1.1 * iterations * TOOK, loop)


def check_waits(run, count):
    """So many waits, each for one iteration; on a busy machine they are longer."""
    waits, loop = row_of(run, "ordered"), row_of(run, "for")
    tap.timed(int(waits["exec_count"]) == count, waits)
    tap.timed(float(waits["enter_s"]) > 0.95 * count * TOOK, waits)
    assert float(waits["enter_s"]) < float(loop["body_s"]) and float(waits["body_s"] or 0) == 0, (waits, loop)
    lock, = (row for row in run.view("locks") if row["kind"] == "ordered")
    assert abs(float(lock["wait_s"]) - float(waits["enter_s"])) < 1e-3, (lock, waits)
    return lock


@tap.case
def iterations_that_wait_for_each_other(directory):
    """Each but the first waits as long as one takes, until the other thread announces that one."""
    source = line_of("iteration_waits.c", "depend(source)")
    for compiler, options in RUNS:
        run = measure(directory, "chain", compiler, options)
        check_work(run, ITERATIONS)
        lock = check_waits(run, ITERATIONS - 1)
        if compiler == "gcc" or lock["held_line"]:  # the threads of some libomps use no CPU time while they wait
            tap.timed(source - 1 <= int(lock["held_line"] or 0) <= source + 1, lock)


@tap.case
def rows_that_wait_cell_by_cell(directory):
    """Vectors of two coordinates; a trace has the same waits."""
    for compiler, options in RUNS:
        run = measure(directory, "wave", compiler, options, "-t")
        check_work(run, ITERATIONS)
        check_waits(run, ITERATIONS)


@tap.case
def iterations_that_have_ended_are_no_waits(directory):
    """Also where an iteration names one that does not exist, and in a team of one, where libomp announces nothing."""
    for compiler, options in RUNS:
        for settings, more in (({}, ()), ({"OMP_THREAD_LIMIT": "1"}, ("-t",))):
            run = measure(directory, "alone", compiler, options, *more, **settings)
            assert not row_of(run, "ordered"), run.view("regions")
            assert "ordered" not in report("--view", "locks", run.output).stdout, run.output
            check_work(run, ITERATIONS)


if __name__ == "__main__":
    tap.main()
