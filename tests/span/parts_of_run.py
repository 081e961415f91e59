"""--from and --to with a trace: what the views made from samples and times of constructs show of a part of a run."""
import collections
import glob
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap
from report import report

TRACED = ("-t", "-e", "task-clock@f1000")
FUNCTIONS = ("uneven_part", "serial_part", "locked_part", "task_part")
THREAD_TIMES = ("lockwait_s", "idle_s", "cpu_s", "wall_s", "tool_s", "blocked_s", "core_wait_s",
                "waiting_no_core_s")
CONSTRUCT_TIMES = ("exec_s", "body_s", "enter_s", "exit_barrier_s", "startup_s", "shutdown_s", "task_s", "single_s")
SLACK_S = 50e-6  # between a table and the trace, which rounds the start of each state to 32 ticks
ROUNDINGS_S = 5e-6  # of ticks to ns in each part and record, however long they are


def measure(directory, *arguments, compiler="clang", options=TRACED):
    run = Measurement(directory, build("parts_of_run.c", compiler), *arguments, options=options)
    assert {"kill", "kill-serial", "kill-locked"} & {*arguments} or run.done.returncode == 0, run.done
    return run


def cuts(run):
    """Seconds since the run's start at which the phases were separated: names of files have when processes began."""
    files = glob.glob(os.path.join(run.output, "*.hpcrun")) + glob.glob(os.path.join(run.output, "*.live"))
    begin_ns = min(int(os.path.splitext(path)[0].rsplit("-", 1)[1], 16) for path in files)
    return [(int(line) - begin_ns) / 1e9 for line in run.done.stdout.split()]


def limits(times):
    """Options for the parts before, between and behind times."""
    texts = [f"{time * 1e6:.3f}us" for time in times]
    return [(*(("--from", begin) if begin else ()), *(("--to", end) if end else ()))
            for begin, end in zip([None, *texts], [*texts, None])]


def sums(rows, names, columns):
    found = collections.Counter()
    for row in rows:
        for column in columns:
            found[(*(row[name] for name in names), column)] += float(row[column] or 0)
    return found


def contexts(rows):
    return sums(rows, ("kind", "name"), ("samples", "work_excl_s"))


def threads(rows, columns=THREAD_TIMES):
    return sums(rows, ("process", "thread"), columns)


def constructs(rows, columns=CONSTRUCT_TIMES):
    return sums(rows, ("kind", "name", "line", "thread"), columns)


def assert_near(found, expected, slack_s):
    for key in set(found) | set(expected):
        off = abs(found[key] - expected[key])
        assert off <= slack_s, (key, found[key], expected[key])


def counts(rows):
    found = collections.Counter()
    for row in rows:
        if row["thread"] == "SUM":
            found[row["kind"]] += int(row["executions"] or 0)
    return +found


def functions(run, part):
    return {node.name for node in run.tree(*part) if node.kind == "function" and node.value("samples")} & {*FUNCTIONS}


def shows_phases(run, with_constructs=True):
    parts = limits(cuts(run))
    found = [functions(run, part) for part in parts]
    assert found == [{name} for name in FUNCTIONS], found
    for part, waits in zip(parts, (False, False, True, False)):
        tap.timed((sum(float(row["lockwait_s"]) for row in run.view("threads", *part)) > 0.01) == waits, part)
    uneven, serial = ({row["thread"]: row for row in run.view("threads", *part)} for part in parts[:2])
    tap.timed(float(uneven["2"]["idle_s"]) > 0.02 > 0.01 > float(uneven["1"]["idle_s"]), uneven)
    parked, all_s = (float(serial["2"][column]) for column in ("idle_s", "wall_s"))
    tap.timed(all_s * 0.95 < parked < all_s * 1.01, parked, all_s)
    tree = run.tree(*parts[1])
    blamed = sum(node.value("idleness_incl_s") for node in tree if node.name == "serial_part")
    tap.timed(blamed > 0.02 and tree[0].value("idleness_incl_s") > 0.05, blamed)
    if with_constructs:
        found = [counts(run.view("regions", *part)) for part in parts]
        assert found == [{"parallel": 1}, {}, {"parallel": 1, "critical": 20},
                         {"parallel": 1, "single": 1, "task": 20, "task-exec": 20}], found
        found = [[row["instances"] for row in run.view("tasks", *part)] for part in parts]
        assert found == [["0"], ["0"], ["0"], ["20"]], found


@tap.case
def each_phase_shows_what_runs_in_it(directory):
    shows_phases(measure(directory))
    shows_phases(measure(directory, options=(*TRACED, "-p", "off")), with_constructs=False)


