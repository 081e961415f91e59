"""Regions, tasks, locks, threads that come and go, dlopen, forks and many signals, all at once and at 10,000 samples a
second: no deadlock, the program's own results, and exact counts.

Usage: stress.py [--long SECONDS] [-k CASE]     (--long: each mix for that long, and more mixes)"""
import glob
import math
import os
import shutil
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file
from measured import Measurement, build, tap

LONG = float(sys.argv[sys.argv.index("--long") + 1]) if "--long" in sys.argv else 0
SECONDS = LONG or 3
RATE = 10000
PLUGIN = "int plugin(int turns) { int n = 0; for (volatile int i = 0; i < turns; i++) n++; return n; }\n"
# A round of stress.c has: work, span, and instances of directives.
WORK, SPAN = 962, 181
ROWS = {"parallel": 10, "for": 4, "critical": 10, "ordered": 10, "lock": 40, "single": 2}
STRICT_ROWS = {"parallel": 1, "for": 1, "critical": 2, "lock": 2, "single": 1}
# What may be lost, as a share of the samples, and in which mix only ("" is any).  Samples inside the tool are lost, but
# their time is counted.  Where many signals arrive, handlers run in threads that wait in the runtime; for that time the
# state of such a thread is contradictory.  There are fewer samples of elapsed time than requested if threads outnumber
# the cores. While another thread, which was preempted, records its waiting for a lock, a sample of waiting for that
# lock does not wait for it long; the same holds for a sample in a new library that another thread is registering: the
# callers of its code are guessed, or the path is cut short.
EXPLAINED = {"samples inside the tool": (1, ""), "thread states repaired": (0.1, "s"),
             "samples omitted at a lower rate": (math.inf, ""), "samples of lock waits not charged": (0.01, ""),
             "frames outside any module": (0.01, "d"), "unwinds cut short": (0.02, "d"),
             "unwinds with guessed callers": (0.04, "d"), "executions that were only counted": (math.inf, ""),
             "regions that were only counted": (math.inf, "")}

WORK_ROLE, OVERHEAD_ROLE = 1, 2
IN_TOOL = 1  # enum format_loss


# ---- the records of threads ----

class Thread:
    """A thread's record: its number of samples, and the time in all categories that they stand for."""

    def __init__(self, record, charged):
        self.samples, self.cpu, self.wall = record.samples, record.cpu_ns, record.wall_ns
        self.taken = record.samples + record.lost[IN_TOOL]
        self.sampled = (charged.get(record.index, 0) + record.idle_sampled_ns + record.lockwait_sampled_ns +
                        record.tool_ns)


def threads_of(path):
    roles, records, charged = [], [], {}
    for extent in measurement_file.extents(path):
        rows, owner = extent.records(), extent.owner
        if extent.table == measurement_file.METRICS:
            roles += [metric.role for metric in extent.parsed()]
        elif extent.table == measurement_file.THREAD:
            records += extent.parsed()
        elif extent.table == measurement_file.VALUES:
            values = [struct.unpack(f"<{len(row) // 8}Q", row) for row in rows]
            charged[owner] = charged.get(owner, 0) + sum(value for row in values for role, value in zip(roles, row)
                                                         if role in (WORK_ROLE, OVERHEAD_ROLE))
    return [Thread(record, charged) for record in records]


def sums_are_right(run, clock):
    """The samples of a thread stand for its time, from the arming of its sources until its last sample.  Checks the
    first process only: its children live too short."""
    processes = [threads_of(path) for path in glob.glob(os.path.join(run.output, "*.hpcrun"))]
    threads = max(processes, key=len)
    for thread in threads:
        time = getattr(thread, clock)
        # a thread's first sample stands for a whole period, which is long if many threads sleep
        assert thread.sampled <= time + (2e9 / RATE if clock == "cpu" else 1e9), vars(thread)
        # on a loaded virtual machine a thread may stay in the kernel, where no sample is taken, for long, even until
        # its end
        tap.timed(time < 50e6 or thread.sampled >= 0.98 * time - (5e6 if clock == "cpu" else 200e6), vars(thread))
        # periods are up to 4 % shorter than requested, and the first ones of a thread much shorter until it leaves the
        # tool
        assert time < 10e6 or thread.taken <= 1.05 * time * RATE / 1e9 + 20, vars(thread)
    total, time = sum(thread.sampled for thread in threads), sum(getattr(thread, clock) for thread in threads)
    tap.timed(abs(total - time) <= (0.02 if clock == "cpu" else 0.05) * time + 1e6 * len(threads),
              (total, time, len(threads)))


# ---- runs ----

def stacks(name):
    """The stacks of all processes of a program, as gdb shows them."""
    if not shutil.which("gdb"):
        return "no gdb"
    shown = []
    for entry in glob.glob("/proc/[0-9]*/exe"):
        try:
            if os.readlink(entry) != name:
                continue
        except OSError:
            continue
        pid = entry.split("/")[2]
        shown.append(tap.run("gdb", "-p", pid, "-batch", "-ex", "thread apply all bt 20").stdout)
    return "\n".join(shown)


def measure(directory, program, *arguments, options=(), seconds=0.0):
    patience, shown = 100 + 6 * seconds, []
    watchdog = threading.Timer(patience - 40, lambda: shown.append(stacks(program)))
    watchdog.start()
    try:
        run = Measurement(directory, program, *arguments, options=options, timeout=patience)
    except subprocess.TimeoutExpired as error:
        raise AssertionError("the program hangs:\n" + "\n".join(shown)) from error
    finally:
        watchdog.cancel()
    assert run.done.returncode == 0, run.done
    run.said = {name: float(value) for name, value in (line.split() for line in run.done.stdout.splitlines())}
    return run


