"""Counted events (-c): tasks with known page faults, threads with known context switches, by perf_event and by
getrusage(), grain by grain; sums that must hold; ends of processes; refused events.

Usage: counters.py [-k CASE]"""
import json
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, combinations, near, tap

COUNT = ("-e", "task-clock@f50", "-c", "page-faults,context-switches")
COMPILERS = ("gcc", "clang")


def sources():
    """Prefixes of the launch: none, and one that forbids perf_event."""
    return (), (build("deny_perf_event.c", openmp=False),)


def measure(directory, compiler, *form, prefix=(), options=COUNT, expected=0):
    run = Measurement(directory, build("counted_tasks.c", compiler), *form, options=options, prefix=prefix)
    assert run.done.returncode == expected, run.done
    return run


def sums(run, view="regions", kind=None):
    return [row for row in run.view(view) if row.get("thread", "SUM") == "SUM" and kind in (None, row["kind"])]


def page_faults_of_tasks(run):
    rows = run.view("tasks")
    return sum(int(row["page-faults"]) for row in rows), sum(int(row["instances"]) for row in rows)


@tap.case
def a_task_that_touches_new_pages_has_as_many_faults(directory):
    for compiler, prefix in combinations(COMPILERS, sources()):
        run = measure(directory, compiler, prefix=prefix)
        faults, instances = page_faults_of_tasks(run)
        own = 2 if prefix else 0  # getrusage() also counts a page of each thread's stack that a sample may touch first
        assert instances == 10 and 1000 <= faults <= 1000 + own, (compiler, prefix, run.view("tasks"))
        for row in run.view("tasks"):
            assert float(row["counted_pct"]) == 100, row


@tap.case
def an_event_may_be_counted_in_one_mode_only(directory):
    """The program touches its pages in user mode."""
    for mode, said, faults in (("k", "in kernel mode only", 0), ("u", "in user mode only", 1000)):
        event = "PERF_COUNT_SW_PAGE_FAULTS:" + mode
        if tap.run(tap.LAUNCHER, "-q", "--overwrite", "-c", event, "true", cwd=directory).returncode == 125:
            raise tap.Skip(f"{event} cannot be counted here")
        run = measure(directory, "gcc", options=("-c", event))
        assert sum(int(row[event]) for row in run.view("tasks")) == faults, run.view("tasks")
        assert f"{event} ({said})" in tap.must(tap.REPORT, "--view=summary", "--legend", run.output), said


@tap.case
def each_thread_has_its_tasks_faults(directory):
    for row in measure(directory, "gcc").view("regions"):
        if row["kind"] == "task-exec" and row["thread"] != "SUM":
            assert int(row["page-faults"]) == 100 * int(row["exec_count"]), row
        if row["kind"] == "task-exec" and row["thread"] == "SUM":
            assert int(row["page-faults_min"]) <= float(row["page-faults_mean"]) <= int(row["page-faults_max"]), row


@tap.case
def a_thread_that_sleeps_is_switched_out(directory):
    for prefix in sources():
        row, = sums(measure(directory, "gcc", "sleep", prefix=prefix), view="region-tree", kind="program")
        count = int(row["context-switches_incl"])
        assert count >= 20, row
        tap.timed(count < 20 + 100, row)  # waits of the other thread, and preemptions


@tap.case
def constructs_add_up_to_the_threads_count(directory):
    for compiler, form in combinations(COMPILERS, ("", "short")):
        run = measure(directory, compiler, form)
        rows = run.view("region-tree")
        total, = (row for row in rows if row["kind"] == "program" and row["thread"] == "SUM")
        for name in ("page-faults", "context-switches"):
            counted = [row for row in rows if row[f"{name}_excl"]]
            assert all(row["kind"] == "task" for row in rows if row not in counted), rows  # their creation has no time
            own = sum(int(row[f"{name}_excl"]) for row in counted if row["thread"] == "SUM")
            threads = sum(int(row[f"{name}_excl"]) for row in counted if row["thread"] != "SUM")
            assert own == threads, (name, own, threads)
            assert int(total[f"{name}_incl"]) == own, (name, own, total)
        counted, program = int(total["page-faults_incl"]), int(run.done.stdout.split()[0])
        assert counted <= program, (counted, program)  # that has the loader's and the tool's as well
        assert counted >= 1000 + (2500 if form else 0), counted


@tap.case
def short_tasks_are_estimated(directory):
    run = measure(directory, "gcc", "short")
    row, = (row for row in run.view("tasks") if row["instances"] == "40000")
    assert float(row["counted_pct"]) < 100, row
    tap.timed(1875 <= int(row["page-faults"]) <= 3125, row["page-faults"])  # tasks that are read depend on load
    assert "about" in tap.must(tap.REPORT, "--view", "tasks", run.output)


