#!/usr/bin/env python3
"""Locks of POSIX and C11 do the same with the tool as without it."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap
from measured import build, preload_library


PROGRAMS = {"lock_results.c": ("gcc", 150), "unwound_waits.cpp": ("g++", 11)}  # compiler, lines of output


def outcome(directory, source, measured, *options, **settings):
    program = build(source, PROGRAMS[source][0], openmp=False)
    launcher = (tap.LAUNCHER, "-q", "--overwrite", "-o", os.path.join(directory, "measured"), *options, "--")
    done = tap.run(*(launcher if measured else ()), program, cwd=directory, timeout=60, **settings)
    return done.returncode, done.stdout


def check(directory, *options, **settings):
    for source, (_, lines) in PROGRAMS.items():
        plain = outcome(directory, source, False, **settings)
        assert plain[0] == 0 and plain[1].count("\n") > lines, plain
        measured = outcome(directory, source, True, *options, **settings)
        assert measured == plain, [pair for pair in zip(measured[1].splitlines(), plain[1].splitlines())
                                   if pair[0] != pair[1]] or measured


@tap.case
def all_calls_return_the_same(directory):
    check(directory)


@tap.case
def so_they_do_by_elapsed_time_with_a_trace(directory):
    check(directory, "-e", "wall@f1000", "-t")


@tap.case
def so_they_do_while_acquisitions_are_counted(directory):
    check(directory, "-c", "locks", "-t")


@tap.case
def so_they_do_while_measuring_is_paused(directory):
    check(directory, "--paused")


@tap.case
def an_allocator_may_lock_mutexes(directory):
    """The allocator is preloaded before and after the tool's library, and locks before this has started."""
    check(directory, LD_PRELOAD=preload_library("locking_malloc.c"))


tap.main()
