"""Paths through code of which the unwind tables know nothing: right, or marked as guessed or as cut short.

Usage: unwinding.py [-k CASE]"""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, line_of, near, source_file, sums_hold, tap, work_of
from report import report

SOURCE = "unwinding.c"
REGION = f"parallel @ {SOURCE}:{line_of(SOURCE, 'omp parallel')}"
SECONDS, SHARE = 0.2, 0.12  # a sample is 0.5 ms
COMPILERS = ("gcc", "clang")
CUT = "[unwind cut short]"


def measure(directory, where, what, compiler="gcc", *flags):
    run = Measurement(directory, build(SOURCE, compiler, *flags), where, what, options=("-e", "task-clock@f2000"))
    assert run.done.returncode == 0 and run.done.stdout == "done\n", run.done
    nodes = run.tree()
    sums_hold(nodes)
    # The function spends that CPU time, of which the search for callers takes a part.
    spent = SECONDS * (2 if where == "region" else 1) - sum(float(row["tool_s"]) for row in run.threads())
    near(work_of(nodes, "leaf_work"), spent, SHARE, "leaf_work")
    return run, nodes


def paths(nodes, name="leaf_work"):
    """The different paths to a function, without the raw names of outlined functions."""
    return sorted({tuple(re.sub(r"(parallel .*) \[.*", r"\1", step) for step in node.path())
                   for node in nodes if node.name == name})


def quality(run):
    """What the summary says about the measurement, in one line."""
    return " ".join(report("--legend", run.output).stdout.partition("Measurement quality")[2].split())


@tap.case
def assembler_is_called_by_its_caller(directory):
    for compiler in COMPILERS:
        run, nodes = measure(directory, "serial", "small", compiler)
        expected = ("main", "repeat", "[guessed] caller_of_small", "small_frame", "called_back", "leaf_work")
        assert paths(nodes) == [expected], paths(nodes)
        found = re.search(r"(\d+) unwinds with guessed callers \((\S+) %\)", quality(run))
        assert found and float(found[2]) > 80, quality(run)
        assert "unwinds with guessed callers" in run.done.stderr, run.done.stderr


@tap.case
def assembler_in_a_region_is_called_by_its_caller(directory):
    for compiler in COMPILERS:
        _, nodes = measure(directory, "region", "small", compiler)
        expected = ("main", "in_region", REGION, "repeat", "[guessed] caller_of_small", "small_frame", "called_back",
                    "leaf_work")
        assert paths(nodes) == [expected], paths(nodes)


@tap.case
def assembler_called_by_a_pointer_is_called_by_its_caller(directory):
    for compiler in COMPILERS:
        _, nodes = measure(directory, "serial", "pointer", compiler)
        expected = ("main", "repeat", "[guessed] caller_by_pointer", "other_register", "called_back", "leaf_work")
        assert paths(nodes) == [expected], paths(nodes)


@tap.case
def a_guess_holds_where_the_stack_is_too_deep_to_reach_its_end(directory):
    for compiler in COMPILERS:
        run = Measurement(directory, build(SOURCE, compiler), "serial", "deep", options=("-e", "task-clock@f200"))
        assert run.done.returncode == 0 and run.done.stdout == "done\n", run.done
        nodes = run.tree()
        sums_hold(nodes)
        inner = ("descend", "[guessed] caller_by_pointer", "other_register", "called_back", "leaf_work")
        ends = {(len(path) > 1000, path[0], *path[-len(inner):]) for path in paths(nodes)}
        assert ends == {(True, CUT, *inner)}, ends
        assert "unwinds cut short" in quality(run), quality(run)


@tap.case
def assembler_may_use_the_frame_pointer_for_something_else(directory):
    for compiler in COMPILERS:
        for level in ("-O0", "-O2"):
            _, nodes = measure(directory, "serial", "other", compiler, level)
            found = [tuple(step for step in path if step not in ("burn", "burn_clock")) for path in paths(nodes)]
            expected = ("main", "repeat", "[guessed] caller_of_other", "other_register", "called_back", "leaf_work")
            assert found == [expected], found


@tap.case
def a_region_that_calls_assembler_is_not_marked_itself(directory):
    body = f"parallel @ {SOURCE}:{line_of(SOURCE, 'its body')}"
    for compiler in COMPILERS:
        _, nodes = measure(directory, "region", "body", compiler)
        expected = ("main", "in_body", body, "[callers guessed]", "small_frame", "called_back", "leaf_work")
        assert paths(nodes) == [expected], paths(nodes)


@tap.case
def callers_beyond_the_search_are_not_guessed(directory):
    run, nodes = measure(directory, "serial", "huge")
    assert paths(nodes) == [(CUT, "huge_frame", "called_back", "leaf_work")], paths(nodes)
    assert "unwinds cut short" in quality(run) and "guessed" not in quality(run), quality(run)


