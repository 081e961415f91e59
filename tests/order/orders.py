#!/usr/bin/env python3
"""The memory orders of what threads share in RT, under the model of C11 instead of the machine's: scenarios.c, run by
Relacy (checker.cpp).

Usage: orders.py [--long | --update | -k CASE]

Each scenario runs many times, with another order of its threads and other values of its loads each time; --long runs a
hundred times as many.  orders.txt lists the atomic operations that the scenarios reach: the order in the source, the
weakest one with which no scenario fails, and for each order weaker than that a scenario that does fail.  --update
writes it anew, which takes a quarter of an hour; look at the difference before you commit it."""
import collections
import functools
import glob
import os
import platform
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap

RUN = os.path.join(tap.SOURCE, "hpcrun-lite")
SOURCES = [os.path.join(tap.SCRIPT, "scenarios.c"), os.path.join(RUN, "quiesce.c"),
           os.path.join(RUN, "arch", platform.machine(), "unwinding.c")]
for folder in ("core", "counts", "filter", "span", "construct", "sampling"):
    SOURCES += sorted(glob.glob(os.path.join(RUN, "rt", folder, "*.c")))
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-w", "-fsanitize=thread", "-ftls-model=initial-exec",
         "-ffunction-sections", "-fdata-sections", "-Dmemcpy=order_memcpy", "-Dmemset=order_memset", "-I", tap.SOURCE)
WRAPPED = ("sys_yield", "sys_barrier_all", "sys_monotonic_ns", "sys_unmap")
TABLE = os.path.join(tap.SCRIPT, "orders.txt")
EXECUTIONS = 1000
SURELY = EXECUTIONS // 3  # what fails in so many executions fails in EXECUTIONS, too, also on another machine

# The orders that an operation may have, the weakest first.
LOADS, STORES = ("relaxed", "acquire", "seq_cst"), ("relaxed", "release", "seq_cst")
BOTH = ("relaxed", "release", "acquire", "acq_rel", "seq_cst")


def weaker(operation, order):
    """Orders weaker than this one, from the weakest."""
    orders = {"load": LOADS, "store": STORES}.get(operation, BOTH)
    below = orders[:orders.index(order)]
    return below[:1] if order in ("acquire", "release") else below


@functools.lru_cache(maxsize=None)
def checker():
    """The program with all scenarios."""
    directory = tap.shared_directory()
    if not os.path.exists("/usr/include/relacy/relacy.hpp"):
        raise tap.Skip("the package relacy-dev is missing")
    tap.need_program("g++", "addr2line")
    part, program = os.path.join(directory, "checker.o"), os.path.join(directory, "checker")
    tap.must("g++", "-std=c++17", "-O1", "-w", "-I", tap.SOURCE, "-c", os.path.join(tap.SCRIPT, "checker.cpp"), "-o", part)
    tap.must("gcc", *FLAGS, "-c", *SOURCES, cwd=directory)
    parts = [os.path.join(directory, os.path.basename(source)[:-1] + "o") for source in SOURCES]
    tap.must("g++", "-no-pie", part, *parts, "-Wl,--gc-sections", *(f"-Wl,--wrap={name}" for name in WRAPPED), "-o", program)
    return program


def scenarios():
    """The names of the scenarios."""
    return tap.must(checker()).split()


def execute(scenario, executions, changed=()):
    """Runs a scenario; changed: operations that get another order.  Returns what it prints, and whether it failed."""
    done = tap.run(checker(), scenario, str(executions), *changed)
    return done.stdout, done.returncode != 0


def located(addresses):
    """Address → (function, file, line) of the calls that return there."""
    if not addresses:
        return {}
    places = tap.must("addr2line", "-f", "-e", checker(), *(hex(int(address, 16) - 1) for address in addresses)).split("\n")
    return {address: (places[2 * i], *places[2 * i + 1].split(" ")[0].rsplit(":", 1)) for i, address in enumerate(addresses)}


