"""Fatal signals and what they leave; roots, directories, descriptors and limits that change while the program runs.

Usage: awkward_places.py [--long] [-k CASE]     (--long: every case in all settings, ten times)"""
import os
import signal
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import LONG, built, cases, check
from measured import Measurement, tap, work_of
from report import report

program = built("awkward_places.c", name="awkward_places", openmp=False)
ends = built("awkward_ends.c", "clang", name="awkward_ends")
deny = built("deny_perf_event.c", name="deny", openmp=False)


@tap.case
def what_fatal_signals_leave(directory):
    """The program uses 0.5 s of CPU time before it ends: 500 samples of a millisecond."""
    for how, number in (("abort", signal.SIGABRT), ("segv", signal.SIGSEGV), ("kill", signal.SIGKILL),
                        ("term", signal.SIGTERM), ("overflow", signal.SIGSEGV), ("xcpu", signal.SIGXCPU)):
        for options in (("-p", "off"), ("-p", "online"))[:None if LONG else 1]:
            run = Measurement(directory, program(), "dies", how, options=("-e", "task-clock@f1000", *options))
            assert run.done.returncode == -number and "alive" not in run.done.stdout, (how, run.done)
            used = float(run.done.stdout.split()[-1]) if how == "xcpu" else 0.5
            seen = work_of(run.tree(), "leaf_work")
            tap.timed(0.9 * used <= seen <= 1.1 * used, (how, options, seen))


def rooted(directory, how, said=None):
    """The program works 0.2 s before and 0.15 s after it changes its root, 0.05 s of them in a thread that ends there.
    What is mapped by then remains."""
    tap.need_root()
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
    rooted(directory, "kill", "unless that was removed")


@tap.case
def another_root_and_a_fork(directory):
    rooted(directory, "fork", "not written")


@tap.case
def another_user_before_the_first_sample(directory):
    tap.need_root()
    run = Measurement(directory, program(), "user", "1", options=("-e", "task-clock@3600000000"))
    said = " ".join(report("--view", "summary", "--legend", run.output).stdout.split())
    assert "nothing was sampled" in said and "too little CPU time" in said, said
    assert "could not write its file (Permission denied)" in said and "killed before" not in said, said


def measured_as_another_user(directory, threads, *options):
    """The program works for 0.15 s before and for 0.1 s after it gives up its privileges, and its threads for 0.05 s
    each time."""
    tap.need_root()
    alone = tap.run(program(), "user", str(threads), cwd=directory)
    run = Measurement(directory, program(), "user", str(threads), options=("-e", "task-clock@f5000", *options))
    assert (run.done.returncode, run.done.stdout) == (alone.returncode, "0\n"), (alone, run.done)
    return run


@tap.case
def another_user(directory):
    """What cannot be written any more is kept in the live file, and called kept; the remedy fits, and helps."""
    run = measured_as_another_user(directory, 1)
    seen = work_of(run.tree(), "leaf_work")
    tap.timed(0.9 * 0.35 <= seen <= 1.1 * 0.35, (seen, run.done))
    assert "stays in its live file" in run.done.stderr and "bytes not written" not in run.done.stderr, run.done.stderr
    assert "-o DIR --trust-directory" in run.done.stderr and "make room" not in run.done.stderr, run.done.stderr
    said = report("--view", "summary", "--legend", run.output)
    assert said.returncode == 0 and "could not write its file" in said.stderr, said
    assert "was killed" not in said.stderr and "could not write its file (Permission denied)" in said.stdout, said
    of_user = os.path.join(directory, "of_user")
    os.mkdir(of_user)
    os.chmod(directory, 0o755)
    os.chown(of_user, 12345, 12345)
    run = measured_as_another_user(directory, 0, "-o", of_user, "--trust-directory")
    assert "written" not in run.done.stderr and "kept" not in run.done.stderr, run.done.stderr
    assert any(name.endswith(".hpcrun") for name in os.listdir(of_user)), os.listdir(of_user)


@tap.case
def another_user_and_many_threads(directory):
    """Of the threads that end later, 200 stay in the live file; the others' data are counted as lost."""
    run = measured_as_another_user(directory, 250)
    assert "file not written, its data kept" in run.done.stderr and " bytes not written" in run.done.stderr, run.done


def vanishing(directory, command, kept):
    """A command takes the measurement directory away while the program runs."""
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
    tap.need_root()
    with tap.small_disk(directory, "1m") as place:
        script = f'LD_PRELOAD= mount -o remount,ro {place} 2>/dev/null || LD_PRELOAD= umount -l {place}'
        alone = tap.run(program(), "vanishes", cwd=directory, VANISH="true")
        done = tap.run(tap.LAUNCHER, "-o", os.path.join(place, "m"), "--", program(), "vanishes", cwd=directory,
                       VANISH=script)
        assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout), (alone, done)
        assert "not written" in done.stderr, done


@tap.case
def no_perf_event_in_a_container(directory):
    for number, arguments in ((0, ("fork_storm", "5")), (1, ("cancels", "40")), (4, ("exec", "execv", "5")),
                              (0, ("region", "wexit"))):
        check(directory, number, deny(), ends(), *arguments)


@tap.case
def no_proc_in_a_container(directory):
    tap.need_root()
    if tap.run("unshare", "-m", "umount", "-l", "/proc").returncode != 0:
        raise tap.Skip("may not unmount /proc")
    # Without /proc, libomp aborts if an earlier process with the same id has left a file in /dev/shm
    script = 'mount -t tmpfs none /dev/shm && umount -l /proc && exec "$@"'
    for number, arguments in enumerate((("fork_storm", "5"), ("region", "wexit"), ("exec", "execv", "5"))):
        check(directory, number, "unshare", "-m", "sh", "-c", script, "sh", ends(), *arguments)


def rows():
    yield "descriptors closed and reused at random", ("descriptors",), {"kept": 0.2}
    yield "every descriptor closed and reused for files", ("closed",), {"kept": 0.09}
    for more in ("200", "2000", "20000"):
        yield f"{more} KB more memory than it has", ("memory", more), {"kept": 0.09}
    for size in ("16384", "20480", "32768"):
        yield f"threads on {size} bytes", ("stacks", size), {}
    yield "the program registers rseq", ("rseq",), {"kept": 0.11, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
    yield "no rseq", ("closed",), {"kept": 0.09, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


cases(rows(), program)
tap.main()