@tap.case
def guesses_are_marked_in_every_report(directory):
    run, _ = measure(directory, "serial", "small")
    path = "main;repeat;[guessed] caller_of_small;small_frame;called_back;leaf_work"
    assert path in report("-f", "folded", run.output).stdout
    for form in ("speedscope", "callgrind", "hatchet", "json"):
        assert "[guessed] caller_of_small" in report("--view", "topdown", "-f", form, run.output).stdout, form
    flat = {row["name"] for row in run.view("flat")}
    assert "caller_of_small" in flat and not [name for name in flat if "guessed" in name], flat
    text = report("--view", "topdown", run.output).stdout
    assert re.search(r"^ .* \[guessed\] caller_of_small", text, re.M), text
    below = report("--view", "topdown", "-f", "csv", "--root", "caller_of_small", run.output).stdout
    assert "leaf_work" in below, below


@tap.case
def generated_code_is_unwound_by_its_frame_pointer(directory):
    for where, above in (("serial", ("main", "repeat")), ("region", ("main", "in_region", REGION, "repeat"))):
        _, nodes = measure(directory, where, "generated")
        found = [tuple(re.sub(r"\+0x\w+", "", step) for step in path) for path in paths(nodes)]
        assert found == [(*above, "[guessed] caller_of_generated", "[guessed] [generated code]", "[generated code]",
                          "called_back", "leaf_work")], found


@tap.case
def coroutines_are_below_their_region(directory):
    for compiler in COMPILERS:
        _, nodes = measure(directory, "region", "coroutine", compiler)
        expected = ("main", "in_region", REGION, "coroutine_body", "called_back", "leaf_work")
        assert paths(nodes) == [expected], paths(nodes)


@tap.case
def coroutines_outside_regions_are_marked(directory):
    run, nodes = measure(directory, "serial", "coroutine")
    assert paths(nodes) == [(CUT, "coroutine_body", "called_back", "leaf_work")], paths(nodes)
    assert "unwinds cut short" in quality(run), quality(run)


def tail_calls(directory, compiler, *flags):
    """The paths of a program in which functions end in jumps, and its measurement."""
    objects = []
    for part in (1, 2, 3):
        objects.append(os.path.join(directory, f"part{part}.o"))
        tap.must(compiler, "-O2", *flags, "-I", tap.SUPPORT, f"-DPART={part}", "-c", source_file("jumping_functions.c"), "-o",
                 objects[-1])
    program = os.path.join(directory, "tail_calls")
    tap.must(compiler, *objects, "-o", program)
    run = Measurement(directory, program, options=("-e", "task-clock@f2000"))
    nodes = run.tree()
    sums_hold(nodes)
    return run, [path[:-1] for path in paths(nodes)]


@tap.case
def the_only_chain_of_tail_calls_is_inferred(directory):
    expected = [("main", "[inferred] around", "[inferred] and_around", "works_after_rounds"),
                ("main", "[inferred] both", "works_after_both"),  # by either of two jumps
                ("main", "[inferred] either", "works_after_either"),
                ("main", "[inferred] only_first", "[inferred] only_second", "works_after_two"),
                ("main", "both"), ("main", "works_by_pointer")]
    for compiler in COMPILERS:
        for dwarf in (("-gdwarf-4",), ("-gdwarf-5",), ("-gdwarf-4", "-gsplit-dwarf"), ("-gdwarf-5", "-gsplit-dwarf")):
            run, found = tail_calls(directory, compiler, *dwarf)
            ends = sorted((path[0], path[-1]) for path in expected)
            if compiler == "clang" and "-gdwarf-4" in dwarf and found == ends:
                continue  # this version writes call sites in DWARF 5 only
            assert found == expected, (compiler, dwarf, found)
            assert "cut short" not in run.done.stderr, run.done.stderr  # one sample may be inside the tool
            text = report("--view", "topdown", run.output).stdout
            assert "[inferred]: left no frame" in text, text
            flat = {row["name"]: row for row in run.view("flat")}
            assert float(flat["only_first"]["work_excl_s"]) == 0 < float(flat["only_first"]["work_incl_s"]), flat


@tap.case
def tail_calls_are_inferred_by_debug_data_found_elsewhere(directory):
    run, expected = tail_calls(directory, "gcc", "-gdwarf-5")
    program, where = os.path.join(directory, "tail_calls"), os.path.join(directory, "debug")
    os.mkdir(where)
    tap.must("objcopy", "--only-keep-debug", program, os.path.join(where, "tail_calls.debug"))
    tap.must("strip", program)
    found = [path[:-1] for path in paths(run.tree("--symbols", where))]
    assert found == expected and any("[inferred] only_first" in path for path in found), (found, expected)


@tap.case
def nothing_is_inferred_without_debug_data(directory):
    for compiler in COMPILERS:
        _, found = tail_calls(directory, compiler)
        works = [("main", f"works_{what}") for what in ("after_both", "after_either", "after_rounds", "after_two",
                                                        "by_pointer")]
        assert found == [("main", "both"), *works], found


@tap.case
def threads_that_outlive_the_first_one_have_callers(directory):
    """The kernel then knows no memory of the process by its number."""
    for compiler in COMPILERS:
        run, nodes = measure(directory, "serial", "outlive", compiler)
        assert paths(nodes) == [("outlive", "repeat", "called_back", "leaf_work")], paths(nodes)
        assert "cut short" not in run.done.stderr, run.done.stderr


tap.main()
