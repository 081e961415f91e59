#!/usr/bin/env python3
"""Runs mutated golden measurements through hpcprof-lite itself, built with the sanitizers.

Usage: tests/fuzz/mutate.py [--long SECONDS] [--plain REPORT]

Without arguments 160 directories of 8 files each, the same ones each time.  With --plain a hpcprof-lite without
sanitizers, each run of which has 1 GB of address space.  A run must end within a minute with exit status 0 or 1, say
what is wrong in lines of its own, and not take more than 1 GB.  What fails is kept in sanitized/found/mutate."""
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import sanitized_build as sanitized

GOLDEN = os.path.join(sanitized.SOURCE, "tests", "golden")
VIEWS = ("summary", "topdown", "bottomup", "flat", "threads", "efficiency", "parallelism", "critical-path", "whatif",
         "speedup")
FORMS = ("text", "csv", "json")
BATCHES, FILES = 160, 8
EDGES = (0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffffffffffff)
GB_KB = 1 << 20


def seeds():
    """Golden measurements with the log that belongs to each, if any."""
    found = []
    for name in sorted(os.listdir(GOLDEN)):
        where = os.path.join(GOLDEN, name)
        for file in sorted(os.listdir(where)) if os.path.isdir(where) else ():
            if not file.endswith(".hpcrun"):
                continue
            pair = []
            for path in (os.path.join(where, file), os.path.join(where, file[:-len(".hpcrun")] + ".graph")):
                if os.path.exists(path):
                    with open(path, "rb") as opened:
                        pair.append(opened.read())
            found.append(pair)
    return found


def mend(data):
    """Gives each chunk the right checksum again."""
    at = 0
    while (at := data.find(b"hpcrlite", at)) >= 0 and at + 64 <= len(data):
        size = struct.unpack_from("<Q", data, at + 32)[0]
        if size > len(data) - at - 64:
            at += 8
            continue
        struct.pack_into("<I", data, at + 40, 0)
        struct.pack_into("<I", data, at + 40, zlib.crc32(data[at:at + 64 + size]))
        at += 64 + size


def mutate(chance, data, others):
    """Some random damage, most often with checksums that hold."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(len(data)) if data else 0
        kind = chance.randrange(7)
        if kind == 0 and data:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            width = chance.choice((1, 2, 4, 8))
            value = chance.choice(EDGES) & ((1 << 8 * width) - 1)
            data[at:at + width] = value.to_bytes(width, "little")
        elif kind == 2:
            del data[at:at + chance.choice((1, 8, 64, 500))]
        elif kind == 3:
            data[at:at] = data[at:at + chance.choice((8, 64, 500))]
        elif kind == 4:
            other = chance.choice(others)[0]
            begin = chance.randrange(len(other) + 1)
            data[at:at] = other[begin:begin + chance.choice((8, 64, 500))]
        elif kind == 5 and chance.randrange(4) == 0:
            del data[at:]
        elif kind == 6:
            data[at & ~3:(at & ~3) + 4] = struct.pack("<I", chance.randrange(16))
    if chance.randrange(8):
        mend(data)
    return data


def write(chance, directory, all_seeds):
    for number in range(FILES):
        pair = chance.choice(all_seeds)
        broken = chance.randrange(len(pair))
        for which, data in enumerate(pair):
            name = os.path.join(directory, f"{number}{'.graph' if which else '.hpcrun'}")
            with open(name, "wb") as file:
                file.write(mutate(chance, data, all_seeds) if which == broken else data)


def bounded():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def check(chance, report, plain, directory):
    """Runs one report; returns what was wrong with it, its peak of memory and its time."""
    view = chance.choice(VIEWS)
    command = [report, "-q", "-j", chance.choice("12"), "--view", view, "-f", chance.choice(FORMS), directory]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, timeout=60, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              preexec_fn=bounded if plain else None, env={**os.environ, **sanitized.SETTINGS})
    except subprocess.TimeoutExpired:
        return f"{command}: does not end", 60
    said = done.stderr.decode(errors="replace")
    lines = said.splitlines()
    fine = done.returncode in (0, 1) and bool(lines) == bool(done.returncode) and len(lines) < 200
    fine = fine and all(line.startswith("hpcprof-lite: ") for line in lines)
    return None if fine else f"{command}: exit status {done.returncode}\n{said[:4000]}", time.monotonic() - begun


def main():
    arguments = sys.argv[1:]
    plain = arguments[arguments.index("--plain") + 1] if "--plain" in arguments else None
    seconds = int(arguments[arguments.index("--long") + 1]) if "--long" in arguments else 0
    if not plain and not sanitized.compiler():
        print("1..0 # SKIP no compiler here has the address and undefined-behaviour sanitizers")
        return 0
    report = plain or os.path.join(sanitized.build("hpcprof-lite/hpcprof-lite"), "hpcprof-lite", "hpcprof-lite")
    seed = time.time_ns() if seconds else 1
    chance, all_seeds, begun, longest, batches = random.Random(seed), seeds(), time.monotonic(), 0, 0
    print("1..1", flush=True)
    while time.monotonic() - begun < seconds if seconds else batches < BATCHES:
        with tempfile.TemporaryDirectory(prefix="hpcrun-lite-test-") as directory:
            write(chance, directory, all_seeds)
            wrong, took = check(chance, report, plain, directory)
            longest, batches = max(longest, took), batches + 1
            if wrong:
                kept = os.path.join(sanitized.PLACE, "found", "mutate")
                shutil.copytree(directory, kept, dirs_exist_ok=True)
                print(f"not ok 1 - mutated files, seed {seed}, kept in {kept}\n# " + wrong.replace("\n", "\n# "))
                return 1
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    fine = peak < GB_KB
    print(f"{'ok' if fine else 'not ok'} 1 - {batches * FILES} mutated files, at most {longest:.1f} s and "
          f"{peak >> 10} MB for {FILES} of them")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
