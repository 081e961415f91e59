#!/usr/bin/env python3
"""Names of generated code, from /tmp/perf-PID.map: copied into the measurement in time, and only if it can be trusted."""
import glob
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, sum_of
from report import report, rows
from tap import LAUNCHER, Skip, case, main, must, need_program, need_root, start, timed

MAP = "START1 SIZE first_generated\nSTART2 SIZE second [tier 2]\n"
NAMES = {"first_generated", "second [tier 2]"}


def program():
    return build("just_in_time.c", openmp=False)


def functions(measurement):
    return {row["name"]: row for row in rows("flat", measurement) if row["kind"] == "function"}


def maps(measurement):
    return glob.glob(os.path.join(measurement, "*.perfmap"))


def check_named(measurement):
    found = functions(measurement)
    assert NAMES <= set(found), set(found)
    assert all(found[name]["module"] == "[generated code]" for name in NAMES), found
    assert not any(name.startswith("[generated code]+") for name in found), set(found)


def check_unnamed(measurement):
    found = functions(measurement)
    assert not NAMES & set(found) and any(name.startswith("[generated code]+0x") for name in found), set(found)
    assert not maps(measurement)


@case
def generated_functions_have_their_names(directory):
    run_of = Measurement(directory, program(), MAP)
    assert run_of.done.returncode == 0 and len(maps(run_of.output)) == 1, run_of.done
    check_named(run_of.output)
    assert os.stat(maps(run_of.output)[0]).st_mode & 0o777 == 0o600
    tree = run_of.tree()
    paths = {tuple(node.path()) for node in tree if node.name == "callback"}
    assert {("main", "[guessed] drive", name, "callback") for name in NAMES} <= paths, paths
    for name in NAMES:
        timed(abs(sum_of(tree, "work_incl_s", name) - 0.2) < 0.05, name, sum_of(tree, "work_incl_s", name))
    summary = report("--view", "summary", "--legend", run_of.output).stdout
    assert "No symbols" not in summary and "No source lines: [generated" not in summary, summary
    again = Measurement(directory, program(), "")  # replaces the measurement
    assert again.done.returncode == 0, again.done
    check_unnamed(again.output)


@case
def the_caller_is_where_the_code_returns_to(directory):
    """Code without a frame pointer that removes its frame and returns after the call: nothing is guessed."""
    run_of = Measurement(directory, program(), MAP, "plain")
    paths = {tuple(node.path()): node for node in run_of.tree() if node.name == "callback"}
    assert ("main", "drive", "second [tier 2]", "callback") in paths, set(paths)
    assert not any("second [tier 2]" in path and "[guessed] drive" in path for path in paths), set(paths)
    timed(abs(paths["main", "drive", "second [tier 2]", "callback"].value("work_incl_s") - 0.2) < 0.05, paths)


@case
def a_map_that_the_program_removes_is_kept(directory):
    check_named(Measurement(directory, program(), MAP, "remove").output)


@case
def a_killed_process_has_its_map(directory):
    process = start(LAUNCHER, "-q", "-o", "data", program(), MAP, "wait", cwd=directory)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.unlink(f"/tmp/perf-{process.pid}.map")
    check_named(os.path.join(directory, "data"))


