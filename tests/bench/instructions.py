#!/usr/bin/env python3
"""Instructions that the running side executes for one construct or sample, compared with those in instructions.txt.

Usage: instructions.py [--update | --readings | -k CASE]

--update writes the table anew.  --readings prints instead how often a construct reads the processor's clock, and its
locked instructions: what they cost differs most between processors.

Callgrind counts them, in this tool's code only (for samples also in libunwind), so the OpenMP runtime and the time
that it spins do not count.  Each figure is the difference between a run with many constructs and a run with few, so
the start and the end of a run do not count either.

Code that runs only because time has passed or because the system has switched a thread out is not counted: how often
it runs depends on the machine and its load.  It is in the files BY_CLOCK_FILES and in the functions
BY_CLOCK_FUNCTIONS.  The most frequent of it, the work clock's query of the kernel for the thread's CPU time, has a
limit of its own (QUERIES_MAX), so that a change which queries the kernel for each construct still fails.

What remains is the same in every run except for some tenths of a percent.  A count more than TOLERANCE above the
table fails.  A count as much below the table fails too and asks for a new table, because the old one would let the
next rise pass.  Compilers differ by more than TOLERANCE: the table names its compiler, and another compiler gets the
wider limit.  It also names its date and the compilers of the programs.
"""
import functools
import glob
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap
from measured import build

TABLE = os.path.join(tap.SCRIPT, "instructions.txt")
TOLERANCE, OTHER_COMPILER, SLACK = 0.05, 0.30, 2  # shares, and instructions
RUNTIME, OLD_RUNTIME = "libomp-19", "libomp-14"  # the old one announces no chunks
OURS, UNWINDER = "libhpcrun-lite.so", "libunwind-x86_64.so"
WRAPPERS = "???"  # the object of the adapter's section gomp_text, because valgrind only knows .text
COUNTED = re.compile(r"hpcrun-lite/(rt|gomp)/")  # files
# Refresh of the records; the work clock's slow paths; records of switches.
BY_CLOCK_FILES = ("rt/sampling/times.c", "rt/span/work_clock.c", "rt/sampling/switches.c")
# What these files call elsewhere, and what calls the last one where the thread was switched.
BY_CLOCK_FUNCTIONS = ("blame_left", "sys_thread_cpu_ns", "sys_moment", "sys_monotonic_ns", "leave_wait", "leave_barrier",
                      "leave_region_end", "read_wait", "trace_wait_ready", "last_undelayed", "add_no_core", "note_delay",
                      "end_lock_switches", "trace_put_ready", "trace_end_ready", "place_call", "read_switches")
BY_CLOCK_READINGS = r"query_kernel|sys_moment|state_ticks|times_|unsampled_part"  # functions that call those, inlined
QUERY = "sys_thread_cpu_ns"
QUERIES_MAX = {1: 0.5, 2: 4}  # for each construct, by number of threads: two threads switch at each wait
WAITS = {"loops2": 4}  # of constructs that wait more than once: the barriers of three loops, and of the region
FEW, MANY = 100, 600
SAMPLES = (24, 72)
NAMES = (1000, 16000)  # enough to see what is searched for among all the others
LIGHT = (1000, 2024)  # the first ones are followed until it is known what that costs; enough to have one in 64
HARDLY_EVER = "task-clock@3600000000"  # practically only the samples that the program sends to itself
TRIES = 3

