"""Advice: programs with exactly one ill (ills.c), what is found in them, and whether the forecast comes true.

On a machine where nothing else runs, tests/bench/forecasts.py compares all forecasts with repaired programs."""
import collections
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, combinations, tap

ILLS = ("serial", "imbalance", "chunk-overhead", "task-overhead", "few-chunks", "region-overhead", "contention",
        "dependences", "creation", "nesting", "blocking", "barrier")
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
HEALTHY = ("serial", "imbalance", "few-chunks", "contention", "dependences", "none")
# What the ills lose of their work in the best schedule, on two cores and on eight.
LOSSES = {"serial": (1 / 4, 7 / 16), "imbalance": (1 / 4, None), "few-chunks": (1 / 6, 1 / 3 - 1 / 8),
          "dependences": (1 / 2, 7 / 8), "creation": (1 / 3, 5 / 6 - 1 / 8), "nesting": (0.4, 0.9 - 1 / 8),
          "barrier": (0.3, None)}
SLEEPING = {"imbalance": "gcc", "few-chunks": "clang", "contention": "gcc", "dependences": "clang", "creation": "gcc",
            "nesting": "clang", "barrier": "gcc"}
FEW_TASKS = 20  # on a node: fewer are not compared
MUCH = 5.0  # per cent of the elapsed time: other programs make threads wait for less


def ills(compiler):
    return build("ills.c", compiler)


def advice(directory, compiler, name, how):
    run = Measurement(directory, ills(compiler), name, how, **ENVIRONMENT)
    assert run.done.returncode == 0, run.done
    return run.view("advice")


def check_form(row):
    low, gain, high = (float(row[column]) for column in ("gain_low_s", "gain_s", "gain_high_s"))
    assert low <= gain <= high, row
    assert row["command"].startswith("hpcprof-lite --view "), row
    if row["class"] in ("unfit", "none", "unexplained", "other"):
        assert gain == 0 and row["evidence"] and not row["confidence"], row
    else:
        assert gain > 0 and row["evidence"] and row["remedy"] and row["confidence"] in ("low", "medium", "high"), row


def find(directory, name, compiler):
    found = advice(directory, compiler, name, "ill")
    for row in found:
        check_form(row)
    tap.timed(found[0]["class"] == name, compiler, found)


def find_nothing(directory, name, compiler):
    """Cores of unequal speed and other programs make threads wait also in a healthy program.  No cause may gain more
    than the two threads have really lost: what the program's own clock has seen outside its work."""
    run = Measurement(directory, ills(compiler), name, "healthy", **ENVIRONMENT)
    elapsed, burnt = map(float, run.done.stdout.split())
    lost, found = elapsed - burnt / 2, run.view("advice")
    tap.timed(all(float(row["gain_s"]) < max(MUCH / 100 * elapsed, 1.05 * lost) for row in found), name, compiler,
              elapsed, lost, found)


@tap.case
def each_ill_is_found_first(directory):
    for name, compiler in combinations(ILLS, ("gcc", "clang")):
        tap.again(find, directory, name, compiler)


@tap.case
def healthy_programs_have_none(directory):
    for name, compiler in combinations(HEALTHY, ("gcc", "clang")):
        tap.again(find_nothing, directory, name, compiler)


def forecast_by_log(directory, name, compiler):
    run = Measurement(directory, ills(compiler), name, "ill", options=("-p", "log"), **ENVIRONMENT)
    work = float(run.view("parallelism")[0]["work"])
    found = {row["class"]: row for row in run.view("advice")}
    tap.timed(name in found, name, compiler, found)
    row = found[name]
    loss, more = LOSSES[name]
    tap.timed(row["forecast"] == "graph", row)  # unless threads had no core
    assert not more or row["more_cores"] == "8", row
    tap.timed(abs(float(row["gain_s"]) - loss * work) < 0.2 * loss * work, name, compiler, work, row)
    if more:
        tap.timed(abs(float(row["gain_more_s"]) - more * work) < 0.2 * more * work, name, compiler, work, row)


@tap.case
def a_graph_log_tells_what_the_best_schedule_would_gain(directory):
    for name, compiler in combinations(tuple(LOSSES), ("gcc", "clang")):
        tap.again(forecast_by_log, directory, name, compiler)


def nothing_by_log(directory, name, compiler):
    run = Measurement(directory, ills(compiler), name, "healthy", options=("-p", "log"), **ENVIRONMENT)
    tap.timed(all(float(row["gain_pct"]) < MUCH for row in run.view("advice") if row["forecast"] == "graph"), name)


