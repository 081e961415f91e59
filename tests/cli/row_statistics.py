#!/usr/bin/env python3
"""The statistics of rows over threads and ranks, compared with a model that has the contexts of every thread."""
import collections
import math
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from report import table as table_of
from tap import BUILD, GOLDEN, REPORT, case, main, must

SYNTHESIZE = os.path.join(BUILD, "tests", "synthesize")
SHAPES = {
    "ranks": ("--processes", "5", "--ranks", "--threads", "3", "--contexts", "200", "--common", "60", "--addresses",
              "12"),
    "processes": ("--processes", "7", "--threads", "2", "--contexts", "90", "--common", "30", "--addresses", "25"),
    "threads": ("--threads", "23", "--contexts", "150", "--common", "95", "--addresses", "9"),
}
VIEWS = ("topdown", "flat", "bottomup", "critical-path")

# The work of one thread in one context.  A path consists of addresses, the outermost first.
Entry = collections.namedtuple("Entry", "owner work path")


def run(*arguments):
    return must(REPORT, "-q", "-f", "csv", *arguments, timeout=60)


def make(directory, shape):
    """Makes a measurement; returns its entries and its threads as (rank, process, thread)."""
    model = directory + ".model"
    must(SYNTHESIZE, *shape, "--directives", "4", "--model", model, directory)
    entries, threads = [], set()
    with open(model, encoding="ascii") as file:
        for line in file:
            process, rank, thread, work, *path = line.split()
            owner = (int(rank), 1000 + int(process), int(thread))
            threads.add(owner)
            entries.append(Entry(owner, int(work), tuple(int(address, 16) for address in path)))
    return entries, sorted(threads)


def rows(text):
    """The rows, each with its path of addresses from the root; rows below one without an address are left out."""
    table = {row["id"]: row for row in table_of(text)}
    for row in table.values():
        above = table[row["parent_id"]]["path"] if row["parent_id"] else ()
        found = re.search(r"\+0x([0-9a-f]+)\]?$", row["name"])
        if row["kind"] == "root":
            row["path"] = ()
        else:
            row["path"] = above + (int(found[1], 16),) if above is not None and found else None
    return [row for row in table.values() if row["path"] is not None]


def holds(view, row, path):
    """Whether the row's inclusive work contains the work of a context."""
    wanted = row["path"]
    if view in ("topdown", "critical-path"):
        return path[:len(wanted)] == wanted
    backwards = wanted[::-1]
    return any(path[i:i + len(wanted)] == backwards for i in range(len(path) - len(wanted) + 1))