# Constructs by the program's compiler (GCC's programs run on libgomp; old: clang's on OLD_RUNTIME) and -p, or trace for
# -t, or light where most regions are light.  Those of one group are in one run, in this order.  With -p off, dynamic1
# calls no function of hpcrun-lite.
GROUPS = {
    ("clang", "off"): ("task1", "fib1", "region", "region2", "barrier2", "critical", "lock"),
    ("clang", "online"): ("task1", "flat1", "fib1", "region", "region2", "loops2", "barrier2", "loop2", "critical",
                          "lock", "dynamic1", "doacross1", "depend1", "addresses1"),
    ("gcc", "off"): ("task1", "fib1", "region2", "barrier2", "critical", "lock"),
    ("gcc", "online"): ("task1", "flat1", "fib1", "region2", "barrier2", "loop2", "critical", "lock", "dynamic1", "doacross1",
                        "depend1"),
    ("clang", "light"): ("region2", "loops2", "critical"),
    ("gcc", "light"): ("critical",),
    ("clang", "trace"): ("task1", "barrier2", "critical"),
    ("old", "online"): ("dynamic1",),
}
EVENTS = {f"{construct} {mode}" + f", {program}" * (program != "clang"): (program, mode, construct)
          for (program, mode), constructs in GROUPS.items() for construct in constructs}
OPTIONS = {"trace": ("-p", "online", "-t"), "light": ("--overhead-limit", "0")}  # others: -p
# Waits that spin would take most of the time: of many regions, or on one processor at a time, as callgrind runs threads.
SETTINGS, GCC_SETTINGS = {"light": {"KMP_BLOCKTIME": "0"}}, {"GOMP_SPINCOUNT": "0"}
TWO_THREADS = ("region2", "loops2", "barrier2", "loop2")  # that meet; in others, the second one sleeps
FRAMES = {f"sample, {depth} frames": (depth, "spin") for depth in (10, 30, 200)}
FRAMES["sample, 200, guessed"] = (200, "guess")
ALL = (*EVENTS, *FRAMES)


def compiler():
    """The compiler that built the library, as its section .comment says."""
    return re.findall(r"\]\s+(.+)", tap.must("readelf", "-p", ".comment", tap.LIBRARY))[0].strip()


def numbers(name, mode):
    """How few and how many of the construct are in a run."""
    if mode == "light":
        return LIGHT
    return NAMES if name in ("doacross1", "addresses1") else (FEW, MANY)


def instructions(path, objects):
    """Reads callgrind's file.  Returns the instructions in the objects (of this tool's library only those in files of
    COUNTED, without those that depend on the clock), and the number of queries.  A line behind `calls=` is the callee's."""
    total, queries, names, current, callee, is_call = 0, 0, {}, {}, "", False
    with open(path, encoding="utf-8") as file:
        for line in file:
            named = re.match(r"(c?)(ob|fl|fi|fe|fn)=\((\d+)\)(?: (.*))?", line)
            if named:
                space = "file" if named[2] in ("fl", "fi", "fe") else named[2]
                if named[4]:
                    names[space, named[3]] = named[4].strip()
                name = names.get((space, named[3]), "")
                if not named[1]:
                    current[space] = name
                    if named[2] == "fl":  # of the function itself; the other two are of code inlined into it
                        current["home"] = name
                elif space == "fn":
                    callee = name
            elif line.startswith("calls="):
                is_call = True
                queries += callee == QUERY and int(line[len("calls="):].split()[0])
            elif re.match(r"[+\-*\d]", line):
                counts = not is_call and os.path.basename(current["ob"]).startswith(objects)
                if counts and OURS in current["ob"]:
                    function = current["fn"].split(".")[0]  # a copy for fewer arguments is called FUNCTION.isra.0
                    by_clock = current["home"].endswith(BY_CLOCK_FILES) or function in BY_CLOCK_FUNCTIONS
                    counts = bool(COUNTED.search(current["file"])) and not by_clock
                counts = counts or not is_call and current["ob"] == WRAPPERS
                total += counts and int(line.split()[1])
                is_call = False
    return total, queries


@functools.lru_cache(maxsize=None)
def special_addresses():
    """The addresses of the library's instructions that read the clock, and of its locked ones."""
    readings, locked, function = set(), set(), ""
    for line in tap.must("objdump", "-d", "--no-show-raw-insn", tap.LIBRARY).splitlines():
        named, instruction = re.match(r"[0-9a-f]+ <(.*)>:", line), re.match(r"\s+([0-9a-f]+):\s+(.*)", line)
        function = named[1] if named else function
        if instruction and "rdtsc" in instruction[2] and not re.match(BY_CLOCK_READINGS, function):
            readings.add(int(instruction[1], 16))
        elif instruction and re.match(r"lock |xchg .*\(", instruction[2]):
            locked.add(int(instruction[1], 16))
    return readings, locked


