"""Idleness is charged to the code that causes it: serial code, heavy threads and lone workers, compared with closed
forms.

The parts of a program burn a known CPU time.  A sample is taken every 0.5 ms of it: a part of 60 ms has 120 samples,
and one more or less at either end is 2 %.  Where one of T threads works, each of its samples carries T - 1 times its
own time as idleness.  So the ratio of idleness to work has no sampling error, except at the moments when threads begin
or stop waiting.
"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import (Measurement, build, clocks, combinations, idleness_of, libomps, near, no_losses, sums_hold, tap,
                      work_of)

EVENT = ("-e", "task-clock@f2000")
KINDS = ("barrier", "region_end", "for", "dynamic", "sections", "single", "copyprivate", "reduction", "taskwait",
         "taskgroup", "taskwait_depend", "helping_taskwait", "helping_taskgroup", "taskloop")


class Blamed:
    """A run of one mode of idleness.c: the program's own clocks, and the tree and threads of the report."""

    def __init__(self, directory, mode, compiler, threads, policy="passive", options=(), **settings):
        self.run = Measurement(directory, build("idleness.c", compiler), mode, options=(*EVENT, *options),
                               OMP_NUM_THREADS=str(threads),
                               OMP_WAIT_POLICY=policy, **settings)
        assert self.run.done.returncode == 0, self.run.done
        self.clocks = clocks(self.run.done.stdout)
        self.nodes, self.rows = self.run.tree(), self.run.threads()
        self.threads, self.what = threads, f"{mode} by {compiler}, {threads} threads, {policy}"
        sums_hold(self.nodes)
        no_losses(self.run)

    def exact(self, column="idle_s"):
        return sum(float(row[column]) for row in self.rows)

    def idle_as_its_own_clocks_say(self):
        """The exact idleness comes from callbacks.  Threads exist for a moment before their first region, and may lose their
        cores between two readings of a clock.  The program's waits contain time without a core, which idleness does not.
        """
        waited, ready = self.clocks["waited"], self.exact("core_wait_s")
        idle, allowed = self.exact() + self.exact("waiting_no_core_s"), 0.03 * waited + 0.005 * self.threads
        tap.timed(waited - allowed - ready < idle < waited + allowed + 0.1 * ready,
                  f"{self.what}: {idle}, own clocks {waited}")

    def near(self, idle, expected, share, what):
        """The idleness is expected, give or take a share of it, and time without a core, which waits contain as well."""
        ready = self.exact("core_wait_s") + self.exact("waiting_no_core_s")
        tap.timed(abs(idle - expected) <= share * expected + ready,
                  f"{what}: {idle:.4f}, expected {expected:.4f} ± {share:.0%}, {ready:.4f} without a core")

    def relative(self, function, threads_waiting, threads, share=0.05, below=None):
        """The relative idleness of a function: the idleness that it causes, as a share of that and its work."""
        idle, work = idleness_of(self.nodes, function, below), work_of(self.nodes, function, below)
        expected = threads_waiting / threads
        self.near(idle, work * expected / (1 - expected), share / (1 - expected),
                  f"{self.what}: idleness of {function} below {below}, from its work")


# ---- sequential code ----


