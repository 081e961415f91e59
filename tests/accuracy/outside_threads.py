#!/usr/bin/env python3
"""Idleness of pools of threads in programs without OpenMP: exact, and charged to what runs meanwhile.

The threads measure their waits with their own clocks around the calls.  What they waited for a core is in neither."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, combinations, idleness_of, line_of, near, sum_of as sum_at, tap
from report import report

OFF = 0.003  # seconds for which the waits of the tool and those by the program's clocks differ
KINDS = ("condition", "timed", "clock", "c11", "c11-timed", "semaphore", "semaphore-timed", "semaphore-clock")


def measure(directory, kind, mode, *options, openmp=False, ends=0):
    program = build("outside_threads.c", name="outside_threads-openmp" if openmp else "outside_threads", openmp=openmp)
    if "-e" not in options:
        options = ("-e", "task-clock@f1000", *options)
    run = Measurement(directory, program, kind, mode, options=options)
    assert run.done.returncode == ends, run.done
    return run, clocks(run.done.stdout), {int(row["thread"]): row for row in run.threads()}


def sum_of(threads, *columns):
    return sum(float(row[column] or 0) for row in threads.values() for column in columns)


def others(threads):
    """All but the initial one."""
    return {number: row for number, row in threads.items() if number > 1}


def is_near(value, own, threads, what):
    """A wait of the program's clocks contains the time until the thread had a core again."""
    core = sum_of(others(threads), "core_wait_s", "waiting_no_core_s")
    tap.timed(own - core - 0.02 * own - OFF < value < 1.02 * own + OFF, (what, value, own, core))


@tap.case
def a_pools_waiting_is_idle(directory):
    for kind in KINDS:
        run, own, threads = measure(directory, kind, "pool")
        is_near(sum_of(threads, "idle_s"), own["pool"], threads, kind)
        assert float(threads[1]["idle_s"]) == 0, "the initial thread waits alone"
        nodes = run.tree()
        idle = sum_of(threads, "idle_s")
        tap.timed(idleness_of(nodes, "serial_part") > 0.5, "three threads wait for 0.2 s of CPU time and more")
        near(idleness_of(nodes, "serial_part") + idleness_of(nodes, "worker"), idle, 0.03, kind)


@tap.case
def a_lone_thread_is_blocked(directory):
    for kind in KINDS:
        run, own, threads = measure(directory, kind, "alone")
        assert sum_of(threads, "idle_s") == 0, (kind, threads)
        is_near(sum_of(others(threads), "blocked_s"), own["lone"], threads, kind)
        assert not any(node.value("idleness_incl_s") for node in run.tree()), kind


@tap.case
def a_lone_thread_takes_no_share_of_a_pool_in_its_line(directory):
    for kind in ("condition", "semaphore"):
        _, own, threads = measure(directory, kind, "beside")
        is_near(sum_of(threads, "idle_s"), own["pool"], threads, kind)
        lone, = (row for row in others(threads).values() if float(row["idle_s"]) == 0)
        is_near(float(lone["blocked_s"]), own["lone"], threads, kind)


@tap.case
def all_options_agree(directory):
    choices = (("-t",), ("-t", "-p", "off"), ("-p", "off"), ("-e", "wall@f200"))
    for options, kind in combinations(choices, ("c11", "semaphore")):
        run, own, threads = measure(directory, kind, "pool", *options)
        is_near(sum_of(threads, "idle_s"), own["pool"], threads, (options, kind))
        columns = ["work_s", "overhead_s", "lockwait_s", "idle_s", "tool_s", "core_wait_s", "waiting_no_core_s"]
        wall = sum_of(threads, "wall_s")
        known = sum_of(threads, *columns, *([] if "wall@f200" in options else ["blocked_s"]))
        tap.timed(abs(known - wall) < 0.03 * wall, f"{options} {kind}: {known} of {wall}")
        if "-t" in options:
            drawn = sum(float(row["end_s"]) - float(row["start_s"]) for row in run.view("timeline")
                        if row["category"] == "idle")
            near(drawn, sum_of(threads, "idle_s"), 0.02, (options, kind))


@tap.case
def parts_of_a_run_add_up(directory):
    for options in (("-t",), ("-t", "-p", "off")):
        run, _, threads = measure(directory, "condition", "pool", *options)
        middle = str(float(threads[1]["wall_s"]) / 2)
        parts = [sum(float(row["idle_s"]) for row in run.view("threads", *part))
                 for part in (("--to", middle), ("--from", middle))]
        near(sum(parts), sum_of(threads, "idle_s"), 0.05, options)  # each part has its own share of the latency of waking
        tap.timed(min(parts) > 0, parts)