def readings(path):
    """Reads callgrind's file of a run with --dump-instr=yes.  Returns the readings of the clock and the locked
    instructions in the library."""
    counts, names, library, address, is_call = [0, 0], {}, False, 0, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            named = re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line)
            place = re.match(r"(0x|[+\-*])(\S*) \S+ (\d+)", line)
            if named:
                names.setdefault(named[2], (named[3] or "").strip())
                library = library if named[1] else OURS in names[named[2]]
            elif line.startswith("calls="):
                is_call = True
            elif place:
                moved = int(place[2], 16 if place[2].startswith("0x") or place[1] == "0x" else 10) if place[2] else 0
                address = moved if place[1] == "0x" else address + (-moved if place[1] == "-" else moved)
                for i, addresses in enumerate(special_addresses()):
                    counts[i] += library and not is_call and address in addresses and int(place[3])
                is_call = False
    return tuple(counts)


def run(directory, program, arguments, mode, count, samples=0, valgrind=(), **settings):
    """Counts in a run with about that many samples.  Returns what `count` makes of callgrind's files, which end at each
    call of mark() and at the end, and the samples."""
    options = OPTIONS.get(mode, ("-p", mode))
    out, measurement = os.path.join(directory, "callgrind.out"), os.path.join(directory, "measurement")
    for _ in range(TRIES):  # the regular first sample of a thread may fall into a run
        done = tap.run(tap.LAUNCHER, "--overwrite", "-o", measurement, "-e", HARDLY_EVER, *options, "--", "valgrind",
                       "-q", "--fair-sched=yes", "--tool=callgrind", "--dump-after=mark", f"--callgrind-out-file={out}",
                       *valgrind, program, *arguments, cwd=directory, OMP_NUM_THREADS="1", timeout=300, **settings)
        assert done.returncode == 0, done.stderr
        taken = re.search(r"(\d+) samples? of", done.stderr)
        if taken and samples / 2 <= int(taken[1]) <= samples:  # one that comes too early after the last is refused
            parts = sorted(glob.glob(out + ".*"), key=lambda path: int(path.rsplit(".", 1)[1]))
            return [count(path) for path in (*parts, out)], int(taken[1])
    raise AssertionError(done.stderr)


def instructions_of_library(path):
    return instructions(path, (OURS,))


@functools.lru_cache(maxsize=None)
def constructs(compiler, mode, _, count=instructions_of_library, valgrind=()):
    """The instructions and the queries of one construct, or what else `count` counts, for each construct of a group; the
    third argument numbers the measurements of this group."""
    program, names = build("construct_costs.c", "gcc" if compiler == "gcc" else "clang"), GROUPS[compiler, mode]
    runtime = OLD_RUNTIME if compiler == "old" else RUNTIME
    settings = GCC_SETTINGS if compiler == "gcc" else {
        "LD_LIBRARY_PATH": os.path.join(tap.DEPS, runtime), **SETTINGS.get(mode, {})}
    with tempfile.TemporaryDirectory() as directory:
        words = [str(word) for name in names for word in (name, *numbers(name, mode))]
        counts, _ = run(directory, program, ["marked", *words], mode, count, valgrind=valgrind, **settings)
    assert len(counts) == 3 * len(names) + 1, counts
    found = {}
    for number, name in enumerate(names):
        (_, few, many), (least, most) = counts[3 * number:3 * number + 3], numbers(name, mode)
        difference = most - least
        found[name] = tuple((more - less) / difference for less, more in zip(few, many))
    return found


