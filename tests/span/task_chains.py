"""Tasks that one thread creates one after the other, by CPU time: a chain contains what the creator has done before it
created the task, and no tasks that it has run in between.  Without samples, after which tasks are created in another
way.

Usage: task_chains.py [-k CASE]"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap

COMPILERS = ("gcc", "clang")
TASKS, LONG, SHORT = 2000, 60e-3, 30e-6  # as in task_chains.c
SETTINGS = {"OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}


def measure(directory, compiler, form):
    settings = os.path.join(directory, "settings")
    with open(settings, "w", encoding="ascii") as file:
        file.write("[measure]\nlevel = summary\n")
    run = Measurement(directory, build("task_chains.c", compiler), form, options=("--config", settings), **SETTINGS)
    assert run.done.returncode == 0, run.done
    rows = {row["kind"]: row for row in run.view("parallelism")}
    assert int(rows["task"]["instances"]) == int(rows["task"]["executions"]) == TASKS, rows["task"]
    figures = {kind: {name: float(row[name] or 0) for name in ("work", "span", "critical_path")}
               for kind, row in rows.items()}
    found = sum(row["critical_path"] for row in figures.values())
    assert abs(found - figures["program"]["span"]) < 1e-5, (found, figures)
    return figures


@tap.case
def a_chain_contains_what_precedes_the_creation(directory):
    for compiler in COMPILERS:
        found = measure(directory, compiler, "late")
        assert 2 * LONG * 0.97 < found["program"]["span"] <= found["program"]["work"], (compiler, found)
        assert LONG * 0.97 < found["task"]["critical_path"] < LONG * 1.3, (compiler, found)


@tap.case
def tasks_that_run_in_between_are_no_part_of_it(directory):
    for compiler in COMPILERS:
        found = measure(directory, compiler, "aside")
        assert found["task"]["work"] > TASKS * SHORT * 0.97, (compiler, found)
        assert found["parallel"]["span"] < found["parallel"]["work"] / 3, (compiler, found)


tap.main()