def program():
    return build("stress.c", "clang")


def rows_are(run, rows, extra=None):
    counted = {}
    for row in run.view("parallelism"):
        counted[row["kind"]] = counted.get(row["kind"], 0) + int(row["instances"])
    for kind, each in rows.items():
        expected = each * run.said["rounds"] + (extra or {}).get(kind, 0)
        assert counted.get(kind, 0) == expected, (kind, counted, run.said)


def graph_is(run, work, span):
    whole = run.view("parallelism")[0]
    assert (int(float(whole["work"])), int(float(whole["span"]))) == (work * run.said["rounds"],
                                                                      span * run.said["rounds"]), (
        whole, run.said)


def losses_are_explained(run, what):
    items = {(row["section"], row["item"]): row["value"] for row in run.view("summary")}
    samples = float(items["run", "samples"])
    for (section, item), value in items.items():
        share, only = EXPLAINED.get(item, (0, ""))
        if section == "health" and (only == "" or only in what):
            assert float(value) <= share * samples, (item, value, samples)
        elif section == "health":
            assert float(value) == 0, (item, value)


def busy_at_the_end(run):
    """At the end the counts of waiting threads and of threads in use are right again."""
    nodes = run.tree("--idleness", "shared")
    alone = [node for node in nodes if node.name == "alone"]
    tap.timed(sum(node.value("work_incl_s") for node in alone) > 0.28, [vars(node) for node in alone])
    assert sum(node.value("idleness_incl_s") for node in alone) == 0, [vars(node) for node in alone]
    busy = [node for node in nodes if node.name == "all_busy" and "all_busy" not in node.path()[:-1]]
    work, idle = (sum(node.value(f"{column}_incl_s") for node in busy) for column in ("work", "idleness"))
    tap.timed(work > 0 and idle <= 0.2 * work, (work, idle))


def mix(directory, what, event, options=(), user=True):
    library = tap.compile_c(directory, "plugin.so", PLUGIN, "-O0", "-shared", "-fPIC")
    run = measure(directory, program(), "mix", what, str(SECONDS), library, seconds=SECONDS,
                  options=("-e", f"{event}@f{RATE}", *(("--work", "user") if user else ()), *options))
    said = run.said
    assert said["sum"] == WORK * said["rounds"] and said["queued"] == 0 and said["rounds"] > 0, said
    rows_are(run, ROWS, {"parallel": said["churned"] + 1})
    losses_are_explained(run, what)
    if user:
        graph_is(run, WORK, SPAN)
    regions = {row["item"]: row["value"] for row in run.view("summary")}["regions"]
    assert int(regions) == ROWS["parallel"] * said["rounds"] + said["churned"] + 1, (regions, said)
    busy_at_the_end(run)
    sums_are_right(run, "wall" if event == "wall" else "cpu")
    print(f"# {what} {event} {' '.join(options)}: {run.said}", flush=True)


@tap.case
def everything_at_once_by_cpu_time(directory):
    mix(directory, "tdsf", "task-clock")


@tap.case
def everything_at_once_by_elapsed_time(directory):
    mix(directory, "tdsf", "wall")


@tap.case
def children_made_without_libc_do_not_change_the_measurement(directory):
    run = measure(directory, program(), "raw", "9", options=("-e", f"task-clock@f{RATE}", "--work", "user"))
    assert run.said["sum"] == WORK * run.said["rounds"]
    graph_is(run, WORK, SPAN)
    rows_are(run, ROWS)
    losses_are_explained(run, "")
    sums_are_right(run, "cpu")


@tap.case
def children_made_without_libc_run_on(directory):
    run = measure(directory, program(), "raw", "6", options=("-e", f"task-clock@f{RATE}"))
    rows_are(run, ROWS)


@tap.case
def floating_point_state_of_the_program_is_kept(directory):
    for options in (("--work", "user"), ()):
        run = measure(directory, program(), "fp", "40", options=("-e", f"task-clock@f{RATE}", *options))
        rows_are(run, STRICT_ROWS)
        busy_at_its_end = [node for node in run.tree("--idleness", "shared") if node.name == "alone"]
        assert sum(node.value("idleness_incl_s") for node in busy_at_its_end) == 0
        if options:
            graph_is(run, 58, 12)


@tap.case
def hundreds_of_sleeping_threads_do_not_slow_the_others(directory):
    """The program uses a second of CPU time beside them.  With 5,000 signals a second for each, it would take
    minutes."""
    run = measure(directory, program(), "many", "400", "1", options=("-e", "wall@f5000"))
    items = {row["item"]: float(row["value"]) for row in run.view("summary") if row["section"] == "health"}
    assert items["samples omitted at a lower rate"] > 0 and items["events not armed"] == 0, items
    sums_are_right(run, "wall")


if LONG:
    @tap.case
    def everything_at_once_with_a_log(directory):
        mix(directory, "tdsf", "task-clock", ("-p", "log"))

    @tap.case
    def everything_at_once_with_creation_contexts(directory):
        mix(directory, "tdsf", "task-clock", ("--task-context", "creation"), user=False)

    @tap.case
    def threads_and_forks_by_elapsed_time(directory):
        mix(directory, "tf", "wall", user=False)

    @tap.case
    def signals_and_libraries(directory):
        mix(directory, "sd", "task-clock", user=False)


tap.main()
