#!/usr/bin/env python3
"""Phases of a program that knows them, the timeline as text and tiles, and the index of a trace."""
import csv
import io
import json
import os
import re
import sys
from random import Random

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file as form
from measured import Measurement, build, clocks, tap


CLOCKS = 0.0015  # seconds between the program's clock and the region's start or end: its threads must wake up
SUMS = 1e-6  # roundings to the last digit in hundreds of rows
CATEGORIES = ("work_s", "overhead_s", "lock_wait_s", "idle_s", "blocked_s", "core_wait_s",
              "waiting_no_core_s", "tool_s", "gap_s")


def measure(directory, *options):
    run = Measurement(directory, build("repeated_phases.c", "clang", "-O1"), options=options, OMP_NUM_THREADS="2")
    assert run.done.returncode == 0, run.done
    return run


def report(directory, *options, code=0):
    done = tap.run(tap.REPORT, *options, directory)
    assert done.returncode == code, done
    return done.stdout if not code else done.stderr


def rows(directory, view, *options):
    return list(csv.DictReader(io.StringIO(report(directory, "--view", view, "-f", "csv", *options))))


def tiles(directory, *options):
    found = json.loads(report(directory, "--view", "timeline", "-f", "json", *options))
    return [dict(zip(found["columns"], row)) if isinstance(row, list) else row for row in found["rows"]]


def total(table, column):
    return sum(float(row[column] or 0) for row in table)


@tap.case
def phases_are_those_of_the_program(directory):
    run = measure(directory, "-t")
    own, found = clocks(run.done.stdout), rows(run.output, "phases")
    phases = [row for row in found if not row["step"]]
    steps = [row for row in found if row["step"] and row["phase"] == phases[1]["phase"]]
    assert [row["kind"] for row in phases] == ["serial", "pattern", "serial", "region", "serial"], phases
    length = [float(row["end_s"]) - float(row["start_s"]) for row in phases]
    pattern = phases[1]
    assert pattern["instances"] == "30", pattern
    tap.timed(int(pattern["slowest"]) == own["number"], own, pattern)
    assert [row["kind"] for row in steps[:4]] == ["region", "serial", "region", "serial"], steps
    assert {row["instances"] for row in steps[:3]} == {"30"}, steps
    for name, seconds in (("pattern", length[1]), ("slowest", float(pattern["slowest_s"])), ("serial", length[2]),
                          ("region", length[3])):
        tap.timed(abs(seconds - own[name]) < CLOCKS, f"{name}: {seconds}, own clock {own[name]}")
    start = float(pattern["slowest_start_s"]) - float(phases[0]["end_s"])
    tap.timed(abs(start - own["start"]) < CLOCKS, f"slowest starts at {start}, own clock {own['start']}")
    tap.timed(steps[0]["slowest_start_s"] == pattern["slowest_start_s"], steps[0])
    for before, after in zip(phases, phases[1:]):
        assert before["end_s"] == after["start_s"]
    for column in CATEGORIES:
        assert abs(total(steps, column) - float(pattern[column])) < SUMS, (column, steps, pattern)
    assert len({row["name"] for row in steps}) == len(steps), steps
    text = report(run.output, "--view", "phases")
    tap.timed(f"number {pattern['slowest']}, from {float(pattern['slowest_start_s']):.4f} to " in " ".join(text.split()), text)


@tap.case
def places_of_one_region_are_told_apart(directory):
    program = tap.compile_c(directory, "places", """
        #include <unistd.h>
        __attribute__((noinline)) static void sweep(int us)
        {
        #pragma omp parallel num_threads(2)
          usleep(us);
        }
        int main(void)
        {
          for (int i = 0; i < 12; i++) {
            sweep(2000);
        #pragma omp parallel num_threads(2)
            usleep(1000);
            sweep(4000);
        #pragma omp parallel num_threads(2)
            usleep(1000);
          }
        }""", "-fopenmp")
    run = Measurement(directory, program, options=("-t",))
    regions = [row for row in rows(run.output, "phases") if row["kind"] == "region"]
    names = [row["name"].split(" ", 1)[1] for row in regions]
    assert names == ["(sweep) (place 1 of 2)", "(main)", "(sweep) (place 2 of 2)", "(main)"], regions
    assert {row["instances"] for row in regions} == {"12"}, regions
    text = report(run.output, "phases")
    assert re.search(r"^.*places\.c:5 \(place 1 of 2\)", text, re.M) and "places.c:5 (place 2 of 2)" in text, text


