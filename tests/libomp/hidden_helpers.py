#!/usr/bin/env python3
"""libomp's hidden helper threads (hidden_helpers.c) are the runtime's, in no count of threads, region or idleness, and what
they run is the program's, on each libomp; threads of the program that are like them are its own."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, combinations, idleness_of, need_libomps, tap, work_of

MODES = (("-p", "off"), ("-p", "online"), ("-p", "log", "-t"))
OUTSIDE = {"LIBOMP_USE_HIDDEN_HELPER_TASK": "0"}


def measure(directory, library, what, options=(), status=0, **settings):
    program = build("hidden_helpers.c", "clang", "-O2")
    run = Measurement(directory, program, what, options=("-e", "task-clock@f1000", *options),
                      timeout=60, LD_LIBRARY_PATH=os.path.dirname(library), **settings)
    assert run.done.returncode == status, (library, options, run.done)
    return run, clocks(run.done.stdout)


def has_threads(run, count, what):
    """So many threads, in all views, and no helper's region."""
    assert f" of {count} thread" in run.done.stderr, (what, run.done.stderr)
    assert len(run.threads()) == count, (what, run.threads())
    processes = run.view("processes")
    assert [row["threads"] for row in processes] == [str(count)], (what, processes)
    regions = [row for row in run.view("regions") if "libomp" in row["name"] or row["kind"] == "barrier"]
    assert not regions, (what, regions)


def is_work(nodes, function, own, what, below=None):
    """The samples of the function agree with the program's clock, but for their number."""
    found = work_of(nodes, function, below)
    assert found > 0, (what, function)
    tap.timed(abs(found - own) < 0.03 + 0.05 * own, what, function, found, own)


def paths_of(nodes, function):
    return {" > ".join(node.path()[:-1]).split(" @ ")[0] for node in nodes if node.name == function}


@tap.case
def work_is_the_programs(directory):
    """Below the region in which the target task was created."""
    for library, mode in combinations(need_libomps(), MODES):
        what = (library, mode)
        run, own = measure(directory, library, "beside", mode)
        has_threads(run, 2, what)
        nodes = run.tree()
        is_work(nodes, "on_device", own["on_device"], what, below="main")
        is_work(nodes, "on_host", own["on_host"], what, below="main")
        assert paths_of(nodes, "on_device") == {"main > beside > parallel"}, (what, paths_of(nodes, "on_device"))
        idle = sum(float(thread["idle_s"]) for thread in run.threads())
        tap.timed(abs(idleness_of(nodes, "main") - idle) < 0.05 + 0.1 * idle, what, idle, idleness_of(nodes, "main"))
        walls = sum(float(thread["wall_s"]) for thread in run.threads())
        # No thread has a helper's time as well, which would be nearly as long again.
        tap.timed(all(float(row["wall_s"]) < 1.2 * walls / 2 for row in run.threads()), run.threads())
        if mode != ("-p", "off"):
            program = run.view("parallelism")[0]
            tap.timed(abs(float(program["work"]) - sum(own.values())) < 0.05, what, program, own)
            tap.timed(1.7 < float(program["work"]) / float(program["span"]) < 2.1, what, program)


@tap.case
def parts_of_a_run_have_no_helpers(directory):
    for library in need_libomps():
        run, own = measure(directory, library, "beside", ("-t",))
        end = max(float(thread["wall_s"]) for thread in run.threads())
        parts = [(), ("--to", str(end / 2)), ("--from", str(end / 2))]
        figures = {}
        for part in parts:
            threads = run.view("threads", *part)
            assert len(threads) == 2, (library, part, threads)
            root = run.tree(*part)[0]
            figures[part] = [root.value("work_incl_s"), *(sum(float(thread[name]) for thread in threads)
                                                          for name in ("idle_s", "blocked_s"))]
        for whole, first, second in zip(*figures.values()):
            tap.timed(abs(whole - first - second) < 5e-3, library, figures)
        tap.timed(abs(figures[()][0] - sum(own.values())) < 0.06, library, figures, own)
        listed = {thread["thread"] for thread in run.threads()}
        intervals = [row for row in run.view("timeline") if row["thread"] not in listed]
        assert len({row["thread"] for row in intervals if row["kind"] == "task-exec"}) == 1, (library, intervals)
        seen = {(row["kind"], row["category"]) for row in intervals}
        assert {category for kind, category in seen if kind != "task-exec"} <= {"gap", "overhead", "tool"}, (library, seen)
        assert not {category for _, category in seen} & {"idle", "lock_wait"}, (library, seen)


@tap.case
def tasks_outside_regions(directory):
    for library, mode in combinations(need_libomps(), MODES[:2]):
        run, own = measure(directory, library, "serial", mode)
        has_threads(run, 1, (library, mode))
        is_work(run.tree(), "on_device", own["on_device"], (library, mode))
        assert all("serial" != row["class"] for row in run.view("advice")), (library, mode, run.view("advice"))


@tap.case
def many_tasks_with_dependences(directory):
    for library in need_libomps():
        run, own = measure(directory, library, "many", ("-p", "log"))
        has_threads(run, 2, library)
        executed = sum(int(row["executions"]) for row in run.view("regions")
                       if row["thread"] == "SUM" and row["kind"] == "task-exec")
        assert executed == 120, (library, executed)
        program = run.view("parallelism")[0]
        tap.timed(abs(float(program["work"]) - sum(own.values())) < 0.05, library, program, own)
        tap.timed(float(program["span"]) > 0.9 * own["on_device"], library, program, own)


@tap.case
def threads_of_regions_in_target_tasks_are_the_programs(directory):
    """With libomp 14 and 15 such a program hangs, also without the tool."""
    for library in need_libomps(16, 19):
        run, own = measure(directory, library, "inner", OMP_MAX_ACTIVE_LEVELS="2")
        nodes = run.tree()
        is_work(nodes, "on_device", own["on_device"], library)
        assert len(run.threads()) == 3, (library, run.threads())  # the initial one, and two of the region's three


@tap.case
def number_of_helpers_does_not_matter(directory):
    """With one helper, libomp 14 divides by zero."""
    counts = ({"LIBOMP_NUM_HIDDEN_HELPER_THREADS": "2"}, OUTSIDE, {"LIBOMP_NUM_HIDDEN_HELPER_THREADS": "5"})
    for library, settings in combinations(need_libomps(), counts):
        run, own = measure(directory, library, "beside", **settings)
        has_threads(run, 2, (library, settings))
        assert settings != OUTSIDE or sorted(thread["thread"] for thread in run.threads()) == ["1", "2"], run.threads()
        is_work(run.tree(), "on_device", own["on_device"], (library, settings), below="main")


@tap.case
def of_a_killed_process(directory):
    for library in need_libomps():
        run, _ = measure(directory, library, "killed", status=-9)
        assert len(run.threads()) == 2, (library, run.threads())
        tap.timed(work_of(run.tree(), "on_device", "main") > 0.1, library)  # of 0.3 s


@tap.case
def threads_of_the_program_are_its_own(directory):
    """That begin a region at once, also by a jump into the runtime, which leaves no frame of the program."""
    for library, what in combinations(need_libomps(), ("own", "jump")):
        run, own = measure(directory, library, what)
        has_threads(run, 4, (library, what))
        is_work(run.tree(), "on_host", own["on_host"], (library, what))
        most, = (row["value"] for row in run.view("summary") if row["item"] == "threads_max")
        assert most == "3", (library, what, most)


tap.main()
