#!/usr/bin/env python3
"""The programs of the benchmarks build and run, have as many events as the tables say, and the tables are printed.
Nothing here is timed."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import costs
import lock_costs
import mpi_costs
import region_bursts
import short_events
import tap
from measured import Measurement, build, source_file

COMPILERS = ("clang", "gcc")
KINDS = {"task": "task", "task of a recursive program": "task", "critical": "critical", "region of 2 threads": "parallel",
         "region with 3 loops": "parallel"}


def names_in(source, pattern):
    with open(source_file(source), encoding="utf-8") as file:
        found = re.findall(pattern, file.read())
    assert len(found) > 3, (source, found)
    return found


@tap.case
def workloads_run(_):
    """With nothing to do, or little where the amount is a number of events."""
    names = names_in("workloads.c", r'\{"(\w+)", \1, \d+\}')
    for compiler in COMPILERS:
        program = build("workloads.c", compiler)
        for name in names:
            tap.must(program, name, "5" if name.startswith("counted") else "0")
        assert tap.run(program, "nothing").returncode == 2


@tap.case
def programs_switch_as_often_as_they_are_told(_):
    program = build("switching.c", openmp=False)
    for form in ("sleep", "handover"):
        switches, cpu_ns, wall_ns = map(int, tap.run(program, form, "100", "10").stderr.split())
        assert cpu_ns > 0 and wall_ns > 0 and switches >= (90 if form == "sleep" else 0), (form, switches)
    assert tap.run(program, "nothing", "1", "1").returncode == 2


@tap.case
def bursts_have_times(_):
    program = build("region_bursts.c")
    for form in region_bursts.FORMS:
        times = [float(word) for word in tap.must(program, form, "1", OMP_NUM_THREADS="2").split()]
        ns, bursts = times[:2], times[2:]
        assert len(bursts) == 3 and bursts[2] > 0, (form, times)
        assert [each > 0 for each in ns] == [number >= 4 for number in bursts[:2]], (form, times)  # KEPT there
    assert tap.run(program, "nothing", "1").returncode == 2


@tap.case
def locks_have_times(_):
    program = build("lock_costs.c", openmp=False)
    forms = names_in("lock_costs.c", r'\{"([\w-]+)", \w+, \d, \w+\}')
    for form in forms:
        assert float(tap.run(program, form, "100").stderr) > 0, form
    assert set(lock_costs.FORMS) <= set(forms), forms
    assert tap.run(program, "nothing", "1").returncode == 2


@tap.case
def calls_of_mpi_have_times(directory):
    tap.need_program("mpicc.mpich")
    program = os.path.join(directory, "mpi_costs")
    tap.must("mpicc.mpich", source_file("mpi_costs.c"), "-o", program)
    forms = names_in("mpi_costs.c", r'\{"(\w+)", \w+, CLOCK')
    assert set(forms) == set(mpi_costs.FORMS), forms
    assert mpi_costs.time_of("mpich", 1, (), program, "probe", 100) > 0
    assert tap.run(program, "nothing", "1").returncode == 2


@tap.case
def constructs_have_times(_):
    for compiler in COMPILERS:
        program = build("construct_costs.c", compiler)
        for name in names_in("construct_costs.c", r'\{"(\w+)", \w+\}'):
            assert float(tap.must(program, name, "10", "2")) > 0, (compiler, name)
        tap.must(program, "marked", "task1", "5", "10", "critical", "5", "10")


@tap.case
def single_figures_are_printed(directory):
    program = build("self_samples.c", openmp=False)
    done = tap.must(tap.LAUNCHER, "-q", "-o", os.path.join(directory, "measured"), "-e", costs.NEVER, "--", program, "10",
                    "20", "time", "0")
    assert len(done.split()) == 3, done
    assert len(tap.must(build("critical_sections.c")).split()) == 2


@tap.case
def cost_of_a_command_is_measured(_):
    cost = build("run_cost.c", "gcc", "-O2", openmp=False)
    wall, cpu, memory, faults, status = map(int, tap.must(cost, "A=1", "B=2=2", "sh", "-c", 'exit "$A${B#2=}"').split())
    assert wall > 0 and cpu > 0 and memory > 0 and faults > 0 and status == 12
    assert int(tap.must(cost, "/nowhere").split()[-1]) == 127


@tap.case
def empty_tool_has_the_same_callbacks(_):
    """As rt/ompt.c has: up to the table `graph` those of -p off.  libomp takes the tool."""
    with open(os.path.join(tap.SOURCE, "hpcrun-lite", "rt", "ompt.c"), encoding="utf-8") as file:
        registration = file.read().split("int ompt_register(")[1]
    with open(source_file("empty_tool.c"), encoding="utf-8") as file:
        tool = file.read()
    names = r"\bompt_callback_(?!t\b)\w+"
    for ours, empty in zip(registration.split(" graph[] = {"), tool.split("#ifdef GRAPH")):
        assert sorted(set(re.findall(names, ours))) == sorted(re.findall(names, empty)), (ours, empty)
    for flags, name in (((), "empty_off.so"), (("-DGRAPH",), "empty.so")):
        said = tap.must(build("workloads.c", "clang"), "counted_tasks", "5", LD_PRELOAD=costs.LIBOMP,
                        OMP_TOOL_LIBRARIES=short_events.empty_tool(*flags, name=name), OMP_TOOL_VERBOSE_INIT="stdout")
        assert "Tool was started and is using the OMPT interface." in said, said


@tap.case
def events_are_counted(directory):
    """The events of which the benchmark prints the ns are those that the program executes."""
    for compiler in COMPILERS:
        for program in short_events.PROGRAMS:
            amount = program.amount(compiler == "gcc", 0.0001)
            run = Measurement(directory, build("workloads.c", compiler), program.what, str(amount), options=("-p", "online"))
            assert run.done.returncode == 0, run.done
            if program.event in KINDS:
                rows = [row for row in run.view("regions")
                        if row["thread"] == "SUM" and row["kind"] == KINDS[program.event]]
                counted = sum(int(row["executions"]) for row in rows)
                assert counted == program.events(amount), (compiler, program.name, amount, counted)


@tap.case
def tables_are_printed(directory):
    """Once, with few events: a line for each program and way, and the same in the tables for the manual."""
    out = os.path.join(directory, "figures.csv")
    said = tap.must(sys.executable, os.path.join(tap.SCRIPT, "benchmark.py"), "--short", "--size", "0.0001", "-n", "1",
                    "--modes", "off,default", "--busy", "1", "--csv", out, timeout=400)
    lines = [line for line in said.splitlines() if not line.startswith("|")]
    for program in short_events.PROGRAMS:
        for compiler in COMPILERS:
            amount = program.amount(compiler == "gcc", 0.0001)
            name = f"{program.name.replace('(n)', f'({amount})')}, {compiler}"
            for way in ("-p off", "default", *((short_events.EMPTY,) if compiler == "clang" else ())):
                assert any(re.match(rf"{re.escape(name)} +{way} +\d", line) for line in lines), (name, way, said)
            assert len(re.findall(rf"^\| {re.escape(name)} \|", said, re.M)) == 2, (name, said)
    for what in short_events.SINGLE.values():
        for compiler in COMPILERS:
            name = re.escape(f"{what}, 1 thread, {compiler}")
            assert re.search(rf"^{name} +default +-?\d", said, re.M) and re.search(rf"^\| {name} \|", said, re.M), said
    assert re.search(r"^rdtsc \d+ ns, clock_gettime \d+ ns, .*; 1 busy process ", said, re.M), said
    with open(out, encoding="utf-8") as file:
        assert "an event beyond empty" in file.read()


tap.main()
