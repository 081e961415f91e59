"""Work is charged to full calling contexts: known paths, nested regions, tasks; GCC and clang, 2 to 64 threads."""
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, line_of, near, need_libomps, no_runtime, sums_hold, tap, work_of
from report import report, table

# A sample is 0.5 ms of CPU time, the shortest part is 0.15 s: two standard errors are at most 2/√300 = 12 %.
EVENT = ("-e", "task-clock@f2000")
SHARE = 0.12


def check_paths(directory, compiler, threads):
    run = Measurement(directory, build("known_paths.c", compiler), options=EVENT, OMP_NUM_THREADS=str(threads))
    assert run.done.returncode == 0 and run.done.stdout == f"{threads} threads, done\n", run.done
    nodes = run.tree()
    sums_hold(nodes)
    no_runtime(nodes)
    near(work_of(nodes, "serial_part"), 0.2, SHARE, "serial_part")
    near(work_of(nodes, "kernel", "heavy_caller"), 0.6, SHARE, "kernel of heavy_caller")
    near(work_of(nodes, "kernel", "light_caller"), 0.2, SHARE, "kernel of light_caller")
    near(work_of(nodes, "other", "light_caller"), 0.15, SHARE, "other")
    parts = sum(work_of(nodes, "kernel", caller) for caller in ("heavy_caller", "light_caller"))
    assert abs(work_of(nodes, "kernel") - parts) < 1e-9
    for node in nodes:
        if node.name in ("kernel", "other"):
            assert node.parent.kind == "parallel" and node.path()[0] == "main", node.path()
            assert "known_paths.c:" in node.parent.name, node.parent.name
    assert len(run.threads()) == threads


@tap.case
def paths_by_clang_with_2_threads(directory):
    check_paths(directory, "clang", 2)


@tap.case
def paths_by_gcc_with_2_threads(directory):
    check_paths(directory, "gcc", 2)


@tap.case
def paths_by_gcc_with_5_threads(directory):
    check_paths(directory, "gcc", 5)


@tap.case
def paths_of_many_threads(directory):
    check_paths(directory, "clang", 64)


def check_nested(directory, compiler):
    run = Measurement(directory, build("nested_regions.c", compiler), options=EVENT)
    assert run.done.stdout == "done\n", run.done
    nodes = run.tree()
    sums_hold(nodes)
    no_runtime(nodes)
    near(work_of(nodes, "leaf_work"), 0.8, SHARE, "leaf_work")
    near(work_of(nodes, "middle_work"), 0.4, SHARE, "middle_work")
    for node in nodes:
        if node.name == "leaf_work":
            path = node.path()
            kinds = [above.kind for above in (node.parent, node.parent.parent.parent)]
            assert path[0:2] == ["main", "outer_caller"] and path[3] == "middle_caller", path
            assert kinds == ["parallel", "parallel"] and len(path) == 6, path


@tap.case
def nested_regions_by_clang(directory):
    check_nested(directory, "clang")


@tap.case
def nested_regions_by_gcc(directory):
    check_nested(directory, "gcc")


def check_jumps(directory, compiler, constructs, modes):
    """Optimised, each construct here is the last act of the function around it, which jumps there and leaves no frame."""
    source = """
#include <omp.h>
#include "leaf_work.h"
NOINLINE void creator(void)
{
CONSTRUCTS
  leaf_work(0.02);
}
int main(void)
{
  omp_set_max_active_levels(3);
  creator();
  return 0;
}
""".replace("CONSTRUCTS", "\n".join(f"#pragma omp {construct}" for construct in constructs))
    lines = {number: line.split()[2].replace("teams", "parallel")
             for number, line in enumerate(source.split("\n"), 1) if "#pragma" in line}
    threads = math.prod(int(number) for number in re.findall(r"num_\w+\((\d)\)", " ".join(constructs)))
    for level in ("-O0", "-O2"):
        program = tap.compile_c(directory, "jumps" + level, source, "-fopenmp", level, compiler=compiler)
        expected = [f"{kind} @ jumps{level}.c:{line}" for line, kind in lines.items()]
        for mode in modes:
            run = Measurement(directory, program, options=(*EVENT, *mode))
            nodes = run.tree()
            sums_hold(nodes)
            no_runtime(nodes)
            leaves = [node for node in nodes if node.name == "leaf_work"]
            near(sum(node.value("work_incl_s") for node in leaves), 0.02 * threads, 2 * SHARE, f"work {level} {mode}")
            for node in leaves:
                places = [re.sub(r" \[.*", "", name) for name in node.path()]
                assert places == ["main", "creator", *expected, "leaf_work"], (level, mode, node.path())
            found = {row["line"] for row in run.view("parallelism") if row["kind"] == "parallel"}
            regions = {str(line) for line, kind in lines.items() if kind == "parallel"}
            assert "off" in mode or found == regions, (level, found)


