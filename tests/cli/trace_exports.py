#!/usr/bin/env python3
"""Exports of the timeline: what each format's own rules and tools say of them, and that their sums agree."""
import collections
import decimal
import functools
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import trace_formats as formats
from measured import build, preload_library
from report import escaped, rows, table
from tap import (BIN, BUILD, GOLDEN, LAUNCHER, LIBRARY, REPORT, Skip, case, main, must, run, shared_directory,
                 small_disk)

SYNTHETIC = os.path.join(BUILD, "tests", "synthetic_timeline")
MODULE = os.path.join(os.path.dirname(LIBRARY), "hpcprof-lite-otf2.so")
HOSTILE = "a\"b\\c\n</script>&\x01\x7f\ufffd\u00e9"
COUNTS = (1, 21, 5000)  # intervals of a lane


def synthetic(directory, form, intervals):
    """Exports the invented timeline to a file; returns its name."""
    path = os.path.join(directory, f"{form}-{intervals}")
    with open(path, "wb") as file:
        done = run(SYNTHETIC, form, str(intervals), stdout=file)
    assert done.returncode == 0, done.stderr
    return path


def installed(directory):
    """The program in a tree of its own, beside which it looks for the module."""
    prefix = os.path.dirname(BIN)
    program = os.path.join(directory, "tree", "bin", "synthetic_timeline")
    module = os.path.join(directory, "tree", os.path.relpath(MODULE, prefix))
    for path in (program, module):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(SYNTHETIC, program)
    return program, module


def synthetic_otf2(directory, intervals):
    if not os.path.exists(MODULE):
        raise Skip("built without OTF2")
    program, module = installed(directory)
    archive = os.path.join(directory, f"archive-{intervals}")
    shutil.copy(MODULE, module)
    os.mkdir(archive)
    done = run(program, "otf2", str(intervals), archive)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return os.path.join(archive, "traces.otf2")


def intervals_of(directory, intervals):
    with open(synthetic(directory, "csv", intervals), encoding="utf-8") as file:
        return table(file.read())


def times(lanes):
    return formats.plain(lanes, "time")


def expected(directory, intervals):
    return formats.of_rows(intervals_of(directory, intervals), lambda row: row["lane"])


@case
def perfetto_follows_the_rules_and_its_sums_are_those_of_the_intervals(directory):
    for count in COUNTS:
        lanes, *_ = formats.perfetto(synthetic(directory, "perfetto", count))
        assert len(lanes) == 5
        assert times(lanes) == times(expected(directory, count)), count


@case
def perfetto_counts_the_threads_at_work(directory):
    """The counter's integral is the time of work of the process's threads."""
    _, counts, _ = formats.perfetto(synthetic(directory, "perfetto", 5000))
    work, integral, last = collections.Counter(), collections.Counter(), {}
    for row in intervals_of(directory, 5000):
        if row["category"] == "work":
            work[row["process"]] += round((float(row["end_s"]) - float(row["start_s"])) * 1e9)
    for (pid, time), threads in sorted(counts.items()):
        since, before = last.get(pid, (time, 0))
        assert threads != before
        integral[pid] += (time - since) * before
        last[pid] = time, threads
    assert not any(threads for _, threads in last.values()), "threads work after their end"
    assert sorted(work.values()) == sorted(integral.values()), (work, integral)


@case
def firefox_follows_the_rules_and_its_sums_are_those_of_the_intervals(directory):
    for count in COUNTS:
        lanes = formats.firefox(synthetic(directory, "firefox", count))
        assert times(lanes) == times(expected(directory, count)), count
        for lane in lanes:
            for name in formats.WAITS:
                assert sum(time for (kind, _), time in lane["waits"].items() if kind == name) == lane["time"][name]
    paths = {path for lane in lanes for path in lane["stacks"]}
    assert ("program", "main", "parallel @ " + HOSTILE, f"solve<{HOSTILE}>", HOSTILE) in paths, paths
    assert max(map(len, paths)) == 5 and all(path[0] == "program" for path in paths)


@case
def constructs_and_waits_last_as_long_in_all_formats(directory):
    perfetto, *_ = formats.perfetto(synthetic(directory, "perfetto", 5000))
    firefox = formats.firefox(synthetic(directory, "firefox", 5000))
    otf2 = formats.otf2(synthetic_otf2(directory, 5000))
    for figures, keys in ("within", 6), ("waits", 2 * 7):  # task-exec and main stand in two places
        assert formats.plain(perfetto, figures) == formats.plain(firefox, figures), figures
        assert formats.plain(perfetto, figures) == formats.plain(otf2, figures), figures
        assert len(formats.plain(perfetto, figures)[0]) == keys, figures
    assert formats.plain(perfetto, "own") == formats.plain(otf2, "own")


