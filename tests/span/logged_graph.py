"""The graph log (-p log): its replay gives the work and span that the running side has computed, and the closed
form."""
import glob
import os
import shutil
import signal
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import reference_replay
from basic_forms_table import FORMS, completed, program
from measured import Measurement, build, openmp_flags, tap
from report import report

LOST = "of the graph log not written"


def measure(directory, binary, *arguments, options=(), prefix=(), work="user"):
    return Measurement(directory, binary, *arguments, options=("-p", "log", "--work", work, *options), prefix=prefix)


def logs(run):
    return sorted(glob.glob(os.path.join(run.output, "*.graph")))


def log_of(run):
    found = logs(run)
    assert len(found) == 1, found
    return found[0]


def is_live(path):
    forms = {live for *_, live in reference_replay.extents(path)}
    assert len(forms) == 1, (path, forms)
    return forms.pop()


def logged_graph(compiler="clang"):
    return build("logged_graph.c", compiler)


def check(run, *expected):
    """The replay and the report both give the expected work and span."""
    completed(run)
    replayed, rows = reference_replay.Replay(log_of(run)), run.view("parallelism")
    got, reported = (replayed.work, replayed.span), (float(rows[0]["work"]), float(rows[0]["span"]))
    assert got == reported == expected, (run.done.args, got, reported, expected)
    assert not is_live(log_of(run))
    return replayed, rows


def check_forms(directory, compiler, threads):
    binary = program(compiler)
    for form, expected in FORMS.items():
        replayed, rows = check(measure(directory, binary, form, str(threads)), *expected)
        bounds = [float(row["lock_bound"]) for row in rows if float(row["lock_bound"] or 0)]
        if bounds and form in ("critical", "lock"):
            assert max(replayed.bounds()) == max(bounds), (form, replayed.bounds(), bounds)


@tap.case
def closed_forms_by_clang_with_2_threads(directory):
    check_forms(directory, "clang", 2)


@tap.case
def closed_forms_by_clang_with_3_threads(directory):
    check_forms(directory, "clang", 3)


@tap.case
def closed_forms_by_clang_with_8_threads(directory):
    check_forms(directory, "clang", 8)


@tap.case
def closed_forms_by_gcc_with_2_threads(directory):
    check_forms(directory, "gcc", 2)


@tap.case
def closed_forms_by_gcc_with_4_threads(directory):
    check_forms(directory, "gcc", 4)


@tap.case
def user_regions_detached_tasks_and_pauses(directory):
    for source, options, expected in (("user_regions.c", (), (115, 101)), ("detached_task.c", (), (32, 27)),
                                      ("paused_measuring.c", (), (44, 39)),
                                      ("paused_measuring.c", ("--paused",), (43, 38))):
        binary = build(source, "clang")
        run = measure(directory, binary, options=options)
        replayed = reference_replay.Replay(log_of(run))
        assert (replayed.work, replayed.span) == expected, (source, options, replayed.work, replayed.span)
        assert source != "user_regions.c" or replayed.counts[reference_replay.SCOPE] >= 4, replayed.counts


@tap.case
def every_task_is_in_the_log(directory):
    for compiler in ("clang", "gcc"):
        run = measure(directory, logged_graph(compiler), "tasks")
        replayed, _ = check(run, 60001, 4)
        assert [replayed.counts[op] for op in (reference_replay.TASK, reference_replay.TASK_END)] == [20000,
                                                                                                      20000], replayed.counts
        assert len(list(reference_replay.extents(log_of(run)))) > 3  # more than one window of a thread
        assert replayed.counts[reference_replay.SAMPLE] >= 20001, replayed.counts


@tap.case
def chunks_of_loops_name_their_iterations(directory):
    replayed, _ = check(measure(directory, program("clang"), "loop", "3"), *FORMS["loop"])
    told = [operands for stream in replayed.streams.values() for _, op, operands in stream
            if op == reference_replay.CHUNK]
    assert sorted(told) == [[i, 1] for i in range(16)], told
    loops = [operands[1] for stream in replayed.streams.values() for _, op, operands in stream
             if op == reference_replay.LOOP]
    assert set(loops) == {16}, loops


