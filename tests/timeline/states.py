#!/usr/bin/env python3
"""The time in each category below the timeline: its sums are those of the intervals, to the nanosecond."""
import collections
import json
import os
import shutil
import sys
from decimal import Decimal

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import tap
from report import golden_report, golden_rows

STATES = ("work", "overhead", "lock_wait", "idle", "blocked", "core_wait", "waiting_no_core", "tool",
          "gap")
RUNS = ((("traced", "traced-plain"), 0), (("traced-samples", "traced-killed"), 0), (("traced-hostile",), 1))
PARTS = ((), ("--from", "300ms"), ("--from", "100ms", "--to", "0.3000001"), ("--to", "40ms"))
LANES = {"thread": lambda row: (row["process"], row["thread"]), "process": lambda row: row["process"],
         "node": lambda row: "all"}
NAMES = {"gap": "not recorded", "core_wait": "ready without a core",
         "waiting_no_core": "waiting for a thread without a core"}


def together(directory, runs):
    """A directory with the files of several golden measurements."""
    place = os.path.join(directory, "-".join(runs))
    for run in runs:
        shutil.copytree(os.path.join(tap.GOLDEN, run), place, dirs_exist_ok=True)
    return place


def intervals(run, *options):
    """Seconds of each category in each thread, from the intervals."""
    found = collections.defaultdict(lambda: dict.fromkeys(STATES, Decimal(0)))
    for row in golden_rows("--view", "timeline", *options, run):
        found[row["process"], row["thread"]][row["category"]] += Decimal(row["end_s"]) - Decimal(row["start_s"])
    return found


def drawn(run, status, *options):
    done = golden_report("-q", "--view", "timeline", "-f", "json", *options, run)
    assert done.returncode == status, done
    return json.loads(done.stdout, parse_float=Decimal)


def sum_of(rows):
    return {state: sum(row[state] for row in rows) for state in STATES}


def check_states(states, lanes):
    """Total, mean, least and most of each category over lanes, which are given as sums of intervals."""
    wanted = sorted((state for state in STATES if any(lane[state] for lane in lanes)),
                    key=lambda state: (-sum(lane[state] for lane in lanes), STATES.index(state)))
    assert [row["category"] for row in states] == wanted, (states, wanted)
    for row in states:
        figures = [lane[row["category"]] for lane in lanes]
        assert (row["total_s"], row["min_s"], row["max_s"]) == (sum(figures), min(figures), max(figures)), (row, figures)
        assert abs(row["mean_s"] * len(lanes) - sum(figures)) <= len(lanes) * Decimal("1e-9"), (row, figures)


@tap.case
def sums_are_exactly_those_of_the_intervals(directory):
    for runs, status in RUNS:
        run = together(directory, runs)
        for part in PARTS:
            threads = intervals(run, *part) if not status else None
            for lanes, key in LANES.items():
                found = drawn(run, status, "--lanes", lanes, *part)
                grouped = collections.defaultdict(list)
                rows = [{"process": str(row["process"]), "thread": str(row["thread"]),
                         **{state: row[state + "_s"] for state in STATES}} for row in found["lanes"]]
                own = [row for row in rows if row["thread"] != "None"]
                if threads is not None:
                    assert {(row["process"], row["thread"]): {state: row[state] for state in STATES}
                            for row in own} == threads, (runs, part)
                for row in own:
                    grouped[key(row)].append(row)
                check_states(found["states"], [sum_of(group) for group in grouped.values()])


@tap.case
def a_node_has_the_sums_of_its_processes_and_they_of_their_threads(directory):
    found = drawn(together(directory, RUNS[0][0]), 0)["lanes"]
    node, first, second = (place for place, row in enumerate(found) if row["thread"] is None)
    assert (node, found[node]["process"], found[node]["host"]) == (0, None, "node1") and first == 1, found
    assert all(row["process"] == found[first]["process"] for row in found[first:second]), found
    for state in STATES:
        column = [row[state + "_s"] for row in found]
        assert column[first] == sum(column[first + 1:second]) and column[second] == sum(column[second + 1:]), state
        assert column[node] == column[first] + column[second], state


