#!/usr/bin/env python3
"""hpcprof-lite when each of its allocations in turn fails: it reports that, exits 1 and never crashes, and never
presents an incomplete report as a complete one; and when it can create no thread.  A program whose measurement has a
memory limit.

Usage: memory.py [--long] [-k CASE]     (--long: each allocation, instead of every sixth)"""
import os
import random
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import preload_library
from report import report as run_report, rows
from tap import GOLDEN, LAUNCHER, Skip, case, compile_c, main, run, timed

# A view, its options, and the measurements.
REPORTS = [("summary", (), "recorded"), ("topdown", ("-f", "csv"), "events"), ("topdown", ("--root", "#2"), "blame"),
           ("bottomup", ("-f", "csv"), "blame"), ("flat", ("-f", "json"), "blame"), ("threads", (), "two"),
           ("efficiency", (), "blame"), ("parallelism", ("--what-if", "#2=16"), "recorded"),
           ("critical-path", ("-f", "csv"), "recorded"), ("whatif", (), "recorded"),
           ("whatif", ("-f", "csv", "--what-if", "#1=2,#3=4", "--what-if", "#2=3"), "recorded-time"),
           ("speedup", ("-f", "csv"), "recorded"), ("grains", ("-f", "csv"), "recorded-time"),
           ("grains", ("--reference", "recorded"), "recorded"), ("grain-graph", ("-f", "graphml"), "recorded"),
           ("grain-graph", ("-f", "dot", "--unreduced"), "recorded"),
           ("grains", ("-f", "json", "--grain-groups"), "recorded"), ("timeline", ("-f", "json"), "charted"),
           ("timeline", ("-f", "perfetto"), "traced"), ("timeline", ("-f", "firefox"), "traced"),
           ("regions", ("--sort", "gain_s"), "constructs2"), ("tasks", ("-f", "csv"), "constructs"),
           ("advice", (), "constructs2"), ("user-counters", (), "marked"), ("source", (), "recorded"), ("source", ("-f", "csv", "-I", "."), "events"),
           ("summary", ("--compare", "blame", "--fail-if", "work > 1000 s", "-f", "markdown"), "blame"),
           ("flat", ("--compare", "events,recorded", "-f", "csv"), "blame"),
           ("regions", ("--compare", "constructs", "--fail-if", "elapsed > +5%"), "constructs2"),
           ("parallelism", ("--compare", "recorded", "--metric", "critical_path"), "recorded"),
           ("threads", ("--compare", "blame", "--sort", "work_s", "-f", "csv"), "graph"),
           ("flat", ("--scaling", "alone", "-f", "csv"), "blame"), ("topdown", ("--scaling", "alone"), "blame")]

# The settings under which allocations fail, and the distance of two that fail.
FAILURES = (({}, 1), ({"FAIL_ALL": "1"}, 3)) if "--long" in sys.argv else (({}, 12), ({"FAIL_ALL": "1"}, 36))


def numbers_of(count, step):
    """Every so many of the allocations; which ones differs from run to run."""
    return range(random.randint(1, step), count + 1, step)


def report(preload, arguments, **how):
    return run_report("-q", *arguments, cwd=GOLDEN, timeout=60, text=False, LC_ALL="C.UTF-8", LD_PRELOAD=preload, **how)


def allocations(preload, arguments):
    """The complete report, and the number of its allocations."""
    reader, writer = os.pipe()
    done = report(preload, arguments, pass_fds=[writer], FAIL_COUNT=str(writer))
    assert done.returncode == 0, done
    os.close(writer)
    with os.fdopen(reader) as file:
        return done.stdout, int(file.read())


def attempt(preload, arguments, whole, number, settings):
    """Makes one allocation fail, or all from one on; returns whether the program reported that."""
    done = report(preload, arguments, FAIL_AT=str(number), **settings)
    said = done.stderr.decode().splitlines()
    reported = done.returncode in (1, 2) and said and all(line.startswith("hpcprof-lite: ") for line in said)
    complete = done.returncode == 0 and done.stdout == whole and not said
    assert sum("not enough memory for these" in line for line in said) <= 1, (arguments, number, settings, said)
    assert reported or complete, (arguments, number, settings, done)
    return bool(reported)


