"""Rows of constructs about which libomp's events do not say all (clang_rows.c): on every libomp, each construct has one
row, with its line and all its executions, and no construct has a row that the program does not contain."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, combinations, libomps, line_of, need_libomps, tap

SOURCE = "clang_rows.c"
THREADS = 4
ROUNDS = 3

# Executions by kind and tag: for each thread of a team of four; those of tasks are in the views regions and tasks.
LOOPS = ("loop at once", "loop later", "loop inside", "loop alone")
FORMS = {
    "sections": {("parallel", "region"): 4 * ROUNDS, ("sections", "sections"): 4 * ROUNDS, ("sections", "one"): 4 * ROUNDS},
    "groups": {("parallel", "region"): 4, ("taskgroup", "at once"): 4, ("taskgroup", "later"): 4,
               **{("taskloop", loop): 4 for loop in LOOPS}, **{("task", loop): 8 for loop in LOOPS}},
    "dependent": {("parallel", "region"): 4, ("masked", "masked"): 1, ("taskwait", "wait"): ROUNDS,
                  **{("task", task): ROUNDS for task in ("deferred", "undeferred", "inside", "independent", "last")}},
    "waiting": {("parallel", "region"): 4, ("taskwait", "other wait"): ROUNDS,
                **{("task", task): ROUNDS for task in ("first", "other", "waiting")}},
    "empty_loops": {("parallel", "region"): 4, ("masked", "masked for loops"): 1,
                    **{("taskwait", wait): ROUNDS for wait in ("wait for it", "wait for all")},
                    **{("task", task): ROUNDS for task in ("before loop", "after loop", "last of all")}},
    "untied": {("parallel", "region"): 4, ("taskgroup", "outer"): 4, ("taskgroup", "inner"): 4, ("taskloop", "loop"): 4,
               ("task", "loop"): 8, **{("task", task): 4 for task in ("untied", "in outer", "in inner", "after inner")}},
    "barriers": {("parallel", "region"): 4 * ROUNDS, ("barrier", "copyin"): 4 * ROUNDS, ("barrier", "scope"): 4 * ROUNDS,
                 ("barrier", "empty"): 4 * ROUNDS},
    "cancelled": {("parallel", "region"): 4 * ROUNDS},
    "leagues": {("teams", "league"): 2, ("parallel", "in league"): 4, ("teams", "combined"): 2,
                ("distribute", "its loop"): 2, ("parallel", "combined"): 4, ("for", "combined"): 4},
}
# Tasks with dependences, and undeferred ones.
DEPENDENT = {"deferred": (ROUNDS, 0), "undeferred": (ROUNDS, ROUNDS), "inside": (0, 0), "independent": (0, ROUNDS),
             "last": (ROUNDS, 0)}


def runs(form):
    """Compilers with libraries: the newest clang of the machine can only be used with its own."""
    for library, mode in combinations(need_libomps(), ("online", "log")):
        yield build(SOURCE, "clang"), form, mode, {"LD_LIBRARY_PATH": os.path.dirname(library)}
    if libomps(19) and shutil.which("clang-19"):
        yield build(SOURCE, "clang-19", name="clang_rows-19"), form, "online", {}


def measure(directory, binary, form, mode, settings, threads=THREADS):
    run = Measurement(directory, binary, form, str(threads), options=("-p", mode, "--work", "user"),
                      OMP_CANCELLATION="true", KMP_TEAMS_THREAD_LIMIT="32", **settings)
    assert run.done.returncode == 0, run.done
    return run


def line(tag):
    return line_of(SOURCE, f"// @ {tag}\n")


def totals(run):
    return [row for row in run.view("regions") if row["thread"] == "SUM" and row["kind"] != "program"]


def check_rows(directory, form):
    wanted = {(kind, str(line(tag if tag != "region" else f"region of {form}"))): count
              for (kind, tag), count in FORMS[form].items()}
    for binary, *how in runs(form):
        run = measure(directory, binary, *how)
        rows = [row for row in totals(run) if row["kind"] != "task-exec"]
        found = [((row["kind"], row["line"]), int(row["exec_count"])) for row in rows]
        assert sorted(found) == sorted(wanted.items()), (form, binary, how, sorted(set(found) ^ set(wanted.items())))


@tap.case
def sections_have_rows(directory):
    check_rows(directory, "sections")


@tap.case
def taskgroups_around_taskloops_have_rows(directory):
    check_rows(directory, "groups")


@tap.case
def undeferred_tasks_with_dependences_have_rows(directory):
    check_rows(directory, "dependent")


@tap.case
def waits_in_tasks_that_run_meanwhile_have_rows(directory):
    check_rows(directory, "waiting")


@tap.case
def waits_after_loops_without_iterations_have_rows(directory):
    check_rows(directory, "empty_loops")


@tap.case
def calls_may_name_no_place(directory):
    for binary, *how in runs("no_place"):
        counts = {row["kind"]: int(row["exec_count"]) for row in totals(measure(directory, binary, *how))}
        assert counts["parallel"] == THREADS, (binary, how, counts)


@tap.case
def waits_after_a_cancelled_region_belong_to_their_constructs(directory):
    """One thread sleeps for 20 ms in the loop, for which the other one waits."""
    for binary, *how in runs("cancelled_inside"):
        rows = totals(measure(directory, binary, *how, threads=2))
        waited = [float(row["exit_barrier_s"]) for row in rows if row["line"] == str(line("uneven"))]
        tap.timed(len(waited) == 1 and waited[0] > 0.015, (binary, how, rows))


@tap.case
def taskgroups_of_untied_tasks_have_rows(directory):
    check_rows(directory, "untied")


@tap.case
def barriers_without_a_construct_are_counted(directory):
    check_rows(directory, "barriers")


@tap.case
def cancelled_regions_have_no_barriers(directory):
    check_rows(directory, "cancelled")


@tap.case
def a_team_of_a_league_has_no_row(directory):
    check_rows(directory, "leagues")


@tap.case
def each_thread_tells_its_sections(directory):
    """A static schedule: the first threads execute one section more than the others, or have the only one."""
    for binary, form, mode, settings in runs("sections"):
        for threads in (1, 2, 4):
            run = measure(directory, binary, form, mode, settings, threads)
            for tag, number in (("sections", 3), ("one", 1)):
                rows = [row for row in run.view("regions")
                        if (row["kind"], row["line"]) == ("sections", str(line(tag))) and row["thread"] != "SUM"]
                counts = sorted((int(row["section_count"]) for row in rows), reverse=True)
                shares = [number // threads + (thread < number % threads) for thread in range(threads)]
                assert counts == [ROUNDS * share for share in shares], (threads, tag, counts)
                assert not any("does not report" in row["note"] for row in rows), rows


@tap.case
def dependences_of_undeferred_tasks_are_counted(directory):
    wanted = sorted((str(line(tag)), str(ROUNDS), *map(str, counts)) for tag, counts in DEPENDENT.items())
    for binary, *how in runs("dependent"):
        rows = measure(directory, binary, *how).view("tasks")
        found = sorted((row["line"], row["instances"], row["dependences"], row["undeferred"]) for row in rows)
        assert found == wanted, (binary, how, found)


tap.main()
