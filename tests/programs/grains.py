"""Work, span and what-if in CPU time: programs with known grains."""
from measured import Measurement, build, near, tap

# Grains of 0.1 ms and more: the tool's own time and the runtime's between two callbacks are about 1 %.
SHARE = 0.05


def rows_of(directory, compiler, mode, serial, *options, threads="2", event="task-clock@f1000", **how):
    run = Measurement(directory, build(directory, "grains.c", compiler), mode, str(serial),
                      options=("-p", "online", "-e", event), OMP_NUM_THREADS=threads, **how)
    assert run.done.returncode == 0, run.done
    return run, run.view("parallelism", *options)


def check(directory, compiler, mode, serial, work, span, threads="2", share=SHARE, **how):
    _, rows = rows_of(directory, compiler, mode, serial, threads=threads, **how)
    near(float(rows[0]["work"]), work, share, f"{compiler} {mode}: work")
    near(float(rows[0]["span"]), span, SHARE, f"{compiler} {mode}: span")
    total = sum(float(row["critical_path"]) for row in rows)
    assert abs(total - float(rows[0]["span"])) < 1e-6, (total, rows[0])
    near(float(rows[0]["critical_path"]), serial, SHARE, "serial code on the critical path")


@tap.case
def a_loop_of_grains(directory):
    for compiler in ("clang", "gcc"):
        check(directory, compiler, "loop", 0.2, 0.6, 0.201)


@tap.case
def tasks_of_a_tenth_of_a_millisecond(directory):
    for compiler in ("clang", "gcc"):
        check(directory, compiler, "tasks", 0.2, 0.6, 0.203, share=0.1)  # burn() overshoots by some microseconds each


@tap.case
def the_heavy_thread_is_the_critical_path(directory):
    for compiler in ("clang", "gcc"):
        check(directory, compiler, "uneven", 0.1, 0.5, 0.4)
        check(directory, compiler, "uneven", 0.1, 0.7, 0.4, threads="4")


def check_all(directory, **how):
    """Every kind of program, also with more threads than processors, where all are switched out again and again."""
    for threads in ("2", "8"):
        check(directory, "clang", "loop", 0.1, 0.5, 0.101, threads=threads, **how)
        check(directory, "clang", "locked", 0.1, 0.5, 0.101, threads=threads, **how)
        check(directory, "clang", "tasks", 0.1, 0.5, 0.103, threads=threads, share=0.1, **how)
    check(directory, "clang", "uneven", 0.1, 1.1, 0.4, threads="8", **how)


@tap.case
def more_threads_than_processors(directory):
    check_all(directory)


@tap.case
def samples_of_elapsed_time(directory):
    check_all(directory, event="wall@f1000")


@tap.case
def without_perf_event(directory):
    deny = (build(directory, "deny.c"),)
    check_all(directory, prefix=deny)
    check_all(directory, prefix=deny, GLIBC_TUNABLES="glibc.pthread.rseq=0")


@tap.case
def the_critical_path_has_calling_contexts(directory):
    run, _ = rows_of(directory, "clang", "uneven", 0.1)
    rows = run.view("critical-path")
    near(float(rows[0]["critical_path_incl"]), 0.4, SHARE, "root")
    near(sum(float(row["critical_path_excl"]) for row in rows), float(rows[0]["critical_path_incl"]), 1e-6, "sum of own shares")
    share = {name: max(float(row["critical_path_incl"]) for row in rows if row["name"] == name) for name in ("serial_part", "grain")}
    near(share["serial_part"], 0.1, 0.12, "serial_part")  # 100 samples
    near(share["grain"], 0.3, 0.12, "grain of the heavy thread alone")


@tap.case
def what_if_is_what_a_changed_program_does(directory):
    for compiler in ("clang", "gcc"):
        before, rows = rows_of(directory, compiler, "loop", 0.4)
        scenario = before.view("whatif", "--what-if", "serial_part=4")[0]
        _, after = rows_of(directory, compiler, "loop", 0.1)
        near(float(scenario["span_low"]), float(after[0]["span"]), 0.1, f"{compiler}: span with serial code four times as fast")
        assert float(scenario["span_high"]) == float(rows[0]["span"]), scenario


tap.main()
