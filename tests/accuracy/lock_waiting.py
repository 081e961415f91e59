"""Lock waiting is charged to the code that causes it: the place where the holder releases the lock.

The waiting threads measure the CPU time that their waiting takes, since that is what the samples see.  It is less than
the elapsed time where a thread shares a core with the holder.  A sample is taken every 0.5 ms of a thread's CPU time.
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import (Measurement, build, clocks, combinations, idleness_of, libomps, lockwait_of, near,
                      no_losses, sums_hold, tap, work_of)

PERIOD = 0.5e-3


def measure(directory, mode, compiler="gcc", threads=2, optimised="-O2", options=(), event="task-clock@f2000",
            **settings):
    settings = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": str(threads), **settings}
    run = Measurement(directory, build("lock_waiting.c", compiler, optimised), mode, options=("-e", event, *options),
                      **settings)
    assert run.done.returncode == 0, run.done
    no_losses(run)
    nodes = run.tree()
    sums_hold(nodes)
    return run, nodes, clocks(run.done.stdout)


def charged(value, waited, what, period=PERIOD, late=0.0):
    """Within 10 %, plus what single samples allow: a wait shorter than a period has a sample by chance.  Samples of
    elapsed time may also be late: a thread that was kept from running takes its sample after the lock was released."""
    allowed = 0.1 * waited + 4 * math.sqrt(waited * period) + 4 * period + late
    tap.timed(abs(value - waited) < allowed, f"{what}: {value:.4f}, the waiters' own clocks {waited:.4f} ± {allowed:.4f}")


def charged_both(nodes, own, long, short, what, clock="cpu", period=PERIOD, late=True):
    """By CPU time, waits in which a thread had no processor are charged where others were sampled, or nowhere: so a
    function has at least the CPU time of its waits, and at most the elapsed time of all.  These are nearly equal where a
    waiting thread has a core."""
    elapsed = own["long_wall"] + own["short_wall"]
    for which, function in (("long", long), ("short", short)):
        value, sampled = lockwait_of(nodes, function), own[f"{which}_{clock}"]
        expected = min(max(value, sampled), elapsed) if clock == "cpu" else sampled
        charged(value, expected, f"{what}: {function}", period, late * own[f"{which}_delay"])
    everything, sampled = nodes[0].value("lockwait_incl_s"), own[f"long_{clock}"] + own[f"short_{clock}"]
    charged(everything, min(max(everything, sampled), elapsed), f"{what}: all", period)


def check(directory, mode, long, short, compiler="gcc", threads=2, **more):
    _, nodes, own = measure(directory, mode, compiler, threads, **more)
    # A sample of CPU time is never late.  Each of several waiting threads delays the next one a little.
    charged_both(nodes, own, long, short, f"{mode} by {compiler}, {threads} threads, {more}", late=threads > 2)
    return nodes


def functions_of(mode):
    """The functions of a mode that are charged with long and with short waits."""
    return ("release_long", "release_short") if mode == "lock" else (f"hold_{mode}_long", f"hold_{mode}_short")


@tap.case
def locks_by_gcc(directory):
    nodes = check(directory, "lock", "release_long", "release_short")
    tap.timed(lockwait_of(nodes, "lonely") < 8 * PERIOD, "no thread waits for that lock, but acquiring it takes a moment")


@tap.case
def locks_by_clang(directory):
    check(directory, "lock", "release_long", "release_short", "clang")


@tap.case
def locks_by_clang_19(directory):
    check(directory, "lock", "release_long", "release_short", "clang-19", OMP_WAIT_POLICY="active")


@tap.case
def locks_of_four_threads(directory):
    check(directory, "lock", "release_long", "release_short", threads=4)


@tap.case
def locks_of_every_kind(directory):
    for hint in "128":  # uncontended, contended and nonspeculative, speculative
        check(directory, "lock", "release_long", "release_short", "clang", LOCK_HINT=hint)


@tap.case
def locks_on_every_libomp(directory):
    for library, mode in combinations(libomps(), ("critical", "nest", "ordered", "lock")):
        check(directory, mode, *functions_of(mode), "clang", options=("--omp-runtime", library))


@tap.case
def releases_by_a_tail_call(directory):
    for compiler, optimised in (("gcc", "-O2"), ("clang", "-O2"), ("clang", "-O0")):
        check(directory, "jump", "jump_long", "jump_short", compiler, optimised=optimised)


@tap.case
def nested_locks(directory):
    check(directory, "nest", "hold_nest_long", "hold_nest_short")  # clang's: elapsed_time_at_locks


@tap.case
def named_and_unnamed_critical_sections(directory):
    check(directory, "critical", "hold_critical_long", "hold_critical_short")  # clang's: elapsed_time_at_locks


@tap.case
def ordered_loops(directory):
    check(directory, "ordered", "hold_ordered_long", "hold_ordered_short", "clang")
    # Threads sleep there in libgomp.
    _, nodes, own = measure(directory, "ordered", event="wall@f1000")
    charged_both(nodes, own, "hold_ordered_long", "hold_ordered_short", "ordered by gcc", "wall", 1e-3)


@tap.case
def atomics_that_the_runtime_implements(directory):
    chosen = ((), *(("--omp-runtime", library) for library in libomps()))
    for options, (event, clock, period) in combinations(chosen, (("task-clock@f2000", "cpu", PERIOD),
                                                                 ("wall@f1000", "wall", 1e-3))):
        _, nodes, own = measure(directory, "atomic", event=event, options=options)
        charged_both(nodes, own, "hold_atomic_long", "hold_atomic_short", f"{options} {event}", clock, period,
                     late=clock == "wall")


@tap.case
def test_lock_is_not_waiting(directory):
    for compiler, options in (("gcc", ()), *(("clang", ("--omp-runtime", each)) for each in libomps())):
        run, nodes, own = measure(directory, "tried", compiler, options=options)
        busy = sum(nodes[0].value(f"{column}_incl_s") for column in ("work", "overhead"))
        charged(nodes[0].value("lockwait_incl_s"), 0.0, "tried")
        tap.timed(busy > own["long_cpu"], (busy, own))
        tap.timed(sum(float(row["lockwait_s"]) for row in run.threads()) < 0.005)


@tap.case
def idleness_of_waiting_threads_is_charged_to_the_holder(directory):
    # One thread holds the lock, one waits for it, one is idle: b = 2, so each sample of p carries p / 2 of
    # idleness.  The holder's is charged where it works, that of the waiting thread where the lock is released.
    # With more threads than cores, libgomp's threads sleep soon while they wait.
    for compiler, event, clock, period in (("clang", "task-clock@f2000", "cpu", PERIOD),
                                           ("gcc", "wall@f1000", "wall", 1e-3)):
        _, nodes, own = measure(directory, "inherited", compiler, 3, event=event)
        waited, inherited = lockwait_of(nodes, "release_long"), idleness_of(nodes, "release_long")
        charged(waited, own[f"long_{clock}"], "inherited", period)
        if waited > 0.05:  # 100 samples
            near(inherited / waited, 0.5, 0.05, "idleness charged with the lock wait")
        work, caused = work_of(nodes, "hold_lock_long"), idleness_of(nodes, "hold_lock_long") - inherited
        if clock == "cpu":  # elapsed time is longer where others have the core
            near(work, 0.24, 0.05, "held")
        near(caused / work, 0.5, 0.1, "idleness of the holder itself")


@tap.case
def locks_on_which_threads_sleep(directory):
    # Only samples of elapsed time see threads that sleep on a futex.
    for compiler in ("gcc", "clang"):
        with tap.Others() as others:
            _, nodes, own = measure(directory, "lock", compiler, event="wall@f1000", KMP_LOCK_KIND="futex")
        charged(nodes[0].value("lockwait_incl_s"), own["long_wall"] + own["short_wall"], "all", 1e-3)
        if others.cores < 0.3:  # otherwise signals to a sleeping thread are delivered after the release
            charged_both(nodes, own, "release_long", "release_short", "futex", "wall", 1e-3)


@tap.case
def elapsed_time_at_locks(directory):
    for mode in ("lock", "critical", "ordered", "nest"):
        _, nodes, own = measure(directory, mode, "clang", event="wall@f1000")
        charged_both(nodes, own, *functions_of(mode), mode, "wall", 1e-3)


tap.main()