@tap.case
def contexts_add_up_to_the_threads_count(directory):
    for compiler, prefix, rate in combinations(COMPILERS, sources(), ("f1000", "f50")):
        run = measure(directory, compiler, "sleep", prefix=prefix,
                      options=("-e", f"task-clock@{rate}", *COUNT[2:]))
        total, = sums(run, view="region-tree", kind="program")
        root, = (row for row in run.view("topdown") if row["kind"] == "root")
        for name in ("page-faults_incl", "context-switches_incl"):
            assert root[name] == total[name] and int(total[name]) >= 20, (compiler, prefix, rate, name, root, total)


@tap.case
def what_follows_the_last_sample_has_a_row(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, options=("-e", "task-clock@3600000000", *COUNT[2:]))  # too rare for a sample
        for view in ("topdown", "flat"):
            rows = {row["name"]: int(row["page-faults_excl"]) for row in run.view(view)}
            assert rows["[counted after the last sample]"] > 0, (compiler, view, rows)
            assert not rows.get("[waiting that no sample saw]"), (compiler, view, rows)
            assert "[counted a" in tap.must(tap.REPORT, "-q", "--view", view, run.output), (compiler, view)


@tap.case
def events_of_runs_that_are_too_many_are_reported(directory):
    names = ("page-faults,minor-faults,major-faults,context-switches,cpu-migrations,alignment-faults,emulation-faults",
             "perf::PAGE-FAULTS,perf::MINOR-FAULTS")
    runs = [os.path.join(directory, str(number)) for number in range(len(names))]
    for run, events in zip(runs, names):
        tap.must(tap.LAUNCHER, "-q", "-o", run, "-c", events, build("counted_tasks.c", "gcc"))
    done = tap.run(tap.REPORT, "--merge", "--view", "tasks", "-f", "csv", *runs)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    assert "'perf::MINOR-FAULTS' left out: the runs count more than 8 events" in done.stderr, done
    assert "perf::PAGE-FAULTS" in done.stdout and "MINOR-FAULTS" not in done.stdout.splitlines()[0], done


@tap.case
def what_a_program_did_not_count_is_empty(directory):
    events = ("page-faults", "context-switches")
    names = ("gcc", "gcc", "clang")
    runs = [os.path.join(directory, str(number)) for number in range(len(names))]
    for run, compiler, event in zip(runs, names, events + events[:1]):
        tap.must(tap.LAUNCHER, "-q", "-o", run, "-p", "log", "-c", event, build("counted_tasks.c", compiler))

    def rows_of(view, *directories):
        text = tap.must(tap.REPORT, *("--merge",) * (len(directories) > 1), "--view", *view.split(), "-f", "json",
                        *directories)
        return [row for row in json.loads(text)["rows"] if row.get("thread", "SUM") == "SUM"]

    for view, suffix in (("regions", ""), ("region-tree", "_incl"), ("tasks", ""), ("grains --grain-groups", "")):
        cells = [tuple(row[event + suffix] is not None for event in events) for row in rows_of(view, *runs)]
        assert (True, False) in cells and (True, True) in cells, (view, cells)
    alone = {event: rows_of("regions", run) for run, event in zip(runs, events)}
    for row in rows_of("regions", *runs[:2]):
        for event in events:
            single = [one for one in alone[event] if (one["kind"], one["line"]) == (row["kind"], row["line"])]
            for part in ("_min", "_mean", "_max"):
                assert len(single) != 1 or row[event + part] == single[0][event + part], (event, part, row, single)
    text = tap.must(tap.REPORT, "--view", "regions", "--merge", runs[0], runs[2])
    assert "page-faults: " in text and "context-switches" not in text, text


@tap.case
def counting_survives_what_programs_do(directory):
    run = measure(directory, "gcc", "close")
    assert page_faults_of_tasks(run) == (2000, 20) and "not armed" in run.done.stderr, run.done
    assert page_faults_of_tasks(measure(directory, "gcc", "exec")) == (2000, 20)
    assert page_faults_of_tasks(measure(directory, "gcc", "fork")) == (1000, 10)
    killed = measure(directory, "gcc", "kill", expected=-signal.SIGKILL)
    rows = tap.run(tap.REPORT, "-q", "--view", "tasks", "-f", "csv", killed.output).stdout.splitlines()
    names = rows[0].split(",")
    assert sum(int(row.split(",")[names.index("page-faults")]) for row in rows[1:]) == 1000, rows


