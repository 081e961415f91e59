"""Deaths and what they leave; roots, directories, descriptors and limits that change while the program runs.

Usage: awkward_places.py [--long]     (--long: every case in all settings, ten times)"""
import os
import signal
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import LONG, built, cases, check
from measured import Measurement, build, tap, work_of

program = built(build, "awkward_places.c", name="awkward_places", flags=("-O1", "-g"))
ends = built(build, "awkward_ends.c", "clang", name="awkward_ends")
deny = built(build, "deny_perf_event.c", name="deny", flags=("-O1", "-g"))


def needs_root():
    if os.geteuid() != 0:
        raise tap.Skip("needs root")


@tap.case
def what_the_dead_leave(directory):
    """0.5 s of CPU time until the end: 500 samples of a millisecond."""
    for how, number in (("abort", signal.SIGABRT), ("segv", signal.SIGSEGV), ("kill", signal.SIGKILL),
                        ("term", signal.SIGTERM), ("overflow", signal.SIGSEGV), ("xcpu", signal.SIGXCPU)):
        for options in (("-p", "off"), ("-p", "online"))[:None if LONG else 1]:
            run = Measurement(directory, program(), "dies", how, options=("-e", "task-clock@f1000", *options))
            assert run.done.returncode == -number and "alive" not in run.done.stdout, (how, run.done)
            used = float(run.done.stdout.split()[-1]) if how == "xcpu" else 0.5
            seen = work_of(run.tree(), "leaf_work")
            tap.timed(0.9 * used <= seen <= 1.1 * used, (how, options, seen))


def rooted(directory, how, said=None):
    """0.2 s before, 0.15 s after the program has left for another root, 0.05 s of them in a thread that ends there: all
    that is mapped stays."""
    needs_root()
    place = os.path.join(directory, "elsewhere")
    os.mkdir(place)
    alone = tap.run(program(), "root", place, how, cwd=directory)
    run = Measurement(directory, program(), "root", place, how, options=("-e", "task-clock@f5000"))
    assert (run.done.returncode, run.done.stdout) == (alone.returncode, alone.stdout), (alone, run.done)
    assert os.listdir(place) == []
    assert said is None or said in run.done.stderr, run.done.stderr
    seen = work_of(run.tree(), "leaf_work")
    tap.timed(0.9 * 0.35 <= seen <= 1.1 * 0.35, (how, seen, run.done))


@tap.case
def another_root_and_an_orderly_end(directory):
    rooted(directory, "exit", "not written")


@tap.case
def another_root_and_a_kill(directory):
    rooted(directory, "kill", "are lost")


@tap.case
def another_root_and_a_fork(directory):
    rooted(directory, "fork", "not written")


def vanishing(directory, command, kept):
    """The measurement's directory is taken away in the middle."""
    alone = tap.run(program(), "vanishes", cwd=directory, VANISH="true")
    run = Measurement(directory, program(), "vanishes", VANISH=command, options=("-e", "task-clock@f5000"))
    assert (run.done.returncode, run.done.stdout) == (alone.returncode, alone.stdout), (alone, run.done)
    if kept:
        tap.timed(work_of(run.tree(), "leaf_work") >= kept, run.done)
    else:
        assert "not written" in run.done.stderr, run.done.stderr


@tap.case
def a_directory_that_vanishes(directory):
    vanishing(directory, "LD_PRELOAD= rm -rf measured-awkward_places", 0)


@tap.case
def a_directory_that_is_moved(directory):
    vanishing(directory, "LD_PRELOAD= mv measured-awkward_places other", 0)


@tap.case
def a_directory_that_may_no_longer_be_written(directory):
    vanishing(directory, "LD_PRELOAD= chmod 500 measured-awkward_places", 0.24 if os.geteuid() == 0 else 0)


@tap.case
def a_directory_that_is_read_only(directory):
    needs_root()
    place = os.path.join(directory, "small")
    os.mkdir(place)
    if tap.run("mount", "-t", "tmpfs", "-o", "size=1m", "none", place).returncode != 0:
        raise tap.Skip("may not mount a file system")
    try:
        script = f'LD_PRELOAD= mount -o remount,ro {place} 2>/dev/null || LD_PRELOAD= umount -l {place}'
        alone = tap.run(program(), "vanishes", cwd=directory, VANISH="true")
        done = tap.run(tap.LAUNCHER, "-o", os.path.join(place, "m"), "--", program(), "vanishes", cwd=directory, VANISH=script)
        assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout), (alone, done)
        assert "not written" in done.stderr, done
    finally:
        tap.run("umount", "-l", place)


@tap.case
def no_perf_event_in_a_container(directory):
    for number, arguments in ((0, ("fork_storm", "5")), (1, ("cancels", "40")), (4, ("exec", "execv", "5")), (0, ("region", "wexit"))):
        check(directory, number, deny(), ends(), *arguments)


@tap.case
def no_proc_in_a_container(directory):
    needs_root()
    if tap.run("unshare", "-m", "umount", "-l", "/proc").returncode != 0:
        raise tap.Skip("may not unmount /proc")
    # libomp looks into /proc, and dies without, where a dead process of that number has left a file in /dev/shm
    script = 'mount -t tmpfs none /dev/shm && umount -l /proc && exec "$@"'
    for number, arguments in enumerate((("fork_storm", "5"), ("region", "wexit"), ("exec", "execv", "5"))):
        check(directory, number, "unshare", "-m", "sh", "-c", script, "sh", ends(), *arguments)


def rows():
    yield "descriptors closed and reused at random", ("descriptors",), {"kept": 0.2}
    yield "every descriptor closed and used for files", ("closed",), {"kept": 0.09}
    for more in ("200", "2000", "20000"):
        yield f"{more} KB more than it has", ("memory", more), {"kept": 0.09}
    for size in ("16384", "20480", "32768"):
        yield f"threads on {size} bytes", ("stacks", size), {}
    yield "rseq of its own", ("rseq",), {"kept": 0.11, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
    yield "rseq of nobody", ("closed",), {"kept": 0.09, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


cases(rows(), program)
tap.main()
