#!/usr/bin/env python3
"""Files that have very many counts or names of counters take neither much time nor much memory.

Usage: hostile_counts.py [-k CASE]"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measurement_file import STRINGS, USER_COUNTS, extent, extents
from tap import GOLDEN, REPORT, case, main, must

CHARTED = os.path.join(GOLDEN, "charted", "node1-3600-1")
USER_COUNT = 40 << 2 | 3  # operation of a trace: a value of a counter of the program
TEN_SECONDS = {"CPU": 10}


def varint(value):
    low = bytes([value & 127 | (128 if value > 127 else 0)])
    return low + varint(value >> 7) if value > 127 else low


def rewrite(source, to, change):
    """Copies a file with the data of its extents changed."""
    with open(to, "wb") as file:
        for each in extents(source):
            file.write(extent(each.table, each.size, change(each), each.owner, False, each.first))


def with_names(directory, number):
    """The charted run with values of so many counters of which no table has the name."""
    names = b"".join(b"unlisted%d\0" % i for i in range(number))
    base = sum(len(each.data) for each in extents(CHARTED + ".hpcrun") if each.table == STRINGS)
    step = len(b"unlisted0\0")

    def more_strings(each):
        return each.data + names if each.table == STRINGS else each.data

    def more_values(each):
        if each.owner != 1:
            return each.data
        at = each.data.index(bytes([USER_COUNT]))
        values = (bytes([USER_COUNT]) + b"".join(map(varint, (10, 1, base + i, 1)))
                  for i in range(0, len(names) - step, 3))
        return each.data[:at] + b"".join(values) + each.data[at:]

    os.mkdir(directory)
    rewrite(CHARTED + ".hpcrun", os.path.join(directory, "node1-3600-1.hpcrun"), more_strings)
    rewrite(CHARTED + ".trace", os.path.join(directory, "node1-3600-1.trace"), more_values)
    return directory


@case
def only_counters_of_the_tables_are_charted(directory):
    run = with_names(os.path.join(directory, "run"), 3000)
    for how in ((), ("-f", "csv"), ("-f", "json")):
        command = (REPORT, "-q", "--view", "timeline", *how)
        shown = must(*command, run, limits=TEN_SECONDS)
        assert "unlisted" not in shown and "items" in shown, shown[-2000:]
        assert shown.count("items") == must(*command, os.path.dirname(CHARTED)).count("items")
    page = os.path.join(directory, "page.html")
    must(REPORT, "-q", "-f", "html", "-o", page, run, limits=TEN_SECONDS)


@case
def equal_counts_of_a_context_are_found_at_once(directory):
    def many(each):
        return each.data[:each.size] * 300000 if each.table == USER_COUNTS else each.data

    rewrite(CHARTED + ".hpcrun", os.path.join(directory, "node1-3600-1.hpcrun"), many)
    rewrite(CHARTED + ".trace", os.path.join(directory, "node1-3600-1.trace"), lambda each: each.data)
    shown = must(REPORT, "-q", "--view", "user-counters", "--from", "0.1", directory, limits=TEN_SECONDS)
    assert "items" in shown, shown


if __name__ == "__main__":
    main()