def figures(of, owners):
    """The expected columns, from the work of each owner; those that are not in `of` have none."""
    values = [(of.get(owner, 0), owner) for owner in owners]
    least, most = min(value for value, _ in values), max(value for value, _ in values)
    total, count = sum(value for value, _ in values), len(values)
    squares = count * sum(value * value for value, _ in values) - total * total
    deviation = math.isqrt(4 * squares // (count * count))  # doubled, for rounding
    return {"min": least, "mean": (2 * total + count) // (2 * count), "max": most, "stddev": (deviation + 1) // 2,
            "min_of": min(owner for value, owner in values if value == least),
            "max_of": min(owner for value, owner in values if value == most)}


def ns(row, name):
    whole, part = row[name].split(".")
    return int(whole) * 10**9 + int(part)


def check(row, kind, of, owners):
    """Compares one row's columns; a standard deviation may differ in the last digit."""
    wanted = figures(of, owners)
    for name in ("min", "mean", "max"):
        assert ns(row, f"{kind}_work_{name}_s") == wanted[name], (row, name, wanted)
    assert abs(ns(row, f"{kind}_work_stddev_s") - wanted["stddev"]) <= 1, (row, wanted)
    for name in ("min", "max"):
        rank, process, thread = wanted[name + "_of"]
        assert row[f"{kind}_work_{name}_rank"] == ("" if rank < 0 else str(rank)), (row, name, wanted)
        if kind == "thread":
            assert row[f"thread_work_{name}_process"] == str(process), (row, name, wanted)
            assert row[f"thread_work_{name}_thread"] == str(thread), (row, name, wanted)


def compare(view, row, entries, threads):
    of_threads, of_ranks = collections.Counter(), collections.Counter()
    for entry in entries:
        if holds(view, row, entry.path):
            of_threads[entry.owner] += entry.work
            of_ranks[(entry.owner[0], 0, 0)] += entry.work
    assert ns(row, "work_incl_s") == sum(of_threads.values()), row
    check(row, "thread", of_threads, threads)
    if threads[0][0] < 0:
        assert not any(row[name] for name in row if str(name).startswith("rank_work_")), row
    else:
        check(row, "rank", of_ranks, sorted({(rank, 0, 0) for rank, _, _ in threads}))


@case
def every_row_agrees_with_the_model(directory):
    for name, shape in SHAPES.items():
        measured = os.path.join(directory, name)
        entries, threads = make(measured, ("--depth", "9", *shape))
        for view in VIEWS:
            table = rows(run("--view", view, measured))
            assert len(table) >= 9, (name, view, len(table))
            for row in table[::7 if view == "bottomup" else 1]:
                compare(view, row, entries, threads)


@case
def a_part_of_the_tree_has_statistics_of_its_own(directory):
    measured = os.path.join(directory, "ranks")
    entries, threads = make(measured, ("--depth", "9", *SHAPES["ranks"]))
    below = 0x1030  # a function that calls itself in this measurement
    inside = [Entry(entry.owner, entry.work, entry.path[entry.path.index(below):])
              for entry in entries if below in entry.path]
    assert any(entry.path.count(below) > 1 for entry in inside)
    for view in ("topdown", "flat"):
        table = rows(run("--view", view, "--root", f"app+0x{below:x}", measured))
        assert len(table) > 4, view
        for row in table:
            compare(view, row, inside, threads)


@case
def the_same_bytes_for_any_number_of_workers(directory):
    measured = os.path.join(directory, "ranks")
    make(measured, ("--depth", "9", *SHAPES["ranks"]))
    for view in VIEWS:
        once = run("--view", view, "-j", "1", measured)
        for _ in range(4):
            assert run("--view", view, "-j", "5", measured) == once, view


@case
def of_equal_threads_the_first_is_named(directory):
    measured = os.path.join(directory, "alike")
    make(measured, ("--processes", "200", "--ranks", "--threads", "3", "--contexts", "40", "--common", "100"))
    for row in rows(run("--view", "topdown", "-j", "7", measured)):
        for name in ("min", "max"):
            found = [row[f"thread_work_{name}_{what}"] for what in ("rank", "process", "thread")]
            assert found == ["0", "1000", "1"] and row[f"rank_work_{name}_rank"] == "0", row
        assert ns(row, "thread_work_stddev_s") == ns(row, "rank_work_stddev_s") == 0, row


@case
def processes_of_one_rank_are_added_up(directory):
    """Also where the second process of a rank was measured in another directory."""
    first, again = os.path.join(directory, "a"), os.path.join(directory, "b")
    shape = ("--depth", "9", *SHAPES["ranks"])
    entries, _ = make(first, shape)
    os.mkdir(again)
    for name in os.listdir(first):
        shutil.copy(os.path.join(first, name), os.path.join(again, "x" + name))
    for path in (first, again):  # one job
        with open(os.path.join(path, "launch"), "w", encoding="ascii") as file:
            file.write("PMI_JOBID=7\n")
    total = collections.Counter()
    for entry in entries:
        total[entry.owner[0]] += 2 * entry.work
    root = rows(run("--view", "topdown", first, again))[0]
    assert ns(root, "rank_work_max_s") == max(total.values()), root
    assert ns(root, "rank_work_min_s") == min(total.values()), root
    assert root["rank_work_max_rank"] == str(max(total, key=total.get)), root


@case
def without_time_there_are_no_statistics(_):
    for row in table_of(run("--view", "topdown", os.path.join(GOLDEN, "events"))):
        assert not any(row[name] for name in row if "_work_" in name), row


def seconds(ns_text):
    """A time as the threads view shows it: two decimals, or one from 1,000 s on."""
    value = float(ns_text)
    return f"{value:.2f}" if value < 999.995 else f"{value:.1f}"


@case
def many_threads_are_summarised_in_few_lines(directory):
    measured = os.path.join(directory, "many")
    make(measured, ("--processes", "12", "--ranks", "--threads", "17", "--contexts", "90"))
    table = table_of(run("--view", "threads", measured))
    assert len(table) == 12 * 17
    text = run("--view", "threads", "-f", "text", measured).splitlines()
    assert len(text) < 60 and all(len(line) <= 80 for line in text), text
    assert text[0] == "204 threads of 12 processes on 1 host", text[0]
    lines = {line[:7].strip(): line.split() for line in text[2:13]}
    for name, column in (("Work s", "work_s"), ("Ovhd s", "overhead_s"), ("Idle s", "idle_s"), ("Wall s", "wall_s")):
        values = sorted((row[column] for row in table), key=float)
        wanted = [values[0], *(values[math.ceil(percent / 100 * len(values)) - 1] for percent in (5, 25, 50, 75, 95)),
                  values[-1]]
        mean = sum(ns(row, column) for row in table) // len(table) / 10**9
        assert lines[name][2:] == [*map(seconds, wanted), seconds(mean)], (name, lines[name], wanted)
    heads = [index for index, line in enumerate(text) if line.startswith("Threads with ")]
    assert [text[head] for head in heads] == ["Threads with the most work:", "Threads with the least work:",
                                              "Threads with the most lost samples:"]
    lossy = sorted(table, key=lambda row: -int(row["dropped"]))
    table.sort(key=lambda row: float(row["work_s"]))
    for head, wanted in zip(heads, (table[::-1], table, lossy)):
        found = [line.split()[:3] for line in text[head + 2:head + 6]]
        assert found == [[row["rank"], row["process"], row["thread"]] for row in wanted[:4]], (text[head], found)
    bins = [int(line.split()[3]) for line in text if line[10:12] == "to"]
    assert len(bins) == 8 and sum(bins) == len(table) and bins[0] and bins[-1], bins
    rows_text = run("--view", "threads", "-f", "text", "--max-rows", "100", measured).splitlines()
    # 100 threads and the line about the others
    assert sum(line.strip()[:1].isdigit() for line in rows_text) == 101, rows_text


main()
