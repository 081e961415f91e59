#!/usr/bin/env python3
"""Runs the fuzz targets, built by clang with the address and undefined-behaviour sanitizers.

Usage: tests/fuzz/fuzz.py [-k TARGET]...                    a short run, the same each time
       tests/fuzz/fuzz.py --long SECONDS [-k TARGET]...     each target for so long; its corpus is kept for the next run
       tests/fuzz/fuzz.py --input TARGET FILE...            runs these inputs once

Seeds are the golden measurements and small programs.  An input that makes a target fail is kept in sanitized/found
below the build directory.  Make it small (-minimize_crash=1) and add it as a case to the unit tests or to
tests/golden."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import sanitized_build
import tap
from report import contents, golden_files

MARK = b"---file-"  # between the files of a directory, see fuzz_directory.c
SNAPSHOT = b"hpcrun-lite snapshot on node1\n1700\n2300\n"  # the processes that ran when it was taken
# Measurements that are one run: of two ranks of MPI, of a rank that was killed, of programs with marks and counters.
MIXED = (("basic", "constructs2"), ("basic", "killed", "constructs-killed"), ("marked", "marked-hostile", "basic"))
# Targets, with the number of inputs in a short run, the same each time: each takes some 1 to 3 s.
TARGETS = {"measurement": 400, "directory": 50, "graphlog": 80, "trace": 200, "counts": 200, "options": 650, "elf": 650,
           "dwarf": 80, "configuration": 2000, "trial": 20000}
# these differ only in their seeds: libdwarf runs in a child process, which libFuzzer does not see; traces with counts
# are beside a measurement with counters
PROGRAM_OF = {"dwarf": "elf", "counts": "trace"}
FLAGS = ["-timeout=60", "-rss_limit_mb=1024", "-malloc_limit_mb=1024", "-print_final_stats=1"]
PROGRAM = """
typedef long (*call_t)(long);
static inline long square(long x) { return x * x + 1; }
long twice(long x) { return square(x) + square(x + 2); }
long again(call_t f, long n) { long s = 0; for (long i = 0; i < n; i++) s += f(i) + twice(i); return s; }
"""


def programs(directory, *options):
    """The bytes of small libraries, built in several ways; ways that this compiler does not support are left out."""
    for option in options:
        try:
            yield contents(tap.compile_c(directory, "seed.so", PROGRAM, "-shared", "-fPIC", "-nostdlib",
                                         "-Wl,-z,noseparate-code",
                                         *option.split(), compiler="cc"))
        except AssertionError:
            continue


def seeds(target, directory):
    """The inputs that a target begins with."""
    measurements, logs, traces = golden_files(".hpcrun"), golden_files(".graph"), golden_files(".trace")
    live = golden_files(".live")
    if target == "measurement":
        return [contents(file) for found in (measurements, live) for files in found.values() for file in files]
    if target == "directory":
        several = [files + logs.get(name, []) + traces.get(name, [])
                   for found in (measurements, live) for name, files in found.items()]
        several += [[file for name in names for file in {**measurements, **live}[name]] for names in MIXED]
        return [MARK.join([contents(file) for file in files] + marker)
                for files in several for marker in ([], [SNAPSHOT])[:2 if files[0].endswith(".live") else 1]]
    if target == "graphlog":
        return [contents(file) for files in logs.values() for file in files]
    if target in ("trace", "counts"):
        charts = [name for name in traces if name.startswith("charted")]
        return [contents(file) for name in (charts if target == "counts" else traces) for file in traces[name]]
    if target == "options":
        return [line.replace(" ", "\n").encode() for line in (
            "--view topdown --root main --sort work_excl_s -f csv", "--view flat --max-rows 3 --percent-limit 1.5",
            "--view whatif --what-if a.c:1-20=2,@update=1e3 --what-if f<int,4>=1.5", "--view parallelism --lines",
            "--view=parallelism --what-if #3=16", "-q -v -j 2 --idleness core --depth 4 --view bottomup",
            "--view critical-path --root @update -f json", "--view speedup --help", "-ocsv -I x --version -- a")]
    if target == "configuration":
        return [text.encode() for text in (
            "[measure]\nevents = wall@f50, page-faults@10\nlevel = all\n[buffers]\ntrace-limit = 2M\ntrace-keep=last\n",
            "# a\n[filter] ; b\r\nfunctions = a*,\n  !b , c\nthreads = 0-3,8\nskip-first = 1.5 min\nonly=10 ms\n",
            "\ufeff[measure]\nlevel: off\npaused = yes\n[program a b]\nlevel = summary\nconstructs = for, !a.c:3\n",
            "[measure]\noutput = x ;y\nomp-runtime = ./a.so\n[program c]\ntrace = samples\nregions = p q\n")]
    if target == "trial":
        settings_of_it = b"limit 9\nsetting a 1 -2 3 A=1 B=2\nsetting - - - - nice -n 3\n"
        runs = b"run 1 0 100 5 exited 0 0 0\nrun 1 2 90 - timed-out 0 0 0\nrun 1 1 90 - killed 11 3 4\n"
        return [b"hpcrun-lite try 1\n" + text for text in (
            b"", settings_of_it, settings_of_it + runs, settings_of_it + runs + runs.replace(b"run 1", b"run 2") + b"stop spent\n")]
    if target == "elf":
        return list(programs(directory, "-g0 -O1", "-g0 -O1 -s", "-g0 -O1 -Wl,--build-id=sha1 -Wl,-z,lazy"))
    return list(programs(directory, "-g -O2", "-gdwarf-4 -O2", "-gdwarf-3 -O1 -Wl,--build-id=sha1", "-g -O2 -gz=zlib",
                         "-g -O2 -ffunction-sections"))


def settings(target):
    """The environment of a target."""
    chosen = dict(sanitized_build.TERSE if target == "dwarf" else sanitized_build.SETTINGS)
    chosen["ASAN_OPTIONS"] += ":handle_abort=1"
    beside = {"trace": "traced", "counts": "charted"}.get(target, "recorded")
    return {**chosen, "HPCPROF_FUZZ_MEASUREMENT": golden_files(".hpcrun", beside)[beside][0],
            "HPCPROF_FUZZ_DIRECTORY": os.path.join(tap.GOLDEN, "recorded")}


def path_of(target):
    """The program of a target, below the build directory."""
    return "tests/fuzz/fuzz_" + PROGRAM_OF.get(target, target)


def build():
    sanitized_build.need_fuzzer()
    sanitized_build.build(*sorted({path_of(target) for target in TARGETS}))


def launch(target, *arguments, timeout=120):
    """Runs a target; returns its exit status and its output."""
    done = tap.run(sanitized_build.program(path_of(target)), *arguments, timeout=timeout, stderr=tap.subprocess.STDOUT,
                   **settings(target))
    return done.returncode, done.stdout


def fuzz(target, directory, seconds):
    """Fuzzes one target; fails if it finds something."""
    build()
    found = os.path.join(sanitized_build.PLACE, "found", target, "")
    os.makedirs(found, exist_ok=True)
    corpus = os.path.join(sanitized_build.PLACE, "corpus", target) if seconds else os.path.join(directory, "corpus")
    first = os.path.join(directory, "seeds")
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(first)
    for number, seed in enumerate(seeds(target, directory)):
        with open(os.path.join(first, f"{number:03}"), "wb") as file:
            file.write(seed)
    length = [f"-max_total_time={seconds}"] if seconds else ["-seed=1", f"-runs={TARGETS[target]}"]
    status, said = launch(target, *FLAGS, f"-artifact_prefix={found}", *length, corpus, first,
                          timeout=300 + 2 * seconds)
    done = re.search(r"stat::number_of_executed_units: (\d+)", said)
    cover = re.findall(r"cov: (\d+) ft: (\d+)", said)
    print(f"# {target}: {done.group(1) if done else '?'} inputs, {cover[-1][0] if cover else '?'} places reached",
          flush=True)
    error = re.search(r"^(.*: runtime error: |==\d+==|ALARM)", said, re.M)
    assert status == 0, said[error.start() if error else -2000:][:4000]
    shutil.rmtree(found)  # inputs that killed a child of libdwarf


def add(target, seconds):
    def run(directory):
        fuzz(target, directory, seconds)
    run.__name__ = target
    tap.case(run)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--input"]:
        build()
        status, said = launch(arguments[1], *FLAGS, *arguments[2:])
        sys.stderr.write(said)
        sys.exit(status)
    for target in TARGETS:
        add(target, int(arguments[arguments.index("--long") + 1]) if "--long" in arguments else 0)
    tap.main()


main()
