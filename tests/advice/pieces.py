"""Advice on how work is divided: programs that sleep (pieces.c), what is found in them, and their repaired versions."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from busy import busy_processes
from measured import Measurement, build, combinations, tap

# Class, what the remedy names, and the gain that follows from the source, in seconds.
PIECES = {"last": ("last-piece", "Start the longest piece first", 0.15),
          "task": ("last-piece", "Start the longest piece first", 0.15),
          "chunks": ("few-chunks", "smaller chunks", 0.10),
          "mirrored": ("barrier", "nowait", 0.30)}
WAITING = {"imbalance", "last-piece", "few-chunks", "barrier", "dependences", "creation", "serial"}
MUCH = 5.0  # per cent: other programs make threads wait for less
SLACK = 0.03  # of a second: threads wake up late


def advice(directory, compiler, name, how):
    run = Measurement(directory, build("pieces.c", compiler), name, how, OMP_WAIT_POLICY="passive")
    assert run.done.returncode == 0, run.done
    rows = run.view("advice")
    for row in rows:
        assert float(row["loss_s"]) >= 0 and (row["class"] != "imbalance" or "schedule(dynamic, N)" in row["remedy"]), row
    return run, rows


def find(directory, name, compiler):
    kind, words, gain = PIECES[name]
    run, rows = advice(directory, compiler, name, "ill")
    tap.timed(rows[0]["class"] == kind, name, compiler, rows)
    assert words in rows[0]["remedy"] and rows[0]["file"].endswith("pieces.c") and rows[0]["line"], rows[0]
    tap.timed(abs(float(rows[0]["gain_s"]) - gain) < SLACK + 0.15 * gain, name, compiler, gain, rows[0])
    before, after = (float(tap.must(build("pieces.c", compiler), name, how, OMP_WAIT_POLICY="passive"))
                     for how in ("ill", "repaired"))
    tap.timed(abs(before - after - float(rows[0]["gain_s"])) < 0.15 * before, name, compiler, before, after, rows[0])


@tap.case
def pieces_are_found_and_their_forecast_comes_true(directory):
    for name, compiler in combinations(tuple(PIECES), ("gcc", "clang")):
        if (name, compiler) != ("task", "clang"):  # libomp begins with the last task
            tap.again(find, directory, name, compiler)


def find_nothing(directory, name, compiler):
    rows = advice(directory, compiler, name, "twin")[1]
    tap.timed(not any(row["class"] in WAITING and float(row["gain_pct"]) > MUCH for row in rows), name, compiler, rows)


@tap.case
def twins_have_nothing(directory):
    for name, compiler in combinations(("last", "task", "chunks", "mirrored", "moving"), ("gcc", "clang")):
        tap.again(find_nothing, directory, name, compiler)


def find_beside(directory, name, compiler):
    """Programs that sleep hardly miss the processors that another process uses: the finding stays, with less confidence
    at most, and a twin has none."""
    with busy_processes(1):
        rows = advice(directory, compiler, name, "ill")[1]
        twin = advice(directory, compiler, name, "twin")[1]
    tap.timed(rows[0]["class"] == PIECES[name][0], name, compiler, rows)
    assert all(row["confidence"] == "low" or "no core" not in row["confidence_reason"] for row in rows), rows
    tap.timed(not any(row["class"] in WAITING and float(row["gain_pct"]) > MUCH for row in twin), name, compiler, twin)


@tap.case
def a_busy_process_changes_no_finding(directory):
    for name, compiler in combinations(tuple(PIECES), ("gcc", "clang")):
        if (name, compiler) != ("task", "clang"):
            tap.again(find_beside, directory, name, compiler)


def name_the_longest(directory, compiler):
    rows = advice(directory, compiler, "last", "ill")[1]
    tap.timed(rows[0]["class"] == "last-piece", rows)
    assert "The longest iteration (60) takes 0.3" in rows[0]["evidence"], rows[0]


@tap.case
def the_longest_iteration_is_named(directory):
    for compiler in ("gcc", "clang"):
        tap.again(name_the_longest, directory, compiler)


def add_up(directory, compiler, name):
    """Findings and what is left of the loss: threads x elapsed time without work and without this tool."""
    run, rows = advice(directory, compiler, name, "ill")
    facts = {(row["section"], row["item"]): row["value"] for row in run.view("summary")}
    lost = sum(float(facts["categories", item]) for item in
               ("overhead", "lock wait charged", "idleness", "blocked", "no core", "waiting for a thread without a core"))
    all_s = lost + float(facts["categories", "work"])
    loss, found = float(facts["loss", "elapsed time lost"]), sum(float(row["loss_s"]) for row in rows)
    assert abs(found - loss) < 1e-6, (compiler, name, found, loss, rows)
    elapsed = float(facts["run", "elapsed"])  # part of which is this tool's
    assert 0.9 * elapsed * lost / all_s < loss <= 1.001 * elapsed * lost / all_s, (compiler, name, loss, elapsed, facts)


@tap.case
def the_loss_adds_up(directory):
    for compiler, name in combinations(("gcc", "clang"), tuple(PIECES) + ("moving",)):
        tap.again(add_up, directory, compiler, name)


@tap.case
def smaller_chunks_are_promised_only_where_they_are_possible(directory):
    for compiler, name in combinations(("gcc", "clang"), ("last", "chunks")):
        run = advice(directory, compiler, name, "ill")[0]
        loop = next(row for row in run.view("parallelism") if row["kind"] == "for")
        assert ("every chunk is one iteration" in loop["note"]) == (name == "last"), (compiler, loop)


tap.main()
