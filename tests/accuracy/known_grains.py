"""Work, span and what-if in CPU time, of programs whose pieces of work have known lengths."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, near, tap

# Grains of 0.1 ms and more: the tool's own time and the runtime's between two callbacks are about 1 %.
SHARE = 0.05


def rows_of(directory, compiler, mode, serial, *options, threads="2", event="task-clock@f1000", **how):
    run = Measurement(directory, build("known_grains.c", compiler), mode, str(serial),
                      options=("-p", "online", "-e", event), OMP_NUM_THREADS=threads, **how)
    assert run.done.returncode == 0, run.done
    return run, run.view("parallelism", *options)


def check(directory, compiler, mode, serial, work, longest, threads="2", created=0.0, **how):
    """Compares with the program's own clocks.  created: the time that creating the tasks takes."""
    run, rows = rows_of(directory, compiler, mode, serial, threads=threads, **how)
    own = clocks(run.done.stdout)
    assert own["serial"] >= serial and own["work"] >= work and own["longest"] >= longest, own
    what = f"{compiler} {mode} on {threads} threads"
    near(float(rows[0]["work"]), own["work"], SHARE, f"{what}: work")
    near(float(rows[0]["span"]), own["serial"] + own["longest"] + created, SHARE, f"{what}: span")
    total = sum(float(row["critical_path"]) for row in rows)
    assert abs(total - float(rows[0]["span"])) < 1e-6, (total, rows[0])
    near(float(rows[0]["critical_path"]), own["serial"], SHARE, f"{what}: serial code on the critical path")


@tap.case
def a_loop_of_grains(directory):
    for compiler in ("clang", "gcc"):
        check(directory, compiler, "loop", 0.2, 0.6, 0.001)


@tap.case
def tasks_of_a_tenth_of_a_millisecond(directory):
    for compiler in ("clang", "gcc"):
        check(directory, compiler, "tasks", 0.2, 0.6, 0.0001, created=0.002)


@tap.case
def the_heavy_thread_is_the_critical_path(directory):
    for compiler in ("clang", "gcc"):
        check(directory, compiler, "uneven", 0.1, 0.5, 0.3)
        check(directory, compiler, "uneven", 0.1, 0.7, 0.3, threads="4")


def check_all(directory, counts=("2", "8"), **how):
    """All modes, also with more threads than processors, where each is preempted again and again."""
    for threads in counts:
        check(directory, "clang", "loop", 0.1, 0.5, 0.001, threads=threads, **how)
        check(directory, "clang", "locked", 0.1, 0.5, 0.001, threads=threads, **how)
        check(directory, "clang", "tasks", 0.1, 0.5, 0.0001, threads=threads, created=0.002, **how)
    check(directory, "clang", "uneven", 0.1, 1.1, 0.3, threads="8", **how)


@tap.case
def more_threads_than_processors(directory):
    check_all(directory)


@tap.case
def samples_of_elapsed_time(directory):
    check_all(directory, counts=("8",), event="wall@f1000")


@tap.case
def without_perf_event(directory):
    deny = (build("deny_perf_event.c"),)
    check_all(directory, counts=("2",), prefix=deny)
    check_all(directory, counts=("8",), prefix=deny, GLIBC_TUNABLES="glibc.pthread.rseq=0")


@tap.case
def the_critical_path_has_calling_contexts(directory):
    run, _ = rows_of(directory, "clang", "uneven", 0.1)
    own, rows = clocks(run.done.stdout), run.view("critical-path")
    near(float(rows[0]["critical_path_incl"]), own["serial"] + own["longest"], SHARE, "root")
    assert abs(sum(float(row["critical_path_excl"]) for row in rows) - float(rows[0]["critical_path_incl"])) < 1e-6, rows
    share = {name: max(float(row["critical_path_incl"]) for row in rows if row["name"] == name)
             for name in ("serial_part", "grain")}
    near(share["serial_part"], own["serial"], 0.12, "serial_part")  # 100 samples
    near(share["grain"], own["longest"], 0.12, "grain of the heavy thread alone")


@tap.case
def what_if_is_what_a_changed_program_does(directory):
    for compiler in ("clang", "gcc"):
        before, rows = rows_of(directory, compiler, "loop", 0.4)
        scenario = before.view("whatif", "--what-if", "serial_part=4")[0]
        _, after = rows_of(directory, compiler, "loop", 0.1)
        near(float(scenario["span_low"]), float(after[0]["span"]), 0.1,
             f"{compiler}: span with serial code four times as fast")
        assert float(scenario["span_high"]) == float(rows[0]["span"]), scenario


tap.main()