@tap.case
def a_graph_log_tells_where_nothing_is_to_gain(directory):
    for name, compiler in combinations(("imbalance", "few-chunks", "dependences", "none"), ("gcc", "clang")):
        tap.again(nothing_by_log, directory, name, compiler)


@tap.case
def a_graph_log_of_sleeping_threads_is_not_used(directory):
    run = Measurement(directory, ills("clang"), "few-chunks", "ill", "sleep", options=("-p", "log"), **ENVIRONMENT)
    row = {row["class"]: row for row in run.view("advice")}["few-chunks"]
    assert row["forecast"] == "times" and float(row["gain_pct"]) > 10, row


def find_place(directory, name, expected, parts):
    row = advice(directory, "gcc", name, "ill")[0]
    tap.timed(row["class"] == "serial" and row["name"] == expected, row)
    found = [text for text in parts if f" s in {text}" in row["evidence"]]
    tap.timed(found == parts, row)
    tap.timed(" in last_part" not in row["evidence"] and " in sin" not in row["evidence"], row)


@tap.case
def serial_code_is_placed_in_the_program(directory):
    tap.again(find_place, directory, "spread", "spread", ["first_part", "second_part", "third_part"])
    tap.again(find_place, directory, "library", "library", [])


def find_far_tasks(directory, how):
    """The two threads are on two CPUs, which the run takes for two NUMA nodes."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise tap.Skip("needs two CPUs")
    settings = (f"HPCRUN_LITE_NUMA=NUMA: {cpus[0]} 10,20; {cpus[1]} 20,10", "OMP_PROC_BIND=true", "OMP_PLACES=threads",
                "OMP_NUM_THREADS=2")
    run = Measurement(directory, "env", *settings, ills("clang"), "locality", how, options=("-p", "log"))
    times = collections.defaultdict(list)
    for row in run.view("grains"):
        if row["kind"] == "task":
            times[row["node"]].append(float(row["exec_s"]))
    tap.timed(len(times) == 2 and min(map(len, times.values())) >= FEW_TASKS, {node: len(times[node]) for node in times})
    return times, [row for row in run.view("advice") if row["class"] == "locality"]


def check_locality(times, found):
    """Tasks of one node take more than a tenth longer than those of the other; both threads share the difference."""
    near, far = sorted(times, key=lambda node: statistics.mean(times[node]))
    longer = statistics.mean(times[far]) - statistics.mean(times[near])
    gain = longer * len(times[far]) / 2
    for row in found:
        check_form(row)
        assert row["confidence"] == "low" and row["forecast"] == "graph" and f"node {far}" in row["evidence"], row
        assert abs(float(row["gain_s"]) - gain) < 0.01 * gain, (gain, row)
        assert longer > 0.1 * statistics.mean(times[near]), (times, row)
    return far


def find_slow_node(directory):
    times, found = find_far_tasks(directory, "ill")
    tap.timed(check_locality(times, found) == "1", times)
    tap.timed(len(found) == 1, times, found)


def find_equal_nodes(directory):
    """Where one of the two CPUs is slower, it is found, too."""
    check_locality(*find_far_tasks(directory, "healthy"))


@tap.case
def tasks_that_are_slower_on_a_numa_node(directory):
    tap.again(find_slow_node, directory)
    tap.again(find_equal_nodes, directory)


def plain(compiler, name, how):
    return float(tap.must(ills(compiler), name, how, "sleep", **ENVIRONMENT).split()[0])


def repair(directory, name, compiler):
    run = Measurement(directory, ills(compiler), name, "ill", "sleep", **ENVIRONMENT)
    found = {row["class"]: row for row in run.view("advice")}
    tap.timed(name in found, name, compiler, found)
    row = found[name]
    with ThreadPoolExecutor(6) as pool:  # they sleep, so that they can do it at the same time
        times = [list(pool.map(lambda how: plain(compiler, name, how), [how] * 3)) for how in ("ill", "repaired")]
    before, after = map(statistics.median, times)
    low, high = float(row["gain_low_s"]), float(row["gain_high_s"])
    tap.timed(low - 0.15 * before < before - after < high + 0.15 * before, name, compiler, times, row)


@tap.case
def repaired_programs_gain_what_was_forecast(directory):
    def repaired(item):
        place = os.path.join(directory, item[0])
        os.mkdir(place)
        tap.again(repair, place, *item)

    for compiler in set(SLEEPING.values()):
        ills(compiler)
    with ThreadPoolExecutor(4) as pool:  # they sleep, too
        list(pool.map(repaired, SLEEPING.items()))


tap.main()
