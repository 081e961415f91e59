"""Work and span of programs whose result follows from their source (basic_forms.c): exact, for every runtime and number
of threads."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from basic_forms_table import FORMS, completed, program
from measured import Measurement, build, combinations, libomps, line_of, tap
from report import check_spans

# Rows of the report with a closed form, by program: kind, instances, work, span.
ROWS = {
    "loops": [("for", 10, 400, 100), ("parallel", 1, 400, 100)],
    "critical": [("for", 1, 100, 10), ("critical", 10, 70, 70)],
    "loop": [("for", 1, 136, 16), ("parallel", 1, 136, 16)],
    "taskgroup": [("taskgroup", 1, 23, 21), ("single", 1, 82, 75)],
    "phases": [("single", 5, 45, 45)],
    # the tasks of the left and of the right call contain one another
    "fib": [("task", 5, 457, 45), ("task", 9, 451, 71)],
}


def measure(directory, binary, form, threads, *options):
    run = Measurement(directory, binary, form, str(threads), options=("-p", "online", "--work", "user", *options))
    completed(run)
    rows = run.view("parallelism")
    check_spans(rows)
    return run, rows


def check(directory, binary, form, threads, *options):
    _, rows = measure(directory, binary, form, threads, *options)
    work, span = FORMS[form]
    got = (float(rows[0]["work"]), float(rows[0]["span"]), sum(float(row["critical_path"]) for row in rows))
    assert rows[0]["kind"] == "program" and rows[0]["unit"] == "units", rows[0]
    assert got == (work, span, span), (form, threads, options, got, (work, span))
    assert abs(float(rows[0]["parallelism"]) - work / span) < 1e-3, rows[0]
    return rows


def check_all(directory, compiler, *threads):
    binary = program(compiler)
    for form, count in combinations(list(FORMS), threads):
        check(directory, binary, form, count)


@tap.case
def closed_forms_by_clang_with_2_and_8_threads(directory):
    check_all(directory, "clang", 2, 8)


@tap.case
def closed_forms_by_clang_with_3_threads(directory):
    check_all(directory, "clang", 3)


@tap.case
def closed_forms_by_gcc_with_2_and_4_threads(directory):
    check_all(directory, "gcc", 2, 4)


@tap.case
def closed_forms_on_every_libomp(directory):
    binary = program("clang")
    for form, library in combinations(list(FORMS), libomps()):
        check(directory, binary, form, 3, "--omp-runtime", library)


@tap.case
def rows_of_constructs(directory):
    for compiler in ("clang", "gcc"):
        binary = program(compiler)
        for form, wanted in ROWS.items():
            rows = check(directory, binary, form, 3)
            for kind, instances, work, span in wanted:
                found = [row for row in rows if row["kind"] == kind]
                assert any(int(row["instances"]) == instances and (work is None or float(row["work"]) == work) and
                           (span is None or float(row["span"]) == span) for row in found), (compiler, form, kind, found)
        bound = [float(row["lock_bound"]) for row in check(directory, binary, "critical", 2)
                 if row["kind"] == "critical"]
        assert bound == [73.0], bound


@tap.case
def user_regions(directory):
    """solve() has 2, 7, 7 on each of two threads, 30 in an inner region; it is called twice, with 1 before and 4 after
    each."""
    for compiler in ("clang", "gcc"):
        for level in ("-O0", "-O2"):
            binary = build("user_regions.c", compiler, level)
            run = Measurement(directory, binary, options=("-p", "online", "--work", "user"))
            rows = run.view("parallelism")
            assert (float(rows[0]["work"]), float(rows[0]["span"])) == (115, 101), rows[0]
            regions = {row["name"]: (int(row["instances"]), float(row["work"]), float(row["span"]))
                       for row in rows if row["kind"] == "user-region"}
            assert regions == {"solve phase": (2, 106, 92), "deep": (2, 60, 60)}, regions
            nodes = Measurement(directory, binary, options=("-e", "task-clock@f1000")).tree()
            named = [node for node in nodes if node.kind == "user-region"]
            assert [(node.name, node.parent.name) for node in named] == [("solve phase", "solve"),
                                                                         ("deep", "solve phase")], [node.path()
                                                                                                    for node in named]
            assert all("solve phase" in node.path() for node in nodes if node.name == "inner"), [node.path()
                                                                                                 for node in nodes]


@tap.case
def work_while_paused_does_not_count(directory):
    binary = build("paused_measuring.c", "clang")
    for options, work, span in ((("--paused",), 43, 38), ((), 44, 39)):
        rows = Measurement(directory, binary, options=("-p", "online", "--work", "user", *options)).view("parallelism")
        assert (float(rows[0]["work"]), float(rows[0]["span"])) == (work, span), (options, rows[0])


@tap.case
def detached_tasks_are_fulfilled_when_they_end(directory):
    """GCC's adapter announces that a task is detached before another thread can announce its fulfilment."""
    for compiler in ("clang", "gcc"):
        run = Measurement(directory, build("detached_task.c", compiler), "20000", options=("--work", "user"))
        counts = {(row["kind"], row["line"]): (row["instances"], float(row["work"])) for row in run.view("parallelism")}
        lines = [str(line_of("detached_task.c", f"// @ {name}")) for name in ("detached", "fulfils")]
        assert [counts.get(("task", line)) for line in lines] == [("20000", 20000)] * 2, (compiler, counts)
        for view in ("regions", "tasks"):
            run.view(view)  # which fails if anything was left out


@tap.case
def a_child_that_is_forked_beside_detached_tasks_runs_its_own(directory):
    run = Measurement(directory, build("detached_task.c", "gcc"), "30", "forks", options=("--work", "user"))
    assert run.done.returncode == 0, run.done


@tap.case
def a_detached_task_ends_when_it_is_fulfilled(directory):
    binary = build("detached_task.c", "clang")
    for _ in range(3):
        rows = Measurement(directory, binary, options=("-p", "online", "--work", "user")).view("parallelism")
        assert (float(rows[0]["work"]), float(rows[0]["span"])) == (32, 27), rows[0]


@tap.case
def without_omp_events_there_is_no_graph(directory):
    """Neither recorded nor printed; views say why."""
    binary = program("gcc")
    for settings, reason in (({}, "libgomp is not measured"), ({"OMP_TOOL": "disabled"}, "OMP_TOOL=disabled")):
        for mode in ("online", "log"):
            run = Measurement(directory, binary, "loops", "2", options=("-p", mode, "--omp-runtime", "keep"), **settings)
            files = os.listdir(run.output)
            assert not [name for name in files if name.endswith(".graph")], files
            for view in ("parallelism", "critical-path", "whatif", "speedup"):
                text = tap.must(tap.REPORT, "-q", "--view", view, run.output)
                assert "no OpenMP runtime reported its events" in text and reason in " ".join(text.split()), text
                assert not run.view(view), view
            text = tap.must(tap.REPORT, "-q", run.output)
            assert "times as fast" not in text and "Parallelism" not in text, text
    plain = tap.compile_c(directory, "plain", "int main(void) { return 0; }\n")
    run = Measurement(directory, plain, options=("-p", "online"))
    assert "does not use OpenMP" in tap.must(tap.REPORT, "-q", "--view", "speedup", run.output)


@tap.case
def repeated_runs_agree(directory):
    binary = program("clang")
    for _ in range(5):
        for form in ("fib", "inout", "ordered", "doacross", "phases"):
            check(directory, binary, form, 4)


tap.main()