def paused_halfway(directory, compiler, form):
    os.makedirs(directory, exist_ok=True)
    run = measure(directory, compiler, form, options=("-t", *COUNT))
    row, = (row for row in run.view("regions") if row["kind"] == "parallel" and row["thread"] == "2" and
            row["name"].startswith("pause_halfway"))
    near(int(row["page-faults"]), 1000 * (1 - float(run.done.stdout.split()[0])), 0.1, f"{compiler} {form}")
    assert float(row["counted_pct"]) < 90, row


@tap.case
def what_is_counted_in_a_pause_is_left_out_by_time(directory):
    for compiler, form in (("gcc", "pause"), ("clang", "pause"), ("gcc", "pause-inside"), ("clang", "pause-inside")):
        tap.again(paused_halfway, os.path.join(directory, compiler + form), compiler, form)


@tap.case
def what_a_thread_does_when_the_process_ends_is_counted(directory):
    for compiler, prefix in combinations(COMPILERS, sources()):
        run = measure(directory, compiler, "exit", prefix=prefix)
        counts = [int(row["page-faults"]) for row in run.view("regions")
                  if row["kind"] == "parallel" and row["name"] == "exit_inside" and row["thread"] != "SUM"]
        assert sum(count >= 300 for count in counts) == 1 and max(counts) < 400, (compiler, prefix, counts)


@tap.case
def without_counters_there_are_no_columns(directory):
    run = measure(directory, "gcc", options=("-e", "task-clock@f50"))
    for view in ("regions", "region-tree", "tasks"):
        assert not [name for name in run.view(view)[0] if "page-faults" in name or "counted" in name]


@tap.case
def events_that_cannot_be_counted_are_refused(directory):
    deny = sources()[1]
    for prefix, events, what in (((), "nonsense", "--list-events"), ((), "page-faults@5", "leave out '@'"),
                                 ((), "task-clock", "is a time"), ((), "cs,context-switches", "given twice"),
                                 ((), "", "empty name"), (deny, "cpu-migrations", "forbidden"),
                                 (deny, "PERF_COUNT_SW_PAGE_FAULTS:k", "forbidden")):
        done = tap.run(*prefix, tap.LAUNCHER, "-c", events, "/bin/true", cwd=directory)
        assert done.returncode == 125 and what in done.stderr and len(done.stderr.splitlines()) == 1, done
    done = tap.run(tap.LAUNCHER, "-e", "page-faults", "-c", "page-faults", "/bin/true", cwd=directory)
    assert done.returncode == 125 and "is also sampled (--event)" in done.stderr, done
    listed = tap.must(tap.LAUNCHER, "--list-events")
    assert "page-faults " in listed and "instructions " in listed, listed
    with open(os.path.join(directory, "libpfm.so.4"), "w", encoding="utf-8") as file:
        file.write("not a library")
    done = tap.run(tap.LAUNCHER, "-c", "nonsense", "/bin/true", cwd=directory, LD_LIBRARY_PATH=directory)
    assert done.returncode == 125 and len(done.stderr.splitlines()) == 1, done
    assert re.search(r"libpfm.so.4 cannot be loaded \(.*file too short\); install libpfm4", done.stderr), done


@tap.case
def half_of_the_descriptors_are_left_to_the_program(directory):
    tap.need_program("prlimit")
    for options in (("-e", "task-clock@f50"), COUNT):
        run = Measurement(directory, build("many_threads.c"), options=options, prefix=("prlimit", "--nofile=256"))
        assert run.done.returncode == 0 and int(run.done.stdout) >= 120, (options, run.done)


def grains(run, *options):
    return run.view("grains", *options)


def lines(*marks):
    """The line of each "/* mark */" in the program of grains."""
    with open(os.path.join(tap.SOURCE, "tests", "counters", "counted_grains.c")) as source:
        numbered = list(enumerate(source, 1))
    return [str(next(number for number, line in numbered if f"/* {mark} */" in line)) for mark in marks]


def measure_grains(directory, compiler, *form, prefix=(), options=COUNT):
    run = Measurement(directory, build("counted_grains.c", compiler), *form, options=options + ("-p", "log"),
                      prefix=prefix)
    assert run.done.returncode == 0, run.done
    return run


