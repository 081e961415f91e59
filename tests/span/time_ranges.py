"""--from and --to with a graph log: what each phase of a program has, in all views that come from the log."""
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import reference_replay
from measured import Measurement, build, tap
from report import check_spans, report

# Work, span and instances in each phase, by kind.
PHASES = (
    {"program": (10, 10, 1), "task": (0, 0, 0), "for": (0, 0, 0), "critical": (0, 0, 0)},
    {"program": (20, 5, 1), "task": (20, 20, 4), "single": (20, 5, 1), "for": (0, 0, 0), "critical": (0, 0, 0)},
    {"program": (36, 8, 1), "task": (0, 0, 0), "for": (36, 8, 1), "critical": (0, 0, 0)},
    {"program": (48, 24, 1), "task": (0, 0, 0), "for": (0, 0, 0), "critical": (42, 42, 6)},
)
WHOLE = (114, 47)


def measure(directory, *arguments, options=("-p", "log", "--work", "user")):
    run = Measurement(directory, build("time_ranges.c", "clang"), *arguments, options=options)
    assert run.done.returncode == 0, run.done
    return run


def first_process(run):
    """Start of the first process, and seconds of a tick."""
    found = [reference_replay.process(path) for path in glob.glob(os.path.join(run.output, "*.hpcrun"))]
    return min(process["start_ticks"] for process in found), found[0]["tick_scale"] / 2**32 / 1e9


def pauses(run):
    """Seconds since the run's start, as the program has printed them."""
    start, tick = first_process(run)
    return [(int(line) - start) * tick for line in run.done.stdout.split()]


def ranges(cuts):
    """Options for the parts before, between and behind times."""
    texts = [f"{cut * 1e6:.3f}us" for cut in cuts]
    return [(*(("--from", begin) if begin else ()), *(("--to", end) if end else ()))
            for begin, end in zip([None, *texts], [*texts, None])]


def by_kind(rows):
    return {kind: tuple(sum(float(row[column]) for row in rows if row["kind"] == kind)
                        for column in ("work", "span", "instances")) for kind in {row["kind"] for row in rows}}


@tap.case
def each_phase_has_its_own_figures(directory):
    run = measure(directory)
    whole = run.view("parallelism")
    assert by_kind(whole)["program"] == (*WHOLE, 1), whole
    for limits, expected in zip(ranges(pauses(run)), PHASES):
        rows = run.view("parallelism", *limits)
        found = by_kind(rows)
        assert {kind: found.get(kind) for kind in expected} == expected, (limits, found)
        assert sum(float(row["critical_path"]) for row in rows) == expected["program"][1], rows
        assert all(not row["executions"] and not row["iteration_parallelism"] for row in rows), rows
        work, span, _ = expected["program"]
        tree = run.view("critical-path", *limits)
        assert float(tree[0]["critical_path_incl"]) == span and not tree[0]["work_incl_s"], tree[0]
        assert all(row["critical_path_incl"] for row in tree), tree
        assert {float(row["work"]) for row in run.view("whatif", *limits)} <= {work}
        most = float(run.view("speedup", *limits)[-1]["speedup_simulated"])
        longest = (43, 48) if expected["critical"][0] else (span, span)  # the lock's holders follow one another
        assert work / longest[1] - 1e-3 < most < work / longest[0] + 1e-3, most
        assert sum(float(row["exec_s"]) for row in run.view("grains", *limits)) == work
        drawn = json.loads(tap.must(tap.REPORT, "--view", "grain-graph", "-f", "json", *limits, run.output))
        assert sum(node["exec_s"] for node in drawn["nodes"]) == work and "from_s" in drawn["run"], drawn["run"]