def measure_known(directory, *arguments):
    run = Measurement(directory, build("known_phases.c"), *arguments, options=("-t",))
    assert run.done.returncode == 0, run.done
    return run.output


@tap.case
def what_was_not_recorded_is_a_phase_of_its_own(directory):
    output = measure_known(directory, "pauses")
    phases = [row for row in rows(output, "phases") if not row["step"]]
    gap = next(row for row in phases if row["kind"] == "gap")
    assert gap["name"] == "not recorded" and not gap["context"] and float(gap["work_s"]) == 0, gap
    tap.timed(float(gap["end_s"]) - float(gap["start_s"]) > 0.015, gap)  # of 20 ms, less what the phases beside it take
    region = next(row for row in phases if row["kind"] == "region" and float(row["gap_s"]) > 0)
    assert (region["complete"], region["mean_s"], region["slowest_start_s"]) == ("0", "", ""), region
    tiles(output, "--index")
    assert [row for row in rows(output, "phases") if not row["step"]] == phases


@tap.case
def threads_that_do_something_count(directory):
    output = measure_known(directory, "threads")
    phase, *_ = rows(output, "phases")
    text = report(output, "--view", "phases")
    assert text.startswith("1 phase, ") and 2 < int(text.split()[2]) <= 5, text
    assert phase["kind"] == "serial" and 0 < float(phase["efficiency_pct"]) <= 100, phase
    assert report(measure_known(directory, "asleep"), "--view", "phases").splitlines()[0].endswith(", 1 thread")


@tap.case
def a_serial_program_has_a_phase(directory):
    run = Measurement(directory, "/bin/sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done; true",
                      options=("-t",))
    assert run.done.returncode == 0, run.done
    for _ in range(2):
        phase, _ = rows(run.output, "phases")
        assert (phase["kind"], phase["instances"]) == ("serial", "1"), phase
        assert "1 phase, 1 thread" in report(run.output, "--view", "timeline", "--index")


@tap.case
def a_part_cuts_repetitions(directory):
    run = measure(directory, "-t")
    pattern = next(row for row in rows(run.output, "phases") if row["kind"] == "pattern")
    start, end = float(pattern["start_s"]) + 0.001, float(pattern["end_s"]) - 0.012  # within a repetition of 10 ms
    part = ("--from", str(start), "--to", str(end))
    cut = next(row for row in rows(run.output, "phases", *part) if row["kind"] == "pattern")
    assert int(cut["complete"]) < int(cut["instances"]), cut
    tap.timed(abs(float(cut["slowest_start_s"]) - float(pattern["slowest_start_s"])) < SUMS, cut, pattern)


@tap.case
def tiles_have_the_sums_of_the_intervals(directory):
    run = measure(directory, "-t")
    intervals, parts = rows(run.output, "timeline"), tiles(run.output)
    assert len({row["thread"] for row in parts}) == 2
    for column in CATEGORIES:
        whole = sum(float(row["end_s"]) - float(row["start_s"]) for row in intervals
                    if row["category"] == column[:-2])
        assert abs(whole - total(parts, column)) < SUMS, column
    together = tiles(run.output, "--lanes", "process")
    assert all(abs(total(together, column) - total(parts, column)) < SUMS for column in CATEGORIES)
    for options in (("timeline",), ("phases",), ("timeline", "--lanes", "node"), ("timeline", "--max-rows", "1")):
        text = report(run.output, "--view", *options)
        assert max(map(len, text.splitlines())) <= 80 and "\033" not in text, text


@tap.case
def the_drawing_explains_itself(directory):
    run = measure(directory, "-t", "-p", "log")
    text = report(run.output, "--view", "timeline", "--legend")
    drawn, said = text.split("\n\n")[0].splitlines(), text.split("\n\n")[-1]
    lanes = {line[:2]: (line[2:], marks[2:]) for line, marks in zip(drawn, drawn[1:]) if line[:2] in ("1 ", "2 ")}
    assert len(lanes) == 2, text
    for letter in set("".join(letters for letters, _ in lanes.values())) - {" "}:
        assert f"  {letter} " in said, (letter, text)
    assert all(set(marks) <= set("^- ") for _, marks in lanes.values()), text
    marked = {place for _, marks in lanes.values() for place, mark in enumerate(marks) if mark != " "}
    tap.timed(len(marked) >= 70, text)  # blocked threads are on no path
    assert "^" in said and "Work%" in said and max(map(len, text.splitlines())) <= 80, said


def stored(path):
    """What an index holds; threads store it in any order."""
    return sorted((part.owner, part.first, bytes(part.data)) for part in form.extents(path))


