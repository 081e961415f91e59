"""Calls that wait or take long: no sample cuts them short, in plain and in fortified programs.

Usage: awkward_waits.py [--long]     (--long: in all settings, ten times)"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import built, check
from measured import build, tap

plain = built(build, "awkward_waits.c", name="awkward_waits", flags=("-O1", "-g"))
fortified = built(build, "awkward_waits.c", "clang", name="awkward_waits_fortified", flags=("-O2", "-g", "-D_FORTIFY_SOURCE=2"))


def none_is_cut_short(directory, number, program):
    alone = tap.run(program, cwd=directory)
    assert alone.returncode == 0 and alone.stdout.count(": 0\n") == len(alone.stdout.splitlines()) > 80, alone
    check(directory, number, program)


@tap.case
def no_sample_of_cpu_time_cuts_a_call_short(directory):
    none_is_cut_short(directory, 0, plain())


@tap.case
def no_sample_of_elapsed_time_cuts_a_call_short(directory):
    none_is_cut_short(directory, 1, fortified())


tap.main()