def sample(directory, depth, how):
    """The instructions and the queries of one sample of a stack so deep, taken as self_samples.c describes."""
    program = build("self_samples.c", "clang")
    few, many = (run(directory, program, [str(depth), str(count), how], "off",
                     lambda path: instructions(path, (OURS, UNWINDER)), count,
                     LD_LIBRARY_PATH=os.path.join(tap.DEPS, RUNTIME)) for count in SAMPLES)
    return tuple((more - less) / (many[1] - few[1]) for less, more in zip(few[0][-1], many[0][-1]))


def measure(directory, name, attempt=0):
    """Returns the instructions and the queries of one construct or sample."""
    if name in FRAMES:
        return sample(directory, *FRAMES[name])
    compiler, mode, construct = EVENTS[name]
    return constructs(compiler, mode, attempt)[construct]


def needed():
    tap.need_program("valgrind", "clang", "readelf")
    for runtime in (RUNTIME, OLD_RUNTIME):
        if not os.path.exists(os.path.join(tap.DEPS, runtime, "libomp.so.5")):
            raise tap.Skip(f"no {runtime}")


def table():
    with open(TABLE, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    rows = [line.rsplit(None, 1) for line in lines if line and not line.startswith("#")]
    return lines[0].removeprefix("# Built with ").rstrip(), {name.strip(): float(count) for name, count in rows}


def check(directory, name):
    needed()
    made_with, expected = table()
    tolerance = TOLERANCE if made_with == compiler() else OTHER_COMPILER
    assert name in expected, f"{name} is not in the table: run {__file__} --update"
    limit, count, queries = expected[name], 0, 0
    for attempt in range(TRIES):  # what disturbs two threads only makes them do more
        count, queries = measure(directory, name, attempt)
        if count <= limit * (1 + tolerance) + SLACK:
            break
    assert count > 0 or limit == 0, f"{name}: nothing counted: built without -g?"
    print(f"# {name}: {count:.1f} instructions, {limit:.0f} in the table; {queries:.2f} queries", flush=True)
    assert count <= limit * (1 + tolerance) + SLACK, f"{name}: {count:.1f} instructions, {limit:.0f} expected (+ {tolerance:.0%} at most)"
    fewest = limit * (1 - tolerance) - SLACK
    assert count >= fewest, f"{name}: {count:.1f} instructions, {limit:.0f} expected: good; now run {__file__} --update"
    if name in EVENTS:
        construct = name.split()[0]
        allowed = QUERIES_MAX[2 if construct in TWO_THREADS else 1] * WAITS.get(construct, 1)
        assert queries <= allowed, f"{name}: {queries:.2f} queries of the kernel's clock, {allowed} at most"


def programs_compilers():
    """The compilers of the measured programs, as they name themselves."""
    return ", ".join(tap.must(name, "--version").splitlines()[0] for name in ("clang", "gcc"))


def update():
    needed()
    with tempfile.TemporaryDirectory() as directory:
        rows = [f"{name:24}{measure(directory, name)[0]:10.0f}\n" for name in ALL]
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(f"# Built with {compiler()}\n# Instructions of one construct or sample; written by instructions.py --update "
                   f"on {time.strftime('%Y-%m-%d')}\n# The programs: {programs_compilers()}\n")
        file.writelines(rows)


def print_readings():
    """As doc/performance.md has it."""
    needed()
    print("| readings of the clock; locked instructions | clang, `-p off` | clang, `-p online` | gcc, `-p off` | gcc, `-p online` |")
    print("|---|---|---|---|---|")
    columns = [constructs(compiler, mode, 0, readings, ("--dump-instr=yes",))
               for compiler in ("clang", "gcc") for mode in ("off", "online")]
    for name in columns[1]:
        cells = ["; ".join(f"{max(count, 0):.1f}" for count in column[name]) if name in column else "" for column in columns]
        print(f"| {name} | {' | '.join(cells)} |")


def as_case(name):
    def function(directory):
        check(directory, name)
    function.__name__ = re.sub(r"\W+", "_", name)
    return function


if "--update" in sys.argv:
    update()
elif "--readings" in sys.argv:
    print_readings()
else:
    for each in ALL:
        tap.case(as_case(each))
    tap.main()
