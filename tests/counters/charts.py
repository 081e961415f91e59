"""Counters along the time (-t -c): sums of the whole run are those of the constructs, those of a phase are known.

Usage: charts.py [-k CASE]"""
import json
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap

PAGES, VALUES, SOON = 3000, 60, 50
BORDER = 100  # faults of the runtime and of new stacks; pages that two threads touch in a ms, which a reading may span
NAMES = ("page-faults", "context-switches")
COUNT = ("-e", "task-clock@f500", "-c", ",".join(NAMES))


def measure(directory, compiler="gcc", trace="-t", prefix=(), options=COUNT):
    run = Measurement(directory, build("counted_phases.c", compiler), options=(trace, *options), prefix=prefix)
    assert run.done.returncode == 0, run.done
    return run


def charted(run, name, *options, alone=False):
    """How many a counter has in the timeline; alone: of the thread that meets no construct."""
    return sum(int(row["value"]) for row in run.view("timeline", *options)
               if row["kind"] == "counter" and row["name"] == name and (row["thread"] == "2") == alone)


def counted(run, name):
    return sum(int(row[f"{name}_excl"]) for row in run.view("region-tree") if row["thread"] == "SUM")


def part_of(run, name):
    phase, = (row for row in run.view("marks") if row["name"] == name)
    return "--from", phase["start_s"], "--to", phase["end_s"]


def root(run, name, *options):
    row, = (row for row in run.view("topdown", *options) if row["kind"] == "root")
    return int(row[name])


@tap.case
def the_whole_run_has_what_constructs_have(directory):
    deny = build("deny_perf_event.c", openmp=False)
    for compiler, prefix, trace in (("gcc", (), "-t"), ("clang", (), "-t"), ("gcc", (), "--trace=samples"),
                                    ("gcc", (deny,), "-t")):
        run = measure(directory, compiler, trace, prefix)
        for name in NAMES:
            more = charted(run, name) - counted(run, name)
            # getrusage() does not tell at the end what a waiting thread has counted since its last construct
            assert more == 0 or (prefix and more > 0 and name == "context-switches"), (compiler, prefix, trace, name, more)
        assert charted(run, "items") == VALUES + 1, trace
        assert SOON <= charted(run, "page-faults", alone=True) <= SOON + 20, trace


@tap.case
def a_phase_has_its_own_counts(directory):
    for compiler in ("gcc", "clang"):
        run = measure(directory, compiler)
        part = part_of(run, "second")
        faults = charted(run, "page-faults", *part)
        assert abs(faults - PAGES) <= BORDER, (compiler, faults)
        assert charted(run, "items", *part) == VALUES, compiler
        row, = (row for row in run.view("user-counters", *part) if not row["thread"])
        assert (row["values"], row["sum"]) == ("20", str(VALUES)), row


@tap.case
def contexts_of_parts_add_up(directory):
    run = measure(directory)
    parts = [part_of(run, name) for name in ("first", "second", "third")]
    parts[0], parts[2] = ("--from", "0", *parts[0][2:]), parts[2][:2]
    for name in ("page-faults_incl", "items_incl"):
        whole, found = root(run, name), [root(run, name, *part) for part in parts]
        contexts = len(run.view("topdown"))  # each is rounded
        assert abs(sum(found) - whole) <= contexts, (name, found, whole)
        assert found[1] >= whole / 2, (name, found, whole)
    assert [root(run, "items_incl", *part) for part in parts] == [0, VALUES, 1], parts


@tap.case
def constructs_of_a_part_have_empty_cells(directory):
    run = measure(directory)
    part = part_of(run, "second")
    for view in ("regions", "region-tree"):
        rows = run.view(view, *part)
        names = [name for name in rows[0] if name.startswith(NAMES) or name == "counted_pct"]
        assert len(names) > 4 and not any(row[name] for row in rows for name in names), (view, names)
    text = tap.must(tap.REPORT, "--view", "regions", *part, run.output)
    assert "known for contexts only" in text and "page-faults:" not in text, text


@tap.case
def exports_have_the_counts(directory):
    run = measure(directory)
    path = os.path.join(directory, "trace.json")
    tap.must(tap.REPORT, "-q", "-f", "perfetto", "-o", path, run.output)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for name in NAMES:
        values = [event["args"]["value"] for event in events
                  if event.get("name") in (f"{name} (thread 1)", f"{name} (thread 3)")]
        assert sum(values) == counted(run, name), (name, values)


@tap.case
def the_text_has_two_lines_for_each_counter(directory):
    run = measure(directory)
    for width in (80, 120):
        lines = tap.must(tap.REPORT, "--view", "timeline", run.output, COLUMNS=str(width)).splitlines()
        assert all(len(line) <= width for line in lines), lines
        faults = counted(run, "page-faults") + charted(run, "page-faults", alone=True)
        for name, sum_of in (("page-faults", faults), ("items", VALUES + 1)):
            at, = (i for i, line in enumerate(lines) if line.strip().startswith(f"{name}: {sum_of} "))
            assert lines[at].endswith("/s") and "@" in lines[at + 1], lines
            assert not set(lines[at + 1]) - set(" .:-=+*#%@"), lines


@tap.case
def without_counters_the_table_has_no_values(directory):
    run = Measurement(directory, build("counted_tasks.c"), options=("-t",))
    assert "value" not in run.view("timeline")[0]
    assert "/s" not in tap.must(tap.REPORT, "--view", "timeline", run.output).split("Seconds in")[0]


tap.main()