@functools.lru_cache(maxsize=None)
def line_of(file, number):
    """What the operation in a line of the source is applied to."""
    with open(file, encoding="utf-8") as source:
        lines = source.readlines()
    found = re.search(r"atomic_\w+\(\s*&?([^,()]*(?:\([^()]*\)[^,()]*)*)", "".join(lines[int(number) - 1:int(number) + 1]))
    return found[1].replace(" ", "") if found and found[1] else "-"


def readable(output):
    """What the checker printed after a fault, with the places of the accesses."""
    accesses = [line.split(" ", 2) for line in output.split("\n") if line.startswith("access ")]
    places = located(sorted({words[1] for words in accesses}))
    return "\n".join([output.split("\n")[0]] + [f"{words[2]}  {places[words[1]][0]} {os.path.basename(places[words[1]][1])}:"
                                                 f"{places[words[1]][2]}" for words in accesses])


@functools.lru_cache(maxsize=None)
def operations(executions):
    """(file, function, object, operation, order) of the operations of RT → scenario → the addresses of its calls."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for scenario in scenarios():
        output, failed = execute(scenario, executions)
        assert not failed, f"{scenario}: {readable(output)}"
        sites = [line.split()[1:] for line in output.split("\n") if line.startswith("site ")]
        places = located([site[0] for site in sites])
        for address, operation, order in sites:
            function, file, number = places[address]
            if not file.startswith(tap.SCRIPT):
                key = os.path.relpath(file, RUN), function, line_of(file, number), operation, order
                found[key][scenario].append(address)
    return found


def fails(places, scenario, order, executions):
    """Whether a scenario fails if these operations have that order."""
    return execute(scenario, executions, [f"{address}={order}" for address in places[scenario]])[1]


def compiler():
    """Which compiler makes the checker: others may give the lines of operations other numbers."""
    return tap.must("gcc", "--version").split("\n")[0] + " for " + tap.must("gcc", "-dumpmachine").strip()


def table():
    """The lines of orders.txt: operation → (the order that is enough, {weaker order: scenario})."""
    lines = {}
    with open(TABLE, encoding="utf-8") as file:
        made_with = file.readline().removeprefix("# Built with ").strip()
        if made_with != compiler():
            raise tap.Skip(f"the table was made with {made_with}")
        for line in file:
            words = line.split()
            if words and words[0] != "#":
                lines[tuple(words[:5])] = words[5], dict(word.split(":") for word in words[6:])
    return lines


def examined(places, operation, order):
    """The weakest order that is enough, and the scenarios that fail with those below."""
    failing = {}
    for weak in weaker(operation, order):
        scenario = next((name for name in places if fails(places, name, weak, SURELY)), None)
        if not scenario:
            return weak, failing
        failing[weak] = scenario
    return order, failing


def update():
    """Writes orders.txt."""
    with open(TABLE + ".new", "w", encoding="utf-8") as file:
        file.write(f"# Built with {compiler()}\n# Atomic operations of more than relaxed order that the scenarios reach; written by orders.py --update.\n"
                   "# file function object operation order | enough | weaker:scenario that fails with it\n")
        for key, places in sorted(operations(EXECUTIONS).items()):
            enough, failing = examined(places, key[3], key[4])
            file.write(" ".join([*key, enough, *(f"{weak}:{name}" for weak, name in failing.items())]) + "\n")
            file.flush()
    os.replace(TABLE + ".new", TABLE)


@tap.case
def scenarios_hold(_):
    operations(EXECUTIONS * (100 if "--long" in sys.argv else 1))


@tap.case
def all_operations_are_listed(_):
    reached, listed = set(operations(EXECUTIONS)), set(table())
    assert reached == listed, (f"run {__file__} --update: not listed {sorted(reached - listed)}, "
                               f"not there any more {sorted(listed - reached)}")


@tap.case
def weaker_orders_fail(_):
    places = operations(EXECUTIONS)
    for key, (_, failing) in table().items():
        for weak, scenario in failing.items():
            assert fails(places[key], scenario, weak, EXECUTIONS), f"{' '.join(key)}: {scenario} does not fail with {weak}"


if "--update" in sys.argv:
    update()
else:
    tap.main()
