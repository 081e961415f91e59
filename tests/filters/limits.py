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
    assert 0.3 < float(row["exec_s"]) < 0.62, row


tap.main()
