"""A program alone and under measurement: what the world sees of it must be the same."""
import os
import sys

from measured import Measurement, sums_hold, tap, work_of

# What the machine can do to a program: rare and frequent samples, of CPU time and of elapsed time, with callbacks.
SETTINGS = (("task-clock@f5000", "online"), ("wall@f5000", "off"), ("task-clock@f200", "off"), ("wall@f200", "online"),
            ("task-clock@f5000", "off"), ("wall@f5000", "online"))
LONG = "--long" in sys.argv[1:]
ROUNDS = 10 if LONG else 1
OWN = "hpcrun-lite: "


def own_lines(text):
    return [line for line in text.splitlines() if line.startswith(OWN)]


def without_own(text):
    return [line for line in text.splitlines() if not line.startswith(OWN)]


def measured(directory, alone, program, arguments, setting, **settings):
    """One run that is compared to the one alone; returns the Measurement."""
    event, parallelism = setting
    run = Measurement(directory, program, *arguments, options=("-e", event, "-p", parallelism), timeout=60, **settings)
    seen = (run.done.returncode, run.done.stdout.splitlines(), without_own(run.done.stderr))
    assert seen == (alone.returncode, alone.stdout.splitlines(), without_own(alone.stderr)), (setting, alone, run.done)
    return run


def check(directory, number, program, *arguments, kept=None, said=None, always=False, **settings):
    """The program in one setting, chosen by number, or with --long in all of them, several times.  kept: seconds of
    leaf_work that the report must show, of all processes; said: what our own lines must say; always: in that setting
    also with --long."""
    alone = tap.run(program, *arguments, cwd=directory, timeout=60, **settings)
    chosen = SETTINGS * ROUNDS if LONG and not always else (SETTINGS[number % len(SETTINGS)],)
    for setting in chosen:
        run = measured(directory, alone, program, arguments, setting, **settings)
        if kept is not None:
            nodes = run.tree()
            sums_hold(nodes)
            seen = work_of(nodes, "leaf_work")
            # 200 samples a second of so little time say only that there were some; elapsed time has no upper bound
            tap.timed(seen >= (0.8 if setting[0].endswith("f5000") else 0.1) * kept, (setting, arguments, seen, kept))
            tap.timed(seen <= 1.6 * kept or setting[0] != "task-clock@f5000", (setting, arguments, seen, kept))
        if said is not None:
            assert any(said in line for line in own_lines(run.done.stderr)), (said, run.done.stderr)


def cases(rows, program_of):
    """Makes a case of every row: (name, arguments, keywords)."""
    for number, (name, arguments, keywords) in enumerate(rows):
        def run(directory, number=number, arguments=arguments, keywords=keywords):
            check(directory, number, program_of(), *arguments, **keywords)
        run.__name__ = name
        tap.case(run)


def built(build, *arguments, **keywords):
    """A program that is built once for all cases of a script."""
    made = []

    def program():
        if not made:
            directory = os.environ["HPCRUN_LITE_TEST_BUILD"]
            made.append(build(directory, *arguments, **keywords))
        return made[0]
    return program