def own_times(node, path=()):
    """Each path of a call tree, with its own time in ms."""
    for child in node["children"]:
        yield path + (child["name"],), child["selfSamples"]
        yield from own_times(child, path + (child["name"],))


@case
def the_firefox_profiler_reads_what_was_written(directory):
    """Its own upgraders and its call tree: sums of categories, self times and durations of markers."""
    path = synthetic(directory, "firefox", 300)
    shutil.move(path, path + ".json")
    lanes = formats.firefox(path + ".json")
    with formats.FirefoxProfiler(path + ".json") as profiler:
        assert len(list(own_times(profiler.ask("thread", "samples-top-down", "--include-idle")["regularCallTree"]))) > 5
        for number, lane in enumerate(lanes):
            thread = ("--thread", f"t-{number}")
            samples = profiler.ask("thread", "samples", *thread, "--include-idle")
            shown = {entry["name"]: entry["samples"] for entry in samples["categoryBreakdown"]["categories"]}
            assert set(shown) == set(lane["time"]), (shown, lane["time"])
            assert all(abs(shown[name] * 1e6 - time) < 1 for name, time in lane["time"].items()), shown
            tree = profiler.ask("thread", "samples-top-down", *thread, "--include-idle")["regularCallTree"]
            for path, own in own_times(tree):
                assert abs(own * 1e6 - lane["stacks"][path]) < 1, (path, own)
            markers = profiler.ask("thread", "markers", *thread)
            assert markers["totalMarkerCount"] == sum(entry["count"] for entry in markers["byType"])
            for entry in markers["byType"]:
                total = lane["within"].get(entry["markerName"]) or lane["time"][entry["markerName"]]
                assert abs(entry["durationStats"]["avg"] * entry["count"] * 1e6 - total) < 1 + total / 1e9, entry
        names = [entry["name"] for entry in profiler.ask("thread", "list")["threads"]]
        assert names[0] == "thread 0 (tid 70)" and len(names) == 5, names


@case
def otf2_print_reads_the_archive_and_its_sums_are_those_of_the_intervals(directory):
    for count in COUNTS:
        lanes = formats.otf2(synthetic_otf2(directory, count))
        assert times(lanes) == times(expected(directory, count)), count


@case
def otf2_defines_nodes_processes_and_threads(directory):
    archive = synthetic_otf2(directory, 21)
    text = must("otf2-print", "-G", archive)
    shown = escaped(HOSTILE)
    for expected_line in (f'SYSTEM_TREE_NODE                       0  Name: "n1{shown}"',
                          f'LOCATION_GROUP                         0  Name: "n1{shown}: rank 0: {shown}"',
                          'SYSTEM_TREE_NODE                       1  Name: "n2"',
                          'LOCATION_GROUP                         1  Name: "n2: ./b"',
                          'LOCATION_GROUP                         2  Name: "n2: rank 1: ./a "x""',
                          'LOCATION                               4  Name: "thread 1 (tid 71)"'):
        assert expected_line in text, (expected_line, text)
    assert text.count("\nLOCATION  ") == 5 and text.count("\nSYSTEM_TREE_NODE  ") == 2
    for role in ("PARALLEL", "LOOP", "CRITICAL", "BARRIER", "TASK", "CODE", "FUNCTION"):
        assert f"Role: {role}," in text, role
    end = max(round(float(row["end_s"]) * 1e9) for row in intervals_of(directory, 21))
    assert f"Ticks per Seconds: 1000000000, Global Offset: 0, Length: {end}," in text, end
    assert "Date: 2023-11-14 22:13:20.123456789" in text


@case
def a_missing_library_is_one_line(directory):
    program, module = installed(directory)
    done = run(program, "otf2", "1", directory)
    assert done.returncode == 1 and done.stderr.startswith("this build has no OTF2"), done
    if not os.path.exists(MODULE):
        return
    shutil.copy(MODULE, module)
    libraries = os.path.join(directory, "libraries")
    os.mkdir(libraries)
    needed = re.search(r"\[(lib(?:otf2|open-trace-format2)[^]]*)", must("readelf", "-d", module)).group(1)
    with open(os.path.join(libraries, needed), "wb"):
        pass
    done = run(program, "otf2", "1", directory, LD_LIBRARY_PATH=libraries)
    assert done.returncode == 1 and done.stderr.startswith("the OTF2 library cannot be loaded: "), done
    assert done.stderr.count("\n") == 1, done


