#!/usr/bin/env python3
"""tests/unit/test_concurrency.c, what threads share in RT, built with the thread sanitizer: no data race."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import sanitized_build as sanitized

FLAGS = ("-std=gnu11", "-g", "-O1", "-w", "-fsanitize=thread", "-ftls-model=initial-exec", "-I", sanitized.SOURCE)
RT = os.path.join(sanitized.SOURCE, "hpcrun-lite", "rt")
TEST = os.path.join(sanitized.SOURCE, "tests", "unit", "test_concurrency.c")


def compiler():
    for name in ("clang", os.environ.get("CC", "cc")):
        if sanitized.links(name, "-shared", "-fPIC", "-fsanitize=thread"):
            return name
    return None


def main():
    name = compiler()
    if not name:
        print("1..0 # SKIP no compiler here has the thread sanitizer")
        return 0
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-test-") as directory:
        program = os.path.join(directory, "test_threads")
        subprocess.run([name, *FLAGS, *sorted(glob.glob(os.path.join(RT, "**", "*.c"), recursive=True)), TEST, "-o", program, "-lcmocka", "-lpthread"],
                       check=True)
        done = subprocess.run([program], env={**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"}, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = re.findall(r"^(ok|not ok) \d+ -? ?(.*)", done.stdout, re.M)
    races = done.stdout.count("WARNING: ThreadSanitizer")
    for number, (word, text) in enumerate(lines, 1):
        print(f"{word} {number} - {text}")
    good = lines and not races and done.returncode == 0
    print(f"{'ok' if good else 'not ok'} {len(lines) + 1} - no data race\n1..{len(lines) + 1}", flush=True)
    if not good:
        print("# " + done.stdout.replace("\n", "\n# "))
    return 0 if good else 1


sys.exit(main())
