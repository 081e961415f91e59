"""Programs that do what is hard for profilers: the same output and status as alone, and a sound report."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, near, preload_library, sums_hold, tap, work_of

PLUGIN = "double plugin_work(int n) { volatile double s = 0; for (int i = 1; i < n; i++) s += %s / i; return s; }\n"


def alone_and_measured(directory, program, *arguments, options=("-e", "task-clock@f1000"), prefix=(), **settings):
    alone = tap.run(program, *arguments, cwd=directory, **settings)
    run = Measurement(directory, program, *arguments, options=options, prefix=prefix, **settings)
    assert (run.done.returncode, run.done.stdout) == (alone.returncode, alone.stdout), (alone, run.done)
    sums_hold(run.tree())
    return run


def awkward(directory, *arguments, **settings):
    return alone_and_measured(directory, build("awkward.c", openmp=False), *arguments, **settings)


@tap.case
def no_malloc_in_the_handler(directory):
    run = Measurement(directory, build("nested_regions.c", "clang"), options=("-e", "task-clock@f5000"),
                      LD_PRELOAD=preload_library("trap_malloc.c"))
    assert run.done.returncode == 0 and run.done.stdout == "done\n", run.done
    assert len(run.tree()) > 5


@tap.case
def closes_all_descriptors(directory):
    run = awkward(directory, "descriptors", directory)
    assert run.done.stdout == "0 wrong\n"
    near(work_of(run.tree(), "leaf_work"), 0.6, 0.12, "sampling goes on")


@tap.case
def threads_shorter_than_a_period(directory):
    run = awkward(directory, "threads", options=("-e", "task-clock@f200"))
    rows = run.threads()
    assert len(rows) == 1001, len(rows)
    # 200 samples: 7 %, four times
    near(work_of(run.tree(), "thread_work"), 1.0, 0.3, "1,000 threads of 1 ms, samples of 5 ms")


@tap.case
def recursion_deeper_than_any_limit(directory):
    run = awkward(directory, "deep")
    nodes = run.tree()
    near(work_of(nodes, "leaf_work"), 0.6, 0.12, "no sample is lost")
    assert any(node.kind == "partial" for node in nodes)
    assert "unwinds cut short" in run.done.stderr, run.done.stderr


@tap.case
def coroutines_on_their_own_stacks(directory):
    near(work_of(awkward(directory, "coroutines").tree(), "leaf_work"), 0.3, 0.15, "leaf_work")


@tap.case
def stacks_that_cannot_be_unwound(directory):
    run = awkward(directory, "wrecked")
    tool = sum(float(row["tool_s"]) for row in run.threads())  # such unwinds take long
    near(work_of(run.tree(), "leaf_work") + tool, 0.3, 0.15, "leaf_work")


@tap.case
def signals_of_the_program(directory):
    run = awkward(directory, "signals")
    assert "urgent 1" in run.done.stdout
    near(work_of(run.tree(), "leaf_work"), 0.6, 0.12, "also while everything is blocked")


@tap.case
def sleeps_are_not_interrupted(directory):
    run = awkward(directory, "sleeps", options=("-e", "wall@f500"))
    assert run.done.stdout == "0 errors, in full\n"
    near(work_of(run.tree(), "sleeps"), 1.65, 0.15, "sleeping time is seen")


@tap.case
def short_sleeps_are_not_interrupted(directory):
    program = build("awkward.c", "gcc", "-O2", "-D_FORTIFY_SOURCE=2", openmp=False)
    for event in ("task-clock@f5000", "wall@f1000"):
        assert Measurement(directory, program, "naps", options=("-e", event)).done.stdout == "0 errors\n", event


@tap.case
def a_handler_that_ends_the_process(directory):
    program = build("awkward.c", openmp=False)
    for _ in range(10):
        done = Measurement(directory, program, "exit_in_handler").done
        assert done.returncode == 13, done


@tap.case
def output_is_kept_when_standard_error_is_closed(directory):
    # The tool writes its last line into a pipe without a reader.  SIGPIPE must not lose the program's output.
    program = tap.compile_c(directory, "hello", '#include <stdio.h>\nint main(void) { puts("kept"); return 5; }\n')
    script = 'sleep 1 | true; { "$@" >out; echo $? >status; } 2> >(exec 0<&-)'
    tap.run("bash", "-c", script, "bash", tap.LAUNCHER, "--overwrite", "-o", "m", program, cwd=directory)
    with open(os.path.join(directory, "out"), encoding="utf-8") as out:
        assert out.read() == "kept\n"
    with open(os.path.join(directory, "status"), encoding="utf-8") as status:
        assert status.read() == "5\n"


@tap.case
def plugins_that_come_and_go(directory):
    paths = [tap.compile_c(directory, f"plugin{number}.so", PLUGIN % expression, "-shared", "-fPIC")
             for number, expression in enumerate(("1.0", "2.0"))]
    awkward(directory, "plugins", *paths, options=("-e", "task-clock@f10000"))


@tap.case
def kernel_time_is_charged_to_the_calling_function(directory):
    nodes = awkward(directory, "kernel").tree()
    near(work_of(nodes, "kernel_part"), 1.0, 0.1, "kernel_part")
    near(work_of(nodes, "user_part"), 0.5, 0.12, "user_part")


@tap.case
def kernel_time_of_an_unprivileged_user(directory):
    tap.need_root()
    program = build("awkward.c", openmp=False)
    os.chmod(directory, 0o1777)
    run = Measurement(directory, program, "kernel", options=("-e", "task-clock@f200"),
                      launcher=tap.other_users_launcher(), prefix=tap.OTHER_USER)
    assert run.done.stdout == "done\n", run.done
    nodes = run.tree()
    near(work_of(nodes, "kernel_part"), 1.0, 0.15, "kernel_part")  # timers: at most 250 samples a second
    near(work_of(nodes, "user_part"), 0.5, 0.25, "user_part")


@tap.case
def children_of_every_kind(directory):
    run = awkward(directory, "children")
    # Four children work 0.1 s, the last one 0.2 s.  The first, third and fourth write at exit, exec and a failed exec.
    near(work_of(run.tree(), "leaf_work"), 0.5, 0.15, "leaf_work of all processes")
    assert len(run.view("threads")) >= 5


def check_end(directory, how, status):
    program = build("end_in_region.c", "clang")
    run = alone_and_measured(directory, program, how, OMP_WAIT_POLICY="passive")
    assert run.done.returncode == status
    nodes = run.tree()
    near(work_of(nodes, "worker_work", "creator"), 1.2 if how == "master" else 0.4, 0.12, "full path of an open region")
    assert work_of(nodes, "worker_work") == work_of(nodes, "worker_work", "creator")


@tap.case
def exit_inside_a_region_by_a_worker(directory):
    check_end(directory, "exit", 21)


@tap.case
def _exit_inside_a_region_by_a_worker(directory):
    check_end(directory, "_exit", 22)


@tap.case
def quick_exit_inside_a_region_by_a_worker(directory):
    check_end(directory, "quick_exit", 23)


@tap.case
def exit_inside_a_region_by_the_master(directory):
    check_end(directory, "master", 24)


tap.main()