@case
def memory_does_not_grow_with_the_intervals(_):
    """300 000 of them, in 6 MiB for all data of the program."""
    for form in ("perfetto", "firefox"):
        with open(os.devnull, "wb") as file:
            done = run(SYNTHETIC, form, "60000", stdout=file, limits={"DATA": 6 << 20})
        assert done.returncode == 0, (form, done.stderr)


@case
def missing_memory_is_a_failure(_):
    """Each allocation of the program fails in turn: it writes all or says that it could not."""
    preload = preload_library("fail_malloc.c")
    for form in "perfetto", "firefox":
        whole, failures = must(SYNTHETIC, form, "3", text=False), 0
        for number in range(1, 200):
            done = run(SYNTHETIC, form, "3", LD_PRELOAD=preload, FAIL_AT=str(number), text=False)
            assert done.returncode == 1 or (done.returncode, done.stdout) == (0, whole), (form, number, done)
            failures += done.returncode
        assert 5 < failures < 150, (form, failures)


# ---- a measured program ----

@functools.lru_cache(maxsize=None)
def measurement():
    """The measurement of two processes with three threads each; that it has events enough is seen from its rows."""
    output = os.path.join(shared_directory(), "measurement")
    must(LAUNCHER, "-q", "-t", "-p", "log", "-o", output, build("traced_constructs.c"))
    found = rows("timeline", output)
    assert len({(row["process"], row["thread"]) for row in found}) == 6, found
    assert {"parallel", "for", "critical", "task-exec", "user-region"} <= {row["kind"] for row in found}
    assert {"work", "idle", "lock_wait", "blocked"} <= {row["category"] for row in found}
    critical = sum(round((float(row["end_s"]) - float(row["start_s"])) * 1e9)
                   for row in found if row["on_critical_path"] == "1")
    return output, formats.of_rows(found, lambda row: (row["process"], row["thread"])), critical


def exported(directory, form, *options):
    path = os.path.join(directory, form)
    done = run(REPORT, "-f", form, "-o", path, *options, measurement()[0])
    assert done.returncode == 0 and not done.stderr and not done.stdout, done
    return path


@case
def exports_of_a_measurement_have_the_sums_of_its_timeline(directory):
    wanted = times(measurement()[1])
    perfetto, counts, paths = formats.perfetto(exported(directory, "perfetto"))
    firefox = formats.firefox(exported(directory, "firefox"))
    assert times(perfetto) == wanted
    assert times(firefox) == wanted
    assert max(counts.values()) > 1
    critical = sum(lane["critical"]["here"] for lane in perfetto)
    assert critical == measurement()[2] > 0, (critical, measurement()[2])
    assert paths and 0 < sum(to - since for path in paths.values() for since, to, _ in path) <= critical
    assert any(path[-1] == "spin" and any(name.startswith("parallel @ traced_constructs.c:") for name in path)
               for lane in firefox for path in lane["stacks"]), firefox
    for figures in "within", "waits":
        assert formats.plain(perfetto, figures) == formats.plain(firefox, figures)
    names = {name for lane in perfetto for name in lane["within"]}
    assert 'a "quoted" <name>\n' in names and {"parallel", "for", "task-exec"} <= {name.split()[0] for name in names}


@case
def otf2_of_a_measurement_has_the_sums_of_its_timeline(directory):
    if not os.path.exists(MODULE):
        raise Skip("built without OTF2")
    archive = exported(directory, "otf2")
    otf2 = formats.otf2(os.path.join(archive, "traces.otf2"))
    perfetto, *_ = formats.perfetto(exported(directory, "perfetto"))
    assert times(otf2) == times(measurement()[1])
    for figures in "own", "within", "waits":
        assert formats.plain(perfetto, figures) == formats.plain(otf2, figures)
    assert sorted(os.listdir(directory)) == ["otf2", "perfetto"], "a temporary directory is left"


@case
def exports_of_a_part_of_the_run_have_its_sums(directory):
    part = ("--from", "5ms", "--to", "30ms")
    found = rows("timeline", *part, measurement()[0])
    wanted = times(formats.of_rows(found, lambda row: (row["process"], row["thread"])))
    perfetto, *_ = formats.perfetto(exported(directory, "perfetto", *part))
    assert 0 < sum(lane["time"].total() for lane in perfetto) <= len(perfetto) * 25000000
    assert times(perfetto) == wanted
    assert times(formats.firefox(exported(directory, "firefox", *part))) == wanted
    if os.path.exists(MODULE):
        exported(directory, "otf2", *part)
        assert times(formats.otf2(os.path.join(directory, "otf2", "traces.otf2"))) == wanted


