"""Short tasks, most of which are created without a reading of the clock (--overhead-limit), and recorded together where
their creator runs them: counts, work and times are exact, the span is within the stated limit, and reports state that.
With a limit of 0, following events always costs too much, so that all of this depends on the number of events only.

Usage: governed_tasks.py [-k CASE]"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap
from measurement_file import CONSTRUCTS, DIRECTIVES, TASKS, extents
from report import report

COMPILERS = ("gcc", "clang")
COUNT, ROUND, QUEUED = 20000, 100, 256  # QUEUED: tasks that libomp keeps; libgomp keeps 128
CREATION, BODY = 2, 5
LONG, LOCK_ROUNDS, HOLD = 3e-3, 10, 4e-3
RARE = ("-e", "task-clock@f1")  # a sample of the creator reads the clock
TASK, TASK_EXEC = 6, 16  # enum format_directive_kind
GOVERNED = ("--overhead-limit", "0")
SETTINGS = {"OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false", "OMP_CANCELLATION": "true"}


def measure(directory, compiler, form="flat", count=COUNT, options=GOVERNED, work="user", status=0):
    run = Measurement(directory, build("governed_tasks.c", compiler), form, str(count), options=("--work", work, *options),
                      **SETTINGS)
    assert run.done.returncode == status, run.done
    return run


def by_kind(run):
    return {row["kind"]: row for row in run.view("parallelism")}


def records(run, table, kind=None):
    path, = glob.glob(os.path.join(run.output, "*.hpcrun"))
    return [record for extent in extents(path) if extent.table == table for record in extent.parsed()
            if kind is None or record.kind == kind]


def sum_of(run, field):
    return sum(getattr(record, field) for record in records(run, DIRECTIVES, TASK))


def counts_are_exact(run, count, inside=False):
    tasks = [record for record in records(run, TASKS) if record.created or record.started]
    for field in ("created", "started", "ended"):
        assert sum(getattr(record, field) for record in tasks) == count, (field, count, tasks)
    assert sum(record.count for record in records(run, CONSTRUCTS, TASK_EXEC)) == count
    assert sum(sum(record.histogram) for record in tasks) == count
    times = sum(record.ticks for record in tasks), sum(sum(record.ticks) for record in records(run, CONSTRUCTS, TASK_EXEC))
    assert inside or times[0] == times[1], times
    assert int(by_kind(run)["task"]["instances"]) == count, by_kind(run)["task"]


def adds_up(run):
    rows = run.view("parallelism")
    program = next(row for row in rows if row["kind"] == "program")
    assert abs(sum(int(float(row["critical_path"]) * 1e9) for row in rows) - int(float(program["span"]) * 1e9)) < 20, rows


def is_between(value, least, most):
    assert least <= int(value) <= most, (value, least, most)


@tap.case
def equal_tasks_are_right(directory):
    for compiler in COMPILERS:
        for form in ("flat", "shared"):
            run = measure(directory, compiler, form)
            program, task = (by_kind(run)[kind] for kind in ("program", "task"))
            counts_are_exact(run, COUNT)
            assert int(program["work"]) == COUNT * (CREATION + BODY), program
            assert int(task["work"]) == int(task["span"]) == COUNT * BODY, task
            true = COUNT * CREATION + BODY
            is_between(program["span"], true - sum_of(run, "early"), true)
            adds_up(run)


@tap.case
def each_join_is_within_the_limit(directory):
    for compiler in COMPILERS:
        for form in ("rounds", "groups"):
            run = measure(directory, compiler, form)
            counts_are_exact(run, COUNT)
            true = COUNT * CREATION + COUNT // ROUND * BODY
            is_between(by_kind(run)["program"]["span"], true - sum_of(run, "early"), true)
            assert int(by_kind(run)["program"]["work"]) == COUNT * (CREATION + BODY), run
            # the first sixteen of a round are timed
            assert COUNT / 4 < sum_of(run, "untimed") < COUNT * (1 - 16 / ROUND), (compiler, sum_of(run, "untimed"))
            adds_up(run)


@tap.case
def tasks_that_are_recorded_together_are_exact(directory):
    """By CPU time: their creator runs most of them."""
    for compiler in COMPILERS:
        for options in (GOVERNED, ("-p", "online")):
            run = measure(directory, compiler, options=options, work="cpu-time")
            counts_are_exact(run, COUNT)
            assert (sum_of(run, "untimed") > COUNT / 2) == (options == GOVERNED), sum_of(run, "untimed")
            rows, tree = by_kind(run), [row for row in run.view("region-tree") if row["thread"] == "SUM"]
            assert float(rows["task"]["work"]) < float(rows["program"]["work"]), rows
            wall = sum(float(row["wall_s"]) for row in run.threads())
            # two clocks, which a thread reads one after the other
            tap.timed(abs(sum(float(row["excl_s"]) for row in tree) - wall) < 1e-6 + 1e-5 * wall, wall, tree)
            adds_up(run)


@tap.case
def long_work_between_creations_is_in_the_limit(directory):
    """A creator computes between two creations, and the other thread runs a task for as long that was created then."""
    for compiler in COMPILERS:
        for options in (GOVERNED, ("--overhead-limit", "100")):
            run = measure(directory, compiler, "gap", 100, (*RARE, *options), "cpu-time")
            span, early = float(by_kind(run)["program"]["span"]), sum_of(run, "early") / 1e9
            assert 2 * LONG * 0.97 < span + early, (compiler, span, early)
            assert (early == 0) == (options != GOVERNED) and span < 3 * LONG, (compiler, options, span, early)


@tap.case
def waits_for_locks_are_no_work(directory):
    """The work before such a wait is in the limit, too."""
    for compiler in COMPILERS:
        run = measure(directory, compiler, "locked", 100, (*RARE, *GOVERNED), "cpu-time")
        program, true = by_kind(run)["program"], 2 * LONG * LOCK_ROUNDS
        work, span, early = float(program["work"]), float(program["span"]), sum_of(run, "early") / 1e9
        assert 0.97 * true < work < true + LOCK_ROUNDS * HOLD / 2, (compiler, work, true)
        assert 0.97 * true < span + early and span < work * 1.001, (compiler, span, early, true)
        assert sum_of(run, "untimed"), run


@tap.case
def user_regions_keep_their_time(directory):
    """A region behind tasks that are recorded together, and regions within such tasks."""
    for compiler in COMPILERS:
        for options in (GOVERNED, ("-p", "online")):
            run = measure(directory, compiler, "regions", 1000, options, "cpu-time")
            tree = {row["id"]: row for row in run.view("region-tree") if row["thread"] == "SUM"}
            inside = [row for row in tree.values() if row["name"] == "inside"]
            assert sum(int(row["exec_count"]) for row in inside) == 20, inside
            assert all(tree[row["parent_id"]]["kind"] == "task-exec" for row in inside), tree
            behind, = (row for row in tree.values() if row["name"] == "behind")
            assert tree[behind["parent_id"]]["kind"] == "parallel" and float(behind["excl_s"]) > 0.97 * LONG, behind


@tap.case
def what_contains_others_is_exact(directory):
    for compiler in COMPILERS:
        for work in ("user", "cpu-time"):
            run = measure(directory, compiler, "later", work=work)
            counts_are_exact(run, COUNT, inside=True)
            assert int(by_kind(run)["critical"]["instances"]) == COUNT // 2, by_kind(run)["critical"]
            if work == "user":
                assert int(by_kind(run)["program"]["work"]) == COUNT * (CREATION + 4) + COUNT // 2, by_kind(run)
            adds_up(run)


@tap.case
def tasks_that_create_tasks_are_exact(directory):
    for compiler in COMPILERS:
        for work in ("user", "cpu-time"):
            run = measure(directory, compiler, "nested", 4000, work=work)
            assert [record.instances for record in records(run, DIRECTIVES, TASK)] == [4000, 4000]
            if work == "user":
                assert int(by_kind(run)["program"]["work"]) == 4000 * (CREATION + BODY), by_kind(run)
            adds_up(run)


@tap.case
def other_kinds_are_exact(directory):
    for compiler in COMPILERS:
        for work in ("user", "cpu-time"):
            run = measure(directory, compiler, "kinds", work=work)
            tasks = records(run, TASKS)
            counts = [sum(getattr(record, field) for record in tasks) for field in ("created", "started", "ended")]
            assert counts[0] == counts[1] == counts[2] >= COUNT + 100, counts
            assert sum(record.untied for record in tasks) == COUNT, tasks
            if work == "user":
                assert int(by_kind(run)["program"]["work"]) == COUNT * (CREATION + BODY + 7), by_kind(run)["program"]
            adds_up(run)


@tap.case
def ends_inside_count_all_before(directory):
    for compiler in COMPILERS:
        for form in ("exits", "cancelled"):
            run = measure(directory, compiler, form, work="cpu-time")
            tasks = records(run, TASKS)
            created, started, ended = (sum(getattr(record, field) for record in tasks) for field in ("created", "started", "ended"))
            assert started == ended <= created, (form, created, started, ended)
            assert form == "cancelled" or (created == COUNT and ended >= COUNT - QUEUED), (created, ended)
            adds_up(run)


@tap.case
def killed_programs_are_read(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "killed", work="cpu-time", status=-9)
        row, = run.view("tasks")
        assert int(row["instances"]) == COUNT, row


@tap.case
def forked_programs_go_on(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "forks")
        assert int(by_kind(run)["program"]["work"]) == COUNT * (CREATION + BODY), by_kind(run)
        assert int(by_kind(run)["task"]["instances"]) == COUNT, by_kind(run)


@tap.case
def what_is_asked_for_is_timed(directory):
    for compiler in COMPILERS:
        for options in (("-p", "online"), ("-p", "log"), ("-t",), ("-c", "context-switches"), ("--overhead-limit", "100")):
            run = measure(directory, compiler, "rounds", 1000, options)
            assert not sum_of(run, "untimed") and not sum_of(run, "early"), options
            assert int(by_kind(run)["program"]["span"]) == 1000 * CREATION + 1000 // ROUND * BODY, (options, by_kind(run))
            assert not any("clock" in row["note"] for row in run.view("parallelism")), options
            assert "clock" not in run.done.stderr, run.done


@tap.case
def it_is_stated(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, work="cpu-time")
        untimed, rows = sum_of(run, "untimed"), by_kind(run)
        assert re.search(rf"{untimed} tasks were created without a reading of the clock \(--overhead-limit 100 follows all\)",
                         run.done.stderr), run.done.stderr
        said = f"{untimed} tasks were created without a reading of the clock"
        for kind in ("program", "parallel", "task"):
            assert said in rows[kind]["note"] and "by at most" in rows[kind]["note"], rows[kind]
        facts = {row["item"]: row["value"] for row in run.view("summary")}
        assert int(facts["tasks that were created without a reading of the clock"]) == untimed, facts
        assert abs(float(facts["span error"]) - sum_of(run, "early") / 1e9) < 1e-8, facts
        assert int(run.view("tasks")[0]["untimed"]) == untimed, run.view("tasks")
        summary = " ".join(report("--legend", run.output).stdout.split())
        assert said in summary, summary
        for view in ("critical-path", "overheads", "whatif", "speedup"):
            text = " ".join(report(run.output, "--view", view).stdout.split())
            assert said in text, (view, text)


tap.main()
