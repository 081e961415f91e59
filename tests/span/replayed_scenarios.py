"""Logs of programs (-p log), replayed by hpcprof-lite: the same as measured, and scenarios that follow from the
source."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from basic_forms_table import FORMS, program
from measured import Measurement, build, tap


def measure(directory, binary, *arguments, work="user"):
    run = Measurement(directory, binary, *arguments, options=("-p", "log", "--work", work))
    assert run.done.returncode == 0, run.done
    return run


def check_forms(directory, compiler, threads):
    """The view fails if the log differs from the measurement, for the program or for any construct."""
    binary = program(compiler)
    for form, (work, span) in FORMS.items():
        run = measure(directory, binary, form, str(threads))
        one, *_, many = run.view("speedup")
        assert float(one["speedup_simulated"]) == 1, (form, one)
        assert float(many["speedup_simulated"]) <= work / span + 1e-3, (form, many)
        half, third = run.view("whatif", "--what-if", "#0=2", "--what-if", "#0=3")
        for row, factor in ((half, 2), (third, 3)):
            assert [float(row[key]) for key in ("span", "span_low", "span_high")] == [round(span / factor,
                                                                                            4)] * 3, (form, row)
            assert "exact" in row["note"] and float(row["work"]) == work, (form, row)


@tap.case
def forms_by_clang_with_3_threads(directory):
    check_forms(directory, "clang", 3)


@tap.case
def forms_by_gcc_with_2_threads(directory):
    check_forms(directory, "gcc", 2)


@tap.case
def user_regions_under_a_scenario(directory):
    """Span 101, of it 92 in the region "solve phase", of these 60 in "deep"."""
    for compiler in ("clang", "gcc"):
        binary = build("user_regions.c", compiler)
        run = measure(directory, binary)
        asked = {"@deep=3": 61, "@solve phase=2": 55, "@solve phase=2,@deep=4": 40}
        rows = run.view("whatif", *(option for text in asked for option in ("--what-if", text)))
        assert [float(row["span"]) for row in rows] == list(asked.values()), rows
        table = {row["name"]: row for row in run.view("parallelism", "--what-if", "@deep=3")
                 if row["kind"] == "user-region"}
        assert {name: float(row["span"]) for name, row in table.items()} == {"deep": 20, "solve phase": 52}, table


@tap.case
def time_is_replayed_as_measured(directory):
    for source, compiler in (("created_tasks.c", "clang"), ("nested_regions.c", "clang"), *[("late_ends.c", "gcc")] * 4):
        run = measure(directory, build(source, compiler), work="cpu-time")
        row, = run.view("whatif", "--what-if", "#0=2")
        program_row = run.view("parallelism")[0]
        assert abs(float(row["span"]) - float(program_row["span"]) / 2) <= 1e-6 * float(row["span"]), (source, row)


tap.main()