def is_whole(run, slack_s=SLACK_S):
    """The figures without --from come from tables, those with it from the trace.  They differ by roundings only, which
    do not grow with the length of a state: so no share of a figure is allowed."""
    everything = ("--from", "0")
    found, expected = contexts(run.view("topdown", *everything)), contexts(run.view("topdown"))
    assert found == expected, (found - expected, expected - found)
    assert_near(sums(run.view("flat", *everything), (), ("idleness_excl_s", "lockwait_excl_s")),
                sums(run.view("flat"), (), ("idleness_excl_s", "lockwait_excl_s")), slack_s)
    assert_near(threads(run.view("threads", *everything)), threads(run.view("threads")), slack_s)
    # where in waits samples have met the tool itself is not in the trace
    found, expected = (threads(run.view("threads", *part), ("overhead_s",)) for part in (everything, ()))
    assert_near(found, expected, 1e-3)
    found, expected = (threads(run.view("threads", *part), ("samples",)) for part in (everything, ()))
    assert found == expected, (found, expected)
    whole, part = run.view("regions"), run.view("regions", *everything)
    assert_near(constructs(part), constructs(whole), 50e-6)
    columns = ("exec_count", "single_count", "executions")
    assert constructs(part, columns) == constructs(whole, columns), (whole, part)
    kinds = ("kind", "line")
    times = ("total_s", "sync_s", "imbalance_s", "limited_parallelism_s", "management_s", "useful_s")
    assert_near(sums(run.view("overheads", *everything), kinds, times), sums(run.view("overheads"), kinds, times), 2e-4)
    assert run.view("tasks", *everything) == run.view("tasks"), (run.view("tasks", *everything), run.view("tasks"))
    values = [{row["metric"]: float(row["value"] or 0) for row in run.view("efficiency", *part)}
              for part in ((), everything)]
    for metric, value in values[0].items():
        assert abs(values[1][metric] - value) < 0.01, (metric, values)


@tap.case
def a_part_with_everything_equals_the_run(directory):
    is_whole(measure(directory))
    is_whole(measure(directory, compiler="gcc"))


@tap.case
def adjacent_parts_add_up(directory):
    for options in (TRACED, (*TRACED, "-p", "off")):
        run = measure(directory, options=options)
        last = max(float(row["wall_s"]) for row in run.view("threads"))
        parts = limits(sorted(cuts(run) + [last * step / 10 for step in range(1, 10)]))
        for view, figures, columns, exact in (
                ("threads", threads, THREAD_TIMES, ("samples",)),
                ("regions", constructs, CONSTRUCT_TIMES, ("exec_count", "executions"))):
            rows = [run.view(view, *part) for part in parts]
            whole = run.view(view, "--from", "0")
            found = sum((figures(part, columns) for part in rows), collections.Counter())
            assert_near(found, figures(whole, columns), ROUNDINGS_S)
            assert sum((figures(part, exact) for part in rows), collections.Counter()) == +figures(whole, exact)
        tables = [run.view("topdown", *part) for part in parts]
        whole, names = run.view("topdown"), ("kind", "name")
        samples, all_samples = (sum((sums(rows, names, ("samples",)) for rows in some), collections.Counter())
                                for some in (tables, [whole]))
        assert samples == all_samples, (samples, all_samples)
        work = sum((sums(rows, names, ("work_excl_s",)) for rows in tables), collections.Counter())
        assert_near(work, sums(whole, names, ("work_excl_s",)), 1e-6)  # roundings to the last digit shown


@tap.case
def blocked_time_adds_up(directory):
    """Also that of a sleep that is known from the rest of the thread's life only."""
    for options in (TRACED, ("-t", "-e", "wall@f1000")):
        run = measure(directory, "sleep", options=options)
        whole, last = threads(run.view("threads")), max(float(row["wall_s"]) for row in run.view("threads"))
        for step in range(1, 20):
            parts = [threads(run.view("threads", *part)) for part in limits([last * step / 20])]
            assert_near(sum(parts, collections.Counter()), whole, SLACK_S)


@tap.case
def times_count_from_the_first_process(directory):
    run = measure(directory, "fork")
    parts = limits(cuts(run))
    assert [functions(run, part) for part in parts] == [{name} for name in FUNCTIONS]
    for part in parts:
        rows = run.view("threads", *part)
        work = sums(rows, ("process",), ("work_s",))
        assert len(work) == 2, rows
        tap.timed(max(work.values()) > 0.8 * sum(work.values()), rows)


@tap.case
def a_killed_process_is_known_until_its_end(directory):
    run = measure(directory, "kill")
    assert run.done.returncode in (-9, 137), run.done
    parts = limits(cuts(run))
    found = [{node.name for node in run.tree("-q", *part) if node.value("samples")} & {*FUNCTIONS} for part in parts]
    assert found == [{name} for name in FUNCTIONS], found
    whole, part = run.view("threads", "-q"), run.view("threads", "-q", "--from", "0")
    # the table of a killed process is as old as its last refresh
    assert_near(threads(part, ("idle_s", "lockwait_s")), threads(whole, ("idle_s", "lockwait_s")), 1e-3)


