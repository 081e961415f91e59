#!/usr/bin/env python3
"""Runs mutated golden measurements through hpcprof-lite, built with the sanitizers.

Usage: tests/fuzz/mutate.py [--long SECONDS] [--plain REPORT]

Without arguments it makes 100 directories of 8 files each, the same ones each time.  --plain names a hpcprof-lite
without sanitizers, each run of which has 1 GB of address space.  A run must end within a minute with exit status 0 or
1, print only messages of its own, and not use more than 1 GB.  Files that make it fail are kept in
sanitized/found/mutate."""
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file as form
import sanitized_build
import tap
from report import VIEWS, contents, golden_files

FORMS = ("text", "csv", "json")
EXPORTS = ("csv", "json", "perfetto", "firefox")  # of the timeline
SUFFIXES = (".hpcrun", ".live", ".graph", ".trace")
KILLED = "was killed|could not write its file|was running|is still running|still running$"  # no fault of the input
BATCHES, FILES = 100, 8
EDGES = (0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffffffffffff)
GB_KB = 1 << 20


def seeds():
    """The golden measurements: the contents of each one's files by their suffixes."""
    return [{suffix: contents(path) for suffix in SUFFIXES
             if os.path.exists(path := os.path.splitext(measurement)[0] + suffix)}
            for ending in (".hpcrun", ".live") for files in golden_files(ending).values() for measurement in files]


def mend(data):
    """Corrects the checksum of each extent."""
    at = 0
    while (at := data.find(b"hpcrlite", at)) >= 0 and at + form.HEAD_SIZE <= len(data):
        head = form.HEAD.from_buffer_copy(data, at)
        end = at + form.HEAD_SIZE + head.stored_size
        if end > len(data):
            at += 8
            continue
        head.crc = 0
        head.crc = zlib.crc32(bytes(head) + data[at + form.HEAD_SIZE:end])
        data[at:at + form.HEAD_SIZE] = bytes(head)
        at = end


def mutate(chance, data, others):
    """Damages data at random; in most cases the checksums are then corrected."""
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
            other = next(iter(chance.choice(others).values()))
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
        files = chance.choice(all_seeds)
        broken = chance.choice(list(files))
        for suffix, data in files.items():
            with open(os.path.join(directory, f"{number}{suffix}"), "wb") as file:
                file.write(mutate(chance, data, all_seeds) if suffix == broken else data)
    if chance.randrange(4) == 0:
        with open(os.path.join(directory, "snapshot"), "wb") as file:
            file.write(mutate(chance, b"hpcrun-lite snapshot on node1\n1700\n2300\n", all_seeds))


def check(chance, report, plain, directory):
    """Runs one report; returns what was wrong with it, if anything, and how long it took."""
    view = chance.choice((*VIEWS, "devices", *("timeline",) * len(EXPORTS)))
    form = chance.choice(EXPORTS if view == "timeline" else FORMS)
    command = [report, "-q", "-j", chance.choice("12"), "--view", view, "-f", form, directory]
    begun = time.monotonic()
    try:
        done = tap.run(*command, timeout=60, limits={"AS": 1 << 30} if plain else None, **sanitized_build.SETTINGS)
    except subprocess.TimeoutExpired:
        return f"{command}: does not end", 60
    said, lines = done.stderr, done.stderr.splitlines()
    unusual = [line for line in lines if not re.search(KILLED, line)]
    fine = done.returncode in (0, 1) and bool(lines) >= bool(done.returncode) >= bool(unusual) and len(lines) < 200
    fine = fine and all(line.startswith("hpcprof-lite: ") for line in lines)
    return None if fine else f"{command}: exit status {done.returncode}\n{said[:4000]}", time.monotonic() - begun


@tap.case
def mutated_files(_):
    arguments = sys.argv[1:]
    plain = arguments[arguments.index("--plain") + 1] if "--plain" in arguments else None
    seconds = int(arguments[arguments.index("--long") + 1]) if "--long" in arguments else 0
    if not plain:
        sanitized_build.build("hpcprof-lite/hpcprof-lite")
    report = plain or sanitized_build.program("hpcprof-lite/hpcprof-lite")
    seed = time.time_ns() if seconds else 1
    chance, all_seeds, begun, longest, batches = random.Random(seed), seeds(), time.monotonic(), 0, 0
    while time.monotonic() - begun < seconds if seconds else batches < BATCHES:
        with tempfile.TemporaryDirectory(prefix="hpcrun-lite-test-") as directory:
            write(chance, directory, all_seeds)
            wrong, took = check(chance, report, plain, directory)
            longest, batches = max(longest, took), batches + 1
            if wrong:
                kept = os.path.join(sanitized_build.PLACE, "found", "mutate")
                shutil.copytree(directory, kept, dirs_exist_ok=True)
                raise AssertionError(f"seed {seed}, kept in {kept}\n{wrong}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"# {batches * FILES} mutated files, at most {longest:.1f} s and {peak >> 10} MB for {FILES} of them")
    assert peak < GB_KB, peak


tap.main()
