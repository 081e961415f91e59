"""Times of constructs: the examples of ompP's paper, and programs with known sleeps; sums that must hold in any program;
counts against an independent OMPT tool.

Usage: construct_times.py [-k CASE]"""
import collections
import functools
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, combinations, libomps, near, openmp_flags, tap

UNIT = 0.04
OPTIONS = ("-e", "task-clock@f50")  # samples are not needed
COMPILERS = ("gcc", "clang")
COLUMNS = ("body_s", "enter_s", "exit_s", "exit_barrier_s", "startup_s", "shutdown_s", "task_s", "section_s", "single_s")


def number(text):
    return float(text) if text else 0.0


class Constructs:
    """The rows of the views of constructs of one run."""

    def __init__(self, directory, *command, options=OPTIONS, status=0, **settings):
        self.run = Measurement(directory, *command, options=options, **settings)
        assert self.run.done.returncode == status, self.run.done
        with ThreadPoolExecutor(2) as pool:
            self.regions, self.tree, self.overheads = pool.map(self.run.view, ("regions", "region-tree", "overheads"))

    def row(self, kind, thread="SUM", name=None):
        """The only row of a kind of construct."""
        found = [row for row in self.regions if row["kind"] == kind and row["thread"] == thread
                 and name in (None, row["name"])]
        assert len(found) == 1, (kind, thread, found)
        return found[0]

    def threads(self, kind):
        """Its rows of single threads."""
        return [row for row in self.regions if row["kind"] == kind and row["thread"] != "SUM"]

    def parents(self, kind):
        """The kinds of the constructs around those of a kind in the tree."""
        kinds = {row["id"]: row["kind"] for row in self.tree}
        return {kinds[row["parent_id"]] for row in self.tree if row["kind"] == kind}

    def overhead(self, kind="program"):
        return next(row for row in self.overheads if row["kind"] == kind)

    @functools.cached_property
    def delays(self):
        """How much longer the threads may wait in all, because one of them had no core."""
        rows = self.run.threads()
        return len(rows) * sum(number(row["core_wait_s"]) for row in rows)

    def about(self, value, units, what):
        """The value is so many units, within the time that a thread may need to wake up."""
        off = float(value) - units * UNIT
        tap.timed(-0.1 * units * UNIT <= off < 0.25 * UNIT + 0.05 * units * UNIT + self.delays,
                  f"{what}: {value} of {units} units")


def check_sums(constructs):
    """What holds in every run."""
    by_region = collections.defaultdict(list)
    for row in constructs.regions:
        parts = sum(number(row[column]) for column in COLUMNS)
        assert abs(number(row["exec_s"]) - parts) < 1e-6, row
        assert all(number(row[column]) >= 0 for column in COLUMNS), row
        by_region[row["region"]].append(row)
    for rows in by_region.values():
        total = next(row for row in rows if row["thread"] == "SUM")
        for column in ("exec_s", "exec_count", *COLUMNS):
            parts = sum(number(row[column]) for row in rows if row is not total)
            assert abs(number(total[column]) - parts) < 1e-6 * len(rows), (column, total)
    for row in constructs.overheads:
        losses = sum(number(row[column]) for column in ("sync_s", "imbalance_s", "limited_parallelism_s", "management_s"))
        if row["kind"] != "program":
            assert abs(number(row["total_s"]) - number(row["useful_s"]) - losses) < 1e-6, row
        assert number(row["useful_s"]) >= 0 and losses <= number(row["total_s"]) + 1e-6, row


def each(compilers=COMPILERS):
    for compiler in compilers:
        yield build("construct_times.c", compiler)