@tap.case
def workers_of_a_region_that_was_over_are_parked(directory):
    for mode in ("online", "off"):
        run = measure(directory, "kill-serial", options=(*TRACED, "-p", mode))
        whole, part = (float(run.view("flat", "-q", "--idleness", "shared", *options)[0]["idleness_incl_s"])
                       for options in ((), ("--from", "0")))
        tap.timed(abs(part - whole) < 1e-3, (mode, part, whole))
        tap.timed(sum(threads(run.view("threads", "-q", "--from", "0"), ("idle_s",)).values()) > 0.06, mode)
        if mode == "online":
            assert_near(constructs(run.view("regions", "-q", "--from", "0")), constructs(run.view("regions", "-q")), 1e-3)


@tap.case
def a_lock_that_was_waited_for_is_not_in_the_body_around(directory):
    run = measure(directory, "kill-locked")
    waits = threads(run.view("threads", "-q"), ("lockwait_s",))
    tap.timed(max(waits.values()) > 0.05, waits)
    assert_near(constructs(run.view("regions", "-q", "--from", "0")), constructs(run.view("regions", "-q")), 1e-3)


@tap.case
def the_text_says_which_part(directory):
    run = measure(directory)
    for view in ("summary", "topdown", "bottomup", "flat", "threads", "efficiency", "regions", "region-tree",
                 "overheads", "tasks"):
        text = tap.must(tap.REPORT, "--view", view, "--from", "10ms", "--to", "0.03s", run.output)
        assert text.startswith("Only from 0.01 s to 0.03 s of the run, which took "), (view, text)
        assert "Only from" not in tap.must(tap.REPORT, "--view", view, run.output)


def paths(run, *part):
    """What the rows of topdown are, by their ids: names from the row up to the root.  What the root itself is charged
    with has a name that depends on whether it was sampled."""
    rows = {row["id"]: row for row in run.view("topdown", *part)}

    def path(number):
        row = rows.get(number)
        if not row or not row["parent_id"]:
            return ()
        return ((row["kind"], row["kind"] != "partial" and row["name"]), *path(row["parent_id"]))
    return {number: path(number) for number in rows}


@tap.case
def contexts_have_the_same_ids_in_all_parts(directory):
    """Also below rows of waiting, which the whole run divides by its causes, and no part does."""
    for options in (TRACED, (*TRACED, "-p", "log")):
        run = measure(directory, "start", options=options)
        whole = paths(run)
        named = [row["name"] for row in run.view("topdown") if row["depth"] == "1"]
        above = named[:named.index("start")] if "start" in named else []
        tap.timed(sum("team:" in name or "regions:" in name for name in above) > 1, named)
        for part in limits(cuts(run)):
            shown = paths(run, *part)
            assert len(shown) < len(whole) and all(shown[number] == whole.get(number, shown[number])
                                                   for number in shown), (part, shown, whole)
            intervals = run.view("timeline", *part)
            used = {row[column] for row in intervals for column in ("context_id", "wait_for")} - {""}
            late = used - set(shown)  # found by the first sample of a thread behind the part
            assert used <= set(whole) and len(late) <= len({row["thread"] for row in intervals}), (part, used, shown)
            for number in sorted(used - late)[:4]:
                assert number in [row["id"] for row in run.view("topdown", *part, "--root", f"#{number}")][1:2], part


@tap.case
def what_is_not_known_is_empty(directory):
    run = measure(directory)
    middle = (cuts(run)[2] + max(float(row["wall_s"]) for row in run.view("threads"))) / 2
    part = ("--from", f"{middle:.6f}")
    tasks, = run.view("tasks", *part)
    assert float(tasks["exec_s"]) and not tasks["undeferred"] and not tasks["exec_max_s"], tasks
    assert all(not row["dropped"] and not row["partial"] for row in run.view("threads", *part))
    single = [row for row in run.view("regions", *part) if row["kind"] == "single"]
    assert single and all(not row["single_count"] and not int(row["exec_count"]) for row in single), single


@tap.case
def what_cannot_be_shown_is_refused(directory):
    for options, status, reason, arguments in (
            (("-e", "task-clock@f100"), 1, "there is no trace; run 'hpcrun-lite -t'", ("--to", "1")),
            (("--trace=samples",), 1, "its trace has samples only", ("--view", "regions", "--from", "1us")),
            (TRACED, 2, "nothing happened from --from 1000 on", ("--view", "threads", "--from", "1000")),
            (TRACED, 2, "is not before --to", ("--view", "flat", "--from", "0.2", "--to", "0.1"))):
        done = report(*arguments, measure(directory, options=options).output)
        said = done.stderr.splitlines()
        assert done.returncode == status and len(said) == 1 and reason in said[0] and not done.stdout, done


tap.main()