@tap.case
def each_grain_has_the_faults_of_its_pages(directory):
    parent, child, critical = lines("parent", "child", "critical")
    for compiler, prefix in combinations(COMPILERS, sources()):
        run = measure_grains(directory, compiler, prefix=prefix)
        rows = grains(run)
        found = {}
        for row in rows:
            if row["kind"] == "task" and row["path"].startswith("0.3."):
                found.setdefault(row["line"], []).append(int(row["page-faults"]))
            elif row["kind"] == "chunk":
                assert row["page-faults"] == row["first"], (compiler, prefix, row)
        for line in (parent, child):
            assert sorted(found[line]) == list(range(1, 13)), (compiler, prefix, found)
        assert found[critical] == 12 * [7], (compiler, prefix, found)
        assert sum(row["kind"] == "chunk" for row in rows) == 9, rows
        for line in found:
            of_grains = sum(int(row["page-faults"]) for row in rows if row["kind"] == "task" and row["line"] == line)
            row, = (row for row in run.view("tasks") if row["line"] == line)
            assert int(row["page-faults"]) == of_grains, (row, of_grains)


@tap.case
def what_a_thread_counts_while_it_waits_is_in_no_task(directory):
    awaited, = lines("awaited")
    for prefix in sources():
        run = measure_grains(directory, "gcc", "awaited", prefix=("env", "OMP_WAIT_POLICY=passive") + prefix)
        counts = [int(row["context-switches"]) for row in grains(run) if row["line"] == awaited]
        assert len(counts) == 12, counts
        tap.timed(sum(counts) < 6, counts)  # preemptions


@tap.case
def groups_of_grains_have_least_mean_and_greatest(directory):
    run = measure_grains(directory, "gcc")
    child, = lines("child")
    counts = sorted(int(row["page-faults"]) for row in grains(run) if row["line"] == child)
    row, = (row for row in grains(run, "--grain-groups") if row["line"] == child)
    shown = [float(row[f"page-faults{end}"]) for end in ("", "_min", "_mean", "_max")]
    near(shown[2], sum(counts) / 24, 0.01, "mean")
    assert len(counts) == 24 and shown[:2] + shown[3:] == [sum(counts), counts[0], counts[-1]], (shown, counts)
    assert float(row["counted_pct"]) == 100, row
    text = tap.must(tap.REPORT, "--view", "grains", run.output)
    assert f"page-faults: {sum(counts)}, {counts[0]} to {counts[-1]} a grain" in text, text
    assert "counted:" not in text, text
    document = json.loads(tap.must(tap.REPORT, "--view", "grains", "-f", "json", run.output))
    assert sorted(row["page-faults"] for row in document["rows"] if str(row["line"]) == child) == counts, document


@tap.case
def views_are_sorted_by_counts(directory):
    run = measure_grains(directory, "gcc")
    for view, word, column in (("tasks", "page-faults", "page-faults"), ("tasks", "switches", "context-switches"),
                               ("regions", "page-faults", "page-faults")):
        rows = [int(row[column] or 0) for row in run.view(view, "--sort", word) if row.get("thread", "SUM") == "SUM"]
        assert rows == sorted(rows, reverse=True) and len(rows) > 2, (view, word, rows)
    for word, column in (("page-faults", "page-faults_incl"), ("page-faults_excl", "page-faults_excl")):
        below = {}
        for row in run.view("region-tree", "--sort", word):
            if row["thread"] == "SUM":
                below.setdefault(row["parent_id"], []).append(int(row[column] or 0))
        assert max(map(len, below.values())) > 2, below
        assert all(counts == sorted(counts, reverse=True) for counts in below.values()), (word, below)
    done = tap.run(tap.REPORT, "--view", "tasks", "--sort", "cycles", run.output)
    assert done.returncode == 2 and "page-faults, context-switches" in done.stderr, done


@tap.case
def grains_that_were_not_read_have_no_count(directory):
    run = measure_grains(directory, "gcc", "short")
    rows = [row for row in grains(run) if row["kind"] == "task"]
    counts = [int(row["page-faults"]) for row in rows if row["page-faults"]]
    assert 0 < len(counts) < len(rows) == 60000, (len(counts), len(rows))
    assert max(counts) < 10, sorted(set(counts))
    near(sum(counts) / len(counts), 1 / 16, 0.25, "faults of the grains that were read")
    row, = (row for row in grains(run, "--grain-groups") if row["kind"] == "task")
    near(float(row["counted_pct"]), 100 * len(counts) / len(rows), 0.001, "part of the grains")
    assert "% of the grains" in tap.must(tap.REPORT, "--view", "grains", run.output)


@tap.case
def a_log_without_counters_has_no_counts(directory):
    run = measure_grains(directory, "gcc", options=("-e", "task-clock@f50"))
    for row in grains(run) + grains(run, "--grain-groups"):
        assert not [name for name in row if "faults" in name or "counted" in name], row


tap.main()
