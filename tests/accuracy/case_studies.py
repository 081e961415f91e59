"""The four case studies of Liu, Mellor-Crummey and Fagan (ICS'13, section 5), on programs written after their
descriptions.

Each fault shows in the figures by which the authors found it, and no longer shows once it is repaired.  All are ratios,
on two threads."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, idleness_of, lockwait_of, near, sum_of, sums_hold, tap, work_of
from report import report

COLUMNS = ("work", "overhead", "lockwait", "idleness")


class Case:
    def __init__(self, directory, mode, compiler, event="task-clock@f2000", **settings):
        program = build("case_studies.c", compiler)
        with tap.Others() as others:
            self.run = Measurement(directory, program, mode, options=("-e", event), OMP_NUM_THREADS="2", **settings)
        assert self.run.done.returncode == 0, self.run.done
        self.nodes, self.clocks = self.run.tree(), clocks(self.run.done.stdout)
        self.threads = self.run.threads()
        self.others, self.what = others.cores, f"{mode} by {compiler}"
        sums_hold(self.nodes)

    def all(self, function=None):
        """All four categories together, of the program or of a function."""
        if function is None:
            return sum(self.nodes[0].value(f"{column}_incl_s") for column in COLUMNS)
        return sum(sum_of(self.nodes, f"{column}_incl_s", function) for column in COLUMNS)

    def overhead(self, function):
        return sum_of(self.nodes, "overhead_incl_s", function)

    def half_is_idle(self, function, what):
        """One of two threads waits.  It also does while the other one has no core, which is not work."""
        near(self.relative_idleness(function), 0.5, 0.05 if self.others < 0.3 else 0.3, f"{self.what}: {what}")

    def relative_idleness(self, function):
        return idleness_of(self.nodes, function) / self.all(function)


def amg(directory, compiler):
    case = Case(directory, "amg", compiler, OMP_WAIT_POLICY="passive")
    case.half_is_idle("coarsen", "one of two is idle in the serial setup")
    near(idleness_of(case.nodes, "coarsen"), 0.3, 0.05, case.what)
    # The blocks of the two threads take three parts and one: the first works alone for two of three, so a third of all
    # time is idleness.
    fixed, dynamic = case.relative_idleness("relax_static"), case.relative_idleness("relax_dynamic")
    if case.others < 0.3:
        near(fixed, 1 / 3, 0.1, f"{case.what}: static blocks")
    tap.timed(fixed > 0.15 and dynamic < 0.15 + case.others, f"{case.what}: static {fixed}, dynamic {dynamic}")
    near(work_of(case.nodes, "relax_static") / work_of(case.nodes, "relax_dynamic"), 1, 0.05, "the same work")


@tap.case
def a_serial_phase_as_in_amg(directory):
    for compiler in ("gcc", "clang"):
        amg(directory, compiler)


def allocators():
    """Settings under which memory is not given back to the system: other allocators where installed, and glibc's
    own."""
    found = [library for name in ("libtcmalloc_minimal.so.4", "libjemalloc.so.2")
             for library in glob.glob(f"/usr/lib/*/{name}")]
    keep = "glibc.malloc.mmap_threshold=1000000000:glibc.malloc.trim_threshold=2000000000"
    return [{"LD_PRELOAD": library, "MALLOC_CONF": "dirty_decay_ms:-1"}
            for library in found] + [{"GLIBC_TUNABLES": keep}]


@tap.case
def freeing_memory_as_in_lulesh(directory):
    for compiler in ("gcc", "clang"):
        case = Case(directory, "lulesh", compiler)
        blamed, filled = idleness_of(case.nodes, "release"), work_of(case.nodes, "fill_element")
        case.half_is_idle("release", "only the master frees")
        tap.timed(idleness_of(case.nodes, "munmap", "release") > 0.9 * blamed > 0.01, (case.what, blamed))
        for settings in allocators() if compiler == "gcc" else allocators()[-1:]:  # they are none of OpenMP's
            other = Case(directory, "lulesh", compiler, **settings)
            left = idleness_of(other.nodes, "release")
            tap.timed(left < 0.3 * blamed, (settings, left, blamed))
            # The kernel's zeroing of new pages had counted as work of the region.
            again = work_of(other.nodes, "fill_element")
            tap.timed(again < 0.7 * filled, (settings, filled, again))


@tap.case
def needless_inner_regions_as_in_bt_mz(directory):
    for compiler in ("gcc", "clang"):
        case, flat = (Case(directory, mode, compiler) for mode in ("btmz", "btmz-flat"))
        function, alone = "exchange_by_two", flat.all("exchange_alone")
        tap.timed(alone < 0.03 * flat.all() and case.all(function) > 10 * alone + 0.02,
                  f"{case.what}: {case.all(function)} s of {case.all()}, by one thread {alone} of {flat.all()}")
        work, idle = work_of(case.nodes, function), idleness_of(case.nodes, function)
        tap.timed(idle > 3 * work and idle + case.overhead(function) > 0.9 * case.all(function),
                  (case.what, work, idle))
        near(work_of(flat.nodes, "solve") / work_of(case.nodes, "solve"), 1, 0.05, "the same work")


@tap.case
def tiny_tasks_as_in_health(directory):
    # Waiting for the lock of the runtime's task queue shows as overhead.
    for compiler in ("gcc", "clang"):
        tiny, coarse = Case(directory, "health", compiler), Case(directory, "health-cutoff", compiler)
        shares = [case.overhead("sim_village") / (case.overhead("sim_village") + work_of(case.nodes, "sim_village"))
                  for case in (tiny, coarse)]
        tap.timed(shares[0] > 0.3 and shares[1] < 0.15 and shares[0] > 3 * shares[1], f"{tiny.what}: {shares}")
        tap.timed(tiny.all() > 3 * coarse.all(), f"{tiny.what}: {tiny.all()}, with a cutoff {coarse.all()}")


@tap.case
def time_in_tiny_tasks_is_accounted_for(directory):
    # Both threads often wait for each other's tasks at the same time.  Then only the runtime's own code runs.
    for compiler in ("gcc", "clang"):
        case = Case(directory, "health", compiler)
        cpu = sum(float(row["cpu_s"]) for row in case.threads)
        taken, dropped = (sum(int(row[column]) for row in case.threads) for column in ("samples", "dropped"))
        cpu *= taken / (taken + dropped)  # without the tool's own time
        tap.timed(case.all() > 0.85 * cpu, f"{case.what}: {case.all()} s of the {cpu} s that both threads have run")
        busy = case.overhead("sim_village") + work_of(case.nodes, "sim_village")
        tap.timed(case.overhead("sim_village") > 0.4 * busy, f"{case.what}: {case.nodes[0].row}")
        said = " ".join(report("--view", "parallelism", case.run.output).stdout.split())
        tap.timed(re.search(r"counting \d\.\d+ s in the OpenMP runtime and this tool as work", said), said)


@tap.case
def a_lock_of_the_program_as_in_health(directory):
    # By elapsed time, because the two threads may share a core: then the one that waits uses little CPU time.
    for compiler in ("gcc", "clang"):
        locked, coarse = (Case(directory, mode, compiler, "wall@f1000")
                          for mode in ("health-locked", "health-locked-cutoff"))
        waited, root = lockwait_of(locked.nodes, "check_patients"), locked.nodes[0].value("lockwait_incl_s")
        tap.timed(waited >= 0.98 * root, f"{locked.what}: {waited} of {root}")
        if locked.others < 0.3:  # otherwise the two threads hardly ran at the same time
            tap.timed(waited > 0.08 * locked.all(), f"{locked.what}: {waited} of {locked.all()}")
        tap.timed(coarse.nodes[0].value("lockwait_incl_s") < 0.02 * coarse.all(), coarse.what)


@tap.case
def time_of_all_threads_is_split(directory):
    """With and without a run on one thread: the four parts add up to the time of all threads."""
    program = build("case_studies.c")
    runs = []
    for threads in ("2", "1"):
        place = os.path.join(directory, threads)
        os.mkdir(place)
        runs.append(Measurement(place, program, "amg", OMP_NUM_THREADS=threads))
        assert runs[-1].done.returncode == 0, runs[-1].done
    alone = {row["metric"]: row for row in runs[0].view("efficiency")}
    assert alone["work_inflation"]["value"] == "" and "OMP_NUM_THREADS=1" in alone["work_inflation"]["note"], alone
    table = {row["metric"]: float(row["value"]) for row in runs[0].view("efficiency", runs[1].output)}
    parts = sum(table[name] for name in ("work_one_thread", "work_inflation", "overhead_time", "idleness_time"))
    assert abs(parts - table["thread_time"]) < 1e-6 and table["thread_time"] == float(alone["thread_time"]["value"]), table
    wall = max(float(row["wall_s"]) for row in runs[0].threads())
    tap.timed(1.8 * wall < table["thread_time"] < 2.5 * wall, (table, wall))
    single = {row["metric"]: row["value"] for row in runs[1].view("efficiency")}
    assert abs(float(single["work"]) - table["work_one_thread"]) < 1e-6, (single, table)


tap.main()
