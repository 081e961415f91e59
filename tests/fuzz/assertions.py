#!/usr/bin/env python3
"""Tests of the running side once more on a build with assertions (the build option `assertions`), in the directory
`assertions` of the build, with its launcher and preloaded library.  sanitized.py has those of reports."""
import fcntl
import os
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap

PLACE = os.path.join(tap.BUILD, "assertions")
LIBRARY, ARCHIVE = "hpcrun-lite/libhpcrun-lite.so", "hpcrun-lite/librt.a"
LAUNCHER = "hpcrun-lite/launch/hpcrun-lite"
UNITS = ("blame", "cct", "concurrency", "construct", "lock_events", "span", "tracelog", "waiting", "work_clock")
# Script: words of its cases.
SCRIPTS = {
    "span/basic_forms": ("gcc with 2", "paused", "forked", "when it is"),
    "span/closed_forms": ("random programs by gcc",),
    "span/governed": ("stood for", "uneven", "user regions", "each event"),
    "accuracy/construct_times": ("random",),
    "cli/launcher": ("options", "form of an option", "status", "launches", "commands", "refused", "directories", "links"),
}
STATUS = 117  # of RT_ASSERTION_STATUS


def build(*targets):
    with open(PLACE + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(PLACE, "build.ninja")):
            tap.must(os.environ.get("MESON", "meson"), "setup", PLACE, "-Dassertions=true", "-Doptimization=0",
                     "-Ddebug=false", cwd=tap.SOURCE, timeout=300)  # compiles in a third of the time
        tap.must("ninja", "-C", PLACE, *targets, timeout=500)


def installation(directory):
    """A copy of the staged installation with that library and launcher, as the directory of a build."""
    build(LIBRARY, LAUNCHER)
    prefix = os.path.join(directory, "prefix")
    shutil.copytree(os.path.dirname(tap.BIN), prefix, symlinks=True, ignore=shutil.ignore_patterns("doc"))
    library = os.path.join(prefix, os.path.relpath(tap.LIBRARY, os.path.dirname(tap.BIN)))
    shutil.copyfile(os.path.join(PLACE, LIBRARY), library)
    shutil.copyfile(os.path.join(PLACE, LAUNCHER), os.path.join(prefix, "bin", "hpcrun-lite"))
    os.mkdir(os.path.join(directory, "tests"))
    shutil.copy(os.path.join(tap.BUILD, "tests", "record_layouts"), os.path.join(directory, "tests"))
    with open(os.path.join(directory, "stage-prefix"), "w", encoding="utf-8") as file:
        file.write(os.path.join(prefix, "bin"))
    return directory


@tap.case
def a_broken_invariant_ends_the_process(directory):
    build(ARCHIVE)
    broken = os.path.join(directory, "broken")
    for assertions in ("-DRT_ASSERTIONS", "-URT_ASSERTIONS"):
        tap.must("cc", assertions, "-I", tap.SOURCE, os.path.join(tap.SCRIPT, "broken_state.c"),
                 os.path.join(PLACE, ARCHIVE), "-o", broken, cwd=directory)
        done = tap.run(broken, cwd=directory)
        if assertions == "-DRT_ASSERTIONS":
            assert done.returncode == STATUS and done.stderr == (
                "hpcrun-lite: assertion failed in pool_return(): index && index != cache->first\n"), done
        else:
            assert done.returncode == 0 and not done.stderr, done


@tap.case
def without_the_option_there_are_none(_):
    build(LIBRARY, LAUNCHER)
    for target, installed, word in ((LIBRARY, tap.LIBRARY, b"assertion failed"),
                                    (LAUNCHER, os.path.join(tap.BIN, "hpcrun-lite"), b"__assert_fail")):
        with open(installed, "rb") as file:
            assert word not in file.read(), installed
        with open(os.path.join(PLACE, target), "rb") as file:
            assert word in file.read(), target


@tap.group
def unit_tests(_):
    targets = [f"tests/test_{name}" for name in UNITS]
    build(*targets)
    return [(fine, f"{target[len('tests/test_'):]}: {name}") for target in targets
            for fine, name in tap.relay(os.path.join(PLACE, target), timeout=300, HPCRUN_LITE_TEST_SOURCE=tap.SOURCE)]


def add(script, words):
    def run(directory):
        chosen = [part for word in words for part in ("-k", word)]
        return tap.relay(sys.executable, os.path.join(tap.TESTS, script + ".py"), *chosen, timeout=500,
                         HPCRUN_LITE_TEST_BUILD=installation(directory))
    run.__name__ = os.path.basename(script)
    tap.group(run)


for each, parts in SCRIPTS.items():
    add(each, parts)
tap.main()
