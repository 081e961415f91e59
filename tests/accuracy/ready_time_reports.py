"""Time in which threads are ready to run without a processor: as much as the kernel says, and no part of waiting.

Busy processes that the test starts have the same processors as the program, so that its threads miss one whatever else
the machine does.  What the program reads of the kernel's account is compared
with the report; threads that spin never sleep, so whatever is not `core_wait_s` is CPU time.
"""
import glob
import math
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file as form
from busy import CPUS, ONE, TWO, UNLOCKED, busy_processes, need_two_processors
from measured import Measurement, build, clocks, combinations, no_losses, tap

REGIONS, RATE = "300", 1000
CHUNKS = """
int main(void)
{
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 400; i++)
    for (volatile int k = 0; k < 2000000; k++)
      ;
}
"""
LONG = ("100", "400000")  # regions, and rounds of work between two barriers: about a millisecond
SLACK = 0.02  # seconds: a thread also misses its processor between its last reading and its end


def measure(directory, *mode, compiler="gcc", policy="active", busy=4, cpus=TWO, where=TWO, prefix=(),
            options=("-e", f"task-clock@f{RATE}"), facts=None, **variables):
    """facts: a dictionary for facts of the summary, and what the program says that it would take alone."""
    with busy_processes(busy, where):
        run = Measurement(directory, build("ready_time.c", compiler), *mode, options=options,
                          prefix=(*cpus, *prefix), OMP_NUM_THREADS="2", OMP_WAIT_POLICY=policy, **variables)
    assert run.done.returncode == 0, run.done
    no_losses(run)
    own = clocks(run.done.stdout)
    if facts is not None:
        facts.update({row["item"]: row["value"] for row in run.view("summary") if row["section"] in ("cores", "run")})
        facts["alone"] = own["alone"]
    return run.threads(), [own[name] for name in sorted(own) if name.startswith("ready_")], covered(run)


def covered(run):
    """Which part of the threads' lives records of switches cover."""
    extents = list(form.extents(glob.glob(os.path.join(run.output, "*.hpcrun"))[0]))
    threads = [extent.parsed()[0] for extent in extents if extent.table == form.THREAD]
    process = next(extent.parsed()[0] for extent in extents if extent.table == form.PROCESS)
    seen = sum(thread.switched_seen for thread in threads) * process.tick_scale / 2 ** 32
    return seen / sum(thread.wall_ns for thread in threads)


def seconds(row, *columns):
    return sum(float(row[column]) for column in columns)


def ready_as_the_kernel_says(rows, ready, share, what):
    """Work is sampled, so it can be too large by chance; then the other times are too small by as much."""
    assert len(rows) == len(ready), rows
    for row, expected in zip(rows, ready):
        value, chance = seconds(row, "core_wait_s"), 2 * math.sqrt(int(row["samples"])) / RATE
        tap.timed(abs(value - expected) < share * expected + chance + SLACK,
                  f"{what}: {value} ± {chance}, the kernel says {expected}")


def sums_hold(rows, what):
    for row in rows:
        parts = seconds(row, "work_s", "overhead_s", "lockwait_s", "idle_s", "tool_s", "core_wait_s", "blocked_s",
                        "waiting_no_core_s")
        tap.timed(abs(parts - seconds(row, "wall_s")) < 0.03 * seconds(row, "wall_s") + SLACK, (what, row))


def check_spinning(directory, **settings):
    """Threads that spin: without time in which they had no processor, what remains of each category is CPU time."""
    need_two_processors()
    rows, ready, seen = measure(directory, "barriers", REGIONS, **settings)
    ready_as_the_kernel_says(rows, ready, 0.03, settings)
    sums_hold(rows, settings)
    tap.timed(seen > 0.95, seen)
    for row in rows:
        waited = seconds(row, "idle_s", "lockwait_s", "overhead_s")
        tap.timed(waited < 1.03 * seconds(row, "cpu_s") + SLACK, (settings, row))
    return rows, ready


@tap.case
def threads_that_spin_beside_busy_processes(directory):
    for compiler in ("gcc", "clang"):
        check_spinning(directory, compiler=compiler)


@tap.case
def threads_that_sleep_beside_busy_processes(directory):
    for compiler in ("gcc", "clang"):
        rows, ready, seen = measure(directory, "barriers", REGIONS, compiler=compiler, policy="passive")
        assert seen > 0, "no record of switches"
        ready_as_the_kernel_says(rows, ready, 0.03, compiler)
        sums_hold(rows, compiler)


@tap.case
def a_thread_that_spins_on_the_core_of_another_one_is_ready(directory):
    """It is switched too often for one reading at the end of the wait, which is no wait for a missing core."""
    for working in ("0", "1"):
        rows, ready, _ = measure(directory, "spins", working, busy=0, GOMP_SPINCOUNT="infinite")
        ready_as_the_kernel_says(rows, ready, 0.03, working)
        sums_hold(rows, working)
        waits = rows[working == "0"]
        tap.timed(seconds(waits, "waiting_no_core_s") < 0.2 * seconds(waits, "core_wait_s"), (working, waits))


