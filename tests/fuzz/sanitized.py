#!/usr/bin/env python3
"""The unit tests and the command-line tests of hpcprof-lite once more, on a build with the address and
undefined-behaviour sanitizers."""
import os
import re
import subprocess
import sys

import sanitized_build as sanitized

UNITS = ("read", "merge", "ranks", "serialisation", "hostile_files", "replay", "log_reader", "workspan", "symbols", "symbols_damage",
         "format", "causes", "efficiency")
REPORT = "hpcprof-lite/hpcprof-lite"


def cases():
    """What is run: its name and command."""
    for name in UNITS:
        yield name, [os.path.join(sanitized.PLACE, "tests", "test_" + name)]
    yield "hpcprof", [sys.executable, os.path.join(sanitized.SOURCE, "tests", "cli", "hpcprof.py")]


def main():
    if not sanitized.compiler():
        print("1..0 # SKIP no compiler here has the address and undefined-behaviour sanitizers")
        return 0
    # What is not for the report is not built: the sanitizers do not suit a preloaded library.
    sanitized.build(REPORT, *(f"tests/test_{name}" for name in UNITS))
    environment = {**os.environ, **sanitized.SETTINGS, "CMOCKA_MESSAGE_OUTPUT": "TAP",
                   "HPCRUN_LITE_TEST_REPORT": os.path.join(sanitized.PLACE, REPORT)}
    number = failed = 0
    for name, command in cases():
        own = dict(environment)
        if name.startswith("symbols"):
            own["ASAN_OPTIONS"] += sanitized.TERSE
        done = subprocess.run(command, env=own, check=False, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = re.findall(r"^(ok|not ok) \d+ -? ?(.*)", done.stdout, re.M)
        bad = done.returncode != 0 or not lines or any(word == "not ok" for word, _ in lines)
        for word, text in lines:
            number += 1
            print(f"{word} {number} - {name}: {text}", flush=True)
        if bad:
            failed += 1
            number += 1
            print(f"not ok {number} - {name}: exit status {done.returncode}")
            print("# " + done.stdout[-4000:].replace("\n", "\n# "), flush=True)
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