@tap.case
def a_critical_section_of_four_threads(directory):
    for program in each():
        constructs = Constructs(directory, program, "critical", "4")
        check_sums(constructs)
        total, threads = constructs.row("critical"), constructs.threads("critical")
        for waited, row in enumerate(sorted(threads, key=lambda row: float(row["enter_s"]))):
            constructs.about(row["enter_s"], waited, "enter")
            constructs.about(row["body_s"], 1, "body")
            assert row["exec_count"] == "1", row
        constructs.about(total["enter_s"], 6, "all enter")
        constructs.about(total["exec_s"], 10, "all")
        assert (total["executions"], total["exit_s"]) == ("4", ""), total
        overhead = constructs.overhead("parallel")
        constructs.about(overhead["sync_s"], 6, "synchronisation")
        constructs.about(overhead["imbalance_s"], 6, "imbalance")
        constructs.about(overhead["total_s"], 16, "all of the region")


@tap.case
def tasks_run_in_the_closing_barrier(directory):
    for program in each():
        constructs = Constructs(directory, program, "tasks", "2")
        check_sums(constructs)
        total, threads = constructs.row("parallel"), constructs.threads("parallel")
        constructs.about(total["exec_s"], 6, "the region")
        more, fewer = sorted(threads, key=lambda row: -float(row["task_s"]))
        constructs.about(more["task_s"], 3, "three tasks")
        constructs.about(more["exit_barrier_s"], 0, "no waiting")
        constructs.about(fewer["task_s"], 2, "two tasks")
        constructs.about(fewer["exit_barrier_s"], 1, "waiting for the third")
        assert constructs.parents("task-exec") == {"parallel"}, constructs.tree
        overhead = constructs.overhead("parallel")
        constructs.about(overhead["imbalance_s"], 1, "imbalance")
        near(float(overhead["imbalance_pct"]), 100 * float(overhead["imbalance_s"]) / float(overhead["total_s"]), 1e-3,
             "imbalance in percent")
        assert (overhead["limited_parallelism_s"], overhead["sync_s"]) == ("0.000000000",) * 2, overhead
        constructs.about(overhead["useful_s"], 5, "useful")
        near(float(overhead["gain_s"]), (float(overhead["total_s"]) - float(overhead["useful_s"])) / 2, 1e-6, "gain")
        assert constructs.row("task")["exec_count"] == constructs.row("task-exec")["exec_count"] == "5"


@tap.case
def undeferred_tasks_run_where_they_are_created(directory):
    for program in each():
        constructs = Constructs(directory, program, "undeferred", "2")
        check_sums(constructs)
        assert constructs.parents("task-exec") == {"task"}, constructs.tree
        assert [row["exec_count"] for row in constructs.threads("task-exec")] == ["5"], constructs.threads("task-exec")
        constructs.about(constructs.overhead("parallel")["imbalance_s"], 5, "imbalance")
        tasks = constructs.run.view("tasks")
        assert [(row["instances"], row["undeferred"]) for row in tasks] == [("5", "5")], tasks


@tap.case
def untied_tasks_are_followed_from_thread_to_thread(directory):
    for program in each():
        constructs = Constructs(directory, program, "untied", "2")
        check_sums(constructs)
        constructs.about(constructs.row("task-exec")["body_s"], 6, "running")
        row, = constructs.run.view("tasks")
        assert (row["instances"], row["untied"]) == ("2", "2"), row
        constructs.about(row["exec_mean_s"], 3, "a task")
        constructs.about(row["exec_min_s"], 3, "the shortest")


@tap.case
def untied_tasks_that_go_on_in_a_taskgroup_have_their_own_rows(directory):
    for program in each():
        constructs = Constructs(directory, program, "untied_in_groups", "3")
        check_sums(constructs)
        counts = collections.Counter()
        for row in constructs.regions:
            if row["thread"] == "SUM" and row["kind"] in ("task", "task-exec", "taskgroup"):
                assert row["file"] and row["exec_count"], row
                counts[row["kind"], row["line"]] += int(row["exec_count"])
        assert sorted(counts.values()) == [200] * 5, counts
        assert [row["instances"] for row in constructs.run.view("tasks")] == ["200", "200"]


