"""Creation times of tasks (-p log): every task that the program creates has one, and measuring it changes nothing
else."""
import collections
import glob
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import reference_replay
from measurement_file import CONSTRUCTS, TASKS, extents
from measured import Measurement, build, libomps, tap

FORMS = {"deferred": 500, "dependent": 200, "undeferred": 4, "alone": 4, "untied": 50, "taskloop": 10, "recursive": 12}
RAN_INSIDE = ("undeferred", "alone")  # each of their tasks runs for 10 ms
TASK_NS = 10_000_000

TASK = 6  # enum format_directive_kind


# Loads the program as a library, and with it libomp.
LATE = """
import ctypes, sys
arguments = [argument.encode() for argument in sys.argv[1:]]
ctypes.CDLL(sys.argv[1]).main(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments))
"""


def measure(directory, command, form, mode="log", library=None):
    chosen = ("--omp-runtime", library) if library else ()
    command = (command,) if isinstance(command, str) else command
    run = Measurement(directory, *command, form, str(FORMS[form]), OMP_NUM_THREADS="2",
                      options=("-p", mode, "-e", "task-clock@f1000", *chosen))
    assert run.done.returncode == 0, run.done.stderr
    return run, int(run.done.stdout)


def creations(run):
    """Nanoseconds of each task that was created; None: not timed."""
    log, = glob.glob(os.path.join(run.output, "*.graph"))
    scale = reference_replay.process(log.replace(".graph", ".hpcrun"))["tick_scale"] / 2**32
    found = {}
    for thread, stream in reference_replay.streams(log).items():
        named = 0
        for _, op, operands in stream:
            named += op in (reference_replay.TASK, reference_replay.IMPLICIT)
            if op == reference_replay.TASK:
                found[thread, named] = None
            elif op == reference_replay.CREATED:
                task = thread, named - operands[0]
                assert task in found and found[task] is None, (task, operands)
                found[task] = operands[1] * scale
    return list(found.values())


def in_constructs(run):
    """From the tables of constructs and of tasks: timed creations, their ns, and the ns taken off other constructs."""
    path, = glob.glob(os.path.join(run.output, "*.hpcrun"))
    scale, timed, ticks, entered = reference_replay.process(path)["tick_scale"] / 2**32, 0, 0, 0
    for extent in extents(path):
        for record in extent.parsed() if extent.table in (CONSTRUCTS, TASKS) else ():
            if extent.table == TASKS:
                ticks, timed = ticks + record.create_ticks, timed + record.create_timed
            elif record.kind == TASK:
                entered += record.ticks[0]
    return timed, ticks * scale, entered * scale


def check_form(directory, binary, form, library=None):
    run, created = measure(directory, binary, form, library=library)
    times = creations(run)
    assert len(times) == created and all(times), (form, library, created, len(times), times.count(None))
    timed, spent, entered = in_constructs(run)
    assert timed == created and 0 < entered <= spent, (form, timed, entered, spent)
    assert abs(spent - sum(times)) < 1, (form, spent, sum(times))
    elapsed = sum(float(row["wall_s"]) for row in run.threads()) * 1e9
    tap.timed(sum(times) < elapsed / 2, f"{form}: {sum(times)} of {elapsed} ns")
    if form in RAN_INSIDE:
        tap.timed(max(times) < TASK_NS / 2, f"{form}: {max(times)} ns")


@tap.case
def every_task_of_clang_has_a_creation_time(directory):
    binary = build("creation_times.c", "clang")
    for form in FORMS:
        check_form(directory, binary, form)


@tap.case
def also_on_every_libomp(directory):
    binary = build("creation_times.c", "clang")
    for library in libomps():
        for form in ("dependent", "undeferred", "taskloop"):
            check_form(directory, binary, form, library)


@tap.case
def every_task_of_gcc_has_a_creation_time(directory):
    binary = build("creation_times.c", "gcc")
    for form in FORMS:
        check_form(directory, binary, form)


@tap.case
def code_of_gcc_on_libomp_is_not_timed(directory):
    binary = build("creation_times.c", "gcc")
    for library in libomps(19):
        for form in FORMS:
            run, created = measure(directory, binary, form, library=library)
            assert creations(run) == [None] * created, (form, creations(run))


@tap.case
def a_libomp_that_is_loaded_late(directory):
    plugin = build("creation_times.c", "clang", "-shared", "-fPIC")
    for form in FORMS:
        check_form(directory, (sys.executable, "-c", LATE, plugin), form)


@tap.case
def the_cpu_is_that_at_the_begin_of_a_fragment(directory):
    if len(os.sched_getaffinity(0)) < 2:
        raise tap.Skip("needs two CPUs")
    for compiler in ("clang", "gcc"):
        run = Measurement(directory, build("creation_times.c", compiler), "moving", "9", options=("-p", "log"))
        expected = [int(cpu) for cpu in run.done.stdout.splitlines()[0].split()]
        assert len(expected) == 9 and len(set(expected)) > 1, expected
        grains = sorted((row for row in run.view("grains") if row["kind"] == "task"), key=lambda row: int(row["id"]))
        assert [int(row["cpu"]) for row in grains] == expected, ([row["cpu"] for row in grains], expected)


def places(run):
    """What must not depend on whether creations are timed: constructs and their counts, and the contexts of work."""
    rows = collections.Counter(tuple(row[name] for name in ("kind", "name", "file", "line", "instances"))
                               for row in run.view("parallelism"))
    tree = run.tree()
    ours = [node.path() for node in tree if "libhpcrun" in node.module or
            "kmpc" in node.name and not node.name.endswith("@plt")]  # the program's own jumps to the runtime
    assert not ours, ours
    return rows, {"/".join(node.path()) for node in tree if node.name == "burn"}


@tap.case
def places_are_those_without_times(directory):
    for compiler, libraries in (("clang", libomps()), ("gcc", (None,))):
        binary = build("creation_times.c", compiler)
        for library in libraries:
            for form in ("deferred", "dependent", "undeferred", "alone", "taskloop"):
                rows, contexts = places(measure(directory, binary, form, library=library)[0])
                online, sampled = places(measure(directory, binary, form, "online", library)[0])
                assert rows == online, (compiler, library, form, rows - online, online - rows)
                assert contexts == sampled or form not in RAN_INSIDE, (compiler, library, form, contexts, sampled)


tap.main()
