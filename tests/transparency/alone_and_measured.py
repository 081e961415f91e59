"""A program alone and under measurement: its output and its exit status must be the same."""
import sys

from measured import Measurement, build, sums_hold, tap, work_of

# Rare and frequent samples of CPU time and of elapsed time, with and without the callbacks of -p online.
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
    """One run under measurement, compared with the one alone; returns the Measurement."""
    event, parallelism = setting
    run = Measurement(directory, program, *arguments, options=("-e", event, "-p", parallelism), **settings)
    seen = (run.done.returncode, run.done.stdout.splitlines(), without_own(run.done.stderr))
    assert seen == (alone.returncode, alone.stdout.splitlines(), without_own(alone.stderr)), (setting, alone, run.done)
    return run


def check(directory, number, program, *arguments, kept=None, said=None, always=False, **settings):
    """Runs the program in one setting, chosen by number, or with --long in all settings, several times.

    kept: the seconds of leaf_work, in all processes, that the report must show.  said: a message that the tool must
    print. always: with --long, too, only in the setting that the number chooses.  Returns the last Measurement."""
    alone = tap.run(program, *arguments, cwd=directory, **settings)
    chosen = SETTINGS * ROUNDS if LONG and not always else (SETTINGS[number % len(SETTINGS)],)
    for setting in chosen:
        run = measured(directory, alone, program, arguments, setting, **settings)
        if kept is not None:
            nodes = run.tree()
            sums_hold(nodes)
            seen = work_of(nodes, "leaf_work")
            # 200 samples a second are too few to bound so little time; elapsed time has no upper bound
            tap.timed(seen >= (0.8 if setting[0].endswith("f5000") else 0.1) * kept, (setting, arguments, seen, kept))
            tap.timed(seen <= 1.6 * kept or setting[0] != "task-clock@f5000", (setting, arguments, seen, kept))
        if said is not None:
            assert any(said in line for line in own_lines(run.done.stderr)), (said, run.done.stderr)
    return run


def cases(rows, program_of):
    """Makes a case of every row: name, arguments of the program, keywords of check()."""
    for number, (name, arguments, keywords) in enumerate(rows):
        def run(directory, number=number, arguments=arguments, keywords=keywords):
            check(directory, number, program_of(), *arguments, **keywords)
        run.__name__ = name
        tap.case(run)


def built(*arguments, **keywords):
    """A program that is built when it is first needed: a function that returns its path.  See build()."""
    return lambda: build(*arguments, **keywords)