@tap.case
def worksharing_waits_at_its_own_barrier(directory):
    for program, threads in combinations(list(each()), (2, 4)):
        constructs = Constructs(directory, program, "loops", str(threads))
        check_sums(constructs)
        waits = threads * (threads - 1) / 2
        if "clang" in os.path.basename(program):
            static, dynamic = (row for row in constructs.regions if row["kind"] == "for" and row["thread"] == "SUM")
            constructs.about(static["body_s"], waits, "body")
            constructs.about(static["exit_barrier_s"], waits, "exit barrier")
        else:
            dynamic = constructs.row("for")
        assert (dynamic["exec_count"], dynamic["executions"]) == (str(threads), "1"), dynamic
        constructs.about(dynamic["body_s"], threads, "body")
        single, sections = constructs.row("single"), constructs.row("sections")
        assert single["single_count"] == "1" and single["executions"] == "1", single
        constructs.about(single["single_s"], 1, "the block")
        constructs.about(single["exit_barrier_s"], threads - 1, "the others")
        constructs.about(sections["section_s"], 1, "the section")
        constructs.about(sections["exit_barrier_s"], threads - 1, "the others")
        overhead = constructs.overhead("parallel")
        constructs.about(overhead["limited_parallelism_s"], 2 * (threads - 1), "limited parallelism")


@tap.case
def tasks_inside_taskwaits_count_once(directory):
    for program in each():
        constructs = Constructs(directory, program, "nested_waits", "2")
        check_sums(constructs)
        rows = [row for row in constructs.regions if row["kind"] == "task-exec" and row["thread"] == "SUM"]
        assert len(rows) == 3 and all(row["exec_count"] == "1" for row in rows), rows
        overhead = constructs.overhead("parallel")
        constructs.about(overhead["useful_s"], 3, "useful")
        constructs.about(overhead["total_s"], 6, "all")


@tap.case
def locks_are_held_hand_over_hand(directory):
    for program in each():
        constructs = Constructs(directory, program, "locks", "3")
        check_sums(constructs)
        first, second = (row for row in constructs.regions if row["kind"] == "lock" and row["thread"] == "SUM")
        if float(first["body_s"]) < float(second["body_s"]):
            first, second = second, first
        assert (first["exec_count"], second["exec_count"]) == ("3", "3"), (first, second)
        constructs.about(second["body_s"], 3, "the second lock")


@tap.case
def teams_that_change_size_have_whole_executions(directory):
    for program in each():
        constructs = Constructs(directory, program, "teams_of_sizes", "4")
        check_sums(constructs)
        assert (constructs.row("parallel")["exec_count"], constructs.row("parallel")["executions"]) == ("30", "12")
        by_thread = {row["thread"]: row for row in constructs.threads("parallel")}
        means = [float(row["exec_s"]) / int(row["exec_count"]) for row in by_thread.values()]
        tap.timed(max(means) < 1.6 * min(means) + constructs.delays, means)


@tap.case
def a_taskgroup_around_a_taskloop_is_a_construct(directory):
    for program in each():
        constructs = Constructs(directory, program, "group_around_taskloop", "2")
        check_sums(constructs)
        group, loop = constructs.row("taskgroup"), constructs.row("taskloop")
        assert (group["executions"], loop["executions"]) == ("3", "3"), constructs.regions
        constructs.about(group["body_s"], 3, "body of the taskgroup")


@tap.case
def a_barrier_after_a_taskgroup_is_not_that_of_a_single_construct_in_it(directory):
    for program, threads in combinations(list(each()), (2, 4)):
        constructs = Constructs(directory, program, "single_in_a_taskgroup", str(threads))
        check_sums(constructs)
        barrier, single = constructs.row("barrier"), constructs.row("single")
        assert (barrier["exec_count"], barrier["executions"]) == (str(threads), "1"), barrier
        assert number(single["exit_barrier_s"]) == 0 and single["single_count"] == "1", single
        assert number(constructs.overhead("parallel")["limited_parallelism_s"]) == 0, constructs.overheads


