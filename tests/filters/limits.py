"""The part of the run that a filter measures: skip-first and only must not show in the program, and what was open when
it ended lasts as long as it was measured."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap


def settings(directory, *lines):
    path = os.path.join(directory, "limits.ini")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(("[filter]", *lines, "")))
    return "--config", path


@tap.case
def the_timer_does_not_reach_the_program(directory):
    options = settings(directory, "skip-first = 200 ms", "only = 200 ms")
    for what, printed in (("sandboxed", "done\n"), ("awaits", "-1 EAGAIN\n")):
        for events in ("task-clock@f1000", "wall@f1000"):
            run = Measurement(directory, build("limited.c"), what, options=("-e", events, *options))
            assert run.done.returncode == 0 and run.done.stdout == printed, (what, events, run.done)


@tap.case
def a_region_open_at_the_end_lasts_as_long_as_it_was_measured(directory):
    run = Measurement(directory, build("limited.c", "clang"), "exits", options=settings(directory, "only = 300 ms"))
    row, = (row for row in run.view("regions") if row["kind"] == "parallel" and row["thread"] == "SUM")
    tap.timed(0.3 < float(row["exec_s"]) < 0.62, row)


@tap.case
def shares_are_those_of_the_measured_time(directory):
    """One thread works, the other one waits until the end, both for 0.3 s of the measured time."""
    run = Measurement(directory, build("limited.c", "clang"), "waits", options=settings(directory, "only = 300 ms"),
                      OMP_WAIT_POLICY="passive")
    first, second = run.view("threads")
    tap.timed(0.2 < float(second["idle_s"]) < 0.301 and float(first["idle_s"]) < 0.01, (first, second))
    for row in (first, second):
        measured = float(row["wall_s"]) - float(row["paused_s"])
        parts = sum(float(row[name + "_s"]) for name in ("work", "overhead", "lockwait", "idle", "tool", "core_wait",
                                                       "waiting_no_core",
                                                         "blocked"))
        tap.timed(0.2 < measured < 0.301, row)
        tap.timed(0.9 * measured < parts < 1.1 * measured, row)
    paused = [row["paused_s"] for row in run.view("threads", "--sort", "paused_s")]
    assert paused == sorted((first["paused_s"], second["paused_s"]), key=float, reverse=True), paused
    compared = run.view("threads", "-q", "--compare", run.output, "--metric", "paused_s")
    assert [row["new"] for row in compared] == [first["paused_s"], second["paused_s"]] and all(
        row["base"] == row["new"] == row["paused_s"] == row["paused_s_base"] for row in compared), compared
    facts = {row["item"]: row["value"] for row in run.view("summary")}
    tap.timed(abs(float(facts["measured"]) - 0.3) < 0.001 and facts["paused"].startswith("0."), facts)
    tap.timed(abs(float(facts["threads x elapsed"]) - 0.6) < 0.002, facts)
    split = {row["metric"]: float(row["value"]) for row in run.view("efficiency") if row["value"]}
    tap.timed(split["thread_time"] < 0.601, split)
    tap.timed(0.4 < split["parallel_efficiency"] < 0.6, split)
    text = " ".join(tap.run(tap.REPORT, run.output).stdout.split())
    assert "Measuring was paused for" in text, text
    # in a run whose threads often had no core, that is said instead
    assert "measured time was work" in text or "threads had no core" in text, text


@tap.case
def without_a_timer_all_is_measured(directory):
    limit = ("bash", "-c", 'ulimit -i 0; exec "$@"', "bash")
    run = Measurement(directory, build("limited.c"), "exits", prefix=limit,
                      options=settings(directory, "only = 10 ms", "threads = 0-3"))
    assert run.done.stderr.count("the system gives no timer") == 1, run.done
    text = tap.must(tap.REPORT, "--view=summary", run.output)
    assert "Filtered: threads 0-3\n" in text and "only had no effect" in text, text
    row, = (row for row in run.view("regions") if row["kind"] == "parallel" and row["thread"] == "SUM")
    assert float(row["exec_s"]) > 0.5, row


tap.main()
