"""Logs of programs (-p log), replayed by hpcprof-lite: the same as measured, and scenarios that follow from the
source."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from basic_forms_table import FORMS, program
from measured import Measurement, build, line_of, tap
from report import table


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
            assert "log: exact" in row["note"] and float(row["work"]) == work, (form, row)


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


def check_undeferred(directory, compiler):
    """Clang's code runs such tasks in the function that creates them, without a call of the runtime."""
    for contexts in ("region", "creation"):
        for form in ("alone", "in_deferred", "in_function", "with_group", "nested", "deep"):
            run = Measurement(directory, build("undeferred_tasks.c", compiler), form,
                              options=("-p", "log", "--work", "user", "--task-context", contexts))
            rows = run.view("whatif", "--what-if", "slow=11", "--what-if", "fast=11")
            assert [float(row["span"]) for row in rows] == [13, 23], (form, contexts, rows)
            assert all("log: exact" in row["note"] for row in rows), (form, contexts, rows)


@tap.case
def work_of_unknown_callers_is_not_forecast_exactly(directory):
    """fast() is called below more frames than are known: buried() may have called it, slow() has not."""
    for compiler in ("clang", "gcc"):
        run = Measurement(directory, build("undeferred_tasks.c", compiler), "buried",
                          options=("-p", "log", "--work", "user"))
        done = tap.run(tap.REPORT, "--view", "whatif", "-f", "csv", "--what-if", "slow=11", "--what-if", "fast=11",
                       run.output)
        rows = table(done.stdout)
        assert [float(row["span"]) for row in rows] == [13, 23], (compiler, rows)
        assert ["not exact" in row["note"] for row in rows] == [True, False], (compiler, rows)


@tap.case
def undeferred_tasks_of_clang(directory):
    check_undeferred(directory, "clang")


@tap.case
def undeferred_tasks_of_gcc(directory):
    check_undeferred(directory, "gcc")


@tap.case
def a_worker_waits_for_dependences_within_the_last_barrier(directory):
    """libomp keeps a copy of the worker's data word there, and ends the program if it is not 0."""
    for compiler in ("clang", "gcc"):
        for options in (("-p", "off"), ("-p", "online"), ("-p", "log"), ("-t",), ("--task-context", "creation")):
            run = Measurement(directory, build("undeferred_tasks.c", compiler), "in_barrier",
                              options=("--work", "user", *options))
            assert run.done.returncode == 0, (compiler, options, run.done)
            if "off" not in options:
                assert float(run.view("parallelism")[0]["span"]) == 33, (compiler, options)


@tap.case
def places_of_undeferred_tasks(directory):
    source = "undeferred_tasks.c"
    places = {form: [line_of(source, f"// @ {name}") for name in names]
              for form, names in {"alone": ["alone"], "in_deferred": ["inner", "outer"], "nested": ["first", "second"],
                                  "in_function": ["in part", "part"],
                                  "with_group": ["around", "in group"]}.items()}
    for compiler in ("clang", "gcc"):
        for mode in ("online", "log"):
            for form, lines in places.items():
                run = Measurement(directory, build(source, compiler), form, options=("-p", mode, "--work", "user"))
                assert sorted(int(row["line"]) for row in run.view("tasks")) == sorted(lines), (compiler, mode, form)
                regions = [int(row["line"]) for row in run.view("parallelism") if row["kind"] == "parallel"]
                assert regions == [line_of(source, "// @ region")], (compiler, mode, form, regions)


@tap.case
def time_of_undeferred_tasks_is_work(directory):
    for compiler in ("clang", "gcc"):
        for mode in ("online", "off"):
            run = Measurement(directory, build("undeferred_tasks.c", compiler), "busy",
                              options=("-e", "task-clock@f1000", "-p", mode))
            root = run.tree()[0]
            work, overhead = (root.value(f"{category}_incl_s") for category in ("work", "overhead"))
            tap.timed(work > 0.3 and overhead < work / 10, (compiler, mode, work, overhead))


tap.main()