REGION = "parallel num_threads(2)"


@tap.case
def regions_entered_by_jumps_by_gcc(directory):
    check_jumps(directory, "gcc", [REGION] * 3, [("-p", "off"), ("-p", "online")])


@tap.case
def regions_entered_by_jumps_by_clang(directory):
    check_jumps(directory, "clang", [REGION] * 3, [("-p", "off"), ("-p", "online")])


@tap.case
def regions_entered_by_jumps_from_teams(directory):
    check_jumps(directory, "clang", ["teams num_teams(2)", "parallel num_threads(1)"], [("-p", "off")])


@tap.case
def jumps_from_tasks_by_gcc(directory):
    check_jumps(directory, "gcc", [REGION, "task", "task", REGION, REGION], [("--task-context", "creation")])
    check_jumps(directory, "gcc", [REGION, "task if(0)", REGION, REGION], [("-p", "off"), ("-p", "online")])


@tap.case
def jumps_from_tasks_by_clang(directory):
    check_jumps(directory, "clang", [REGION, "task", "task", REGION, REGION], [("--task-context", "creation")])


def check_tasks(directory, compiler):
    run = Measurement(directory, build("created_tasks.c", compiler), options=EVENT, OMP_NUM_THREADS="3")
    nodes = run.tree()
    sums_hold(nodes)
    no_runtime(nodes)
    near(work_of(nodes, "task_work"), 0.4, SHARE, "task_work")
    near(work_of(nodes, "waiting_work"), 0.1, 2 * SHARE, "waiting_work")  # 200 samples
    for node in nodes:
        path = node.path()
        if node.name == "task_work":
            assert node.parent.kind == "task" and node.parent.parent.kind == "parallel", path
            assert "created_tasks.c:" in node.parent.name, path
            assert path[0:2] == ["main", "creator"] and len(path) == 5, path
        if node.name == "waiting_work":
            assert node.parent.kind == "parallel", path
    idle = sum(float(row[column]) for row in run.threads() for column in ("idle_s", "core_wait_s", "waiting_no_core_s"))
    tap.timed(idle >= 0.15, f"two of three threads wait 0.1 s for waiting_work: {idle}")


@tap.case
def tasks_by_clang(directory):
    check_tasks(directory, "clang")


@tap.case
def tasks_by_gcc(directory):
    check_tasks(directory, "gcc")


def check_creation(directory, compiler):
    """A task is shown below the code that created it, also through other tasks; a recursive task is shown once."""
    region = f"parallel @ task_creators.c:{line_of('task_creators.c', '#pragma omp parallel')}"
    run = Measurement(directory, build("task_creators.c", compiler),
                      options=("-e", "task-clock@f1000", "--task-context", "creation"))
    assert run.done.stdout == "256 leaves\n" and "unknown origin" not in run.done.stderr, run.done
    nodes = run.tree()
    sums_hold(nodes)
    no_runtime(nodes)
    near(work_of(nodes, "leaf", "make_through_task"), 0.2, 2 * SHARE, "leaf created by a task")  # 200 samples
    near(work_of(nodes, "leaf", "make_leaf"), 0.6, SHARE, "leaf created by all")
    near(work_of(nodes, "leaf", "recurse"), 0.256, 2 * SHARE, "leaf at the end of the recursion")
    for node in nodes:
        path, kinds = node.path(), []
        above = node
        while above:
            kinds.append(above.kind)
            above = above.parent
        if node.name == "leaf" and "make_through_task" in path:
            assert path[0] == "main" and path[1].startswith(region) and kinds.count("task") == 2, path
            assert path.index("create_all") < path.index("make_through_task") < path.index("make_leaf"), path
        elif node.name == "leaf" and "make_leaf" in path:
            assert kinds.count("task") == 1 and "create_all" in path, path
        elif node.name == "leaf":
            # recurse() calls itself 8 deep at most.  Of its tasks, each created by another, one is shown; another task
            # prints the sum.
            assert kinds.count("task") <= 2 and path.count("recurse") <= 2 * 9 and "create_all" in path, path