@tap.case
def grains_are_those_of_the_phase(directory):
    run = measure(directory)
    phases = [run.view("grains", *limits) for limits in ranges(pauses(run))]
    kinds = [sorted(row["kind"] for row in rows) for rows in phases]
    assert kinds == [["initial"], ["task"] * 4, ["chunk"] * 8, ["implicit"] * 2], kinds
    assert all(row["critical"] == "1" for row in phases[1]), phases[1]
    assert [row["critical"] for row in phases[2]].count("1") == 1, phases[2]
    assert len(run.view("grains")) > sum(map(len, phases))  # also those without work


def within_fragments(run, most):
    """Seconds since the run's start in the middle of some fragments."""
    log, = glob.glob(os.path.join(run.output, "*.graph"))
    start, tick = first_process(run)
    found = sorted((end - operands[1] / 2 - start) * tick for stream in reference_replay.streams(log).values()
                   for end, op, operands in stream if op in (reference_replay.RUN, reference_replay.RUN_OTHER))
    return found[::len(found) // most + 1]


def adds_up(run, digit):
    cuts = sorted(pauses(run) + within_fragments(run, 8))
    whole, parts = run.view("parallelism"), [run.view("parallelism", *limits) for limits in ranges(cuts)]
    for rows in parts:
        check_spans(rows)
        spans = sum(float(row["critical_path"]) for row in rows)
        assert abs(spans - float(rows[0]["span"])) <= digit * len(rows), (spans, rows)
    for column in ("work", "span"):
        found, expected = sum(float(rows[0][column]) for rows in parts), float(whole[0][column])
        assert found >= expected - digit, (column, found, expected)
        assert column == "span" or found <= expected + digit, (column, found, expected)


@tap.case
def adjacent_parts_add_up(directory):
    adds_up(measure(directory), 0)
    # 1 µs: one of log and measurement may lack the last fragment
    adds_up(measure(directory, options=("-p", "log")), 1e-6)


@tap.case
def times_count_from_the_first_process(directory):
    run = measure(directory, "fork")
    parts = [run.view("parallelism", *limits)[0] for limits in ranges(pauses(run))]
    found = [(float(row["work"]), float(row["span"])) for row in parts]
    assert found == [(phase["program"][0], phase["program"][1]) for phase in PHASES], found


@tap.case
def the_text_says_which_part(directory):
    run = measure(directory)
    for view in ("parallelism", "critical-path", "whatif", "speedup", "grains"):
        text = tap.must(tap.REPORT, "--view", view, "--from", "10ms", "--to", "0.03s", run.output)
        assert text.startswith("Only from 0.01 s to 0.03 s of the run, which took 0."), (view, text)
        assert "Only from" not in tap.must(tap.REPORT, "--view", view, run.output)


@tap.case
def what_cannot_be_shown_is_refused(directory):
    run = measure(directory)
    os.mkdir(os.path.join(directory, "online"))
    without = Measurement(os.path.join(directory, "online"), build("time_ranges.c", "clang"), options=("-p", "online"))
    for status, reason, arguments in (
            (2, "--from 2 is not before --to 1.5", ("--view", "grains", "--from", "2", "--to", "1500ms", run.output)),
            (2, "is not before", ("--view", "grains", "--from", "1", "--to", "1", run.output)),
            (2, "needs a time", ("--view", "grains", "--from", "-1", run.output)),
            (2, "needs a time", ("--view", "grains", "--to", "1m", run.output)),
            (2, "needs a time", ("--view", "grains", "--to", "nan", run.output)),
            (2, "needs a time", ("--view", "grains", "--to", "", run.output)),
            (2, "whole runs", ("--view", "grains", "--to", "1", "--reference", run.output, run.output)),
            (1, "there is no trace; run 'hpcrun-lite -t'", ("--to", "1", run.output)),
            (2, "nothing happened from --from 1000 on", ("--view", "speedup", "--from", "1000", run.output)),
            (1, "there is no graph log; run 'hpcrun-lite -p log'", ("--view", "speedup", "--to", "1", without.output))):
        done = report(*arguments)
        said = done.stderr.splitlines()
        assert done.returncode == status and len(said) == 1 and reason in said[0] and not done.stdout, done


tap.main()