@tap.case
def extremes_name_the_lane_as_it_is_drawn(directory):
    run = together(directory, RUNS[0][0])
    done = golden_report("-q", "--view", "timeline", run).stdout.decode().splitlines()
    labels = {line.split(" ")[0]: line for line in done if line[:4] in ("3000", "3100")}
    assert len(labels) == 4, done
    threads = {".".join(lane): sums for lane, sums in intervals(run).items()}
    for row in drawn(run, 0)["states"]:
        assert threads[row["min_lane"]][row["category"]] == row["min_s"], row
        assert threads[row["max_lane"]][row["category"]] == row["max_s"], row
        name = NAMES.get(row["category"], row["category"].replace("_", " "))
        line = next(line for line in done if line.startswith(name + " "))
        assert line.split()[-1] == row["max_lane"] and line.split()[-3] == row["min_lane"], (line, row)
        assert line.split()[-5:-3] + line.split()[-2:-1] == [f"{row[of]:.4f}" for of in ("mean_s", "min_s", "max_s")]


def check_index(place, parts):
    before = [drawn(place, 0, *part) for part in parts]
    drawn(place, 0, "--index")
    assert any(name.endswith(".index") for name in os.listdir(place))
    for part, was in zip(parts, before):
        now = drawn(place, 0, *part)
        assert (now["states"], now["lanes"]) == (was["states"], was["lanes"]), part


@tap.case
def the_index_changes_nothing(directory):
    check_index(shutil.copytree(os.path.join(tap.GOLDEN, "traced"), os.path.join(directory, "run")), PARTS)
    # long enough for an index with cells shorter than columns of a part
    place = os.path.join(directory, "long")
    tap.must(os.path.join(tap.BUILD, "tests", "synthesize"), "--threads", "3", "--events", "300000", place)
    check_index(place, ((), ("--from", "5.123457ms"), ("--from", "3.001234ms", "--to", "29.000007ms"),
                        ("--to", "17.77777ms"), ("--from", "12.3457ms", "--to", "13ms")))


@tap.case
def rows_of_threads_are_shown_on_request(directory):
    run = together(directory, RUNS[0][0])
    whole, brief = (golden_report("-q", "--view", "timeline", *option, run).stdout.decode()
                    for option in (("--per-thread",), ()))
    table = whole[whole.index("\nSeconds in"):whole.index(" phases, ")]
    assert max(map(len, table.splitlines())) <= 80, table
    assert "    thread 2" in whole and "    thread 2" not in brief, whole
    for arguments in (("--view", "phases"), ("--view", "timeline", "-f", "csv"),
                      ("--view", "timeline", "-f", "json"), ("-f", "perfetto")):
        refused = golden_report(*arguments, "--per-thread", "traced")
        assert refused.returncode == 2 and b"--per-thread has no effect" in refused.stderr, refused


@tap.case
def short_times_are_shown_in_small_units(_):
    for to, unit, time in (("200001us", "us", "1.000"), ("200050us", "ms", "0.0500"), ("250ms", "Seconds", "0.0500")):
        lines = golden_report("-q", "--view", "timeline", "--per-thread", "--from", "200ms", "--to", to,
                              "traced").stdout.decode().splitlines()
        assert any(line.startswith(f"{unit} in ") for line in lines) and f"{unit} Work" in map(" ".join, map(
            str.split, lines)), lines
        assert [line.split()[2:] for line in lines if line.startswith("    thread ")] == [[time]] * 2, lines


@tap.case
def the_document_says_which_part(_):
    end = max(Decimal(row["end_s"]) for row in golden_rows("--view", "timeline", "traced"))
    for view in ("timeline", "phases"):
        for part, limits in ((("--from", "0.3"), (Decimal("0.3"), end)), (("--to", "40ms"), (0, Decimal("0.04"))),
                             (("--from", "0.3", "--to", "9"), (Decimal("0.3"), end)), ((), (None, None))):
            run = json.loads(golden_report("-q", "--view", view, "-f", "json", *part, "traced").stdout,
                             parse_float=Decimal)["run"]
            assert (run.get("from_s"), run.get("to_s")) == limits, (view, part, run)


tap.main()