@tap.case
def task_creation_by_clang(directory):
    check_creation(directory, "clang")


@tap.case
def task_creation_by_gcc(directory):
    check_creation(directory, "gcc")


def check_depth(directory, compiler, *options):
    # Each task is run within the wait of its creator, so that the stack has thousands of frames.
    source = """
#include "burn.h"
void walk(int depth)
{
  if (!depth)
    return;
#pragma omp task
  walk(depth - 1);
  burn(0.0002);
#pragma omp taskwait
}
int main(void)
{
#pragma omp parallel
#pragma omp single
  walk(1500);
  return 0;
}
"""
    program = tap.compile_c(directory, "deep", source, "-fopenmp", compiler=compiler)
    run = Measurement(directory, program, options=("-e", "task-clock@f1000", *options), OMP_NUM_THREADS="2")
    nodes = run.tree()
    no_runtime(nodes)
    near(work_of(nodes, "walk"), 0.3, SHARE, "walk")
    cut = sum(node.value("work_incl_s") for node in nodes if node.kind == "partial")
    tap.timed(cut < 0.01, (cut, run.done.stderr))
    for node in nodes:
        if node.name == "walk" and node.value("work_excl_s") > 0.05:
            path = node.path()
            assert path[0] == "main" and node.parent.kind == "task" and node.parent.parent.kind == "parallel", path


@tap.case
def deep_recursion_of_tasks_by_gcc(directory):
    check_depth(directory, "gcc")


@tap.case
def deep_recursion_of_tasks_by_clang(directory):
    check_depth(directory, "clang", "-p", "off")


def check_creator(directory, compiler):
    # Optimised, creator() jumps into the runtime and has no frame: only the call instruction in main() shows it.
    nodes = Measurement(directory, build("created_tasks.c", compiler, "-O2"), OMP_NUM_THREADS="2").tree()
    sums_hold(nodes)
    paths = [node.path() for node in nodes if node.name == "task_work"]
    assert paths and all(path[0:2] == ["main", "creator"] for path in paths), paths


@tap.case
def creators_without_a_frame_by_gcc(directory):
    check_creator(directory, "gcc")


@tap.case
def creators_without_a_frame_by_clang(directory):
    check_creator(directory, "clang")


@tap.case
def a_stub_of_the_runtime_is_overhead(directory):
    # As in a procedure linkage table, but slow, because its target has to be read from memory each time: 2 % of all
    # samples are in it.
    source = r"""
#include <omp.h>
#include "burn.h"
__asm__(".data\n .p2align 12\n place: .quad omp_get_level\n .p2align 12\n"
        ".text\n .p2align 4\n .type stub, @function\n stub: jmp *place(%rip)\n .size stub, . - stub\n");
extern long place;
int stub(void);
int main(void)
{
  int sum = 0;
  for (double end = burn_clock() + 0.5; burn_clock() < end;)
    for (int i = 0; i < 1000; i++) {
      __builtin_ia32_clflush(&place);
      __builtin_ia32_mfence();
      sum += stub();
    }
  return sum;
}
"""
    nodes = Measurement(directory, tap.compile_c(directory, "stub", source, "-fopenmp")).tree()
    tap.timed(nodes[0].value("overhead_incl_s") > 0.1, nodes[0].row)
    assert not [node.path() for node in nodes if node.name == "stub"]


@tap.case
def functions_of_the_kernel_in_the_process_have_names(directory):
    """The image of the vdso is that of the measured program while the kernel is the same."""
    source = r"""
#include <time.h>
int main(void)
{
  struct timespec now;
  for (int i = 0; i < 5000000; i++)
    clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec < 0;
}
"""
    measured = Measurement(directory, tap.compile_c(directory, "now", source), options=("-e", "task-clock@f1000"))
    nodes = [node for node in measured.tree() if node.row["module"] == "linux-vdso.so.1"]
    assert nodes and all("+0x" not in node.name for node in nodes), [node.path() for node in nodes]
    assert any(node.name.endswith("clock_gettime") for node in nodes), [node.path() for node in nodes]


