"""Every construct of OpenMP 3.0 to 5.1 that GCC 12 compiles, alone and measured on libgomp: identical.

Usage: gomp_constructs.py [--long] [-k CASE]     (--long: every mode with every number of threads)"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from libgomp_case import MODES, QUIET, built, same
from measured import tap

LONG = "--long" in sys.argv[1:]
loops, tasks, calls = (built(f"gomp_{name}.c", "gcc", name=f"gomp_{name}") for name in ("loops", "tasks", "calls"))
classes = built("gomp_classes.cc", "g++", "-std=c++17", name="gomp_classes")
fortran = built("gomp_fortran.f90", "gfortran", name="gomp_fortran")
THREADS = (1, 2, 3, 4)


def everywhere(directory, program, *arguments, threads=THREADS, **settings):
    """All numbers of threads, each in all modes; otherwise 2 in all modes, the others in one each."""
    for number in threads:
        modes = MODES if LONG or number == 2 else (MODES[number % 3],)
        done = same(directory, program, *arguments, modes=modes, OMP_NUM_THREADS=str(number), **QUIET, **settings)
        assert done.returncode == 0, done


@tap.case
def loops_regions_and_sections(directory):
    everywhere(directory, loops(), OMP_CANCELLATION="true")


@tap.case
def cancellation_that_is_not_activated(directory):
    everywhere(directory, loops(), "cancelled", threads=(1, 2, 4), OMP_CANCELLATION="false")
    everywhere(directory, classes(), "class_cancelled", threads=(1, 2, 4), OMP_CANCELLATION="true")


@tap.case
def tasks_and_task_loops(directory):
    everywhere(directory, tasks())


@tap.case
def exclusion_and_calls_by_hand(directory):
    everywhere(directory, calls(), *"crit lock old_ direct combined warn pauses".split())


@tap.case
def an_error_directive_ends_the_program(directory):
    for number in ("1", "3"):
        done = same(directory, calls(), "fatal", modes=("online",), OMP_NUM_THREADS=number)
        assert done.returncode == 1 and "the end" in done.stderr, done


@tap.case
def objects_of_classes_and_5000_task_functions(directory):
    everywhere(directory, classes())


@tap.case
def fortran_programs(directory):
    everywhere(directory, fortran())


@tap.case
def eight_threads_and_active_waiting(directory):
    for program, modes in ((loops, ("online",)), (tasks, ("log",))):
        same(directory, program(), modes=modes, OMP_NUM_THREADS="8", OMP_CANCELLATION="true", **QUIET)
    for program, mode in ((tasks, "off"), (calls, "online")):
        arguments = ("task_",) if program is tasks else ("crit", "locks", "old_")
        same(directory, program(), *arguments, modes=(mode,), OMP_NUM_THREADS="2")


tap.main()
