"""Short regions of which not all are followed (--overhead-limit): counts and work are exact, the span and the critical
path of equal regions too, sums add up, what light regions cannot record is followed, and reports mark estimates.  With
a limit of 0, following events always costs too much, so that all of this depends on the number of events only.

Usage: governed_regions.py [-k CASE]"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap
from measurement_file import CONSTRUCTS, DIRECTIVES, extents
from report import report

COMPILERS = ("gcc", "clang")
COUNT = 4000
PARALLEL = 1  # enum format_directive_kind
GOVERNED = ("--overhead-limit", "0")
SETTINGS = {"OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}


def measure(directory, compiler, form, count=COUNT, options=GOVERNED, work="user"):
    run = Measurement(directory, build("governed_regions.c", compiler), form, str(count),
                      options=("--work", work, *options), **SETTINGS)
    assert run.done.returncode == 0, run.done
    return run


def by_kind(run):
    return {row["kind"]: row for row in run.view("parallelism")}


def records(run, kind, table):
    path, = glob.glob(os.path.join(run.output, "*.hpcrun"))
    return [record for extent in extents(path) if extent.table == table for record in extent.parsed()
            if record.kind == kind]


def light(run):
    return sum(record.light for record in records(run, PARALLEL, DIRECTIVES))


def adds_up(run):
    rows = run.view("parallelism")
    program = next(row for row in rows if row["kind"] == "program")
    assert sum(int(row["critical_path"]) for row in rows) == int(program["span"]), rows


def exact(row, **figures):
    for name, figure in figures.items():
        assert int(row[name]) == figure, (name, figure, row)


@tap.case
def equal_regions_are_exact(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "constructs")
        rows = by_kind(run)
        assert COUNT * 3 / 4 < light(run) < COUNT, light(run)
        exact(rows["program"], work=COUNT * 32, span=COUNT * 18)
        exact(rows["parallel"], instances=COUNT, executions=COUNT, work=COUNT * 31, span=COUNT * 17)
        exact(rows["for"], instances=COUNT, executions=COUNT, work=COUNT * 12, span=COUNT * 3)
        exact(rows["single"], instances=COUNT, executions=COUNT, work=COUNT * 7, span=COUNT * 7)
        if compiler == "clang":
            exact(rows["masked"], instances=COUNT, work=COUNT * 2, span=COUNT * 2)
        assert rows["for"]["iteration_parallelism"].startswith("4"), rows["for"]
        adds_up(run)
        exact(rows["for"], critical_path=COUNT * 3)
        exact(rows["single"], critical_path=COUNT * 7)


@tap.case
def rows_stand_apart(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "two")
        assert light(run) > 2 * COUNT, light(run)
        exact(by_kind(run)["program"], work=COUNT * (6 + 3 * 40), span=COUNT * (4 + 3 * 30))
        short, long = sorted((row for row in run.view("parallelism") if row["kind"] == "parallel"),
                             key=lambda row: int(row["instances"]))
        exact(short, instances=COUNT, work=COUNT * 6, span=COUNT * 4, critical_path=COUNT * 4)
        exact(long, instances=3 * COUNT, work=COUNT * 120, span=COUNT * 90, critical_path=COUNT * 90)
        adds_up(run)


@tap.case
def uneven_regions_have_an_error(directory):
    count = 60000
    span = count // 10 * 500 + (count - count // 10) * 10
    for compiler in COMPILERS:
        run = measure(directory, compiler, "uneven", count)
        rows = by_kind(run)
        exact(rows["program"], work=2 * span)
        exact(rows["parallel"], work=2 * span, instances=count)
        percent = re.search(r"the span \+- ([\d.]+) % \(two standard errors\)", rows["parallel"]["note"])
        assert percent, rows["parallel"]
        assert 0 < abs(int(rows["program"]["span"]) / span - 1) * 100 < 2 * float(percent[1]), (rows, span)
        assert 1 < float(percent[1]) < 60, rows["parallel"]
        adds_up(run)


@tap.case
def what_light_regions_cannot_have_is_followed(directory):
    for compiler in COMPILERS:
        for form, work, span in (("tasks", 12, 6), ("nested", 10, 5), ("cells", 72, 27)):
            run = measure(directory, compiler, form, 1000)
            assert not light(run), (form, light(run))
            exact(by_kind(run)["program"], work=1000 * work, span=1000 * span)
            adds_up(run)


@tap.case
def what_appears_later_is_counted(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "rare")
        rows = by_kind(run)
        assert COUNT / 4 < light(run) <= COUNT / 2, light(run)
        exact(rows["program"], work=COUNT * 2 + 10)
        exact(rows["parallel"], instances=COUNT)
        exact(rows["task"], instances=2, work=10, span=10)
        assert COUNT <= int(rows["program"]["span"]) <= COUNT + 5, rows["program"]
        adds_up(run)
        assert "not followed" not in run.done.stderr, run.done.stderr


@tap.case
def other_constructs_inside_are_exact(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "others")
        rows = by_kind(run)
        assert light(run), rows
        exact(rows["program"], work=COUNT * (8 + 12), span=COUNT * (4 + 6))
        exact(rows["critical"], instances=2 * COUNT, work=COUNT * 6)
        exact(rows["user-region"], instances=2 * COUNT, work=COUNT * 10)
        adds_up(run)


@tap.case
def an_end_inside_counts_all_before(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "ends")
        assert light(run), run
        assert COUNT * 10 <= int(by_kind(run)["program"]["span"]) <= (COUNT + 1) * 10, by_kind(run)  # the last one is open
        adds_up(run)


@tap.case
def times_add_up(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "constructs", work="cpu-time")
        assert light(run), run
        tree = [row for row in run.view("region-tree") if row["thread"] == "SUM"]
        wall = sum(float(row["wall_s"]) for row in run.threads())
        assert abs(sum(float(row["excl_s"]) for row in tree) - wall) < 1e-6 + 1e-5 * wall, (wall, tree)  # two clocks
        loop, = (row for row in tree if row["kind"] == "for")
        assert int(loop["exec_count"]) == 2 * COUNT and float(loop["incl_s"]) > 0, loop
        assert re.search(rf"\d+ of {2 * COUNT} executions were followed", loop["note"]), loop
        assert sum(record.light_ticks > 0 for record in records(run, PARALLEL, CONSTRUCTS)) == 2


@tap.case
def what_is_asked_for_is_followed(directory):
    for compiler in COMPILERS:
        for options in (("-p", "online"), ("-p", "log"), ("-t",), ("-c", "context-switches"), ("--overhead-limit", "100")):
            run = measure(directory, compiler, "constructs", 500, options=options)
            assert not light(run), options
            exact(by_kind(run)["program"], work=500 * 32, span=500 * 18)
            assert not any("followed" in row["note"] for row in run.view("parallelism")), options
            assert "estimates" not in run.done.stderr, run.done


@tap.case
def it_is_stated(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "constructs")
        followed = COUNT - light(run)
        assert re.search(r"estimates from \d+ of \d+ executions \(--overhead-limit 100 follows all\)", run.done.stderr)
        rows = by_kind(run)
        assert f"{followed} of {COUNT} regions were followed" in rows["program"]["note"], rows["program"]
        assert f"{followed} of {COUNT} executions were followed" in rows["parallel"]["note"], rows["parallel"]
        facts = {row["item"]: row["value"] for row in run.view("summary") if row["section"] == "health"}
        assert int(facts["regions that were only counted"]) == light(run), facts
        summary = " ".join(report("--legend", run.output).stdout.split())
        assert f"estimates: {followed} of {COUNT} regions were followed" in summary, summary
        for view in ("critical-path", "overheads", "whatif", "speedup"):
            text = " ".join(report(run.output, "--view", view).stdout.split())
            assert f"estimates: {followed} of {COUNT} regions were followed" in text, (view, text)


tap.main()