@tap.case
def a_clock_that_the_runtime_reads_is_overhead(directory):
    """omp_get_wtime() of libomp calls the kernel's code in the process (the vdso), with no function of libc between.  In
    GCC's combined loops, libomp does not tell where it has called the program."""
    source = r"""
#include <omp.h>
int main(void)
{
  double last = 0;
#pragma omp parallel for schedule(dynamic) num_threads(2) lastprivate(last)
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 10000000; j++)
      last = omp_get_wtime();
  return last < 0;
}
"""
    program = tap.compile_c(directory, "clock", source, "-fopenmp")
    nodes = Measurement(directory, program, options=("--omp-runtime", "exchange")).tree()
    # The loop itself, some instructions beside each call, is the program's work.
    overhead, work = (nodes[0].value(column) for column in ("overhead_incl_s", "work_incl_s"))
    tap.timed(overhead > 2 * work, nodes[0].row)
    assert not [node.path() for node in nodes if node.row["kind"] == "task" or "vdso" in node.row["module"]]


@tap.case
def wall_sampling_sees_both_times(directory):
    run = Measurement(directory, build("known_paths.c", "clang"), options=("-e", "wall@f1000"), OMP_NUM_THREADS="2")
    nodes = run.tree()
    sums_hold(nodes)
    # Elapsed time is at least the CPU time, and at most the lifetime of all threads.
    wall = sum(float(row["wall_s"]) for row in run.threads())
    tap.timed(0.8 * (1 - SHARE) < work_of(nodes, "kernel") < wall, (work_of(nodes, "kernel"), wall))


@tap.case
def nested_regions_on_every_libomp(directory):
    program = build("nested_regions.c", "clang", "-DPART=0.5")
    for library in need_libomps():
        run = Measurement(directory, program, options=(*EVENT, "--omp-runtime", library))
        nodes = run.tree()
        near(work_of(nodes, "leaf_work", "middle_caller"), 0.4, SHARE, f"leaf_work on {library}")
        assert work_of(nodes, "leaf_work") == work_of(nodes, "leaf_work", "outer_caller")


def check_direct_calls(directory, compiler):
    # For these constructs the compiler's code, not the runtime, calls the body: the exit frame of the task is not among
    # the frames of the runtime.
    source = """
#include <omp.h>
#include "burn.h"
__attribute__((noinline)) double in_loop(void) { return burn(0.01) + 1; }
__attribute__((noinline)) double in_task(void) { return burn(0.01) + 2; }
void loops(void)
{
#pragma omp parallel for schedule(dynamic) num_threads(2)
  for (int i = 0; i < 30; i++)
    in_loop();
#pragma omp parallel for schedule(guided) num_threads(2)
  for (int i = 0; i < 30; i++)
    in_loop();
}
void tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 30; i++) {
#pragma omp task if (0)
    in_task();
  }
}
int main(void) { loops(); tasks(); return 0; }
"""
    for level in ("-O0", "-O2"):
        program = tap.compile_c(directory, "direct" + level, source, "-fopenmp", level, compiler=compiler)
        nodes = Measurement(directory, program, options=EVENT).tree()
        sums_hold(nodes)
        no_runtime(nodes)
        near(work_of(nodes, "in_loop", "loops"), 0.6, SHARE, f"in_loop {level}")
        near(work_of(nodes, "in_task", "tasks"), 0.3, SHARE, f"in_task {level}")
        tap.timed(nodes[0].value("overhead_incl_s") < 0.05, nodes[0].row)


@tap.case
def regions_of_gcc_before_4_9(directory):
    """Such code enters a region by one call, calls its function itself, and ends the region by another call."""
    source = """
void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_end(void);
#include "leaf_work.h"
static void region(void *unused)
{
  leaf_work(0.15);
  __asm__ volatile("" : : "r"(unused));
}
__attribute__((noinline)) void creator(void)
{
  GOMP_parallel_start(region, 0, 2);
  region(0);
  GOMP_parallel_end();
}
int main(void)
{
  creator();
  creator();
  return 0;
}
"""
    for level in ("-O0", "-O1"):
        program = tap.compile_c(directory, "old" + level, source, "-fopenmp", level, "-fno-inline")
        for mode in ("off", "online"):
            nodes = Measurement(directory, program, options=(*EVENT, "-p", mode)).tree()
            sums_hold(nodes)
            near(work_of(nodes, "leaf_work", "creator"), 0.6, SHARE, f"{level} -p {mode}")
            outside = [node.path() for node in nodes if node.name == "leaf_work"
                       and not re.search("creator / parallel @ [^/]* / region / leaf_work$", " / ".join(node.path()))]
            assert not outside, outside


@tap.case
def code_called_directly_by_gcc(directory):
    check_direct_calls(directory, "gcc")


