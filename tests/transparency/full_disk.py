"""The disk becomes full, or the directory disappears, at every stage of a program: the program runs on, the tool
reports the loss, and what was measured before can be read."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap
from report import report, table

ROOM = 700  # KB


def small_disk(directory):
    return tap.small_disk(directory, f"{ROOM}k")


def measure(small, made, stage, mode="off", more=()):
    run = Measurement(small, made, stage, os.path.join(small, "measured-" + os.path.basename(made)),
                      options=("-e", "task-clock@f1000", "-p", mode, *more), OMP_NUM_THREADS="2")
    assert run.done.returncode == 7 and run.done.stdout == "done\n", (stage, run.done)
    return run


def check(directory, stage, *said, early=0.4, broken=0, mode="off", more=()):
    """early: the seconds of early() that are kept.  broken: the report's exit status if the file holds tables in
    part."""
    with small_disk(directory) as small:
        run = measure(small, build("full_disk.c"), stage, mode, more)
        for part in said:
            assert part in run.done.stderr, (stage, part, run.done.stderr)
        done = report("--view", "flat", "-f", "csv", run.output)
        found = sum(float(row["work_incl_s"]) for row in table(done.stdout) if row["name"] == "early")
        assert done.returncode in (0, broken), (stage, done)
        unkept = "not kept on disk" in run.done.stderr and "reported up to" in done.stderr
        assert ("except for tables that could not be kept on disk" in done.stderr) == unkept, (stage, done.stderr,
                                                                                               run.done.stderr)
        tap.timed(0.85 * early <= found <= 0.44, (stage, found, done, run.done.stderr, os.listdir(run.output)))
        return os.listdir(run.output), run


@tap.case
def room_enough(directory):
    _, run = check(directory, "none")
    assert not any(words in run.done.stderr for words in ("not written", "room on the disk", "lost:")), run.done.stderr


@tap.case
def full_before_a_thread_starts(directory):
    check(directory, "thread", "not written", "make room on the disk", early=0.2, broken=1)


@tap.case
def full_before_a_thread_ends(directory):
    """The tables of the thread stay in the live file."""
    names, _ = check(directory, "thread's end", "not written", "make room on the disk", broken=1)
    assert any(name.endswith(".live") for name in names), names


@tap.case
def full_as_tables_grow(directory):
    check(directory, "growth", "not kept on disk", "make room on the disk")


@tap.case
def full_at_the_end(directory):
    names, run = check(directory, "end", "not written", "stays in its live file")
    assert any(name.endswith(".live") for name in names) and "nothing lost" not in run.done.stderr, names


@tap.case
def full_as_the_log_grows(directory):
    check(directory, "log", "of the graph log not written", "make room on the disk", mode="log")


@tap.case
def full_as_the_trace_grows(directory):
    for keep in ("first", "last"):
        part = os.path.join(directory, keep)
        os.mkdir(part)
        check(part, "log", "of the trace not kept", "make room on the disk", mode="online",
              more=("-t", "--trace-keep", keep))


@tap.case
def full_from_the_start(directory):
    with small_disk(directory) as small:
        made = build("full_disk.c")
        with open(os.path.join(small, "filler"), "wb") as file:
            file.write(bytes((ROOM - 8) << 10))
        run = measure(small, made, "none")
        assert "not kept on disk" in run.done.stderr, run.done.stderr


@tap.case
def read_only_from_the_start(directory):
    with small_disk(directory) as small:
        made = build("full_disk.c")
        script = 'settings=$("$1" --env -o "$2/m" "$3") && mount -o remount,ro "$2" && eval "$settings" && exec "$3" none "$2/m"'
        done = tap.run("sh", "-c", script, "sh", tap.LAUNCHER, small, made)
        assert done.returncode == 7 and done.stdout == "done\n", done
        assert "Read-only file system" in done.stderr and "is lost" in done.stderr, done.stderr


@tap.case
def the_directory_disappears(directory):
    run = measure(directory, build("full_disk.c"), "vanished")
    assert "not written" in run.done.stderr and not os.path.exists(run.output), run.done.stderr


tap.main()