@tap.case
def cpu_time_is_replayed_as_it_was_computed(directory):
    binary, costs = program("clang"), 0
    for form in ("fib", "loops", "inout"):
        run = measure(directory, binary, form, "2", work="cpu-time")
        replayed, process = reference_replay.Replay(log_of(run)), reference_replay.process(glob.glob(os.path.join(run.output, "*.hpcrun"))[0])
        assert process["tick_scale"] and process["start_ticks"], process
        costs += process["cost_fork"] + process["cost_task"] + process["cost_join"]
        nanoseconds = [ticks * process["tick_scale"] / 2**32 for ticks in (replayed.work, replayed.span)]
        assert abs(nanoseconds[1] - process["span"]) < 2, (form, nanoseconds, process)
        # one of the two may lack the process's last fragment, which ends while measuring does
        assert abs(nanoseconds[0] - process["work"]) < 1000, (form, nanoseconds, process)
        first = min(stream[0][0] for stream in replayed.streams.values())
        assert first >= process["start_ticks"], (first, process)
    assert costs  # of a single run they can be 0: seen once on a busy machine


@tap.case
def a_killed_process_leaves_a_log(directory):
    run = measure(directory, logged_graph(), "kill")
    assert run.done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), run.done
    replayed = reference_replay.Replay(log_of(run))
    assert is_live(log_of(run)) and (replayed.work, replayed.span) == (15001, 4), (replayed.work, replayed.span)


@tap.case
def a_forked_child_has_a_log_of_its_own(directory):
    run = measure(directory, logged_graph(), "fork")
    assert run.done.returncode == 0 and run.done.stdout == "done\n", run.done
    found = sorted(reference_replay.Replay(path).work for path in logs(run))
    assert found == [18, 18], found
    spans = sorted(reference_replay.Replay(path).span for path in logs(run))
    assert spans == [9, 9], spans


@tap.case
def exec_keeps_the_log_and_a_failed_one_goes_on(directory):
    binary = logged_graph()
    run = measure(directory, binary, "exec")
    check(run, 5, 5)
    run = measure(directory, binary, "exec", shutil.which("true"))
    works = [reference_replay.Replay(path).work for path in logs(run)]
    assert works == [2], (works, run.done)  # the new image does not use OpenMP


@tap.case
def a_program_that_closes_descriptors(directory):
    replayed, _ = check(measure(directory, logged_graph(), "close"), 20 * 3001, 20 * 4)
    assert replayed.counts[reference_replay.TASK] == 20000, replayed.counts


@tap.case
def no_room_for_the_log(directory):
    """A limit on file sizes, and a full disk: the program runs on, and what was written can be read."""
    binary = logged_graph()
    run = measure(directory, binary, "tasks", prefix=("prlimit", "--fsize=65536"))
    assert run.done.returncode == 0 and run.done.stdout == "done\n" and LOST in run.done.stderr, run.done
    assert 0 < reference_replay.Replay(log_of(run), partly=True).work < 60001
    with tap.small_disk(directory, "192k") as disk:
        run = measure(disk, binary, "tasks")
        assert run.done.returncode == 0 and run.done.stdout == "done\n" and LOST in run.done.stderr, run.done
        assert 0 < reference_replay.Replay(log_of(run), partly=True).work < 60001


@tap.case
def a_program_that_only_asks_the_runtime(directory):
    """On libomp it is one grain; GCC's code never calls a function that is measured: then there is none."""
    source = os.path.join(directory, "asks.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
    for compiler, nodes in (("gcc", 0), ("clang", 1)):
        binary = os.path.join(directory, compiler)
        tap.must(compiler, *openmp_flags(compiler), source, "-o", binary)
        run = measure(directory, binary)
        for form, node in (("graphml", "<node "), ("dot", " [shape=")):
            done = report("--view", "grain-graph", "-f", form, run.output)
            assert done.returncode == 0 and "record" not in done.stderr, done
            assert done.stdout.count(node) == nodes, (compiler, form, done)
            if form == "graphml":
                xml.etree.ElementTree.fromstring(done.stdout)


@tap.case
def without_the_option_no_log_is_written(directory):
    run = Measurement(directory, logged_graph(), "tasks", options=("-p", "online", "--work", "user"))
    assert run.done.returncode == 0 and logs(run) == [], logs(run)


tap.main()