@tap.case
def code_called_directly_by_clang(directory):
    check_direct_calls(directory, "clang")


@tap.case
def a_program_as_periodic_as_the_sampling(directory):
    # It alternates 1 ms in one part and 1.5 ms in another.  Samples at exactly every 2.5 ms would find it always in one
    # part.
    source = """
#include "burn.h"
static double now;
__attribute__((noinline)) double until(double end) { return burn(end - now) + 1; }
__attribute__((noinline)) void part_a(double end) { until(end); now = burn_clock(); __asm__ volatile(""); }
__attribute__((noinline)) void part_b(double end) { until(end); now = burn_clock(); __asm__ volatile("" ::: "memory"); }
int main(void)
{
  double start = now = burn_clock();
  for (int i = 0; i < 600; i++) {
    part_a(start + i * 2.5e-3 + 1e-3);
    part_b(start + i * 2.5e-3 + 2.5e-3);
  }
  return 0;
}
"""
    program = tap.compile_c(directory, "steps", source)
    nodes = Measurement(directory, program, options=("-e", "task-clock@f400")).tree()
    near(work_of(nodes, "part_a"), 0.6, 0.25, "part_a")  # 240 samples, 6 %: four times
    near(work_of(nodes, "part_b"), 0.9, 0.25, "part_b")


@tap.case
def a_truncated_file_is_read_up_to_its_end(directory):
    run = Measurement(directory, build("known_paths.c", "clang"), options=EVENT, OMP_NUM_THREADS="4")
    whole = run.tree()[0].value("work_incl_s")
    name = next(name for name in os.listdir(run.output) if name.endswith(".hpcrun"))
    path = os.path.join(run.output, name)
    os.truncate(path, os.path.getsize(path) * 9 // 10)
    done = report("--view", "topdown", "-f", "csv", run.output)
    assert done.returncode == 1 and "cut off" in done.stderr, done
    rows = table(done.stdout)
    tap.timed(0.4 * whole < float(rows[0]["work_incl_s"]) < whole, (rows[0], whole))
    assert any(row["name"] == "kernel" for row in rows)


@tap.case
def taking_a_nested_lock_again_is_not_waiting(directory):
    source = """
#include <omp.h>
#include "burn.h"
int main(void)
{
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  omp_set_nest_lock(&lock);
  omp_set_nest_lock(&lock);
  burn(0.5);
  return 0;
}
"""
    program = tap.compile_c(directory, "again", source, "-fopenmp", compiler="clang")
    run = Measurement(directory, program)
    near(work_of(run.tree(), "main"), 0.5, SHARE, "main")
    tap.timed(float(run.threads()[0]["lockwait_s"]) < 0.01, run.threads())


@tap.case
def a_contended_lock_is_waited_for(directory):
    source = """
#include <omp.h>
#include "burn.h"
int main(void)
{
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 10; i++) {
#pragma omp critical
    burn(0.03);
  }
  return 0;
}
"""
    program = tap.compile_c(directory, "contended", source, "-fopenmp", compiler="clang")
    run = Measurement(directory, program)
    waited, ready = (sum(float(row[column]) for row in run.threads() for column in columns)
                     for columns in (("lockwait_s",), ("core_wait_s", "waiting_no_core_s")))
    elapsed = max(float(row["wall_s"]) for row in run.threads())
    # one of two always waits, except at the end; on a busy machine for a core
    tap.timed(0.3 * elapsed - ready < waited < 1.1 * elapsed, (waited, elapsed, ready))


@tap.case
def several_events_at_once(directory):
    run = Measurement(directory, build("known_paths.c", "clang"),
                      options=("-e", "task-clock@f1000", "-e", "cpu-clock@f1000", "-e", "page-faults@10", "-e",
                               "wall@f400"), OMP_NUM_THREADS="2")
    nodes = run.tree()
    near(work_of(nodes, "kernel"), 0.8, SHARE, "kernel")
    # The other clock of CPU time also counts the time that waiting threads spin.
    cpu = sum(float(row["cpu_s"]) for row in run.threads())
    tap.timed(0.95 * nodes[0].value("work_incl_s") < nodes[0].value("cpu-clock_incl") < 1.05 * cpu, (nodes[0].row, cpu))
    tap.timed(nodes[0].value("page-faults_incl") > 0 and nodes[0].value("wall_incl") > 0.5, nodes[0].row)


tap.main()