@tap.case
def waits_that_are_open_at_the_end_count(directory):
    kinds = (("condition", "open", 0), ("semaphore", "open", 0), ("condition", "killed", -9), ("semaphore", "killed", -9))
    for (kind, mode, ends), options in combinations(kinds, ((), ("-t",), ("-t", "-p", "off"))):
        run, own, threads = measure(directory, kind, mode, *options, ends=ends)
        idle = sum_of(threads, "idle_s")
        assert idle > own["open"] + 0.3 * (own["serial"] - own["open"]), (mode, options, own, threads)
        longest = max(float(row["wall_s"]) for row in threads.values())
        assert all(float(row["idle_s"]) < longest + OFF for row in threads.values()), threads
        if options:
            last = {row["thread"]: row["category"] for row in run.view("timeline")}
            assert [last[str(number)] for number in (2, 3, 4)] == ["idle"] * 3, (mode, options, last)


@tap.case
def waits_that_do_not_return_end(directory):
    for kind, mode in (("condition", "cancelled"), ("semaphore", "cancelled"), ("semaphore", "jump")):
        run, own, threads = measure(directory, kind, mode)
        is_near(sum_of(threads, "idle_s"), own["pool"], threads, (kind, mode))
        if mode == "jump":
            near(sum(node.value("work_excl_s") for node in run.tree() if "work_after_jump" in node.path()), 0.3, 0.1)


@tap.case
def an_object_is_named_before_a_wait_has_ended(directory):
    for kind, name in (("condition", "condition variable"), ("semaphore", "semaphore")):
        run, own, threads = measure(directory, kind, "for-ever")
        is_near(sum_of(threads, "idle_s"), own["pool"], threads, kind)
        text = " ".join(tap.must(tap.REPORT, "--legend", run.output).split())
        assert "threads of pools waited" in text and f"the {name} objects in " in text, text


@tap.case
def a_jump_out_of_a_barrier_ends_blocked_time(directory):
    run, own, threads = measure(directory, "condition", "jump-barrier")
    thread, = threads.values()
    assert 0 < float(thread["blocked_s"]) <= float(thread["wall_s"]) - float(thread["cpu_s"]) + OFF, thread
    assert float(thread["cpu_s"]) > 0.2, "it works after the jump"
    tap.timed(float(thread["blocked_s"]) <= own["before"] + OFF, (thread, own))


@tap.case
def an_available_semaphore_is_not_waited_for(directory):
    for kind in KINDS[5:]:
        run, _, threads = measure(directory, kind, "available")
        assert sum_of(threads, "idle_s") == 0, (kind, threads)
        assert sum_at(run.tree(), "blocked_incl_s", "wait_once") == 0, kind


@tap.case
def beside_openmp_a_pool_is_blocked(directory):
    for kind in ("condition", "semaphore"):
        run, own, threads = measure(directory, kind, "pool", openmp=True)
        outside = {number: row for number, row in threads.items() if number > 2}
        assert len(outside) == 3 and sum_of(outside, "idle_s") == 0, threads
        is_near(sum_at(run.tree(), "blocked_incl_s", "wait_once"), own["pool"], threads, kind)


@tap.case
def beside_openmp_all_threads_add_up(directory):
    run, _, threads = measure(directory, "condition", "pool", openmp=True)
    time = {row["item"]: float(row["value"]) for row in run.view("summary") if row["section"] == "categories"}
    whole, others = time["threads x elapsed"], time["threads outside OpenMP"]
    assert abs(others - sum_of({number: row for number, row in threads.items() if number > 2}, "wall_s")) < 1e-6, time
    parts = sum(time[item] for item in ("work", "overhead", "lock wait charged", "idleness", "blocked", "no core",
                                        "waiting for a thread without a core", "tool"))
    tap.timed(0.97 * (whole + others) < parts < 1.03 * (whole + others), time)
    text = " ".join(report("--view", "efficiency", run.output).stdout.split())
    found = re.search(r"= ([0-9.]+) % of 2 threads x [0-9.]+ s \+ ([0-9.]+) s outside OpenMP", text)
    assert found and abs(float(found[1]) - 100 * parts / (whole + others)) < 0.06, (text, time)
    assert abs(float(found[2]) - others) < 0.001, (text, time)


@tap.case
def threads_beyond_those_in_use_add_up(directory):
    run = Measurement(directory, build("further_threads.c", "gcc"), options=("-e", "task-clock@f1000"))
    time = {row["item"]: float(row["value"]) for row in run.view("summary") if row["section"] == "categories"}
    whole = time["threads x elapsed"] + time["further threads"]
    assert abs(whole - sum(float(row["wall_s"]) for row in run.threads())) < 1e-6, (time, run.threads())
    parts = sum(time[item] for item in ("work", "overhead", "lock wait charged", "idleness", "blocked", "no core",
                                        "waiting for a thread without a core", "tool"))
    tap.timed(0.95 * whole < parts < 1.05 * whole, time)
    text = " ".join(report("--view", "efficiency", run.output).stdout.split())
    found = re.search(r"= ([0-9.]+) % of 2 threads x [0-9.]+ s \+ ([0-9.]+) s of further threads", text)
    assert found and abs(float(found[1]) - 100 * parts / whole) < 0.06, (text, time)
    assert abs(float(found[2]) - time["further threads"]) < 0.001, (text, time)


