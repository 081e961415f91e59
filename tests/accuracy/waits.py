"""Threads that sleep, sampled by elapsed time, and threads that begin and end at high sampling rates."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import (Measurement, build, clocks, combinations, idleness_of, libomps, near, no_losses, sum_of,
                      sums_hold, tap, work_of)

WALL = ("-e", "wall@f1000")
CALLS = ("in_mutex", "in_read", "in_condition", "in_semaphore", "in_rwlock", "in_pthread_barrier", "in_nanosleep",
         "in_usleep",
         "in_poll", "in_select")


def measure(directory, mode, compiler, threads, options=WALL, policy="passive"):
    run = Measurement(directory, build("waits.c", compiler), mode, options=options, OMP_NUM_THREADS=str(threads),
                      OMP_WAIT_POLICY=policy)
    assert run.done.returncode == 0, run.done  # the program checks what its calls return
    no_losses(run)
    nodes = run.tree()
    if nodes[0].value("samples"):
        sums_hold(nodes)
    return run, nodes, clocks(run.done.stdout)


def all_times(node):
    return sum(node.value(f"{column}_incl_s") for column in ("work", "overhead", "lockwait", "idleness"))


@tap.case
def sleeping_threads_are_seen_by_elapsed_time(directory):
    run, nodes, own = measure(directory, "sleepers", "gcc", 2)
    assert set(own) == set(CALLS), own
    locks = {"in_mutex", "in_rwlock"}
    for call in set(CALLS) - locks:
        near(work_of(nodes, call), own[call], 0.05, call)  # 150 samples, or a single one on return
    waited = sum(float(thread["lockwait_s"]) for thread in run.threads())
    ready = sum(float(thread["core_wait_s"]) for thread in run.threads())
    expected = sum(own[call] for call in locks)
    tap.timed(0.95 * expected - ready < waited < 1.05 * expected, waited, expected, ready)
    near(work_of(nodes, "waker"), 6 * 0.15, 0.05, "the thread that wakes it sleeps itself")
    assert nodes[0].value("idleness_incl_s") == 0, "the program does not use OpenMP"


@tap.case
def sleeping_threads_are_not_seen_by_cpu_time(directory):
    run, nodes, own = measure(directory, "sleepers", "gcc", 2, options=("-e", "task-clock@f1000"))
    tap.timed(all(own[call] > 0.14 for call in CALLS) and nodes[0].value("work_incl_s") < 0.1, (own, nodes[0].row))
    ready = sum(float(thread["core_wait_s"]) for thread in run.threads())
    for call in set(CALLS) - {"in_mutex", "in_rwlock", "in_read"}:  # lock wait; a call that is not known to wait
        value = sum_of(nodes, "blocked_incl_s", call)
        tap.timed(0.95 * own[call] - ready < value < 1.05 * own[call], call, value, own[call], ready)
    said = re.sub(r"\s+", " ", tap.must(tap.REPORT, "--legend", run.output))
    place = re.search(r", ([0-9.]+) s of it (?:in|near) \w+ \((waits\.c:[0-9]+)\)", said)
    assert place, said
    # The longest wait is by chance that of any call, or at one of the places where `waker` sleeps.  Waits at places last
    # until the thread runs again; the report reduces them to the exact sum, which is without time without a processor.
    lines, waited = run.tree("--lines"), sum(float(thread["blocked_s"]) for thread in run.threads())
    seconds = sum(node.value(f"blocked_{which}excl_s") for node in lines if node.name == place[2] for which in ("", "near_"))
    at_places = sum(lines[0].value(f"blocked_{which}incl_s") for which in ("", "near_"))
    assert abs(float(place[1]) - seconds * min(1, waited / at_places)) < 1e-3, (said, seconds, waited, at_places)


@tap.case
def a_sleeping_main_thread_leaves_the_others_idle(directory):
    for compiler, threads in (("gcc", 2), ("clang", 4), ("gcc", 8)):
        _, nodes, _ = measure(directory, "between", compiler, threads)
        near(work_of(nodes, "in_sleep_between"), 0.3, 0.05, "asleep")
        near(idleness_of(nodes, "in_sleep_between"), (threads - 1) * 0.3, 0.05, "the threads that wait for it")


@tap.case
def a_thread_that_sleeps_in_a_region_is_waited_for(directory):
    for compiler, threads in (("gcc", 2), ("clang", 4)):
        _, nodes, _ = measure(directory, "inside", compiler, threads)
        near(work_of(nodes, "in_sleep_inside"), 0.4, 0.05, "asleep")
        near(idleness_of(nodes, "in_sleep_inside"), (threads - 1) * 0.4, 0.05, "the threads that wait for it")


@tap.case
def waiting_for_a_sleeping_thread_is_exact_by_cpu_time(directory):
    # While all sleep or wait, no thread takes samples of CPU time.  Three threads wait for 0.4 s, and some for the
    # work of others on fewer cores.
    _, nodes, own = measure(directory, "inside", "gcc", 4, options=("-e", "task-clock@f1000"))
    near(work_of(nodes, "work_of_each"), 0.2, 0.05, "the work")
    tap.timed(1.2 * 0.98 < nodes[0].value("idleness_incl_s") < 1.2 + 4 * (own["elapsed"] - 0.4), nodes[0].row)


@tap.case
def a_sleeping_thread_is_not_busy(directory):
    # One of four threads works, one sleeps in a call, two wait.
    for compiler in ("gcc", "clang"):
        run, nodes, own = measure(directory, "beside", compiler, 4, options=("-e", "task-clock@f1000"))
        shared = run.tree("--idleness", "shared")
        # The process lives as long as its main thread: what the tool does before and after is none of its time.
        elapsed = next(float(row["value"]) for row in run.view("summary") if row["item"] == "elapsed")
        tap.timed(elapsed - max(float(row["wall_s"]) for row in run.threads()) < 0.001, elapsed)
        # Two wait until the sleep is over, the one that works does after its work.  Only its work is sampled: the
        # sleeping thread's part of the waiting is charged to the barrier.  200 samples may count too little by their
        # standard error.
        for tree in (nodes, shared):
            blamed = idleness_of(tree, "in_work_beside")  # 0.2 s of CPU time; without a core it takes longer than the sleep
            tap.timed(0.9 * 2 * 0.2 < blamed < 1.1 * (2 if own["work"] < own["asleep"] else 3) * 0.2, blamed)
            last, first = max(own["asleep"], own["work"]), min(own["asleep"], own["work"])
            waited = 3 * last - first  # and for the main thread, before and after the region
            outside = 3 * (max(float(row["wall_s"]) for row in run.threads()) - last)
            tap.timed(0.98 * waited < tree[0].value("idleness_incl_s") < 1.02 * (waited + outside), (tree[0].value("idleness_incl_s"), waited))
        blocked = sum(float(row["blocked_s"]) for row in run.threads())
        near(blocked, own["asleep"], 0.05, "asleep")


@tap.case
def a_thread_asleep_counts_as_busy_by_elapsed_time(directory):
    for compiler in ("gcc", "clang"):
        _, nodes, own = measure(directory, "beside", compiler, 4)
        # While both are busy, each carries one of the two waiting threads.  The sample on return from the sleep sees
        # three threads wait, and has a share of three for all of its time.
        slept, worked = work_of(nodes, "in_sleep_beside"), work_of(nodes, "in_work_beside")
        exact = 2 * min(slept, worked) + 3 * abs(slept - worked)
        if own["work"] > own["asleep"]:  # the worker had no core
            blamed = idleness_of(nodes, "in_work_beside") + idleness_of(nodes, "in_sleep_beside")
            near(blamed, exact, 0.1, "both threads")
            continue
        near(idleness_of(nodes, "in_work_beside"), exact * worked / (worked + 3 * slept), 0.1, "one of two busy threads")
        near(idleness_of(nodes, "in_sleep_beside"), exact * 3 * slept / (worked + 3 * slept), 0.1, "the other one")


@tap.case
def elapsed_times_add_up_on_any_machine(directory):
    # By elapsed time every moment is charged T times, whichever thread runs: also with more threads than cores.
    teams = (("gcc", 2), ("clang", 4), ("clang", 16), ("gcc", 8))
    for mode, (compiler, threads) in combinations(("between", "inside"), teams):
        _, nodes, own = measure(directory, mode, compiler, threads)
        near(all_times(nodes[0]), threads * own["elapsed"], 0.05, f"{mode}, {threads} threads")


def check_coming_and_going(directory, mode, compiler, options, policy="passive"):
    """Returns the most threads at a time, and how many fewer they can seem to be because they had no core."""
    run, nodes, own = measure(directory, mode, compiler, 4, options, policy)
    shared, core = run.tree("--idleness", "shared"), run.tree("--idleness", "core")
    against = {tuple(node.path()): node.value("idleness_incl_s") for node in nodes}
    for node in shared:
        assert 0 <= node.value("idleness_incl_s") <= against[tuple(node.path())] + 1e-6, (mode, node.row)
    for tree in (nodes, shared, core):
        for node in tree:
            parts = node.value("idleness_excl_s") + sum(child.value("idleness_incl_s") for child in node.children)
            assert abs(parts - node.value("idleness_incl_s")) < 1e-6 * (1 + len(node.children)), node.row
    # The program ends with sequential code: by then no other thread may count as in use.
    idle, work = idleness_of(shared, "alone_at_last"), work_of(nodes, "alone_at_last")
    tap.timed(idle < 0.01 * work, f"{mode} by {compiler}: a count went wrong")
    cores = len(os.sched_getaffinity(0))
    near(work, own["alone"] if "wall" in options[1] else 0.2, 0.05, "alone_at_last")
    most = 1 + idleness_of(nodes, "alone_at_last") / work
    ready = sum(float(row[column]) for row in run.threads() for column in ("core_wait_s", "waiting_no_core_s")) / work
    tap.timed(abs(most - round(most)) < 0.02 * most + 0.05 + ready and most > 3.9 - ready,
              f"{mode} by {compiler}: {most} threads at most, or {ready} less")
    if cores >= most and ready < 0.01:  # otherwise all idleness against cores is reduced
        near(idleness_of(core, "alone_at_last"), (cores - 1) * work, 0.02, f"{mode} by {compiler}: against {cores} cores")
    for row in run.threads():
        assert 0 <= float(row["idle_s"]) <= float(row["wall_s"]) * 1.01 + 0.001, row
    return round(most), ready


@tap.case
def threads_that_come_and_go_at_5000_samples_a_second(directory):
    for compiler in ("gcc", "clang"):
        most, ready = check_coming_and_going(directory, "churn", compiler, ("-e", "task-clock@f5000"))
        assert 4 - ready <= most <= 4 * 6 + 4, most  # four threads that come and go and the main thread, each with teams of two


@tap.case
def many_small_regions_at_5000_samples_a_second(directory):
    for compiler, policy in combinations(("gcc", "clang"), ("passive", "active")):
        most, ready = check_coming_and_going(directory, "many", compiler, ("-e", "task-clock@f5000"), policy)
        assert 4 - ready <= most <= 8, most  # a team of four, each with a team of two


@tap.case
def many_small_regions_at_the_full_rate_of_elapsed_time(directory):
    check_coming_and_going(directory, "many", "clang", ("-e", "wall@f2000"))


@tap.case
def threads_that_come_and_go_on_every_libomp(directory):
    for library, mode in combinations(libomps(), ("churn", "many")):
        check_coming_and_going(directory, mode, "clang", ("-e", "task-clock@f5000", "--omp-runtime", library))


tap.main()
