#!/usr/bin/env python3
"""Runs the fuzz targets, built by clang with the address and undefined-behaviour sanitizers.

Usage: tests/fuzz/fuzz.py [TARGET]...                all targets, a short run that is the same each time
       tests/fuzz/fuzz.py --long SECONDS [TARGET]... each target for so long, its corpus kept for the next time
       tests/fuzz/fuzz.py TARGET FILE...             these inputs once

Seeds are the golden measurements, and programs that are built now.  An input that fails is kept below the build
directory, in sanitized/found: make it small (-minimize_crash=1), and a case of the unit tests or of tests/golden."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import sanitized_build as sanitized

GOLDEN = os.path.join(sanitized.SOURCE, "tests", "golden")
MARK = b"---file-"  # between the files of a directory, see fuzz_directory.c
# Runs of the short form: each some 5 s.
TARGETS = {"measurement": 4000, "directory": 400, "graphlog": 4000, "options": 3000, "elf": 3000, "dwarf": 500}
PROGRAM_OF = {"dwarf": "elf"}  # differs by its seeds: libdwarf runs in a child process, out of the fuzzer's sight
FLAGS = ["-timeout=20", "-rss_limit_mb=1024", "-malloc_limit_mb=1024", "-print_final_stats=1"]
PROGRAM = """
typedef long (*call_t)(long);
static inline long square(long x) { return x * x + 1; }
long twice(long x) { return square(x) + square(x + 2); }
long again(call_t f, long n) { long s = 0; for (long i = 0; i < n; i++) s += f(i) + twice(i); return s; }
"""


def golden(suffix):
    """The golden files of a kind, by directory."""
    found = {}
    for name in sorted(os.listdir(GOLDEN)):
        path = os.path.join(GOLDEN, name)
        for file in sorted(os.listdir(path)) if os.path.isdir(path) else ():
            if file.endswith(suffix):
                found.setdefault(name, []).append(os.path.join(path, file))
    return found


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def programs(directory, *options):
    """The bytes of small libraries, built in several ways; those that this compiler cannot make are left out."""
    source, made = os.path.join(directory, "seed.c"), os.path.join(directory, "seed.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    for option in options:
        done = subprocess.run(["cc", "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noseparate-code", *option.split(), source,
                               "-o", made], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            yield contents(made)


def seeds(target, directory):
    """What a target begins with."""
    measurements, logs = golden(".hpcrun"), golden(".graph")
    if target == "measurement":
        return [contents(file) for files in measurements.values() for file in files]
    if target == "directory":
        return [MARK.join(contents(file) for file in files + logs.get(name, []))
                for name, files in measurements.items()]
    if target == "graphlog":
        return [contents(file) for files in logs.values() for file in files]
    if target == "options":
        return [line.replace(" ", "\n").encode() for line in (
            "--view topdown --root main --sort work_excl_s -f csv", "--view flat --max-rows 3 --percent-limit 1.5",
            "--view whatif --what-if a.c:1-20=2,@update=1e3 --what-if f<int,4>=1.5", "--view parallelism --lines",
            "--view=parallelism --what-if #3=16", "-q -v -j 2 --idleness core --depth 4 --view bottomup",
            "--view critical-path --root @update -f json", "--view speedup --help", "-ocsv -I x --version -- a")]
    if target == "elf":
        return list(programs(directory, "-O1", "-O1 -s", "-O1 -Wl,--build-id=sha1 -Wl,-z,lazy"))
    return list(programs(directory, "-g -O2", "-gdwarf-4 -O2", "-gdwarf-3 -O1 -Wl,--build-id=sha1", "-g -O2 -gz=zlib",
                         "-g -O2 -ffunction-sections"))


def settings(target):
    """The environment of a target."""
    kept = dict(sanitized.SETTINGS)
    kept["ASAN_OPTIONS"] += ":handle_abort=1"
    kept["HPCPROF_FUZZ_MEASUREMENT"] = golden(".hpcrun")["recorded"][0]
    kept["HPCPROF_FUZZ_DIRECTORY"] = os.path.join(GOLDEN, "recorded")
    if target == "dwarf":
        kept["ASAN_OPTIONS"] += sanitized.TERSE
    return {**os.environ, **kept}


def program(target):
    """A target's program, below the build directory."""
    return "tests/fuzz/fuzz_" + PROGRAM_OF.get(target, target)


def launch(target, *arguments):
    """Runs a target; returns its exit status and what it says."""
    done = subprocess.run([os.path.join(sanitized.PLACE, program(target)), *arguments], env=settings(target),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def run(target, seconds):
    """Fuzzes one target; returns whether nothing was found, and what to say of it."""
    found = os.path.join(sanitized.PLACE, "found", target, "")
    os.makedirs(found, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-test-") as directory:
        corpus = os.path.join(sanitized.PLACE, "corpus", target) if seconds else os.path.join(directory, "corpus")
        first = os.path.join(directory, "seeds")
        os.makedirs(corpus, exist_ok=True)
        os.makedirs(first)
        for number, seed in enumerate(seeds(target, directory)):
            with open(os.path.join(first, f"{number:03}"), "wb") as file:
                file.write(seed)
        length = [f"-max_total_time={seconds}"] if seconds else ["-seed=1", f"-runs={TARGETS[target]}"]
        status, said = launch(target, *FLAGS, f"-artifact_prefix={found}", *length, corpus, first)
    if status == 0:
        shutil.rmtree(found)  # what children died of, when libdwarf took them down
    done = re.search(r"stat::number_of_executed_units: (\d+)", said)
    cover = re.findall(r"cov: (\d+) ft: (\d+)", said)
    text = f"{target}: {done.group(1) if done else '?'} inputs, {cover[-1][0] if cover else '?'} places reached"
    error = re.search(r"^(.*: runtime error: |==\d+==|ALARM)", said, re.M)
    return status == 0, text if status == 0 else f"{text}\n{said[error.start() if error else -2000:][:4000]}"


def main():
    arguments = sys.argv[1:]
    if not sanitized.fuzzer():
        print("1..0 # SKIP clang's libraries for -fsanitize=fuzzer,address,undefined are missing (libclang-rt)")
        return 0
    seconds = 0
    if arguments[:1] == ["--long"]:
        seconds, arguments = int(arguments[1]), arguments[2:]
    once = arguments[1:] if not seconds and not set(arguments[1:]) <= set(TARGETS) else []
    wanted = arguments[:1] if once else arguments or list(TARGETS)
    if not set(wanted) <= set(TARGETS) or not shutil.which("ninja"):
        sys.exit(__doc__)
    sanitized.build(*sorted({program(target) for target in wanted}))
    if once:
        status, said = launch(wanted[0], *FLAGS, *once)
        sys.stderr.write(said)
        return status
    print(f"1..{len(wanted)}", flush=True)
    failed = 0
    for number, target in enumerate(wanted, 1):
        fine, text = run(target, seconds)
        failed += not fine
        first, *rest = text.splitlines()
        print(f"{'ok' if fine else 'not ok'} {number} - {first}", flush=True)
        for line in rest:
            print("# " + line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
