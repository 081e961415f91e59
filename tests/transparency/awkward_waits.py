"""Calls that wait or take long: no sample interrupts them, in plain and in fortified programs.

Usage: awkward_waits.py [--long] [-k CASE]     (--long: in all settings, ten times)"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import built, check
from measured import tap

plain = built("awkward_waits.c", openmp=False)
fortified = built("awkward_waits.c", "clang", "-O2", "-D_FORTIFY_SOURCE=2", openmp=False)
LEFT_OUT = "left out, no pseudoterminals"


def compare(directory, number, program):
    """All calls succeed alone, and the same under measurement."""
    alone = tap.run(program, cwd=directory)
    tried = [line for line in alone.stdout.splitlines() if LEFT_OUT not in line]
    assert alone.returncode == 0 and len(tried) > 80 and all(line.endswith(": 0") for line in tried), alone
    check(directory, number, program)


@tap.case
def no_sample_of_cpu_time_interrupts_a_call(directory):
    compare(directory, 0, plain())


@tap.case
def no_sample_of_elapsed_time_interrupts_a_call(directory):
    compare(directory, 1, fortified())


@tap.case
def no_sample_interrupts_reading_from_a_terminal(directory):
    if LEFT_OUT in tap.run(plain(), "tty", cwd=directory).stdout:
        raise tap.Skip("no pseudoterminals: /dev/pts is not mounted; the other cases leave the terminal out, too")
    for number in (0, 1):
        check(directory, number, plain(), "tty")


tap.main()
