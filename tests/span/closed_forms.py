"""More programs whose work and span follow from their source (task_forms.c, loop_forms.c, region_forms.c, new_forms.c,
fortran_forms.f90), and random programs, compared with a model of OpenMP's rules (random_form.c).

Usage: closed_forms.py [--long] [-k CASE]     (--long: also with 256 and 1,024 threads, and all by clang 19)
The newest clang of the machine, with its OpenMP, compiles new_forms.c."""
import glob
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, libomps, source_file, tap
from report import check_spans

# Programs of clang for which the report is still wrong.
KNOWN = ("wait_nowait",)

# Program: work and span; functions of the number of threads if they depend on it.
TASKS = {
    "grandchildren": (46, 31), "short_lived_parents": (40, 10), "group_task_group": (25, 20), "if_chain": (61, 20),
    "final_tree": (63, 7), "mergeable": (41, 20), "untied_children": (61, 12), "many_tasks": (6001, 3),
    "deep_chain": (202, 202),
    "waits_for_none": (4, 4), "critical_in_tasks": (65, 9), "priorities": (37, 9), "taskloop_tasks": (61, 16),
    "taskloop_reduction": (49, 9), "taskloop_many": (5001, 6), "taskloop_many_nogroup": (5100, 100),
    "taskloop_many_waited": (5001, 6), "taskloop_nested": (33, 5), "taskloop_with_tasks": (61, 11),
    "taskloop_collapse": (41, 3),
    "taskloop_if": (13, 13), "task_reduction": (21, 5), "region_task_reduction": (20, 5),
    "sections_of_arrays": (20, 16),
    "depobj": (36, 24), "iterators": (21, 10), "across_taskwaits": (32, 32), "if_with_depend": (41, 21),
    "two_addresses": (38, 34), "many_addresses": (20001, 5), "many_readers": (1010, 14), "depend_tree": (181, 10),
    "mutex_sets": (21, 16), "depend_not_siblings": (26, 22), "depend_in_group": (19, 17),
    "waits_for_others": (79, 57), "late_creation": (33, 27),
    "wait_depend_in_task": (40, 30), "all_memory": (25, 19), "inoutset": (28, 19), "wait_nowait": (66, 31),
    "masked_filter": (10, 10), "detach_early": (12, 12), "detach_by_parent": (24, 21), "detach_chain": (20, 15),
    "detach_pthread": (8, 5), "detach_group": (14, 12),
}
LOOPS = {
    "loop_static": (121, lambda t: 24 // t * 5 + 1), "loop_static_chunk": (241, lambda t: 48 // t * 5 + 1),
    "loop_guided": (241, 241),
    "loop_monotonic": (49, 7), "loop_nonmonotonic": (49, 7), "loop_runtime": (49, 5), "loop_collapse": (331, 11),
    "loop_down": (78, 21), "loop_unsigned": (66, 22), "loop_construct": (121, lambda t: 24 // t * 5 + 1),
    "loop_empty": (5, 5),
    "loop_nowait_equal": (169, lambda t: 24 // t * 7 + 1), "loop_reduction": (61, 4), "loop_tasks": (237, 15),
    "loop_tasks_left": (lambda t: 120 + t, 11), "loop_groups": (103, 15), "loop_regions": (61, 10),
    "loop_in_loop_region": (79, 10),
    "loops_many_nowait": (481, lambda t: 24 // t * 20 + 1), "loops_and_barriers": (253, 73),
    "ordered_static": (25, 25), "ordered_guided": (25, 25), "ordered_twice": (91, 31), "ordered_some": (41, 14),
    "doacross_1": (97, 31),
    "doacross_2apart": (49, 25), "doacross_3": (73, 25), "doacross_diagonal": (76, 16), "doacross_repeated": (121, 61),
    "doacross_many": (37801, 1162), "doacross_nested": (199, 34), "doacross_threads": (1201, 118),
    "doacross_apart": (97, 25),
    "doacross_static": (25, 25),
    "ordered_unequal": (lambda t: 5 * t * (t + 1) + 60, 51),
    "doacross_unequal": (lambda t: 5 * t * (t + 1) + 60, 51),
    "loop_tasks_inside": (60, 5), "sections": (26, 8), "sections_two": (lambda t: 15 + 2 * t, 14),
    "copyprivate": (lambda t: 6 + 3 * t, 9), "single_tasks_nowait": (lambda t: 20 + t, 5), "singles": (71, 71),
    "master_tasks": (lambda t: 22 + t, 7), "criticals": (lambda t: 11 * t, 11), "nest_lock": (40, 5),
    "own_locks": (100, 10),
    "test_lock": (30, 3), "atomics": (30, 3),
}
REGIONS = {
    "barriers": (61, 61), "barriers_with_tasks": (lambda t: 60 * t + 1, 51), "barriers_then_task": (18, 18),
    "nested_4": (52, 8), "nested_in_tasks": (61, 12),
    "region_if": (19, 15), "region_one": (34, 24), "regions_many": (lambda t: 300 * (2 * t + 1), 900),
    "regions_sizes": (48, 18),
    "pthreads": (113, 12), "serial_tasks": (74, 51), "serial_tasks_waited": (76, 53), "serial_group": (21, 18),
    "serial_loops": (10, 10), "orphans": (84, 12), "copyin": (lambda t: 7 * t + 1, 8),
    "pause_resources": (lambda t: 6 * t + 1, 7),
    "dynamic_threads": (13, 4), "bound": (lambda t: 5 * t, 5), "at_exit": (lambda t: 21 + 2 * t, 13),
    "exit_inside": (lambda t: 5 * t + 2, 7), "exit_after_tasks": (82, 82), "exit_after_unawaited": (51, 51),
    "cancel_parallel": (lambda t: 3 * t + 1, 4), "cancel_for": (lambda t: 4 * t + 1, 5),
    "cancel_dynamic": (lambda t: 4 + 2 * t, 6),
    "cancel_sections": (lambda t: 5 + t, 6), "cancel_taskgroup": (6, 6), "cancellation_points": (26, 6),
    "cancel_again": (lambda t: 20 * t + 20, 40), "teams": (31, 9), "distribute": (25, 13),
    "distribute_parallel": (25, 4),
    "teams_tasks": (27, 12), "user_recursive": (31, 5), "user_deep": (21, 16), "user_single": (lambda t: 4 + 5 * t, 9),
    "user_loop": (lambda t: 24 + t, 5), "user_cancel": (lambda t: 4 + t, 5),
    "user_ends_too_often": (lambda t: 20 + t, 6),
    "user_left_open": (lambda t: 4 + 3 * t, 7), "stop_start": (9, 7), "stop_task": (11, 11),
}
# Constructs of OpenMP 5.1 to 6.0; which of them a compiler knows is in new_forms.c.
NEW = {
    "strict_tasks": (13, 6), "masked_tasks": (13, 4), "messages": (lambda t: 2 * t, 2), "reproducible": (1, 1),
    "scope_barrier": (lambda t: t * (t + 2), lambda t: 3 * t), "scope_nowait": (lambda t: t * (t + 1), lambda t: t + 1),
    "assumptions": (lambda t: 2 * t, 2), "strict_threads": (6, 2), "pool_tasks": (7, 4),
    "tile": (121, lambda t: 12 // t * 10 + 1), "unroll": (124, lambda t: 12 // t * 10 + 4), "reverse": (277, 24),
    "interchange": (22, 15), "stripe": (37, 7), "fuse": (169, 8), "split": (24, 24),
    "chosen_directive": (4, 2), "directive_of_value": (6, 3), "dispatch": (38, 28), "interop": (48, 33),
    "allocated": (lambda t: 2 * t, 2), "doacross_clauses": (97, 28),
}
FORTRAN = {"do": (56, 11), "tree": (127, 7), "workshare": (lambda t: 3 * t, 3), "ordered": (70, 25),
           "depend": (205, 30),
           "sections": (18, 6), "critical": (54, 6)}
TIED = ("ordered_unequal", "doacross_unequal")  # the least span; which thread runs what decides
# Rows, with 3 threads: instances, work, span, lock bound.
ROWS = {
    ("loop_forms", "own_locks", "lock", None): (10, 0, 0, 10),
    ("loop_forms", "nest_lock", "for", None): (1, 40, 5, None),
    ("task_forms", "critical_in_tasks", "critical", None): (8, 40, 40, 41),
    ("loop_forms", "singles", "single", None): (10, 70, 70, None),
    ("region_forms", "user_recursive", "user-region", "recursive"): (1, 31, 5, None),
    ("region_forms", "user_single", "user-region", "after"): (3, 9, 9, None),
    ("region_forms", "user_deep", "user-region", "r9"): (1, 11, 6, None),
    ("region_forms", "user_loop", "user-region", "chunk"): (6, 24, 24, None),
    # the span depends on which thread ran which chunk
    ("region_forms", "user_loop", "user-region", "around"): (3, 24, None, None),
    ("region_forms", "user_cancel", "user-region", "around"): (3, 4, 4, None),
    ("loop_forms", "ordered_unequal", "for", None): (1, 60, 41, None),
    ("loop_forms", "ordered_unequal", "ordered", None): (20, 40, 40, None),
    ("loop_forms", "doacross_unequal", "for", None): (1, 60, 41, None),
    ("loop_forms", "loop_tasks_inside", "user-region", "inside"): (3, 60, None, None),
    ("task_forms", "waits_for_others", "taskgroup", None): (1, 3, 3, None),
    ("task_forms", "waits_for_others", "user-region", "waits"): (1, 6, 6, None),
}
FORMS = {"task_forms": TASKS, "loop_forms": LOOPS, "region_forms": REGIONS}
# Teams get as many threads as they request, whatever the machine has.
SETTINGS = {"OMP_CANCELLATION": "true", "KMP_TEAMS_THREAD_LIMIT": "32"}


def program(source, compiler, *flags):
    return build(source + ".c", compiler, *flags)


def newest_clang():
    """The compiler, and the flag for the newest version of OpenMP that it knows.  Clang 19 takes 6.0, but defines less."""
    names = {os.path.basename(path) for folder in os.get_exec_path() for path in glob.glob(folder + "/clang-[1-9][0-9]")}
    release = max((int(name.removeprefix("clang-")) for name in names), default=0)
    if release < 19:
        raise tap.Skip("no clang-19")
    return f"clang-{release}", f"-fopenmp-version={60 if release > 19 else 52}"


def measure(directory, binary, arguments, options, name, **settings):
    place = os.path.join(directory, name)
    os.mkdir(place)
    run = Measurement(place, binary, *arguments, options=("-p", "log", "--work", "user", *options), **SETTINGS, **settings)
    assert run.done.returncode == 0 and "not followed" not in run.done.stderr, (arguments, run.done)
    rows = run.view("parallelism")
    check_spans(rows)
    for row in run.view("speedup"):  # fails if the log differs from the measurement
        if row["speedup_simulated"]:
            values = [float(row["speedup_" + name]) for name in ("lower", "simulated", "upper")]
            assert values[0] <= values[1] + 1e-3, (arguments, row)
            assert values[1] <= values[2] + 1e-3, (arguments, row)
    return run.done.stdout, (float(rows[0]["work"]), float(rows[0]["span"]),
                             sum(float(row["critical_path"]) for row in rows)), rows


def check_all(jobs, check):
    """Runs the checks in parallel: such short programs spend most of their time on starting."""
    with ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(lambda job: check(*job), enumerate(jobs)) if text]
    assert not wrong, wrong


def check_jobs(directory, jobs, threads, options=(), tied=(), **settings):
    """Each job is a program, its argument, and its work and span.  tied: those whose span depends on which thread ran
    what."""
    def check(number, job):
        binary, form, wanted = job
        output, got, _ = measure(directory, binary, (form, str(threads)), options, f"{number}", **settings)
        work, span = (value(threads) if callable(value) else value for value in wanted)
        if form in tied and span <= got[1] <= work:
            span = got[1]
        return "" if output == "done\n" and got == (work, span,
                                                    span) else f"{form}: {got}, expected {work}, {span}; {output}"
    check_all(jobs, check)


def check_forms(directory, compiler, threads, *options, each=1):
    jobs = []
    for source, table in FORMS.items():
        binary = program(source, compiler)
        forms = tap.run(binary).stdout.split()
        assert set(forms) <= set(table) and len(forms) > 30, (source, set(forms) - set(table))
        chosen = forms[random.randrange(each)::each]
        jobs += [(binary, form, table[form]) for form in chosen if form not in KNOWN or compiler == "gcc"]
    # the code of clang announces sections once for each thread
    check_jobs(directory, jobs, threads, options, TIED + (() if compiler == "gcc" else ("sections",)))


def check_new_forms(directory, threads, compiler, *flags):
    binary = program("new_forms", compiler, *flags)
    forms = tap.run(binary).stdout.split()
    assert set(forms) <= set(NEW) and len(forms) > 4, forms
    check_jobs(directory, [(binary, form, NEW[form]) for form in forms], threads)


def check_any(directory, compiler, seeds, threads):
    """On libomp 19: of a random program on libomp 14, the log lacks a part of an implicit task in 1 of some 250 runs on a
    busy machine."""
    binary = program("random_form", compiler)
    newest = {"LD_LIBRARY_PATH": os.path.dirname(library) for library in libomps(19) if compiler == "clang"}

    def check(number, seed):
        output, got, _ = measure(directory, binary, (str(seed), str(threads)), (), f"{number}", **newest)
        work, span = map(float, output.split())
        return "" if got == (work, span, span) else f"random_form {seed} {threads}: {got}, expected {work}, {span}"
    check_all(seeds, check)


@tap.case
def forms_by_clang(directory):
    check_forms(directory, "clang", 3)


@tap.case
def forms_by_gcc(directory):
    check_forms(directory, "gcc", 2)


@tap.case
def forms_by_clang_19(directory):
    check_forms(directory, "clang-19", 4, each=1 if "--long" in sys.argv else 3)


@tap.case
def new_forms_by_gcc(directory):
    check_new_forms(directory, 3, "gcc")


@tap.case
def new_forms_by_the_newest_clang(directory):
    check_new_forms(directory, 4, *newest_clang())


@tap.case
def more_threads_than_cores(directory):
    wide = {"criticals": LOOPS, "copyprivate": LOOPS, "doacross_1": LOOPS, "loop_tasks_left": LOOPS, "barriers": REGIONS,
            "group_task_group": TASKS, "taskloop_many": TASKS}
    sources = {id(table): source for source, table in FORMS.items()}
    for threads in (64, 256, 1024) if "--long" in sys.argv else (64,):
        for compiler in ("clang", "gcc"):
            place = os.path.join(directory, f"{compiler}-{threads}")
            os.mkdir(place)
            check_jobs(place, [(program(sources[id(table)], compiler), form, table[form]) for form, table in wide.items()],
                       threads, OMP_WAIT_POLICY="passive")


@tap.case
def forms_by_gfortran(directory):
    units = os.path.join(directory, "units.o")
    tap.must("gcc", "-c", "-g", "-I", tap.INCLUDE, source_file("fortran_units.c"), "-o", units)
    binary = build("fortran_forms.f90", "gfortran", units, name="fortran_forms")
    check_jobs(directory, [(binary, form, wanted) for form, wanted in FORTRAN.items()], 3)


@tap.case
def rows_of_constructs(directory):
    for compiler in ("clang", "gcc"):
        for number, ((source, form, kind, name), wanted) in enumerate(ROWS.items()):
            binary = program(source, compiler)
            _, _, rows = measure(directory, binary, (form, "3"), (), f"{compiler}-{number}")
            found = [(int(row["instances"]), float(row["work"]), float(row["span"]), float(row["lock_bound"])
                      if row["lock_bound"] else None)
                     for row in rows if row["kind"] == kind and name in (None, row["name"])]
            found = [row if wanted[2] is not None else (*row[:2], None, row[3]) for row in found]
            assert found == [wanted], (compiler, form, kind, name, found, wanted)


@tap.case
def random_programs_by_clang(directory):
    check_any(directory, "clang", range(1, 31), 3)


@tap.case
def random_programs_by_gcc(directory):
    check_any(directory, "gcc", range(31, 61), 2)


tap.main()