@tap.case
def a_taskwait_shows_that_a_single_construct_of_another_thread_has_ended(directory):
    """In GCC's code, the taskwait of the thread that executes the block could be a part of it."""
    for program, threads in combinations(list(each()), (2, 4)):
        constructs = Constructs(directory, program, "single_before_a_taskwait", str(threads))
        check_sums(constructs)
        unknown = "gcc" in os.path.basename(program)
        assert constructs.row("barrier")["exec_count"] == str(threads - unknown), constructs.regions
        waits = [number(row["exit_barrier_s"]) for row in constructs.threads("single") if row["single_count"] == "0"]
        assert len(waits) == threads - 1 and not any(waits), constructs.regions


@tap.case
def the_first_tasks_of_many_threads_take_as_long_as_they_say(directory):
    """Each thread needs memory for them, at the same time as all others."""
    for program in each():
        constructs = Constructs(directory, program, "first_tasks", "256")
        check_sums(constructs)
        inside = float(constructs.run.done.stdout)
        task, = constructs.run.view("tasks")
        assert task["instances"] == "256" and float(task["exec_s"]) >= inside - 1e-3, (task, inside)
        near(float(task["exec_s"]), inside, 0.02, program)


@tap.case
def a_lock_may_be_held_at_the_end(directory):
    for program in each():
        constructs = Constructs(directory, program, "held_at_the_end", "2")
        constructs.about(constructs.row("lock")["body_s"], 1, "body of the lock")


@tap.case
def a_worker_of_a_killed_process_waits_outside_regions(directory):
    for program in each():
        constructs = Constructs(directory, program, "killed_in_serial_code", "2", status=-signal.SIGKILL)
        check_sums(constructs)
        taken = float(constructs.row("parallel")["exec_s"])
        # 1.5 and the first region's start; with the serial code it would be 11.5
        tap.timed(1.5 * UNIT <= taken < 9 * UNIT + constructs.delays, taken)


@tap.case
def the_end_of_a_larger_team_is_known(directory):
    for program in each(("clang",)):
        constructs = Constructs(directory, program, "smaller_teams", "3")
        check_sums(constructs)
        assert not any("end was not seen" in row["note"] for row in constructs.regions), constructs.regions


@tap.case
def regions_of_several_threads_have_one_row(directory):
    for program in each():
        constructs = Constructs(directory, program, "guests", "2")
        check_sums(constructs)
        inner = [row for row in constructs.regions if row["kind"] == "parallel" and row["thread"] == "SUM"]
        assert sorted((row["exec_count"], row["executions"]) for row in inner) == [("2", "1"), ("6", "3")], inner


@tap.case
def constructs_at_the_end_of_code_have_one_row(directory):
    constructs = Constructs(directory, build("construct_times.c", "clang", "-O2"), "at_ends", "3")
    check_sums(constructs)
    for kind in ("barrier", "taskwait"):
        rows = [constructs.row(kind), *constructs.threads(kind)]
        assert [int(row["exec_count"]) for row in rows] == [30, 10, 10, 10] and rows[0]["name"] == "at_ends", rows


@tap.case
def barriers_after_critical_sections_are_counted(directory):
    for program in each():
        constructs = Constructs(directory, program, "criticals_before_barriers", "4", OMP_WAIT_POLICY="passive")
        check_sums(constructs)
        assert {row["exec_count"] for row in constructs.threads("barrier")} == {"10000"}, constructs.regions


def random_programs():
    for seed in range(40 if "--long" in sys.argv[1:] else 6):
        yield str(seed)


