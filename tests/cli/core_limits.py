#!/usr/bin/env python3
"""Cores that a process has: its mask at launch, the masks and CPUs of threads, quotas; what reports say of them."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap
from measured import build
from report import rows
from tap import LAUNCHER, REPORT, Skip, case, main, must, run


def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise Skip("one CPU")
    return cpus


def line_of(source, text):
    with open(os.path.join(sys.path[1], source), encoding="ascii") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def measure(directory, threads, *arguments, prefix=(), name="run", compiler="gcc", **settings):
    program = build("bound_team.c", compiler)
    must(*prefix, LAUNCHER, "-q", "-o", name, program, *map(str, arguments), cwd=directory,
         OMP_NUM_THREADS=str(threads), **settings)
    path = os.path.join(directory, name)
    facts = [row for row in rows("summary", path) if row["section"] == "cores"]
    return {row["item"]: row for row in facts}, rows("threads", path), path


@case
def the_mask_at_launch_is_that_before_libgomp_binds(directory):
    cpus = two_cpus()
    prefix = ("taskset", "-c", ",".join(map(str, cpus)))
    found, threads, path = measure(directory, 2, prefix=prefix, OMP_PROC_BIND="true", OMP_PLACES="threads")
    assert not {"oversubscription", "binding"} & set(found), found
    assert sorted(row["mask"] for row in threads) == [str(cpu) for cpu in cpus], threads
    assert all(row["sampled_on"] == row["mask"] for row in threads), threads
    assert "share" not in must(REPORT, "advice", path), path


@case
def threads_on_one_cpu_of_the_launch_mask_are_reported(directory):
    cpu = two_cpus()[0]
    found, threads, path = measure(directory, 2, prefix=("taskset", "-c", str(cpu)))
    assert found["binding"]["value"].startswith(f"2 threads on CPU {cpu}: the process was started with a mask of 1 of"), found
    line = line_of("bound_team.c", "num_threads(team)")
    place = f"2 OpenMP threads at once on 1 CPU; parallel @ bound_team.c:{line} (main) has teams of 2 threads"
    assert found["oversubscription"]["value"] == place, found
    assert found["oversubscription"]["note"] == "OMP_NUM_THREADS=2", found
    assert [row["mask"] for row in threads] == [str(cpu)] * 2, threads
    assert f"Cores (binding): 2 threads on CPU {cpu}" in must(REPORT, "--legend", path), path
    told = f"Unreliable: threads had no core for {100 * float(found['without core']['value']):.0f} %"
    for view in ("summary", "advice", "efficiency", "regions", "region-tree", "overheads"):
        assert must(REPORT, view, path).startswith(told), view
    assert " Give the threads more cores, or use fewer threads." in " ".join(must(REPORT, path).split()), path
    assert must(REPORT, "--compare", path, path).count(told) == 2, path
    done = run(REPORT, "--compare", path, "--fail-if", "elapsed > +900%", path)
    assert done.returncode == 2 and "' cannot be checked by '" in done.stderr, done  # the base took too long
    for condition, status in (("elapsed > 1 ms", 2), ("elapsed > 1000 s", 0), ("elapsed < 1 ms", 0), ("cpu > 1 ms", 3),
                              ("efficiency < 100 %", 2), ("efficiency > 0.1 %", 3)):
        done = run(REPORT, "--fail-if", condition, path)
        refused = "' cannot be checked by '" in done.stderr
        assert done.returncode == status and refused == (status == 2), (condition, done)
    stolen = float(found["stolen"]["value"]) if "stolen" in found else 0
    forecast = stolen <= 0.05 and "threads with estimates" not in found
    tap.timed(forecast == ("elapsed_with_cores" in found), found)
    if forecast:
        taken = float(found["elapsed_with_cores"]["value"])
        said = re.search(r"With a core for each thread, the run would have taken about (\S+) s", " ".join(must(REPORT, path).split()))
        assert abs(float(said[1]) - taken) <= 0.001 and taken < sum(float(row["cpu_s"]) for row in threads), (said, found)
    done = run(REPORT, "--fail-if", "elapsed_with_cores > 1 us", path)
    assert done.returncode == (3 if forecast else 2), done
    text = must(REPORT, "--compare", path, path)
    assert ("elapsed with cores s" in text) == forecast, text


@case
def scaling_names_the_runs_that_lacked_cores(directory):
    cpu = two_cpus()[0]
    prefix = ("taskset", "-c", str(cpu))
    paths = [measure(directory, threads, prefix=prefix, name=f"run{threads}")[2] for threads in (1, 2)]
    text = must(REPORT, "--scaling", *paths)
    heading, first = text.split("\n\n")[:2]
    assert " scaling, against 1 thread" in heading and "2 threads: Unreliable: threads had no core for " in first, text


@case
def a_variable_that_is_not_the_cause_is_not_named(directory):
    cpu = two_cpus()[0]
    found, _, _ = measure(directory, 3, "team", 2, prefix=("taskset", "-c", str(cpu)))
    assert found["oversubscription"]["value"].startswith("2 OpenMP threads"), found
    assert found["oversubscription"]["note"] == "num_threads clause or omp_set_num_threads()", found


@case
def the_region_with_the_largest_teams_is_named(directory):
    cpus = len(os.sched_getaffinity(0))
    line = line_of("bound_team.c", "/* inner */")
    for name, setting in (("clause", "2"), ("variable", f"2,{cpus + 2}")):
        found, _, _ = measure(directory, setting, "nested", 0 if name == "variable" else cpus + 2, name=name)
        row = found["oversubscription"]
        place = f"; parallel @ bound_team.c:{line} (nested) has teams of {cpus + 2} threads"
        assert row["value"].endswith(place) and " OpenMP threads at once on " in row["value"], row
        clause = "num_threads clause or omp_set_num_threads()"
        assert row["note"] == (f"OMP_NUM_THREADS={setting}" if name == "variable" else clause), row


@case
def threads_that_the_program_binds_to_one_cpu_share_it(directory):
    cpus = two_cpus()
    prefix = ("taskset", "-c", ",".join(map(str, cpus)))
    found, threads, _ = measure(directory, 4, "bind", cpus[0], prefix=prefix)
    assert sorted(row["mask"] for row in threads).count(str(cpus[0])) == 3, threads
    assert found["binding"]["value"] == f"3 threads share CPU {cpus[0]}, of 2 that the process could use", found
    found, threads, _ = measure(directory, 2, "bind", cpus[0], prefix=prefix, name="both")
    assert found["binding"]["value"] == f"2 threads share CPU {cpus[0]}, of 2 that the process could use", found


@case
def diagnose_names_the_mask(directory):
    cpu = two_cpus()[0]
    done = run("taskset", "-c", str(cpu), LAUNCHER, "--diagnose", "true", cwd=directory, OMP_NUM_THREADS="1")
    assert "cores 1 of the " in " ".join(done.stdout.split()) and "the mask of this process" in done.stdout, done


@case
def a_killed_process_leaves_masks(directory):
    cpu = two_cpus()[0]
    program = build("bound_team.c")
    with open(os.path.join(directory, ".hpcrun-lite.ini"), "w", encoding="ascii") as file:
        file.write("[measure]\nlevel = summary\n")  # without samples, the masks are those at the start of the threads
    done = run("taskset", "-c", str(cpu), LAUNCHER, "-q", "-o", "run", program, "kill", cwd=directory,
               OMP_NUM_THREADS="2")
    assert done.returncode == -9, done
    path = os.path.join(directory, "run")
    assert [row["mask"] for row in rows("threads", path)] == [str(cpu)] * 2, path
    assert "Cores (oversubscription): 2 OpenMP threads at once on 1 CPU" in must(REPORT, "--legend", path), path


@case
def throttling_by_a_quota_is_reported(directory):
    group = f"/sys/fs/cgroup/cpu/hpcrun-lite-cores-{os.getpid()}"
    inner = os.path.join(group, "inner")
    try:
        os.makedirs(inner)
        with open(os.path.join(group, "cpu.cfs_quota_us"), "w", encoding="ascii") as file:
            file.write("30000")
    except OSError as error:
        raise Skip(f"may not make a control group of the first version: {error}") from error
    try:
        prefix = ("sh", "-c", f'echo $$ >{inner}/cgroup.procs; exec "$@"', "sh")
        found, _, path = measure(directory, 2, "throttled", os.path.join(group, "cpu.stat"), prefix=prefix)
    finally:
        os.rmdir(inner)
        os.rmdir(group)
    value = found["quota"]["value"]
    assert value.startswith("quota of 0.3 CPUs for 2 threads: throttled in "), found
    assert found["quota"]["note"] == f"cgroup=/{os.path.basename(group)}", found
    used = float(found["quota used"]["value"])
    assert 0 < used < 2, found  # a group may use in advance what it has saved
    # 0.2 s of CPU time take 0.67 s: the threads are ready for most of that
    without = float(found["without core"]["value"])
    assert without > 0.3, found
    first = " ".join(must(REPORT, path).split()[:9])
    assert first == f"Unreliable: threads had no core for {100 * without:.0f} % of", first
    assert f"efficiency is {100 * float(found['efficiency with cores']['value']):.1f} %" in " ".join(
        must(REPORT, path).split()), found
    assert f"Threads had no core for {100 * without:.0f} %" in " ".join(must(REPORT, "advice", path).split()), path


if __name__ == "__main__":
    main()
