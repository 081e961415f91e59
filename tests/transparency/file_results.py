#!/usr/bin/env python3
"""Calls on files, streams and pipes do what they do alone: results, errno, signals, jumps, cancellation.

Usage: file_results.py [--long] [-k CASE]"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import built, measured, tap

plain = built("file_results.c", openmp=False)
fortified = built("file_results.c", "clang", "-O2", "-D_FORTIFY_SOURCE=2", openmp=False)
large = built("file_results.c", "gcc", "-O2", "-D_FILE_OFFSET_BITS=64", "-D_FORTIFY_SOURCE=2", openmp=False)


def compare(directory, program, *settings):
    """The program makes files, each time in an empty directory."""
    alone = None
    for number, setting in enumerate((None, *settings)):
        inside = os.path.join(directory, str(number))
        os.mkdir(inside)
        os.chdir(inside)
        if setting is None:
            alone = tap.run(program, cwd=inside)
            assert alone.returncode == 0 and len(alone.stdout.splitlines()) > 60 and "never" not in alone.stdout, alone
        else:
            measured(inside, alone, program, (), setting)


@tap.case
def measured_by_cpu_time(directory):
    compare(directory, plain(), ("task-clock@f5000", "off"), ("task-clock@f200", "online"))


@tap.case
def measured_by_elapsed_time(directory):
    compare(directory, fortified(), ("wall@f5000", "off"))


@tap.case
def with_large_files_and_fortified(directory):
    compare(directory, large(), ("task-clock@f5000", "off"))


tap.main()