@tap.case
def sums_hold_in_random_programs(directory):
    for compiler, seed in combinations(COMPILERS, list(random_programs())):
        program = build(os.path.join("..", "span", "random_form.c"), compiler, name=f"random_form-{compiler}")
        constructs = Constructs(directory, program, seed, "3")
        check_sums(constructs)
        lived = {}
        for row in constructs.run.threads():
            lived[row["thread"]] = float(row["wall_s"])
        spent = collections.Counter()
        for row in constructs.tree:
            spent[row["thread"]] += number(row["excl_s"])
        for thread, seconds in spent.items():
            if thread in lived:
                assert seconds <= lived[thread] + 0.001, (thread, seconds, lived[thread])


@tap.case
def counts_equal_those_of_another_tool(directory):
    counter = build("construct_counter.c", "gcc", "-shared", "-fPIC", "-I" + tap.SOURCE, name="counter.so", openmp=False)
    programs = [(build(os.path.join("..", "span", "random_form.c"), "clang", name="random_form-clang"), seed, "3")
                for seed in random_programs()]
    for library, command in combinations(libomps(), programs):
        settings = {"LD_LIBRARY_PATH": os.path.dirname(library), "OMP_CANCELLATION": "true"}
        path = os.path.join(directory, "counts")
        tap.must(*command, cwd=directory, OMP_TOOL_LIBRARIES=counter, CONSTRUCT_COUNTS=path, **settings)
        with open(path, encoding="ascii") as file:
            expected = {kind: int(value) for kind, value in map(str.split, file)}
        constructs = Constructs(directory, *command, options=(*OPTIONS, "--omp-runtime", "keep"), **settings)
        found = collections.Counter()
        for row in constructs.regions:
            if row["thread"] == "SUM":
                found[row["kind"]] += int(row["exec_count"])
        expected["taskgroup"] -= expected["taskloop"]  # a taskloop's own
        assert {kind: found[kind] for kind in expected} == expected, (library, command[1:], found)


LIVES = """
#include "hpcrun-lite.h"
#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *foreign(void *unused) { usleep(30000); return unused; }
static void regions(void)
{
#pragma omp parallel num_threads(2)
  { usleep(5000);
#pragma omp critical
    usleep(3000); }
}
int main(void)
{
  pthread_t thread;
  int status;
  pid_t child = fork();
  if (child == 0) { regions(); return 0; }
  waitpid(child, &status, 0);
  pthread_create(&thread, NULL, foreign, NULL);
  regions();
  hpcrun_lite_stop();
  regions();
  hpcrun_lite_start();
  regions();
  pthread_join(thread, NULL);
  return status;
}
"""


# seconds: a pause is longer, but a thread may lose its core between two readings of the clock
SWITCHED_OUT = 0.004


@tap.case
def the_region_tree_is_the_threads_lives(directory):
    """Without the pauses of measuring, and without threads that never enter a region; also of a forked child."""
    for compiler in COMPILERS:
        place = os.path.join(directory, compiler)
        os.mkdir(place)
        tap.need_program(compiler)
        program = tap.compile_c(place, "lives", LIVES, *openmp_flags(compiler), "-I", tap.INCLUDE, "-lpthread", "-ldl",
                                compiler=compiler)
        constructs = Constructs(place, program)
        found = collections.Counter()
        for row in constructs.run.view("region-tree"):
            found[row["thread"]] += float(row["excl_s"])
        threads = dict(enumerate(constructs.run.view("threads"), 1))
        assert len(threads) == 5 and len(found) == 5, (threads, found)  # SUM, and not the foreign one
        for thread in set(found) - {"SUM"}:
            row = threads[int(thread)]
            life = float(row["wall_s"]) - number(row["paused_s"])
            tap.timed(abs(found[thread] - life) < SWITCHED_OUT, (compiler, thread, found, row))
        assert abs(found["SUM"] - sum(found[thread] for thread in set(found) - {"SUM"})) < 5e-6, found
        assert any(number(row["paused_s"]) > 0.01 for row in threads.values()), threads


tap.main()
