"""Memory and disk space that a measurement takes while the program runs: by counts, the same in each run.

Usage: footprint.py [--long] [-k CASE]     (--long: 30 runs instead of 2)"""
import csv
import glob
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap
from measurement_file import extents

LONG = "--long" in sys.argv
THREADS = 1000
RUNS = 30 if LONG else 2
KB_A_THREAD = 130
FILE_KB_A_THREAD = 3
CHURNED = 24000
TRACED = 4000
WINDOW = 64 << 10
UNIT = 64  # extents begin at multiples of this; a header takes as much


def measured(directory, compiler, *arguments, options=()):
    """Runs the program under measurement; returns the numbers that it prints first, those of each file, and the run."""
    pattern = os.path.join(directory, "measured-*", "*")
    run = Measurement(directory, build("footprint.c", compiler), *map(str, arguments), pattern, options=options)
    assert run.done.returncode == 0, run.done
    first, *rest = run.done.stdout.splitlines()
    return tuple(map(int, first.split())), {name: int(size) for name, size in map(str.split, rest)}, run


@tap.case
def threads_take_the_same_memory_in_each_run(directory):
    """In a region all threads begin to record at the same time."""
    for compiler in ("gcc", "clang"):
        alone = int(tap.must(build("footprint.c", compiler), "wide", str(THREADS)).split()[1])
        runs = [measured(directory, compiler, "wide", THREADS) for _ in range(RUNS)]
        peaks, anonymous = zip(*(memory for memory, *_ in runs))
        files = sum(os.path.getsize(path) for path in glob.glob(os.path.join(runs[-1][2].output, "*"))) >> 10
        print("# KB:", compiler, "peaks", min(peaks), "to", max(peaks), "anonymous", max(anonymous), "alone", alone,
              "files", files)
        assert max(peaks) < 1.1 * min(peaks), (compiler, peaks)
        assert max(anonymous) - alone < KB_A_THREAD * THREADS, (compiler, anonymous, alone)
        assert files < FILE_KB_A_THREAD * THREADS, (compiler, files)


@tap.case
def a_sufficient_memory_limit_loses_nothing(directory):
    """Twice what the threads take; a limit that is reached by chance would be by far too high otherwise."""
    for compiler in ("gcc", "clang"):
        for _ in range(RUNS // 2):
            *_, run = measured(directory, compiler, "wide", THREADS,
                               options=("--memory-limit", f"{2 * KB_A_THREAD * THREADS}K"))
            assert len(run.threads()) == THREADS and "memory" not in run.done.stderr, run.done


@tap.case
def ended_threads_leave_no_memory(directory):
    (early, late), _, run = measured(directory, "gcc", "churn", CHURNED, options=("-p", "off"))
    print("# anonymous memory in KB:", early, late)
    assert len(run.threads()) == CHURNED + 1, run.done
    # libc's cache of stacks and pages of the tool's tables, used at any time, make up to 200 KB; the least that could be
    # left of a thread is 16 bytes
    assert (late - early) * 1024 < 12 * CHURNED, (early, late)


@tap.case
def traces_of_ended_threads_take_what_they_contain(directory):
    """At most four threads exist at once besides the first one."""
    for options, content in ((("-t",), 3 * UNIT), (("-t", "--trace-keep", "last"), 3 * UNIT),
                             (("-t", "-p", "log"), 3 * UNIT), (("-tsamples", "-e", "wall@f5000"), 4 * UNIT)):
        _, files, run = measured(directory, "clang", "churn", TRACED, options=(*options, "--trace-limit", "1M"))
        print("#", *options, files)
        for suffix in (".trace", ".graph"):
            assert files.get(suffix, 0) < TRACED * content + 6 * WINDOW, (options, files)
        assert "of the trace" not in run.done.stderr and "of the graph" not in run.done.stderr, run.done
        assert len(run.threads()) == TRACED + 1, run.done
        if options[0] == "-t":
            lanes = {row["thread"] for row in run.view("timeline") if row["kind"] not in ("gap", "counter")}
            assert len(lanes) == TRACED + 1, (options, len(lanes))


@tap.case
def streams_of_ended_threads_survive_a_kill(directory):
    """They lie one behind the other in what each of them has left to the next one."""
    run = Measurement(directory, build("footprint.c", "clang"), "killed", str(TRACED),
                      options=("-t", "--trace-limit", "1M"))
    assert run.done.returncode == -9, run.done
    path, = glob.glob(os.path.join(run.output, "*.trace"))
    assert sorted(each.owner for each in extents(path)) == list(range(1, TRACED + 2)), os.listdir(run.output)
    shown = tap.run(tap.REPORT, "--view", "timeline", "-f", "csv", run.output)
    assert "cannot read" not in shown.stderr and "left out" not in shown.stderr, shown.stderr
    lanes = {row["thread"] for row in csv.DictReader(shown.stdout.splitlines()) if row["kind"] != "gap"}
    listed = tap.run(tap.REPORT, "--view", "threads", "-f", "csv", run.output).stdout.splitlines()[1:]
    assert len(lanes) == len(listed) > 1, (len(lanes), len(listed))


tap.main()
