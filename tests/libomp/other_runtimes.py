"""OpenMP runtimes other than LLVM's releases.  A stand-in (other_runtime.c) has all rows if it calls the tool as the
specification says; whatever it does otherwise, the program runs as alone, the reports have no impossible figure, and a
callback that is not there is mentioned.  libomp under other names, as vendors ship it, is measured alike.

Usage: other_runtimes.py [--long] [-k CASE]     (--long: all departures from the order, in all modes)"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, combinations, need_libomps, tap

NEEDED = (1, 2, 3, 4, 5, 6, 7, 11, 16, 17, 26, 27, 28)  # callbacks of every measurement, and those of work and span
GRAPH = {20: "loops, sections and single", 21: "masked", 18: "dependences", 23: "waits"}
DEPARTURES = [1 << bit for bit in range(13)]
ROUNDS, THREADS, TASKS = 3, 2, 4
MODES = ("off", "online", "log")


def program():
    return build("other_runtime.c", "gcc", "-I", tap.SOURCE, openmp=False)


def measure(directory, mode, *form, attached=1):
    """The program does what it does alone; the views that its runtime's events cannot spoil are plausible."""
    run = Measurement(directory, program(), *map(str, form), options=("-p", mode, "-t"), timeout=60)
    assert (run.done.returncode, run.done.stdout) == (0, f"attached {attached}\n" * (1 + ("twice" in form)) + "done\n"), run.done
    for view in ("threads", "topdown", "regions"):
        table = tap.run(tap.REPORT, "-q", "--view", view, "-f", "csv", run.output)
        assert table.returncode == 0 and table.stdout.startswith(("thread", "id", "region", "kind", "process")), (form, table)
        cells = table.stdout.replace("\n", ",").split(",")
        assert not any(cell in ("nan", "inf") or cell[:1] == "-" for cell in cells), (form, view, table.stdout)
    return run


def quality(run):
    return " ".join(tap.run(tap.REPORT, "-q", "--legend", run.output).stdout.split())


@tap.case
def rows_of_a_runtime_as_specified(directory):
    for mode in MODES[1:]:
        run = measure(directory, mode, "plain")
        found = {row["kind"]: int(row["exec_count"]) for row in run.view("regions")
                 if row["thread"] == "SUM" and row["kind"] not in ("program", "task", "task-exec")}
        each = ROUNDS * THREADS
        assert found == {"parallel": each, "for": each, "critical": each, "taskwait": each, "barrier": each}, (mode, found)
        task, = run.view("tasks")
        assert int(task["instances"]) == each * TASKS, task
        assert "does not report" not in run.done.stderr + quality(run), run.done


@tap.case
def callbacks_that_are_not_there(directory):
    for event, mode in combinations(NEEDED, MODES):
        run = measure(directory, mode, "refuse", event)
        assert "(callbacks that it lacks: 1)" in run.done.stderr, (event, run.done)
        assert "does not report all events" in quality(run), event
    for event, what in GRAPH.items():
        run = measure(directory, "online", "refuse", event)
        note = run.view("parallelism")[0]["note"]
        assert "this runtime does not report" in note and what in note, (event, note)
        assert "does not report all events" not in quality(run), event
    run = measure(directory, "online", "refuse", 0)
    assert f"(callbacks that it lacks: {len(NEEDED)})" in run.done.stderr, run.done


@tap.case
def callbacks_that_come_sometimes(directory):
    for event, mode in combinations((*NEEDED, *GRAPH, 32, 0), MODES):
        run = measure(directory, mode, "sometimes", event)
        assert ("does not report all events" in quality(run)) == (event in (*NEEDED, 0)), event


@tap.case
def entry_points_that_are_not_there(directory):
    for mode in MODES:
        for entry, attached in enumerate((0, 1, 0)):  # without states it can be measured
            measure(directory, mode, "lack", entry, attached=attached)


@tap.case
def other_orders_of_events(directory):
    for departures, mode in combinations((*DEPARTURES, sum(DEPARTURES), 0o1111, 0o12345), MODES):
        measure(directory, mode, "order", departures)


@tap.case
def events_after_the_end_and_two_runtimes(directory):
    for mode in MODES:
        for form in ("after_end", "twice"):
            measure(directory, mode, form)


@tap.case
def events_in_no_order(directory):
    """Which harm neither the program nor the tool; the program ends itself where it hangs."""
    for seed in range(1, 31 if "--long" in sys.argv else 5):
        measure(directory, "off", "random", seed)


@tap.case
def libomp_under_other_names(directory):
    """As Intel and NVIDIA ship theirs: with another name of the file and in the file, and of the runtime."""
    library, = need_libomps(19)
    with open(library, "rb") as file:
        contents = file.read()
    for name, called in (("libiomp5.so", "Intel(R) OMP ver"), ("libnvomp.so", "NVIDIA OMP versi")):
        with open(os.path.join(directory, name), "wb") as file:
            file.write(contents.replace(b"\0libomp.so.5\0", b"\0" + name.encode() + b"\0")
                       .replace(b"LLVM OMP version", called.encode()))
        form = os.path.join(directory, "loop_forms")
        tap.need_program("clang")
        tap.must("clang", "-O1", "-g", "-fopenmp", "-c", "-I", tap.INCLUDE, "-I", os.path.join(tap.TESTS, "span"),
                 os.path.join(tap.TESTS, "span", "loop_forms.c"), "-o", form + ".o")
        tap.must("clang", form + ".o", os.path.join(directory, name), "-lpthread", "-o", form)
        run = Measurement(directory, form, "doacross_1", "3", options=("-p", "log", "--work", "user"),
                          LD_LIBRARY_PATH=directory)
        assert run.done.returncode == 0 and "OpenMP attached (" + called in run.done.stderr, run.done
        row = run.view("parallelism")[0]
        assert (float(row["work"]), float(row["span"])) == (97, 31), row
        frames = [row for row in run.view("topdown") if row["module"].endswith(name) and row["kind"] == "function"]
        assert not frames, frames


tap.main()
