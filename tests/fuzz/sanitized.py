#!/usr/bin/env python3
"""The unit tests of hpcprof-lite and the tests on the golden measurements once more, on a build with the address and
undefined-behaviour sanitizers and with assertions.

Usage: sanitized.py [--long] [-k CASE]     (--long: also what repeats most of what the others do)"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import sanitized_build
import tap

UNITS = ("read", "merge", "ranks", "profile_message", "replay", "log_reader", "workspan", "format",
         "causes", "efficiency", "construct_rows", "trace_reader", "lane", "compare",
         "condition", "significance", "grain_graph", "grains", "checks", "phases", "table", "timeline_lanes")
# Script: words of its cases.  Those that make hundreds of reports of the same kind are left out; JSON of each view is in
# "threads and order", views of constructs in "output is".
SCRIPTS = {
    "golden/golden": ("output is", "all forms", "threads and order", "trace"),
    "cli/hpcprof": ("limits", "sort orders", "columns", "text", "lines", "damaged", "memory", "page", "closed pipe",
                    "written", "without measurements", "command line"),
}
if "--long" in sys.argv:
    UNITS += ("hostile_files", "symbols", "symbols_damage")  # the fuzz targets read such files, too
    SCRIPTS["golden/golden_figures"] = ()
REPORT = "hpcprof-lite/hpcprof-lite"


def build():
    """The preloaded library is not built: it does not run with sanitizers."""
    sanitized_build.build(REPORT, *(f"tests/test_{name}" for name in UNITS))


@tap.case
def assertions_are_in_this_build_only(_):
    build()
    for report, wanted in ((sanitized_build.program(REPORT), True), (os.path.join(tap.BIN, "hpcprof-lite"), False)):
        with open(report, "rb") as file:
            assert (b"__assert_fail" in file.read()) == wanted, report


def add(name, *command, **settings):
    def run(_):
        build()
        return tap.relay(*command, timeout=1200, HPCRUN_LITE_TEST_BUILD=tap.BUILD, HPCRUN_LITE_TEST_SOURCE=tap.SOURCE,
                         HPCRUN_LITE_TEST_REPORT=sanitized_build.program(REPORT), **settings)
    run.__name__ = name
    tap.group(run)


for unit in UNITS:
    add(unit, sanitized_build.program(f"tests/test_{unit}"),
        **sanitized_build.TERSE if unit.startswith("symbols") else sanitized_build.SETTINGS)
for script, words in SCRIPTS.items():
    chosen = [part for word in words for part in ("-k", word)]
    add(os.path.basename(script), sys.executable, os.path.join(tap.TESTS, script + ".py"), *chosen,
        **sanitized_build.SETTINGS)

tap.main()
