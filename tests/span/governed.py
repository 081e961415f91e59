"""Short constructs of which not all executions are followed (--overhead-limit): counts and the program's work and span
are exact, sums add up, estimates of equal executions equal what follows from the source, and reports mark estimates.
With a limit of 0, following events always costs too much, so that all of this depends on the number of events only.

Usage: governed.py [-k CASE]"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap
from measurement_file import CONSTRUCTS, DIRECTIVES, extents
from report import report

COMPILERS = ("gcc", "clang")
COUNT = 20000
CRITICAL, LOCK = 11, 12  # enum format_directive_kind
WHOLE = 4  # FORMAT_CONSTRUCT_WHOLE
OUTSIDE, IN_CRITICAL, WITH_LOCK = 2, 3, 5
GOVERNED = ("--overhead-limit", "0")
SETTINGS = {"OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}


def measure(directory, compiler, form="leaves", count=COUNT, threads=1, options=GOVERNED, work="user"):
    run = Measurement(directory, build("governed.c", compiler), form, str(count), str(threads),
                      options=("--work", work, *options), **SETTINGS)
    assert run.done.returncode == 0, run.done
    return run


def by_kind(run):
    return {row["kind"]: row for row in run.view("parallelism")}


def records(run, kind, table=CONSTRUCTS):
    """The constructs, or rows of the task graph, of that kind in the measurement."""
    path, = glob.glob(os.path.join(run.output, "*.hpcrun"))
    return [record for extent in extents(path) if extent.table == table for record in extent.parsed()
            if record.kind == kind]


def facts(run):
    return {row["item"]: row["value"] for row in run.view("summary") if row["section"] in ("run", "health")}


@tap.case
def estimates_of_equal_executions_are_right(directory):
    for compiler in COMPILERS:
        for threads, count in ((1, COUNT), (2, COUNT // 4)):
            run = measure(directory, compiler, count=count, threads=threads)
            rows, all_ = by_kind(run), count * threads
            assert int(rows["program"]["work"]) == all_ * (OUTSIDE + IN_CRITICAL + WITH_LOCK), rows["program"]
            assert int(rows["program"]["span"]) == count * (OUTSIDE + IN_CRITICAL + WITH_LOCK), rows["program"]
            assert rows["parallel"]["work"] == rows["program"]["work"], rows["parallel"]
            critical, lock = rows["critical"], rows["lock"]
            assert int(critical["instances"]) == int(critical["executions"]) == all_, critical
            assert int(lock["instances"]) == int(lock["executions"]) == all_, lock
            assert int(critical["work"]) == int(critical["span"]) == IN_CRITICAL * all_, critical
            for row in (critical, lock):
                followed, of = re.search(r"(\d+) of (\d+) executions were followed", row["note"]).groups()
                assert int(of) == all_ and 0 < int(followed) < all_ / 4, (compiler, row)
            assert "followed" not in rows["program"]["note"] + rows["parallel"]["note"]
            assert sum(int(row["critical_path"]) for row in rows.values()) == int(rows["program"]["span"])


@tap.case
def light_executions_are_stood_for(directory):
    for compiler in COMPILERS:
        for record in (found for kind in (CRITICAL, LOCK) for found in records(measure(directory, compiler), kind)):
            assert record.count == COUNT and record.count * 3 / 4 < record.light < record.count, record
            # those behind the last one that was followed are stood for by none
            assert record.light - record.stood == record.gap - record.skip < 2048, record
            assert record.stood_spread >= record.stood and record.stood_ticks > 0, record


@tap.case
def both_counts_are_exact(directory):
    """With CPU time as work, most light executions are counted without reading the clock: in the graph and in constructs."""
    for compiler in COMPILERS:
        for threads in (1, 2):
            run = measure(directory, compiler, threads=threads, work="cpu-time")
            rows = by_kind(run)
            for kind, number in (("critical", CRITICAL), ("lock", LOCK)):
                found = records(run, number)
                light = sum(record.light for record in found)
                assert sum(record.count for record in found) == COUNT * threads and light, (compiler, found)
                assert int(rows[kind]["instances"]) == int(rows[kind]["executions"]) == COUNT * threads, rows[kind]
                directive, = records(run, number, DIRECTIVES)
                assert directive.light == light, (compiler, directive, light)


@tap.case
def executions_that_wait_count_once(directory):
    """An execution that is tested first, and then has to wait."""
    count = 500
    for compiler in COMPILERS:
        run = measure(directory, compiler, "contended", count, threads=2, work="cpu-time")
        light, of_graph = (sum(record.light for record in records(run, CRITICAL, table)) for table in (CONSTRUCTS, DIRECTIVES))
        rows = [row for row in run.view("parallelism") if row["kind"] == "critical"]
        counts = [sum(int(row[column]) for row in rows) for column in ("instances", "executions")]
        assert counts == [2 * count] * 2 and 0 < light == of_graph, (compiler, counts, light, of_graph)
        waits = sum(int(row["waits"]) for row in run.view("locks"))
        assert waits > count / 2, (compiler, waits)


@tap.case
def what_contains_others_later_is_known(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "later", work="cpu-time")
        critical, = records(run, CRITICAL)
        assert critical.count == COUNT and 0 < critical.light <= COUNT / 2 + 1 and critical.flags & WHOLE, critical


@tap.case
def times_add_up(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler)
        tree = [row for row in run.view("region-tree") if row["thread"] == "SUM"]
        wall = sum(float(row["wall_s"]) for row in run.threads())
        assert abs(sum(float(row["excl_s"]) for row in tree) - wall) < 1e-6 + 1e-5 * wall, (wall, tree)  # two clocks
        parallel, = (row for row in tree if row["kind"] == "parallel")
        critical, = (row for row in tree if row["kind"] == "critical")
        assert 0 < float(critical["incl_s"]) < float(parallel["incl_s"]), (critical, parallel)
        assert "its own time is an estimate" in parallel["note"], parallel


@tap.case
def uneven_executions_have_an_error(directory):
    count = 200000
    exact = count // 1000 * 3000 + (count - count // 1000) * 3
    for compiler in COMPILERS:
        run = measure(directory, compiler, "uneven", count)
        rows = by_kind(run)
        assert int(rows["program"]["work"]) == exact, rows["program"]
        assert int(rows["critical"]["instances"]) == count
        # one in about a thousand executions is followed, and one in a thousand is long
        assert int(rows["critical"]["work"]) <= exact, rows["critical"]
        assert re.search(r"the time in the body: (\+- .* % \(two|error (not known|over 100 %))", rows["critical"]["note"]), rows


@tap.case
def what_is_asked_for_is_followed_as_a_whole(directory):
    for compiler in COMPILERS:
        for options in (("-p", "online"), ("-p", "log"), ("-t",), ("-c", "context-switches"), ("--overhead-limit", "100")):
            run = measure(directory, compiler, count=3000, options=options)
            rows = by_kind(run)
            assert int(rows["critical"]["work"]) == 3000 * IN_CRITICAL, (options, rows["critical"])
            assert int(rows["critical"]["critical_path"]) == 3000 * IN_CRITICAL, (options, rows["critical"])
            assert not any("followed" in row["note"] for row in rows.values()), rows
            assert not any(record.light or record.flags & WHOLE for kind in (CRITICAL, LOCK) for record in records(run, kind))
            assert "estimates" not in run.done.stderr and "only counted" not in str(facts(run)), run.done


@tap.case
def what_contains_others_is_followed_as_a_whole(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "nested")
        rows = by_kind(run)
        critical, = records(run, CRITICAL)
        lock, = records(run, LOCK)
        assert critical.count == lock.count == COUNT and not critical.light and lock.light, (critical, lock)
        assert int(rows["critical"]["work"]) == COUNT * (IN_CRITICAL + WITH_LOCK), rows["critical"]
        assert "followed" not in rows["critical"]["note"] and "followed" in rows["lock"]["note"], rows


@tap.case
def user_regions_are_contents(directory):
    """Also where other constructs have made measuring too expensive before."""
    for compiler in COMPILERS:
        run = measure(directory, compiler, "region")
        leaves, around = sorted(records(run, CRITICAL), key=lambda record: record.count)
        assert leaves.light and around.count == COUNT and not around.light, (leaves, around)
        region, = (row for row in run.view("parallelism") if row["kind"] == "user-region")
        assert int(region["work"]) == COUNT * WITH_LOCK and int(region["instances"]) == COUNT, region
        around, = (row for row in run.view("parallelism") if row["kind"] == "critical" and int(row["instances"]) == COUNT)
        assert int(around["work"]) == COUNT * (IN_CRITICAL + WITH_LOCK) and "followed" not in around["note"], around


@tap.case
def samples_are_no_contents(directory):
    """A construct in whose executions samples were taken is still followed in part when they become tiny."""
    for compiler in COMPILERS:
        run = measure(directory, compiler, "sampled", 200000, options=(*GOVERNED, "-e", "task-clock@f1000"),
                      work="cpu-time")
        critical, = records(run, CRITICAL)
        assert critical.count == 200000 and critical.light and not critical.flags & WHOLE, critical


@tap.case
def what_precedes_is_not_part(directory):
    """The work before a critical construct is not time in which the thread enters it."""
    for compiler in COMPILERS:
        for options in (GOVERNED, ("-p", "online")):
            run = measure(directory, compiler, "apart", options=options, work="cpu-time")
            tree = [row for row in run.view("region-tree") if row["thread"] == "SUM"]
            entering = sum(float(row["enter_s"]) for row in tree if row["kind"] == "critical")
            around, = (float(row["excl_s"]) for row in tree if row["kind"] == "parallel")
            assert 0 <= entering < around / 2, (compiler, options, entering, around)


@tap.case
def each_event_counts_once(directory):
    for compiler in COMPILERS:
        for work, options in (("user", ("-p", "online")), ("user", ("-t",)), ("cpu-time", ("-t",)), ("cpu-time", ("-p", "online"))):
            found = facts(measure(directory, compiler, options=options, work=work))
            assert 4 * COUNT <= int(found["OpenMP events"]) < 4 * COUNT + 50, (compiler, work, options, found)


@tap.case
def it_is_stated(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler)
        found = facts(run)
        assert 4 * COUNT <= int(found["OpenMP events"]) < 4 * COUNT + 50, found
        light = int(found["executions that were only counted"])
        said = rf"estimates from {2 * COUNT - light} of {2 * COUNT} executions \(--overhead-limit 100 follows all\)"
        assert re.search(said, run.done.stderr), (said, run.done.stderr)
        summary = " ".join(report("--legend", run.output).stdout.split())
        assert f"estimates: {2 * COUNT - light} of {2 * COUNT} executions were followed" in summary, summary
        for view in ("critical-path", "overheads", "whatif", "speedup"):
            text = " ".join(report(run.output, "--view", view).stdout.split())
            assert "Figures of critical constructs and locks are estimates" in text, (view, text)
            assert "most: Figures" not in text, text


tap.main()