@tap.case
def the_index_shows_the_same_and_a_stale_one_is_replaced(directory):
    run = measure(directory, "-t")
    before, files = rows(run.output, "phases"), set(os.listdir(run.output))
    parts = tiles(run.output)
    assert set(os.listdir(run.output)) == files
    indexed = tiles(run.output, "--index")
    (name,) = set(os.listdir(run.output)) - files
    assert name.endswith(".index"), name
    path = os.path.join(run.output, name)
    for column in CATEGORIES:
        assert abs(total(parts, column) - total(indexed, column)) < SUMS, column
    assert rows(run.output, "phases") == before
    with open(path, "rb") as file:
        size, held = len(file.read()), stored(path)
    for at in range(0, size, size // 20):
        with open(path, "r+b") as file:
            file.seek(at)
            (byte,) = file.read(1)
            file.seek(at)
            file.write(bytes((byte ^ 0x55,)))
        assert abs(total(tiles(run.output), "work_s") - total(parts, "work_s")) < SUMS, at
        assert rows(run.output, "phases") == before, at
        assert tiles(run.output, "--index") == indexed and stored(path) == held, at
    os.truncate(path, size // 2)
    assert tiles(run.output, "--index") == indexed and stored(path) == held


@tap.case
def an_index_hides_no_damage(directory):
    run = measure(directory, "-t")
    (path,) = [entry.path for entry in os.scandir(run.output) if entry.name.endswith(".trace")]
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) - 1)  # in the last extent
        (last,) = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes((last ^ 0x55,)))
    for options in ((), ("--index",), ("--index",), ()):
        told = report(run.output, "--view", "timeline", *options, code=1)
        assert told.count("a gap in the timeline") == 1, (options, told)
    assert not [name for name in os.listdir(run.output) if name.endswith(".index")]