@case
def a_sample_copies_a_bounded_part(directory):
    """The copy has its name when it is complete; the one at the end finds nothing new."""
    need_program("strace")
    log = os.path.join(directory, "calls")
    run_of = Measurement(directory, program(), MAP, "long", prefix=("strace", "-f", "-o", log, "-e", "trace=sendfile"))
    if run_of.done.returncode:
        raise Skip(f"strace cannot trace here: {run_of.done.stderr}")
    check_named(run_of.output)
    with open(log, encoding="utf-8") as file:
        sizes = [int(size) for size in re.findall(r"sendfile\(.* = (\d+)$", file.read(), re.M)]
    step, size = 256 << 10, os.path.getsize(maps(run_of.output)[0])
    assert size > 1 << 20 and sizes == [step] * (size // step) + [size % step], (size, sizes)


@case
def later_names_take_the_place_of_earlier_ones(directory):
    """A compiler puts new code in the place of old code; lines that are not valid are reported."""
    lines = ("START1 1000 old\n" + MAP + "\nno number here\nffffffffffffffff ffffffffffffffff wraps\n12\n"
             "START1 SIZE\n123456789abcdef01 1 too_long\nSTART1 SIZE not_ended")
    run_of = Measurement(directory, program(), lines)
    done = report("--view", "flat", "-f", "csv", run_of.output)
    assert all(f",{name}," in done.stdout for name in NAMES) and ",old," not in done.stdout, done
    assert "lines that do not have the form START SIZE NAME, left out: 6" in done.stderr, done.stderr
    over = functions(Measurement(directory, program(), "START2 SIZE old\nSTART1 1000 newest\n").output)
    assert "newest" in over and "old" not in over, set(over)
    over = functions(Measurement(directory, program(), "START2 SIZE old\n" * 100 + "START1 1000 newest\n").output)
    assert "newest" in over and "old" not in over, set(over)


def measured_with_map(directory, change):
    """Measures a program whose map is changed before its generated code runs."""
    process = start(LAUNCHER, "-q", "--overwrite", "-o", "data", program(), MAP, "started", cwd=directory, stdin=-1)
    assert process.stdout.readline() == "ready\n"
    path = f"/tmp/perf-{process.pid}.map"
    try:
        change(path)
        process.communicate("go\n", 60)
        assert process.returncode == 0
    finally:
        for left in path, path + "-other":
            if os.path.lexists(left):
                os.unlink(left)
    return os.path.join(directory, "data")


@case
def maps_that_cannot_be_trusted_are_not_used(directory):
    """A link, another name of a file, an old file, a large one, a pipe."""
    def link(path):
        os.rename(path, path + "-other")
        os.symlink(path + "-other", path)

    def pipe(path):
        os.unlink(path)
        os.mkfifo(path)

    check_named(measured_with_map(directory, lambda path: None))
    for change in (link, pipe, lambda path: os.link(path, path + "-other"), lambda path: os.utime(path, (1, 1)),
                   lambda path: os.truncate(path, (16 << 20) + 1)):
        check_unnamed(measured_with_map(directory, change))


@case
def the_map_of_another_user_is_not_used(directory):
    need_root()
    check_unnamed(measured_with_map(directory, lambda path: os.chown(path, 65534, 65534)))


def hints(measurement):
    """Whether summary and topdown say how functions of Python get names."""
    summary = report("--view", "summary", "--legend", measurement).stdout
    assert "No source lines: python3" not in summary, summary
    return ("No names of Python's functions: python3.99" in summary,
            "python3 -X perf" in report("--view", "topdown", measurement).stdout)


@case
def functions_of_python_have_the_time_of_their_interpreter(directory):
    """The frames of a program that is called as the interpreter is are one row, or the function's that it names."""
    interpreter = build("just_in_time.c", openmp=False, name="python3.99")
    run_of = Measurement(directory, interpreter, "START1 SIZE py::Model.fit:/x/model.py\nSTART2 SIZE second\n")
    tree = run_of.tree()
    paths = {tuple(node.path()): node for node in tree if node.kind == "function"}
    whole = "[Python interpreter]"
    assert {(whole,), (whole, "Model.fit"), (whole, "second"), (whole, "second", whole)} <= set(paths), set(paths)
    assert paths[whole, "Model.fit"].row["file"] == "/x/model.py" and not paths[whole, "Model.fit"].row["line"]
    wrong = [path for path in paths if {"callback", "drive"} & set(path) or path[-2:] == (whole, whole)]
    assert not wrong, wrong
    timed(abs(paths[whole, "Model.fit"].value("work_excl_s") - 0.2) < 0.05, paths[whole, "Model.fit"].row)
    assert hints(run_of.output) == (False, False)
    flat = functions(run_of.output)
    assert {whole, "Model.fit", "second"} <= set(flat) and "callback" not in flat, set(flat)
    done = report("--view", "topdown", "-f", "csv", "--python-frames", run_of.output)
    assert ",callback," in done.stdout and whole not in done.stdout, done
    sums = [sum(float(row["work_excl_s"] or 0) for row in rows("topdown", run_of.output, *flag))
            for flag in ((), ("--python-frames",))]
    assert abs(sums[0] - sums[1]) < 1e-6, sums
    refused = report("--view", "threads", "--python-frames", run_of.output)
    assert refused.returncode == 2 and "--python-frames has no effect" in refused.stderr, refused
    nameless = Measurement(directory, interpreter, "START1 SIZE first\n").output
    assert {"first", whole} <= set(functions(nameless)) and hints(nameless) == (True, True)


@case
def functions_of_several_processes_are_one(directory):
    """Wherever their code lies; in two reports they are compared by name."""
    script = os.path.join(directory, "both")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\n"{program()}" "{MAP}" &\n"{program()}" "{MAP}"\nwait\n')
    os.chmod(script, 0o755)
    data = os.path.join(directory, "data")
    must(LAUNCHER, "-q", "-o", data, script)
    check_named(data)
    assert len(maps(data)) == 2
    other = Measurement(directory, program(), MAP).output
    compared = rows("flat", "--compare", other, data)
    by_name = [row for row in compared if row["name"] in NAMES]
    assert len(by_name) == 2 and all(row["base"] and row["new"] for row in by_name), by_name


if __name__ == "__main__":
    main()