@tap.case
def work_and_span_say_that_they_lack_them(directory):
    run, _, threads = measure(directory, "condition", "pool", openmp=True)
    note = run.view("parallelism")[0]["note"]
    outside = sum_of({number: row for number, row in threads.items() if number > 2}, "work_s")
    words = "threads outside OpenMP are in neither work nor span: "
    assert outside > 0 and words in note, (note, threads)
    assert abs(float(note.split(words)[1].split(" s")[0]) / outside - 1) < 0.01, (note, threads)


@tap.case
def reports_name_the_pool_and_what_runs_meanwhile(directory):
    for kind, name in (("condition", "condition variable"), ("semaphore", "semaphore")):
        run, _, threads = measure(directory, kind, "pool")
        text = " ".join(tap.must(tap.REPORT, "--legend", run.output).split())
        line = line_of("outside_threads.c", "/* waits */")
        place = f"the {name} objects in wait_once (outside_threads.c:{line})"
        assert "with 4 threads; " in text and "of their time was work" in text, text
        assert "Idle outside OpenMP: threads of pools waited" in text and place in text, (place, text)
        finding, = (row for row in run.view("advice") if row["class"] == "pool")
        assert place in finding["evidence"], (place, finding)
        tap.timed("largest gain found: threads of a pool idle while other code runs at outside_threads.c:" in text, text)
        tap.timed(finding["name"] == "serial_part", finding)
        assert 0 < float(finding["gain_s"]) <= sum_of(threads, "idle_s") / len(threads), finding


@tap.case
def threads_of_cxx_are_a_pool(directory):
    run = Measurement(directory, build("outside_threads.cpp", "g++", openmp=False))
    assert run.done.returncode == 0, run.done
    own, threads = clocks(run.done.stdout), {int(row["thread"]): row for row in run.threads()}
    is_near(sum_of(threads, "idle_s"), own["pool"], threads, "std::condition_variable")
    finding, = (row for row in run.view("advice") if row["class"] == "pool")
    line = line_of("outside_threads.cpp", "changed.wait(")
    assert f"the condition variable changed in worker (outside_threads.cpp:{line})" in finding["evidence"], finding


PYTHON = """
import queue, threading
jobs, results = queue.Queue(), []
def work():
    while (job := jobs.get()) is not None:
        results.append(sum(range(job)))
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(20): jobs.put(200000)
for _ in threads: jobs.put(None)
for thread in threads: thread.join()
print(len(results), set(results))
"""
# Each computes until all have gone through the loop often enough, so all of them need the interpreter at the same time.
BOUND_PYTHON = """
import threading
turns = [0] * 3
def compute(number):
    while min(turns) < 200000:
        turns[number] += 1
threads = [threading.Thread(target=compute, args=(number,)) for number in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(threads), min(turns) >= 200000)
"""


@tap.case
def threads_of_python_run_as_they_do_alone(directory):
    alone = tap.run(sys.executable, "-c", PYTHON)
    assert alone.stdout == "20 {19999900000}\n", alone
    for options in ((), ("-t",), ("-e", "wall")):
        run = Measurement(directory, sys.executable, "-c", PYTHON, options=options)
        assert (run.done.returncode, run.done.stdout) == (alone.returncode, alone.stdout), (run.done, alone)
        for row in run.threads():
            waits = sum(float(row[column]) for column in ("idle_s", "lockwait_s", "blocked_s"))
            assert waits < float(row["wall_s"]) + OFF, (options, row)


@tap.case
def threads_of_python_that_wait_for_the_interpreter_are_idle(directory):
    """Two of three wait for the one that has it, which works meanwhile."""
    alone = tap.run(sys.executable, "-c", BOUND_PYTHON)
    for options in ((), ("-t",), ("-p", "off")):
        run = Measurement(directory, sys.executable, "-c", BOUND_PYTHON, options=("-e", "task-clock@f1000", *options))
        assert (run.done.returncode, run.done.stdout) == (alone.returncode, alone.stdout), (run.done, alone)
        threads = {int(row["thread"]): row for row in run.threads()}
        idle, work = (sum_of(others(threads), column) for column in ("idle_s", "work_s"))
        assert idle > 0, (options, threads)
        tap.timed(idle > work, options, idle, work, threads)
        root = run.tree("--python-frames")[0]
        near(root.value("idleness_incl_s"), sum_of(threads, "idle_s"), 0.02, options)
        most = max(root.children, key=lambda node: node.value("idleness_incl_s"))
        near(most.value("work_incl_s"), work, 0.1, f"{options}: work of the threads that have the interpreter")


tap.main()