@case
def what_the_program_says_is_in_all_exports(directory):
    """Marks, phases and each value of a counter, with their times, and nothing else changes."""
    output = os.path.join(directory, "said")
    must(LAUNCHER, "-q", "-t", "-o", output, build("instrumented.c"), "all", "2")

    def at(row, name):
        return formats._ns(decimal.Decimal(row[name]), 10**9)

    wanted = {kind: sorted((row["name"], at(row, "start_s"), at(row, "end_s") - at(row, "start_s"))
                           for row in rows("marks", output) if row["kind"] == kind) for kind in ("mark", "phase")}
    assert len(wanted["mark"]) == 6 and [name for name, *_ in wanted["phase"]] == ["output", "setup", "solve"]
    paths = {}
    for form in "perfetto", "firefox", *(["otf2"] if os.path.exists(MODULE) else []):
        paths[form] = os.path.join(directory, form + ".json" * (form == "firefox"))
        must(REPORT, "-f", form, "-o", paths[form], output)
    said = {"perfetto": formats.perfetto_said(paths["perfetto"]), "firefox": formats.firefox_said(paths["firefox"])}
    if "otf2" in paths:
        said["otf2"] = formats.otf2_said(os.path.join(paths["otf2"], "traces.otf2"))
    for form, found in said.items():
        assert {kind: found[kind] for kind in wanted} == wanted, (form, found)
        assert found["counter"] == said["perfetto"]["counter"], form
    values = said["perfetto"]["counter"]
    sums = {row["counter"]: row for row in rows("user-counters", output) if not row["thread"]}
    for name, row in sums.items():
        own = [value for counter, *_, value in values if counter == name]
        assert (len(own), sum(own)) == (int(row["values"]), int(row["sum"])), name
    found = [row for row in rows("timeline", output) if row["category"]]
    wanted = times(formats.of_rows(found, lambda row: (row["process"], row["thread"])))
    assert times(formats.perfetto(paths["perfetto"])[0]) == times(formats.firefox(paths["firefox"])) == wanted
    with formats.FirefoxProfiler(paths["firefox"]) as profiler:
        shown = {entry["markerName"]: entry["count"] for entry in profiler.ask("thread", "markers")["byType"]}
        assert shown["ready"] == 1 and shown["step"] == 5 and shown["items"] > 100 and shown["solve"] == 1, shown


@case
def what_cannot_be_exported_is_refused(directory):
    def refused(status, *arguments):
        done = run(REPORT, *arguments)
        assert done.returncode == status and not done.stdout and done.stderr.count("\n") == 1, done
        return done.stderr

    output, there = measurement()[0], os.path.join(directory, "there")
    os.mkdir(there)
    assert "format otf2 is a directory: it needs --output" in refused(2, "-f", "otf2", output)
    assert f"cannot write '{there}/': it exists; name a directory that does not with -o" in refused(1, "-f", "otf2", "-o", there + "/", output)
    assert "No such file" in refused(1, "-f", "otf2", "-o", os.path.join(directory, "no", "where"), output)
    for form in "perfetto", "firefox", "otf2":
        name = os.path.join(directory, "new")
        assert "view 'flat' is no timeline" in refused(2, "--view", "flat", "-f", form, "-o", name, output)
        assert "cannot be sorted" in refused(2, "--max-rows", "5", "-f", form, "-o", name, output)
        done = run(REPORT, "-q", "-f", form, "-o", name, os.path.join(GOLDEN, "alone"))
        assert done.returncode == 1 and "there is no trace of this run" in done.stderr, done
    assert os.listdir(directory) == ["there"] and not os.listdir(there)


@case
def a_full_disk_leaves_nothing(directory):
    if not os.path.exists(MODULE):
        raise Skip("built without OTF2")
    with small_disk(directory, "20k") as disk:
        for form in "perfetto", "firefox", "otf2":
            done = run(REPORT, "-q", "-f", form, "-o", os.path.join(disk, "new"), measurement()[0])
            assert done.returncode == 1 and "No space left" in done.stderr and done.stderr.count("\n") == 1, done
            assert not os.listdir(disk), form


main()