@case
def missing_memory_is_reported(_):
    preload = preload_library("fail_malloc.c")
    for view, options, where in REPORTS:
        for threads in ("1", "2") if view == "summary" else ("1",):
            arguments = ("-j", threads, "--view", view, *options, where)
            whole, count = allocations(preload, arguments)
            assert count > 50, (arguments, count)
            with ThreadPoolExecutor(2) as pool:
                for settings, step in FAILURES:
                    numbers = numbers_of(count, step)
                    reported = list(pool.map(lambda number: attempt(preload, arguments, whole, number, settings), numbers))
                    assert sum(reported) > len(numbers) // 2, (arguments, settings, sum(reported), count)


@case
def a_missing_thread_is_reported(_):
    """Whether a thread can be created is not a question of memory, and the report is complete without one."""
    preload = preload_library("fail_malloc.c")
    arguments = ("-j", "2", "--view", "grains", "-f", "csv", "recorded")
    whole = run_report(*arguments, cwd=GOLDEN)
    done = run_report(*arguments, cwd=GOLDEN, LD_PRELOAD=preload, FAIL_THREADS="1")
    assert (done.returncode, done.stdout) == (0, whole.stdout) and len(whole.stdout.splitlines()) > 2, (whole, done)
    lines = [line for line in done.stderr.splitlines() if line not in whole.stderr.splitlines()]
    assert len(lines) == 1 and "thread" in lines[0] and "Resource temporarily" in lines[0] and "-j 1" in lines[0], done
    assert "memory" not in lines[0], done


def measured_program(directory):
    """A program that is busy in main(), and its measurement."""
    program = compile_c(directory, "busy", """
        #include <time.h>
        static volatile double x;
        int main(void) { while (clock() < CLOCKS_PER_SEC / 5) x += 1; return 0; }""")
    out = os.path.join(directory, "measured")
    done = run(LAUNCHER, "-o", out, program, cwd=directory)
    if done.returncode:
        raise Skip(f"cannot measure here: {done.stderr}")
    return program, out


STACK_BYTES = 64 << 10
EXPORTS = ("folded", "speedscope", "pprof", "callgrind", "hatchet", "csv", "json", "html", "sqlite")


def outputs(arguments, **how):
    """What a report prints, to both, and its status."""
    done = run_report(*arguments, cwd=GOLDEN, timeout=60, text=False, LC_ALL="C.UTF-8", **how)
    return done.returncode, done.stdout, done.stderr


@case
def reports_are_the_same_on_a_small_stack(directory):
    """Also those for which threads read files, and child processes read symbols or make tables."""
    reports = [("--view", view, *options, name) for view, options, name in REPORTS]
    _, out = measured_program(directory)
    reports += [("--view", view, out) for view in ("summary", "topdown", "source", "processes")]
    for arguments in reports:
        expected, got = outputs(arguments), outputs(arguments, limits={"STACK": STACK_BYTES})
        assert expected[0] in (0, 1) and got == expected, (arguments, expected, got)
    for form in EXPORTS:
        made = [run_report("-q", "-f", form, "-o", os.path.join(directory, f"{form}-{number}"), out, limits=limits)
                for number, limits in enumerate((None, {"STACK": STACK_BYTES}))]
        assert [done.returncode for done in made] == [0, 0], made
        sizes = [os.path.getsize(os.path.join(directory, f"{form}-{number}")) for number in range(2)]
        assert abs(sizes[0] - sizes[1]) < 64, (form, sizes)  # times and paths in it


@case
def missing_memory_for_symbols_is_reported(directory):
    """The same with the symbols of a real program, which are read in a child process."""
    preload = preload_library("fail_malloc.c")
    _, out = measured_program(directory)
    arguments = ("-j", "1", "--view", "topdown", "-f", "csv", out)
    whole, count = allocations(preload, arguments)
    assert b"main" in whole
    with ThreadPoolExecutor(2) as pool:
        for settings, step in FAILURES:
            for number, done in pool.map(
                    lambda n: (n, run_report(*arguments, text=False, LD_PRELOAD=preload, FAIL_AT=str(n), **settings)),
                    numbers_of(count, step)):
                assert done.returncode in (0, 1, 2), (number, settings, done)
                same = [line.split(b",")[4] for line in done.stdout.splitlines()] == \
                       [line.split(b",")[4] for line in whole.splitlines()]
                assert done.stderr or done.returncode == 0 and same, (number, settings, done)


