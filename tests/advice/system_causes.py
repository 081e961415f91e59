#!/usr/bin/env python3
"""Advice about causes outside OpenMP: the kernel, bindings, threads that come and go, atomic instructions, MPI.

The programs are in system_causes.c.  A quota is in tests/golden (places): no test can set one."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from busy import need_two_processors
from jobs import mpirun, need
from measured import Measurement, build, combinations, line_of, tap
from report import rows

SOURCE = "system_causes.c"
WAITING = {"serial", "imbalance", "blocking", "region-overhead", "few-chunks", "barrier"}


def advice(directory, compiler, *arguments, prefix=(), **settings):
    settings = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", **settings}
    run = Measurement(directory, build(SOURCE, compiler), *arguments, prefix=prefix, **settings)
    assert run.done.returncode == 0, run.done
    return run, run.view("advice")


def find(directory, compiler, cause, expected, place=None, words=(), **settings):
    """The first finding, at the line with that comment."""
    run, found = advice(directory, compiler, cause, "ill", **settings)
    first = found[0]
    tap.timed(first["class"] == expected, compiler, found)
    low, gain, high = (float(first[column]) for column in ("gain_low_s", "gain_s", "gain_high_s"))
    assert 0 <= low <= gain <= high, first
    assert not place or first["line"] == str(line_of(SOURCE, place)), (place, first)
    for word in words:
        assert word in first["remedy"] + first["evidence"], (word, first)
    return run, found


def absent(directory, compiler, cause, which, *arguments, **settings):
    for how in ("healthy", "repaired"):
        _, found = advice(directory, compiler, cause, how, *arguments, **settings)
        tap.timed(which not in {row["class"] for row in found}, compiler, how, found)


# ---- the kernel ----

def find_faults(directory, compiler):
    run, found = find(directory, compiler, "faults", "kernel", "/* touch */", ("reuse", "MALLOC_TOP_PAD_", "Page faults"))
    said, freeing, spent = re.search(r"Page faults \((\d+)\), .* \(([0-9.]+) s\), take ([0-9.]+) s", found[0]["evidence"]).groups()
    counted = sum(int(row["page_faults"]) for row in run.threads())
    assert 0.9 * counted <= int(said) <= counted, (said, counted)
    assert float(freeing) < float(spent) and float(found[0]["gain_s"]) <= float(spent), found
    # What the kernel did while one thread ran is not serial code, and what it did for threads no unequal work of theirs.
    assert not [row for row in found if row["class"] == "serial" and " in free" in row["evidence"]], found
    others = sum(float(row["gain_s"]) for row in found if row["class"] in WAITING)
    tap.timed(others < 0.2 * float(found[0]["gain_s"]), compiler, found)


@tap.case
def memory_that_is_new_in_each_step_is_time_in_the_kernel(directory):
    tap.again(find_faults, directory, "gcc")
    tap.again(absent, directory, "gcc", "faults", "kernel")


def find_once(directory, compiler):
    _, found = advice(directory, compiler, "once", "ill")
    kernel = [row for row in found if row["class"] == "kernel"]
    tap.timed(len(kernel) == 1, compiler, found)
    row, = kernel
    assert "larger pages" in row["remedy"] and "reuse" not in row["remedy"] and row["confidence"] == "low", row
    assert float(row["gain_low_s"]) == 0, row


@tap.case
def memory_that_is_touched_once_cannot_be_reused(directory):
    tap.again(find_once, directory, "clang")


def find_writes(directory, compiler):
    _, found = advice(directory, compiler, "writes", "ill")
    kernel = [row for row in found if row["class"] == "kernel"]
    tap.timed(len(kernel) == 1, compiler, found)
    row, = kernel
    assert row["name"] == "writes" and "strace" in row["remedy"] and row["confidence"] == "low", row


@tap.case
def small_system_calls_are_time_in_the_kernel(directory):
    tap.again(find_writes, directory, "clang")
    tap.again(absent, directory, "clang", "writes", "kernel")


def processor_time(compiler, cause, how):
    """Of a run without measuring: other programs make it last longer, but hardly change that."""
    before = os.times()
    tap.must(build(SOURCE, compiler), cause, how, OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def repair_faults(directory, compiler):
    found = {row["class"]: row for row in advice(directory, compiler, "faults", "ill")[1]}
    tap.timed("kernel" in found, compiler, found)
    spent = float(re.search(r"take ([0-9.]+) s of CPU time", found["kernel"]["evidence"])[1])
    before, after = (processor_time(compiler, "faults", how) for how in ("ill", "repaired"))
    tap.timed(abs(spent - (before - after)) < 0.25 * before, compiler, spent, before, after)


@tap.case
def reusing_the_memory_gains_what_was_forecast(directory):
    tap.again(repair_faults, directory, "clang")


# ---- threads that come and go ----

def find_churn(directory):
    _, found = find(directory, "gcc", "churn", "thread-churn", "/* churning */", ("same number of threads",))
    created = re.search(r"(\d+) threads were created in (\d+) executions", found[0]["evidence"])
    assert int(created[1]) >= 790 and int(created[2]) == 800, found[0]
    others = sum(float(row["gain_s"]) for row in found if row["class"] in ("blocking", "region-overhead", "imbalance"))
    assert others <= float(found[0]["gain_high_s"]), found


@tap.case
def a_team_whose_size_changes_creates_threads_again_and_again(directory):
    tap.again(find_churn, directory)
    tap.again(absent, directory, "gcc", "churn", "thread-churn")
    for how in ("ill", "healthy", "repaired"):  # LLVM's runtime keeps its threads
        _, found = advice(directory, "clang", "churn", how)
        assert "thread-churn" not in {row["class"] for row in found}, found


# ---- cores ----

def two_cpus():
    need_two_processors()
    return sorted(os.sched_getaffinity(0))[:2]


def find_binding(directory, compiler, words, settings, prefix=()):
    run, found = find(directory, compiler, "balanced", "binding", None, words, prefix=prefix, **settings)
    assert "OMP_NUM_THREADS" not in found[0]["remedy"], found[0]
    assert {row["class"] for row in found} & (WAITING | {"oversubscription", "spinning"}) <= {"serial"}, found
    tap.timed(35 < float(found[0]["gain_pct"]) <= 51, found[0])  # two cores instead of one
    assert "largest gain found: threads bound to too few cores" in " ".join(tap.must(tap.REPORT, run.output).split()), found


@tap.case
def threads_that_share_a_core_by_their_binding_are_found(directory):
    cpu, _ = two_cpus()
    ways = (((f"2 threads share CPU {cpu}", "OMP_PROC_BIND=spread"),
             {"OMP_PLACES": f"{{{cpu}}}", "OMP_PROC_BIND": "true"}),
            (("started with a mask of 1 of", "taskset"), {}, ("taskset", "-c", str(cpu))))
    for compiler, way in combinations(("gcc", "clang"), ways):
        tap.again(find_binding, directory, compiler, *way)
    tap.again(find_binding, directory, "gcc", (f"GOMP_CPU_AFFINITY={cpu}",), {"GOMP_CPU_AFFINITY": str(cpu)})


@tap.case
def a_core_for_each_bound_thread_is_no_finding(directory):
    cpus = ",".join(map(str, two_cpus()))
    for compiler, settings in combinations(("gcc", "clang"), ({"OMP_PROC_BIND": "true", "OMP_PLACES": "threads"}, {})):
        _, found = advice(directory, compiler, "balanced", "ill", prefix=("taskset", "-c", cpus), **settings)
        assert "binding" not in {row["class"] for row in found}, found


@tap.case
def the_remedy_of_too_many_threads_fits_how_they_are_asked_for(directory):
    two_cpus()
    prefix = ("taskset", "-c", ",".join(map(str, two_cpus())))
    causes = (("nested", "/* inner */", "OMP_MAX_ACTIVE_LEVELS=1"), ("clause", "/* large */", "num_threads clause"))
    for compiler, (cause, place, word) in combinations(("gcc", "clang"), causes):
        tap.again(find, directory, compiler, cause, "oversubscription", place, (word,))
        absent(directory, compiler, cause, "oversubscription", prefix=prefix)


# ---- atomic instructions ----

def find_atomics(directory, compiler):
    _, found = advice(directory, compiler, "atomics", "ill")
    rows_found = [row for row in found if row["class"] == "atomics"]
    tap.timed(len(rows_found) == 1, compiler, found)
    row, = rows_found
    there, samples = map(int, re.match(r"(\d+) of (\d+) samples in atomics ", row["evidence"]).groups())
    assert samples >= 20 and there > 0.8 * samples, row
    hot = line_of(SOURCE, "/* hot */")
    assert hot - 3 <= int(row["line"]) <= hot and row["confidence"] == "low" and float(row["gain_low_s"]) == 0, row


@tap.case
def atomic_instructions_that_are_sampled_are_found(directory):
    if os.uname().machine not in ("x86_64", "aarch64"):
        raise tap.Skip("only x86-64 and aarch64 are decoded")
    for compiler, how in combinations(("gcc", "clang"), ("healthy", "repaired")):
        tap.again(find_atomics, directory, compiler)
        _, found = advice(directory, compiler, "atomics", how)
        assert "atomics" not in {row["class"] for row in found}, found


def find_atomics_of_regions(directory, compiler):
    run, found = advice(directory, compiler, "phases", "ill")
    rows_found = [row for row in found if row["class"] == "atomics"]
    tap.timed(len(rows_found) == 1, compiler, found)
    samples = int(re.match(r"\d+ of (\d+) samples in update ", rows_found[0]["evidence"])[1])
    everywhere = sum(int(row["samples"]) for row in run.view("flat") if row["name"] == "update")
    tap.timed(20 <= samples < 0.8 * everywhere, compiler, samples, everywhere)


@tap.case
def atomic_instructions_of_serial_code_hold_up_no_thread(directory):
    if os.uname().machine not in ("x86_64", "aarch64"):
        raise tap.Skip("only x86-64 and aarch64 are decoded")
    tap.again(find_atomics_of_regions, directory, "gcc")
    tap.again(absent, directory, "gcc", "phases", "atomics")


# ---- MPI ----

def measure_ranks(directory, name, *flags):
    made, output = os.path.join(directory, name), os.path.join(directory, name + ".m")
    tap.must("mpicc.openmpi", "-O1", "-g", "-fopenmp", *flags, os.path.join(tap.SCRIPT, "system_mpi.c"), "-o", made)
    done = mpirun("openmpi", 2, tap.LAUNCHER, "-q", "--overwrite", "-o", output, made, cwd=directory, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done
    found = rows("advice", output)
    assert not [row for row in found if row["class"] in ("serial", "blocking") and "MPI" in row["name"]], found
    return {row["class"]: row for row in found}


def find_late_rank(directory):
    found = measure_ranks(directory, "late")
    tap.timed("mpi" in found, found)
    row = found["mpi"]
    times = re.match(r"Rank 1 is outside MPI for ([0-9.]+) s .* rank 0 is outside for ([0-9.]+) s", row["evidence"])
    tap.timed(times and float(times[1]) > 1.5 * float(times[2]), row)  # three times the work, and the start of both
    assert row["name"] == "MPI_Barrier", row
    assert "in parallel" not in row["remedy"] and "rank" in row["remedy"] and row["confidence"] != "high", row


@tap.case
def waiting_in_mpi_is_no_serial_code(directory):
    need("openmpi")
    tap.again(find_late_rank, directory)
    equal = measure_ranks(directory, "equal", "-DEQUAL").get("mpi", {"evidence": ""})
    tap.timed("is outside MPI for" not in equal["evidence"], "equal work", equal)


tap.main()
