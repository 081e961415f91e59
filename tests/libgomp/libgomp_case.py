"""A program of GCC alone and measured, on its own libgomp: output, warnings and exit status must be the same."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from measured import build, tap

MODES = ("off", "online", "log")
OWN = "hpcrun-lite: "
# Threads that wait actively on two cores only make the tests longer.
QUIET = {"OMP_WAIT_POLICY": "passive"}


def own(text):
    """The lines of the tool; those of the runtime and the program."""
    lines = text.splitlines()
    return [line for line in lines if line.startswith(OWN)], [line for line in lines if not line.startswith(OWN)]


def result(done):
    return done.returncode, done.stdout, own(done.stderr)[1]


def measure(directory, mode, *command, options=(), **settings):
    """Measures a command in a mode; its files are in measured-MODE."""
    return tap.run(tap.LAUNCHER, "--overwrite", "-o", os.path.join(directory, "measured-" + mode), "-p", mode, *options,
                   "-e", "task-clock@f1000", "--", *command, cwd=directory, timeout=120, **settings)


def same(directory, *command, modes=MODES, seen=True, **settings):
    """Runs a command alone and measured; returns the result alone.  seen: the tool has met the runtime."""
    alone = tap.run(*command, cwd=directory, timeout=120, **settings)
    for mode in modes:
        done = measure(directory, mode, *command, **settings)
        if result(done) != result(alone):
            before, after = result(alone)[1].splitlines(), result(done)[1].splitlines()
            raise AssertionError(f"{command} -p {mode} {settings}: status {alone.returncode} and {done.returncode}\n"
                                 + "\n".join(f"{a} | {b}" for a, b in zip(before, after) if a != b)
                                 + f"\nlast lines: {before[-1:]} | {after[-1:]}"
                                 + f"\nerrors: {result(alone)[2][:9]} | {done.stderr.splitlines()[:9]}")
        assert not seen or any("libgomp of GCC" in line for line in own(done.stderr)[0]), done.stderr
    return alone


def built(source, compiler="gcc", *flags, **keywords):
    """A program that is built when it is first needed."""
    return lambda: build(source, compiler, *flags, **keywords)
