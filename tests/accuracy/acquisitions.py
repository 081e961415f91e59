#!/usr/bin/env python3
"""-c locks counts each acquisition of each lock, in the record of that lock, whatever else is measured."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, clocks, line_of, tap

MODES = (("-p", "off"), ("-p", "online"), ("-p", "log"), ("-t",), ("--overhead-limit", "1"), ("-c", "page-faults", "-e", "wall@f500"))
SHARED = ("a_mutex", "recursive", "a_c11", "a_rwlock", "a_spinlock", "waits_here")  # of POSIX and C11
LONE = {"lone_mutex": "pthread_mutex_lock", "lone_rwlock": "pthread_rwlock_rdlock", "lone_spinlock": "pthread_spin_lock",
        "lone_c11": "mtx_lock"}  # which one thread takes, by these calls


def measure(directory, compiler, *options, arguments=("3000",)):
    run = Measurement(directory, build("acquisitions.c", compiler), *arguments,
                      options=("-e", "task-clock@f500", "-c", "locks", *options))
    assert run.done.returncode == 0, run.done
    return run, {name: int(count) for name, count in clocks(run.done.stdout).items()}


def counts_of(run):
    """Acquisitions by the names that the program prints; libomp's own mutexes are left out."""
    found, named = {}, line_of("acquisitions.c", "critical(named)")
    for row in run.view("locks"):
        name = row["lock"] or row["kind"]
        if name == "critical":  # that of clang is no variable of the program
            name = "named" if int(row["line"]) <= named + 1 else "unnamed"
        if not name.startswith("libomp"):
            found[name] = found.get(name, 0) + int(row["acquisitions"])
    return found


@tap.case
def all_acquisitions_are_counted(directory):
    for compiler in ("gcc", "clang"):
        for mode in MODES:
            run, own = measure(directory, compiler, *mode)
            own = {name: count for name, count in own.items() if count}
            assert counts_of(run) == own, (compiler, mode, counts_of(run), own)


@tap.case
def locks_without_waits_have_the_place_of_their_first_use(directory):
    run, own = measure(directory, "gcc")
    found = {row["lock"]: row for row in run.view("locks")}
    for name, call in LONE.items():
        row, line = found[name], str(line_of("acquisitions.c", f"{call}(&{name})"))
        assert (row["waits"], row["function"], row["line"]) == ("0", "lock_lone", line), row
    taken = sorted(int(thread["locks_taken"]) for thread in run.threads())
    assert taken == [7 * 3000] * 3 + [(7 + len(LONE)) * 3000], (taken, own)
    assert sum(taken) == sum(own[name] for name in (*SHARED, *LONE)), (taken, own)


@tap.case
def forks_of_another_thread_hide_no_acquisition(directory):
    run = Measurement(directory, build("locks_beside_forks.c", openmp=False), options=("-c", "locks"))
    assert run.done.returncode == 0, run.done
    most = max(int(thread["locks_taken"]) for thread in run.threads())
    assert most == int(run.done.stdout.split()[1]), (most, run.done.stdout)


@tap.case
def a_table_that_is_full_has_a_row_for_the_others(directory):
    run, own = measure(directory, "gcc", arguments=("3", "5000"))
    kinds = {}
    for row in run.view("locks"):
        if not row["lock"] and row["kind"] in ("mutex", "other"):
            kinds[row["kind"]] = kinds.get(row["kind"], 0) + int(row["acquisitions"])
    assert kinds["other"] > 5000 - 4096 and sum(kinds.values()) == own["many"], (kinds, own)


tap.main()
