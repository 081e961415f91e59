"""Programs that do what profilers stumble over: same output and status as alone, and a sound report."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import HERE, Measurement, build, near, sums_hold, tap, work_of

PLUGIN = "double plugin_work(int n) { volatile double s = 0; for (int i = 1; i < n; i++) s += %s / i; return s; }\n"


def alone_and_measured(directory, program, *arguments, options=("-e", "task-clock@f1000"), prefix=(), **settings):
    alone = tap.run(program, *arguments, cwd=directory, **settings)
    run = Measurement(directory, program, *arguments, options=options, prefix=prefix, **settings)
    assert (run.done.returncode, run.done.stdout) == (alone.returncode, alone.stdout), (alone, run.done)
    sums_hold(run.tree())
    return run


def awkward(directory, *arguments, **settings):
    return alone_and_measured(directory, build(directory, "awkward.c", flags=("-O1", "-g")), *arguments, **settings)


@tap.case
def no_malloc_in_the_handler(directory):
    trap = os.path.join(directory, "trap.so")
    done = tap.run("gcc", "-shared", "-fPIC", os.path.join(HERE, "trap_malloc.c"), "-o", trap)
    assert done.returncode == 0, done.stderr
    run = Measurement(directory, build(directory, "nested_regions.c", "clang"), options=("-e", "task-clock@f5000"), LD_PRELOAD=trap)
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
    near(work_of(run.tree(), "thread_work"), 1.0, 0.3, "1,000 threads of 1 ms, samples of 5 ms")  # 200 samples: 7 %, four times


@tap.case
def recursion_deeper_than_any_limit(directory):
    run = awkward(directory, "deep")
    nodes = run.tree()
    near(work_of(nodes, "leaf_work"), 0.6, 0.12, "no sample is lost")
    assert any(node.kind == "partial" for node in nodes)
    assert "unwinds cut short" in run.done.stderr, run.done.stderr


@tap.case
def stacks_of_its_own(directory):
    near(work_of(awkward(directory, "coroutines").tree(), "leaf_work"), 0.3, 0.15, "leaf_work")


@tap.case
def frames_that_lead_nowhere(directory):
    run = awkward(directory, "wrecked")
    near(work_of(run.tree(), "leaf_work"), 0.3, 0.15, "leaf_work")


@tap.case
def signals_of_its_own(directory):
    run = awkward(directory, "signals")
    assert "urgent 1" in run.done.stdout
    near(work_of(run.tree(), "leaf_work"), 0.6, 0.12, "also while everything is blocked")


@tap.case
def sleeps_are_not_cut_short(directory):
    run = awkward(directory, "sleeps", options=("-e", "wall@f500"))
    assert run.done.stdout == "0 errors, in full\n"
    near(work_of(run.tree(), "sleeps"), 1.65, 0.15, "sleeping time is seen")


@tap.case
def short_sleeps_are_not_cut_short_by_cpu_time(directory):
    program = build(directory, "awkward.c", flags=("-O2", "-g", "-D_FORTIFY_SOURCE=2"))
    for event in ("task-clock@f5000", "wall@f1000"):
        assert Measurement(directory, program, "naps", options=("-e", event)).done.stdout == "0 errors\n", event


@tap.case
def a_handler_that_ends_the_process(directory):
    program = build(directory, "awkward.c", flags=("-O1", "-g"))
    for _ in range(10):
        done = Measurement(directory, program, "exit_in_handler", timeout=20).done
        assert done.returncode == 13, done


@tap.case
def output_is_kept_when_standard_error_is_closed_off(directory):
    # The tool's last line meets a pipe that nobody reads: SIGPIPE must not take the program's output with it.
    program = tap.compile_c(directory, "hello", '#include <stdio.h>\nint main(void) { puts("kept"); return 5; }\n')
    script = 'sleep 1 | true; { "$@" >out; echo $? >status; } 2> >(exec 0<&-)'
    tap.run("bash", "-c", script, "bash", tap.LAUNCHER, "--overwrite", "-o", "m", program, cwd=directory)
    with open(os.path.join(directory, "out"), encoding="utf-8") as out:
        assert out.read() == "kept\n"
    with open(os.path.join(directory, "status"), encoding="utf-8") as status:
        assert status.read() == "5\n"


@tap.case
def plugins_that_come_and_go(directory):
    paths = []
    for number, expression in enumerate(("1.0", "2.0")):
        source = os.path.join(directory, f"plugin{number}.c")
        paths.append(os.path.join(directory, f"plugin{number}.so"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(PLUGIN % expression)
        assert tap.run("gcc", "-O1", "-shared", "-fPIC", source, "-o", paths[-1]).returncode == 0
    awkward(directory, "plugins", *paths, options=("-e", "task-clock@f10000"))


@tap.case
def kernel_time_is_charged_to_its_caller(directory):
    nodes = awkward(directory, "kernel").tree()
    near(work_of(nodes, "kernel_part"), 1.0, 0.1, "kernel_part")
    near(work_of(nodes, "user_part"), 0.5, 0.12, "user_part")


@tap.case
def kernel_time_of_an_unprivileged_user(directory):
    if os.geteuid() != 0:
        raise tap.Skip("needs root to become another user")
    program = build(directory, "awkward.c", flags=("-O1", "-g"))
    # That user may not be allowed to look into the checkout; and an installation can be moved.
    moved = os.path.join(directory, "moved")
    shutil.copytree(os.path.dirname(os.path.dirname(tap.LAUNCHER)), moved)
    os.chmod(directory, 0o777)
    run = Measurement(directory, program, "kernel", options=("-e", "task-clock@f200"),
                      launcher=os.path.join(moved, "bin", "hpcrun-lite"),
                      prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    assert run.done.stdout == "done\n", run.done
    nodes = run.tree()
    near(work_of(nodes, "kernel_part"), 1.0, 0.15, "kernel_part")  # timers: at most 250 samples a second
    near(work_of(nodes, "user_part"), 0.5, 0.25, "user_part")


@tap.case
def children_of_every_sort(directory):
    run = awkward(directory, "children")
    # Four children of 0.1 s, the last twice that; the first, third and fourth write at exit, exec and failed exec.
    near(work_of(run.tree(), "leaf_work"), 0.5, 0.15, "leaf_work of all processes")
    assert len(run.view("threads")) >= 5


def check_end(directory, how, status):
    program = build(directory, "end_in_region.c", "clang")
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