@tap.case
def serial_code_that_no_sample_sees(directory):
    """The report says why the others had no work: the initial thread sleeps, or another program has its core."""
    cpu = min(os.sched_getaffinity(0))
    busy = tap.start(sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass")
    try:
        run = Measurement(directory, build("unsampled_waits.c"), str(cpu), options=EVENT)
    finally:
        busy.kill()
        busy.wait()
    rows = {node.name: node.value("idleness_excl_s") for node in run.tree()}
    names = "[before the team: asleep]", "[before the team: no core]", "[between regions: asleep]"
    for name, expected in zip(names, map(float, run.done.stdout.split())):
        tap.timed(abs(rows.get(name, 0) - expected) < 0.1 * expected + 0.02, f"{name}: {rows.get(name)}, expected {expected}")
    idle = sum(rows.values())
    tap.timed(rows.get("[waiting that no sample saw]", 0) < 0.03 * idle, f"{rows}")
    legend = tap.must(tap.REPORT, "topdown", run.output)
    assert all(f"{name}:" in legend for name in names), legend

def check_serial(directory, compiler, threads, policy="passive", **settings):
    run = Blamed(directory, "serial", compiler, threads, policy, **settings)
    for function, burnt in (("before_regions", 0.2), ("between_regions", 0.3), ("after_regions", 0.1)):
        run.near(idleness_of(run.nodes, function), (threads - 1) * burnt, 0.05, f"{run.what}: {function}")
        # Process and threads also start and end, which is in no function but leaves threads idle: some ms.
        run.relative(function, threads - 1, threads, 0.03)
    # No thread waits before the first region; the workers wait until they end.
    run.idle_as_its_own_clocks_say()
    return run


@tap.case
def serial_code_by_gcc_with_2_threads(directory):
    check_serial(directory, "gcc", 2)


@tap.case
def serial_code_by_clang_19_with_8_threads(directory):
    check_serial(directory, "clang-19", 8)


@tap.case
def serial_code_while_others_spin(directory):
    check_serial(directory, "clang", 2, "active")


@tap.case
def serial_code_against_other_baselines(directory):
    run = check_serial(directory, "clang", 4)
    shared, core = run.run.tree("--idleness", "shared"), run.run.tree("--idleness", "core")
    cores = float(len(os.sched_getaffinity(0)))
    for function, burnt in (("before_regions", 0.2), ("between_regions", 0.3), ("after_regions", 0.1)):
        tap.timed(idleness_of(shared, function) < 0.001, f"{function} is sequential")
        run.near(idleness_of(core, function), (cores - 1) * burnt, 0.05, f"{function}, compared with {cores} cores")
    against_threads = {tuple(node.path()): node.value("idleness_incl_s") for node in run.nodes}
    for node in shared:
        assert node.value("idleness_incl_s") <= against_threads[tuple(node.path())] + 1e-6, node.path()


# ---- imbalance ----

def check_imbalance(directory, compiler, threads, policy="passive", mode="imbalance", **settings):
    run = Blamed(directory, mode, compiler, threads, policy, **settings)
    run.near(idleness_of(run.nodes, "heavy"), (threads - 1) * 0.8, 0.05, f"{run.what}: heavy")
    run.relative("heavy", threads - 1, threads)
    tap.timed(idleness_of(run.nodes, "light") < 0.05 * idleness_of(run.nodes, "heavy"), run.what)
    return run


@tap.case
def imbalance_by_gcc(directory):
    check_imbalance(directory, "gcc", 2).idle_as_its_own_clocks_say()


@tap.case
def imbalance_by_gcc_with_16_threads(directory):
    check_imbalance(directory, "gcc", 16).idle_as_its_own_clocks_say()


@tap.case
def imbalance_while_others_spin(directory):
    check_imbalance(directory, "gcc", 2, "active").idle_as_its_own_clocks_say()


@tap.case
def imbalance_by_clang_on_the_oldest_libomp(directory):
    for library in libomps(14):  # all_kinds_of_waits_by_clang_on_every_libomp has the same wait on the others
        check_imbalance(directory, "clang", 3, options=("--omp-runtime", library)).idle_as_its_own_clocks_say()


@tap.case
def the_four_categories_are_all_of_the_time(directory):
    """With the times in the tool, of waits for a core and of other waits."""
    for compiler, threads in (("clang", 2), ("clang-19", 4)):
        run = check_imbalance(directory, compiler, threads)
        run.idle_as_its_own_clocks_say()
        root, rows = run.nodes[0], run.rows
        total = sum(root.value(f"{column}_incl_s") for column in ("work", "overhead", "lockwait", "idleness"))
        total += sum(float(row[column]) for row in rows for column in ("tool_s", "core_wait_s", "waiting_no_core_s",
                                                                "blocked_s"))
        elapsed = next(float(row["value"]) for row in run.run.view("summary") if row["item"] == "elapsed")
        near(total, threads * elapsed, 0.05, run.what)  # threads that do not exist yet count as idle


# ---- kinds of waits ----

def check_kinds(directory, compiler, threads, policy="passive", **settings):
    run = Blamed(directory, "kinds", compiler, threads, policy, **settings)
    for kind in KINDS:
        below = f"kind_{kind}"
        near(work_of(run.nodes, "lone_work", below), 0.06, 0.1, f"{run.what}: work in {below}")
        run.relative("lone_work", threads - 1, threads, below=below)
    run.idle_as_its_own_clocks_say()
    near(work_of(run.nodes, "barrier_task"), 0.12, 0.05, f"{run.what}: tasks in a barrier")
    return run


@tap.case
def all_kinds_of_waits_by_gcc(directory):
    check_kinds(directory, "gcc", 2)


@tap.case
def all_kinds_of_waits_of_8_threads(directory):
    check_kinds(directory, "gcc", 8)


@tap.case
def all_kinds_of_waits_that_spin(directory):
    for compiler in ("gcc", "clang-19"):
        check_kinds(directory, compiler, 2, "active")


@tap.case
def all_kinds_of_waits_by_clang_on_every_libomp(directory):
    for library in libomps():
        check_kinds(directory, "clang", 3, options=("--omp-runtime", library))


# ---- teams ----

@tap.case
def nested_teams(directory):
    for compiler in ("gcc", "clang"):
        run = Blamed(directory, "nested", compiler, 2)
        run.relative("heavy_together", 1, 2)  # two of four threads work
        run.idle_as_its_own_clocks_say()


@tap.case
def teams_that_change_size(directory):
    for compiler in ("gcc", "clang"):
        run = Blamed(directory, "teams", compiler, 2)
        if compiler == "clang":  # libgomp ends the threads that a smaller team does not need
            run.idle_as_its_own_clocks_say()
        shared = run.run.tree("--idleness", "shared")
        for caller, threads, times in (("team_of_two", 2, 2), ("team_of_four", 4, 1), ("set_team", 3, 1)):
            run.near(idleness_of(shared, "heavy", caller), (threads - 1) * times * 0.2, 0.05,
                 f"{run.what}: {caller}, shared")
            run.near(idleness_of(run.nodes, "heavy", caller), 3 * times * 0.2, 0.05, f"{run.what}: {caller}")
        tap.timed(idleness_of(shared, "between_regions") < 0.001)
        run.near(idleness_of(run.nodes, "between_regions"), 3 * 0.3, 0.05, run.what)


# ---- threads and processes that enter OpenMP ----

@tap.case
def regions_of_threads_made_by_the_program(directory):
    for compiler in ("gcc", "clang"):
        run = Blamed(directory, "foreign", compiler, 2)
        shared = run.run.tree("--idleness", "shared")
        near(work_of(shared, "heavy"), 1.0, 0.05, run.what)
        run.near(idleness_of(shared, "heavy"), 1.0, 0.05, run.what)


@tap.case
def regions_of_a_forked_child(directory):
    for mode, compiler in combinations(("forked", "forked-after"), ("gcc", "clang")):
        run = Blamed(directory, mode, compiler, 4)
        parents = 1 if mode == "forked-after" else 0
        pids = {row["process"] for row in run.rows}
        assert len(pids) == 2, pids
        near(work_of(run.nodes, "heavy"), 0.8 + parents * 0.2, 0.05, run.what)
        run.near(idleness_of(run.nodes, "heavy"), 3 * 0.8 + parents * 0.2, 0.05, run.what)
        child = [sum(float(row["idle_s"]) for row in run.rows if row["process"] == pid)
                 for pid in sorted(pids, key=int)][1]
        run.near(child, run.clocks["child_waited"], 0.03, run.what)


tap.main()
