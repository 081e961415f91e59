#!/usr/bin/env python3
"""Instructions that the running side takes for one construct or sample, against those in instructions.txt.

Usage: instructions.py [--update | NAME...]     (a test, in TAP, of all or those with NAME in their name; --update writes
                                                 the table anew)

Callgrind counts them, in this tool's code only (for samples also in libunwind): what the OpenMP runtime does, and how
long it spins, does not matter.  Each figure is the difference of a run with many and one with few, so that start and end
do not count.  Counts are the same in every run but for some tenths of a percent, where a path depends on time: more than
TOLERANCE above the table fails, and as much below asks for a new table, since it would let the next rise pass.  Compilers differ by more than that: the table names the one it was made with, under another the limit
is the wider one.
"""
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap  # noqa: E402

TOP = os.path.dirname(os.path.dirname(HERE))
TABLE = os.path.join(HERE, "instructions.txt")
TOLERANCE, OTHER_COMPILER, SLACK = 0.05, 0.30, 2  # shares, and instructions
RUNTIME = "libomp-19"
OURS, UNWINDER, RT = "libhpcrun-lite.so", "libunwind-x86_64.so", "hpcrun-lite/rt/"
BY_CLOCK = "times_|blame_left"  # the records are brought up to date from time to time
ROUNDS, FEW, MANY = 1, 200, 1700
HARDLY_EVER = "task-clock@3600000000"  # mostly no sample but those that a program gives itself
TRIES = 3

# Name: program and arguments, with {} for how many; few and many of them; -p; the objects that count.
EVENTS = {name: ("construct_costs.c", [construct, "{}", str(ROUNDS)], (FEW, MANY), mode, (OURS,))
          for construct in ("task1", "region", "region2", "barrier2", "critical", "lock", "dynamic1")
          for mode in ("off", "online")
          for name in (f"{construct} {mode}",)
          if name != "dynamic1 off"}  # then nothing of ours is called
SAMPLES = {f"sample, {depth} frames": ("self_samples.c", [str(depth), "{}", "spin"], (24, 72), "off", (OURS, UNWINDER))
           for depth in (10, 30, 200)}
ALL = {**EVENTS, **SAMPLES}


def compiler():
    """What the library was built with, as its own section says."""
    done = tap.run("readelf", "-p", ".comment", tap.LIBRARY)
    return re.findall(r"\]\s+(.+)", done.stdout)[0].strip()


def build(directory, source):
    program = os.path.join(directory, os.path.splitext(source)[0])
    if not os.path.exists(program):
        done = tap.run("clang", "-O1", "-g", "-fopenmp", os.path.join(HERE, source), "-o", program)
        assert done.returncode == 0, done.stderr
    return program


def instructions(path, objects):
    """Callgrind's file: the objects' own instructions, of this tool's library those that stand in files of rt/, but what
    runs when the clock says so.  A line behind `calls=` is the callee's."""
    total, names, current, is_call = 0, {}, {}, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            named = re.match(r"(c?)(ob|fl|fi|fe|fn)=\((\d+)\)(?: (.*))?", line)
            if named:
                space = "file" if named[2].startswith("f") and named[2] != "fn" else named[2]
                if named[4]:
                    names[space, named[3]] = named[4].strip()
                if not named[1]:
                    current[space] = names.get((space, named[3]), "")
            elif line.startswith("calls="):
                is_call = True
            elif re.match(r"[+\-*\d]", line):
                counts = not is_call and os.path.basename(current["ob"]).startswith(objects)
                if counts and OURS in current["ob"]:
                    counts = RT in current["file"] and not re.match(BY_CLOCK, current["fn"])
                total += counts and int(line.split()[1])
                is_call = False
    return total


def run(directory, program, arguments, mode, objects, samples):
    """The objects' instructions in a run with about that many samples, and how many there were."""
    out, measurement = os.path.join(directory, "callgrind.out"), os.path.join(directory, "measurement")
    for _ in range(TRIES):  # the thread's own first sample may fall into a run
        done = tap.run(tap.LAUNCHER, "--overwrite", "-o", measurement, "-e", HARDLY_EVER, "-p", mode, "--", "valgrind", "-q", "--fair-sched=yes",
                       "--tool=callgrind", f"--callgrind-out-file={out}", program, *arguments, cwd=directory,
                       OMP_NUM_THREADS="1", LD_LIBRARY_PATH=os.path.join(tap.DEPS, RUNTIME), timeout=300)
        assert done.returncode == 0, done.stderr
        taken = re.search(r"(\d+) samples? of", done.stderr)
        if taken and samples / 2 <= int(taken[1]) <= samples:  # one that comes too early after the last is refused
            return instructions(out, objects), int(taken[1])
    raise AssertionError(done.stderr)


def measure(directory, name):
    source, arguments, amounts, mode, objects = ALL[name]
    program = build(directory, source)
    is_sample = source == "self_samples.c"
    few, many = (run(directory, program, [argument.format(amount) for argument in arguments], mode, objects, amount * is_sample)
                 for amount in amounts)
    return (many[0] - few[0]) / (many[1] - few[1] if is_sample else amounts[1] - amounts[0])


def needed():
    for program in ("valgrind", "clang", "readelf"):
        if not shutil.which(program):
            raise tap.Skip(f"no {program}")
    if not os.path.exists(os.path.join(tap.DEPS, RUNTIME, "libomp.so.5")):
        raise tap.Skip(f"no {RUNTIME}")


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
    limit, count = expected[name], 0
    for _ in range(TRIES):  # what disturbs two threads only makes them do more
        count = measure(directory, name)
        if count <= limit * (1 + tolerance) + SLACK:
            break
    assert count > 0 or limit == 0, f"{name}: nothing counted: built without -g?"
    print(f"# {name}: {count:.1f} instructions, {limit:.0f} in the table", flush=True)
    assert count <= limit * (1 + tolerance) + SLACK, f"{name}: {count:.1f} instructions, {limit:.0f} expected (+ {tolerance:.0%} at most)"
    assert count >= limit * (1 - tolerance) - SLACK, f"{name}: {count:.1f} instructions, {limit:.0f} expected: good; now run {__file__} --update"


def update():
    needed()
    with tempfile.TemporaryDirectory() as directory:
        rows = [f"{name:24}{measure(directory, name):10.0f}\n" for name in ALL]
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(f"# Built with {compiler()}\n# Instructions of one construct or sample; written by instructions.py --update\n")
        file.writelines(rows)


def as_case(name):
    def function(directory):
        check(directory, name)
    function.__name__ = re.sub(r"\W+", "_", name)
    return function


if "--update" in sys.argv:
    update()
else:
    for each in (each for each in ALL if not sys.argv[1:] or any(part in each for part in sys.argv[1:])):
        tap.case(as_case(each))
    tap.main()