def claim_much(path, size, claimed):
    """Makes a file sparse, of that size, and lets its section of names claim so many bytes."""
    with open(path, "r+b") as file:
        head = file.read(64)
        offset, entry, names = (struct.unpack_from(form, head, at)[0] for form, at in (("<Q", 40), ("<H", 58), ("<H", 62)))
        file.seek(offset + names * entry + 32)  # its sh_size
        file.write(struct.pack("<Q", claimed))
        file.truncate(size)


@case
def a_damaged_module_costs_only_its_names(directory):
    program, out = measured_program(directory)
    whole = rows("flat", out)
    assert any(row["name"] == "main" for row in whole)
    claim_much(program, 4 << 30, 3 << 30)
    done = run_report("-f", "csv", "--view", "flat", out, limits={"AS": 1 << 30})
    total = sum(int(line.split(",")[8]) for line in done.stdout.splitlines()[2:])
    assert total == sum(int(row["samples"]) for row in whole if row["kind"] != "root"), done
    assert "memory" in done.stderr and program in done.stderr, done.stderr
    with open(os.path.join(directory, "filter.ini"), "w", encoding="ascii") as file:
        file.write("[filter]\nfunctions = main\n")
    done = run(LAUNCHER, "--config", "filter.ini", "-o", "again", program, cwd=directory, limits={"AS": 1 << 30})
    assert done.returncode == 0, done


# Nearly each sample has a context of its own, of 60 frames.
DEEP = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned sink;
static void go(int depth, unsigned path);
static __attribute__((noinline)) void leaf(void) { for (int i = 0; i < 300; i++) sink += i; }
static __attribute__((noinline)) void left(int depth, unsigned path) { go(depth, path); sink++; }
static __attribute__((noinline)) void right(int depth, unsigned path) { go(depth, path); sink++; }
static __attribute__((noinline)) void go(int depth, unsigned path)
{
  if (!depth)
    leaf();
  else if (path & 1)
    left(depth - 1, path >> 1 ^ path << 20);
  else
    right(depth - 1, path >> 1 ^ path << 20);
  sink++;
}
int main(void)
{
  #pragma omp parallel
  {
    unsigned path = 1;
    struct timespec now, begin;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
      for (int i = 0; i < 500; i++)
        go(30, path = path * 1664525 + 1013904223);
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 400000000);
  }
  puts("unharmed");
  return 0;
}
"""


@case
def beyond_the_memory_limit_losses_are_counted(directory):
    program = compile_c(directory, "deep", DEEP, "-fopenmp", "-O1", "-g")
    dropped = {}
    for limit, options in (("none", ()), ("2M", ()), ("2M", ("-t", "-p", "log"))):
        out = os.path.join(directory, f"measured{len(dropped)}")
        done = run(LAUNCHER, "-e", "task-clock@f2000", "--memory-limit", limit, *options, "-o", out, program,
                   OMP_NUM_THREADS="2")
        assert done.returncode == 0 and done.stdout == "unharmed\n", done
        threads, contexts = rows("threads", out), rows("flat", out)
        counted, lost = (sum(int(row[name]) for row in threads) for name in ("samples", "dropped"))
        held = int(contexts[0]["samples"])  # samples of waiting threads are in no context
        timed(held <= counted < held + 0.2 * (counted + lost), (limit, held, counted, lost))
        dropped[limit, options] = lost / (counted + lost)
        work = sum(float(row["work_s"]) for row in threads)
        assert abs(work - float(contexts[0]["work_incl_s"])) < 1e-6, (limit, work, contexts[0])
        said = run_report("--legend", out).stdout
        assert ("raise --memory-limit" in said) == (limit != "none"), said
    timed(dropped["none", ()] < 0.1 and min(share for (limit, _), share in dropped.items() if limit == "2M") > 0.3, dropped)


main()
