#!/usr/bin/env python3
"""Closed forms of locks and conditions (lock_forms.c), with OpenMP's threads and those of POSIX: a convoy, readers and a
writer, a queue.  And the number of acquisitions, against a library that counts independently (count_locks.c), of these and
of programs of others, whose output and status are those without the tool."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, preload_library, tap
from report import rows as report_rows

THREADS = ("pthread", "openmp")
OFF = 0.003  # seconds by which a sum of waits by the tool and one by the program's clocks may differ


def acquired(output):
    """How often locks were acquired, also if nobody waited; the text of the view says the same if somebody did."""
    count = sum(int(thread["locks_taken"]) for thread in report_rows("threads", output))
    done = tap.run(tap.REPORT, "--view", "locks", output)
    assert done.returncode == 0 or "no thread waited for a lock" in done.stderr, done
    assert not done.stdout or f"were acquired {count} times" in done.stdout, (count, done)
    return count


def measure(directory, form, threads, compiler="gcc", options=()):
    run = Measurement(directory, build("lock_forms.c", compiler), form, threads,
                      options=("-e", "task-clock@f1000", *options))
    assert run.done.returncode == 0, run.done
    own = clocks(run.done.stdout)
    runtime = 1 if (threads, compiler) == ("openmp", "clang") else 0  # what libomp may acquire before its code is known
    assert 0 <= acquired(run.output) - own["acquisitions"] <= runtime, (form, threads, compiler, acquired(run.output), own)
    return run, own


def counted(directory, *command, **how):
    """The same program, measured, with the library that counts before the tool's: what both say, and the result."""
    counts, library = os.path.join(directory, "counts"), preload_library("count_locks.c")
    output = os.path.join(directory, "counted")
    done = tap.run(tap.LAUNCHER, "--overwrite", "-o", output, "--", "sh", "-c",
                   'export LD_PRELOAD="$0:$LD_PRELOAD" COUNT_LOCKS="$1"; shift; exec "$@"', library, counts, *command,
                   cwd=directory, **how)
    with open(counts, encoding="ascii") as file:
        return done, acquired(output), clocks(file.read())


def lock_waits(run):
    return sum(float(row["wait_s"]) for row in run.view("locks"))


@tap.case
def convoys(directory):
    """In each round, all but the first thread wait, and the holder's release is charged with it."""
    for threads in THREADS:
        for compiler in ("gcc", "clang"):
            run, own = measure(directory, "convoy", threads, compiler)
            row, = run.view("locks")
            assert row["lock"] == "gate" and row["kind"] == "mutex" and row["function"] == "pass", row
            assert row["held_by"] == "pass" and row["waits"] == "8" and row["threads"] in ("2", "3"), row
            tap.timed(abs(float(row["wait_s"]) - own["gated"]) < 0.02 * own["gated"] + OFF, threads, row, own)
            assert own["gated"] > 4 * 3 * 0.02, own  # three waits of a time for which the lock is held, each round


@tap.case
def readers_and_a_writer(directory):
    for threads in THREADS:
        run, own = measure(directory, "readers", threads)
        row, = run.view("locks")
        assert row["lock"] == "table" and row["kind"] == "rwlock" and row["waits"] == "6", row
        tap.timed(row["held_by"] == "write_table", row)  # two threads wait for the writer, and one for both readers
        tap.timed(abs(lock_waits(run) - own["waited"]) < 0.02 * own["waited"] + OFF, threads, row, own)


@tap.case
def queues(directory):
    """Waiting for a condition is no waiting for a lock: beside OpenMP it has the place of the call, otherwise the threads
    are a pool."""
    for threads in THREADS:
        run, own = measure(directory, "queue", threads)
        blocked = sum(node.value("blocked_excl_s") for node in run.tree() if node.name == "get")
        ready = sum(float(thread["core_wait_s"]) + float(thread["waiting_no_core_s"]) for thread in run.threads())
        if threads == "pthread":
            idle = sum(float(thread["idle_s"]) for thread in run.threads())
            assert idle > 0, run.threads()
            blocked += idle
        tap.timed(own["waited"] - ready - 0.05 * own["waited"] - OFF < blocked < own["waited"] + OFF, threads, blocked,
                  ready, own)
        tap.timed(lock_waits(run) < own["gated"] + 0.1 * own["waited"], threads, lock_waits(run), own)


@tap.case
def free_locks(directory):
    """Are counted, and nothing else is known of them; all but one thread wait once for another one."""
    for threads in THREADS:
        for options in ((), ("-p", "off"), ("-t",)):
            run, _ = measure(directory, "free", threads, options=options)
            row, = run.view("locks")
            assert row["lock"] == "gate" and row["waits"] == "2", row


@tap.case
def locks_of_a_program_with_gaps(directory):
    """The loader knows each part of an executable between gaps as an object of its own.  On aarch64 all have gaps."""
    for layout in ("noseparate-code", "separate-code"):  # the code lies with the headers, or behind a gap
        program = build("lock_forms.c", "gcc", f"-Wl,-z,max-page-size=65536,-z,{layout}")
        row, = Measurement(directory, program, "free", "pthread").view("locks")
        assert row["lock"] == "gate" and row["function"] == "pass", row


@tap.case
def acquisitions_and_waits_agree_with_an_independent_count(directory):
    program = build("lock_forms.c", "gcc")
    for form in ("convoy", "readers", "queue", "free"):
        for threads in THREADS:
            done, ours, counts = counted(directory, program, form, threads)
            own = clocks(done.stdout)
            assert ours == counts["acquisitions"] == own["acquisitions"], (form, threads, ours, counts, own)
            rows = report_rows("locks", os.path.join(directory, "counted"))
            missing = counts["waits"] - sum(int(row["waits"]) for row in rows)
            assert missing == 0 or form == "queue" and missing > 0, (form, threads, rows, counts)
            tap.timed(missing == 0, form, rows, counts)  # the lock may be released between the tries of both libraries
            waited = sum(float(row["wait_s"]) for row in rows)
            tap.timed(0 <= counts["waited"] - waited < 0.02 * waited + OFF, form, threads, waited, counts)


def programs(directory):
    """Commands of programs with threads, on input that is always the same."""
    text = os.path.join(directory, "text")
    with open(text, "wb") as file:
        file.write(b"".join(b"%d %d\n" % (i, i * i % 9973) for i in range(200000)))
    yield ("xz", "-T2", "--block-size=300KiB", "-0", "-c", text)
    yield ("zstd", "-q", "-T2", "-B512KiB", "-1", "-c", text)
    yield ("pigz", "-p", "2", "-n", "-c", text)
    yield (sys.executable, "-c", "import threading\nm = threading.Lock()\nc = []\ndef f():\n for i in range(2000):\n"
           "  with m:\n   c.append(i)\nt = [threading.Thread(target=f) for _ in range(3)]\n"
           "[x.start() for x in t]\n[x.join() for x in t]\nprint(len(c))")


@tap.case
def programs_of_others(directory):
    """Both count the same calls of one run; output and status are those of the program alone."""
    left = []
    for command in programs(directory):
        if not shutil.which(command[0]):
            left.append(command[0])
            continue
        alone = tap.run(*command, cwd=directory, text=False)
        done, ours, counts = counted(directory, *command, text=False)
        assert (done.stdout, done.returncode) == (alone.stdout, alone.returncode), command
        assert ours == counts["acquisitions"], (command, ours, counts)
    if len(left) > 2:
        raise tap.Skip("no " + ", ".join(left))


tap.main()