@tap.case
def without_a_graph(directory):
    check_spinning(directory, options=("-p", "off"))


@tap.case
def the_sum_is_the_kernels_where_threads_switch_too_often_for_records(directory):
    """Two threads of GCC's runtime on one processor wake each other at each barrier."""
    rows, ready, seen = measure(directory, "barriers", "5000", "2000", busy=0, cpus=ONE)
    assert 0 < seen <= 1, seen  # how soon the ring is closed depends on what else runs
    ready_as_the_kernel_says(rows, ready, 0.03, "many switches")
    sums_hold(rows, "many switches")


def apart(directory, compiler, policy, size=(REGIONS,), **settings):
    """Each thread has a processor of its own; that of the second one has busy processes, too."""
    places = {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in CPUS)}
    return measure(directory, "barriers", *size, compiler=compiler, policy=policy, where=ONE, **places, **settings)


@tap.case
def waiting_for_a_thread_without_a_core_is_not_idle(directory):
    need_two_processors()
    for compiler, policy in combinations(("gcc", "clang"), ("active", "passive")):
        facts = {}
        rows, _, seen = apart(directory, compiler, policy, facts=facts)
        assert seen > 0, "no record of switches"
        assert "threads with estimates" not in facts or seen < 0.95, (compiler, policy, facts)
        assert seconds(rows[0], "waiting_no_core_s") > 0, (compiler, policy, rows)
        tap.timed(seconds(rows[0], "idle_s") < seconds(rows[0], "waiting_no_core_s"), (compiler, policy, rows[0]))
        sums_hold(rows, (compiler, policy))


def forecast_is_right(what, facts):
    """What the forecast takes out of the elapsed time is right within 15 %.  It subtracts only
    delays of more than 0.1 ms, and cannot subtract steal time."""
    tap.timed("elapsed_with_cores" in facts, f"{what}: {facts}")
    forecast, alone, elapsed = (float(facts[name]) for name in ("elapsed_with_cores", "alone", "elapsed"))
    told = f"{what}: {forecast} s of {elapsed}, alone {alone}"
    tap.timed(elapsed > 1.3 * alone, f"{told}: it was not held up")
    tap.timed(abs(forecast - alone) < 0.15 * (elapsed - alone) + SLACK, told)


@tap.case
def with_a_core_for_each_thread_a_run_takes_as_long_as_its_work(directory):
    need_two_processors()
    for compiler, policy in combinations(("gcc", "clang"), ("passive", "active")):
        facts = {}
        measure(directory, "barriers", *LONG, compiler=compiler, policy=policy, facts=facts)
        forecast_is_right((compiler, policy, "both threads"), facts)
        apart(directory, compiler, policy, LONG, facts=facts)
        forecast_is_right((compiler, policy, "the second thread"), facts)


@tap.case
def without_records_such_waiting_is_not_told(directory):
    need_two_processors()
    rows, _, seen = apart(directory, "clang", "active", prefix=UNLOCKED)
    assert seen == 0 and seconds(rows[0], "waiting_no_core_s") == 0, rows


@tap.case
def a_thread_that_sleeps_is_blocked(directory):
    rows, ready, seen = measure(directory, "sleeps", "200")
    assert seen > 0, "no record of switches"
    ready_as_the_kernel_says(rows, ready, 0.03, "sleeps")
    sleeps = seconds(rows[0], "wall_s") - seconds(rows[0], "cpu_s") - ready[0]
    tap.timed(abs(seconds(rows[0], "blocked_s") - sleeps) < 0.03 * sleeps + SLACK, (rows, sleeps))


@tap.case
def without_memory_for_records_the_sum_is_the_kernels(directory):
    for policy in ("active", "passive"):
        facts = {}
        rows, ready, seen = measure(directory, "barriers", REGIONS, policy=policy, prefix=UNLOCKED, facts=facts)
        assert seen == 0, seen
        tap.timed(facts.get("threads with estimates") == "2", policy, facts)
        ready_as_the_kernel_says(rows, ready, 0.03, policy)
        sums_hold(rows, policy)


@tap.case
def without_a_core_the_time_is_not_the_tools(directory):
    """Threads mostly lose their processor where they call the kernel, as the tool does at chunks.  Samples of elapsed
    time that come late because of that count for what the program does then."""
    program = tap.compile_c(directory, "chunks", CHUNKS, "-fopenmp")
    run = Measurement(directory, program, options=("-e", "wall"), prefix=ONE, OMP_NUM_THREADS="4")
    rows = run.threads()
    tool, cpu = (sum(seconds(row, column) for row in rows) for column in ("tool_s", "cpu_s"))
    assert len(rows) == 4, rows
    tap.timed(tool < cpu / 2, rows)


tap.main()