def hostile(part, random, how):
    """The extent with other bytes, and a right checksum."""
    data = bytearray(part.data)
    if how == "noise":
        data = bytearray(random.randbytes(len(data)))
    for _ in range(len(data) // 16 if how == "numbers" else 3):
        at = random.randrange(0, len(data) - 4, 4)
        data[at:at + 4] = random.choice((b"\0\0\0\0", b"\1\0\0\0", b"\xff\xff\xff\xff", b"\0\0\0\x80", random.randbytes(4)))
    return form.extent(form.INDEX, 1, bytes(data[:-1] if how == "short" else data), part.owner, first=part.first)


@tap.case
def a_hostile_index_is_harmless(directory):
    run, random = measure(directory, "-t"), Random(7)
    parts, before = tiles(run.output), rows(run.output, "phases")
    tiles(run.output, "--index")
    path = next(entry.path for entry in os.scandir(run.output) if entry.name.endswith(".index"))
    whole = list(form.extents(path))
    assert {part.table for part in whole} == {form.INDEX} and (whole[0].owner, whole[0].first) == (0, 0)
    for turn in range(24):
        how = ("noise", "numbers", "few", "short")[turn % 4]
        with open(path, "wb") as file:
            for number, part in enumerate(whole):
                change = number and (turn < 12 or random.random() < 0.3)
                file.write(hostile(part, random, how) if change else
                           form.extent(form.INDEX, 1, part.data, part.owner, first=part.first))
        shown = tiles(run.output)
        report(run.output, "--view", "timeline", "--from", "0.2", "--to", "0.3")
        if how in ("noise", "short") and turn < 12:  # no cell is possible: all are read from the trace
            assert shown == parts and rows(run.output, "phases") == before, how


def synthetic(directory, events):
    path = os.path.join(directory, "synthetic")
    tap.must(os.path.join(tap.BUILD, "tests", "synthesize"), "--threads", "3", "--contexts", "20", "--events",
             str(events), path)
    return path


def identity(row):
    return [row[column] for column in ("process", "phase", "kind", "name")]


def sums(parts):
    """The executions and times of phases and steps, over all parts."""
    result = {}
    for row in (row for part in parts for row in part):
        figures = result.setdefault((*identity(row), bool(row["step"])), [0] * (1 + len(CATEGORIES)))
        figures[0] += int(row["instances"])
        for number, column in enumerate(CATEGORIES):
            figures[number + 1] += round(float(row[column]) * 1e9)
    return result


def joined(table):
    """A cut may change what the time beside a sample is taken for."""
    return {key: (figures[0], sum(figures[1:])) for key, figures in table.items()}


def parts_of(path, moments):
    return [rows(path, "phases", "--from", f"{begin:.9f}", "--to", f"{end:.9f}")
            for begin, end in zip(moments, moments[1:])]


@tap.case
def phases_of_parts_are_those_of_the_run(directory):
    random = Random(5)
    known = build("known_phases.c", "clang")
    paths = [measure(directory, "-t").output, synthetic(directory, 400000)]
    for form in ("regions", "forks"):
        os.mkdir(os.path.join(directory, form))
        paths.append(Measurement(os.path.join(directory, form), known, form, options=("-t",)).output)
    for path in paths:
        whole = rows(path, "phases")
        begin = min(float(row["start_s"]) for row in whole if row["start_s"])  # before, a part has no thread
        end = max(float(row["end_s"] or 0) for row in whole)
        moments = [0] + sorted(random.uniform(begin + 1e-6, end) for _ in range(4)) + [end + 1]
        parts = parts_of(path, moments)
        found, wanted = sums(parts), sums([whole])
        assert joined(found) == joined(wanted), (moments, found, wanted)
        assert "synthetic" not in path or found == wanted, (moments, found, wanted)
        for row in (row for part in parts for row in part if row["figures_of"] == "whole phase"):
            assert row in whole, (row, whole)
        report(path, "--view", "timeline", "--index")
        assert parts_of(path, moments) == parts, moments


@tap.case
def of_a_long_part_the_index_tells_the_time(directory):
    path = synthetic(directory, 3600000)
    options = ("--from", "0.0100001", "--to", "0.51")
    before, whole = rows(path, "phases", *options), rows(path, "phases")
    cells = 2 * 3 * 2 ** 15 * 1e-9  # at both ends of three lanes
    report(path, "--view", "timeline", "--index")
    after = rows(path, "phases", *options)
    (cut, *steps), (exact, *_), (run, *all_steps) = after, before, whole
    assert exact["figures_of"] == "part" and cut["figures_of"].startswith("part; "), (cut, exact)
    assert identity(cut) == identity(exact) == identity(run)
    for column in CATEGORIES:
        assert abs(float(cut[column]) - float(exact[column])) < cells, column
    for column in ("instances", "mean_s", "slowest", "context"):
        assert cut[column] == run[column], column
    assert steps == all_steps
    text = report(path, "--view", "phases", *options)
    assert "part of: " in text and "figures below: of the whole phase" in text, text


@tap.case
def an_index_without_cells_is_as_good_as_none(directory):
    run = measure(directory, "-t")
    parts = tiles(run.output)
    tiles(run.output, "--index")
    path = next(entry.path for entry in os.scandir(run.output) if entry.name.endswith(".index"))
    head = next(form.extents(path))
    index = form.layout("format_index").from_buffer_copy(head.data)
    for index.shift, index.levels in ((0, 1), (62, 1), (30, 20), (0, 63)):
        with open(path, "wb") as file:
            file.write(form.extent(form.INDEX, 1, bytes(index)))
        assert tiles(run.output) == parts, (index.shift, index.levels)


@tap.case
def a_life_longer_than_any_is_not_indexed(directory):
    run = measure(directory, "-t")
    (path,) = (entry.path for entry in os.scandir(run.output) if entry.name.endswith(".hpcrun"))
    whole = list(form.extents(path))
    for end in (2 ** 64 - 1, 2 ** 63 - 1, 2 ** 62):
        with open(path, "wb") as file:
            for part in whole:
                records = part.parsed() if part.table == form.THREAD else []
                for record in records:
                    record.end_ns = end
                data = b"".join(map(bytes, records)) or part.data
                file.write(form.extent(part.table, part.size, data, part.owner, first=part.first))
        assert "end of a thread is impossible" in report(run.output, "--view", "timeline", "--index", code=1), end
        assert not [name for name in os.listdir(run.output) if name.endswith(".index")]


@tap.case
def what_was_not_recorded_is_refused(directory):
    for options, said in ((("-t", "-p", "off"), "without '-p off'"), (("--trace=samples",), "states of constructs"),
                          ((), "hpcrun-lite -t")):
        run = measure(directory, *options)
        assert said in report(run.output, "--view", "phases", code=1), options
    assert "use --view timeline --index" in report(run.output, "--view", "flat", "--index", code=2)
    for options, said in ((("--view", "phases", "--lanes", "node"), "view 'phases' has no lines for threads"),
                          (("--view", "timeline", "-f", "csv", "--lanes", "node"), "--lanes joins"),
                          (("-f", "perfetto", "--lanes", "node"), "--lanes joins"),
                          (("--view", "timeline", "-f", "csv", "--max-rows", "1"), "--max-rows needs text"),
                          (("--view", "phases", "--max-rows", "1"), "cannot be shortened"),
                          (("--view", "timeline", "--idleness", "core"), "--idleness has no effect"),
                          (("--view", "phases", run.output), "shows one run")):
        assert said in report(run.output, *options, code=2), options
    assert "needs thread, process or node" in report(run.output, "--view", "timeline", "--lanes", "core", code=2)


@tap.case
def a_thread_that_took_no_sample_makes_no_phase(directory):
    run = measure(directory, "--trace=samples")
    (path,) = (entry.path for entry in os.scandir(run.output) if entry.name.endswith(".trace"))
    parts = list(form.extents(path))
    tap.timed(len({part.owner for part in parts}) > 1, parts)  # both threads took samples: one loses them
    with open(path, "wb") as file:
        for part in parts:
            if part.owner > min(part.owner for part in parts):
                file.write(form.extent(part.table, part.size, part.data, part.owner, first=part.first))
    assert "states of constructs" in report(run.output, "--view", "phases", code=1)
    assert "No phases: times of constructs were not recorded" in report(run.output, "--view", "timeline")


@tap.case
def sums_of_a_synthetic_trace_are_exact(directory):
    path = synthetic(directory, 270000)
    cycles, unit = 10000, 32e-9
    for options in ((), ("--index",), ()):
        parts = tiles(path, *options)
        # each cell is a whole number of ns: only the sum of their seconds is rounded
        for column, units in (("work_s", 110 + 2 * 75), ("idle_s", 10 + 2 * 49), ("overhead_s", 4)):
            assert abs(total(parts, column) - cycles * units * unit) < 1e-9, (column, options)
        (phase, *_) = rows(path, "phases")
        assert phase["instances"] == str(cycles), phase


def lines_of(text):
    """The numbers of the first and last thread of each line."""
    found = re.findall(r"^ *(\d+)(?:-(\d+))? [WoL.bcnt? ]+$", text.split("\n\n")[0], re.M)
    return [(int(first), int(last or first)) for first, last in found]


@tap.case
def many_threads_share_lines(directory):
    """All threads but the first one do the same."""
    path = os.path.join(directory, "many")
    tap.must(os.path.join(tap.BUILD, "tests", "synthesize"), "--threads", "70", "--contexts", "5", "--events", "21000", path)
    text = report(path, "-q", "--view", "timeline")
    assert lines_of(text) == [(1, 1), (2, 70)], text
    assert "\nLines of threads alike, from" in text and max(map(len, text.splitlines())) <= 80, text
    whole = report(path, "-q", "--view", "timeline", "--max-rows", "70")
    assert lines_of(whole) == [(i, i) for i in range(1, 71)] and "\nA line for each thread, from" in whole, whole
    (held,) = re.findall(r"letters hold for at least (\d+) % of the time; --max-rows 70 has", " ".join(text.split()))
    assert 50 < int(held) < 100, text
    figures = [each[each.index("ms in"):] for each in (text, whole)]
    assert figures[0] == figures[1], figures
    assert lines_of(report(path, "-q", "--view", "timeline", "--max-rows", "2")) == [(1, 1), (2, 2)]


@tap.case
def threads_that_differ_share_lines_of_a_long_timeline(directory):
    """Lines tile the threads, and there are 30 at most."""
    run = Measurement(directory, build("created_tasks.c", "gcc"), options=("-t",), OMP_NUM_THREADS="48", OMP_WAIT_POLICY="passive")
    lines = lines_of(report(run.output, "-q", "--view", "timeline"))
    assert 1 < len(lines) <= 30 and (lines[0][0], lines[-1][1]) == (1, 48), lines
    assert all(line[0] == before[1] + 1 for before, line in zip(lines, lines[1:])), lines


@tap.case
def processes_may_outnumber_descriptors(directory):
    path = os.path.join(directory, "many")
    tap.must(os.path.join(tap.BUILD, "tests", "synthesize"), "--processes", "70", "--threads", "1", "--contexts", "5",
             "--events", "300", path)
    wanted = rows(path, "timeline")
    for options in (("--index",), ()):
        done = tap.run(tap.REPORT, "-q", "-j", "2", "--view", "timeline", *options, path, limits={"NOFILE": 48})
        assert done.returncode == 0 and "\n1069.1 W" in done.stdout and not done.stderr, done
    done = tap.run(tap.REPORT, "-q", "-j", "2", "--view", "timeline", "-f", "csv", path, limits={"NOFILE": 48})
    assert list(csv.DictReader(io.StringIO(done.stdout))) == wanted
    assert len([name for name in os.listdir(path) if name.endswith(".index")]) == 70


tap.main()
