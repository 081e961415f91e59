"""The environment variables of OpenMP and of libgomp, well formed and malformed: the program sees the same settings,
places, chunks and warnings as without the tool.

Usage: gomp_settings.py [-k CASE]"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from libgomp_case import MODES, built, same
from measured import tap

program = built("gomp_settings.c", name="gomp_settings")

# Sets of settings; each runs in one mode, all modes in turn.
SETTINGS = {
    "places_and_binding": (
        {"OMP_PROC_BIND": "true"}, {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores", "OMP_NUM_THREADS": "3"},
        {"OMP_PROC_BIND": "spread,close", "OMP_PLACES": "threads", "OMP_NUM_THREADS": "2,2"},
        {"OMP_PROC_BIND": "master", "OMP_PLACES": "{0},{1}", "OMP_NUM_THREADS": "4"},
        {"OMP_PLACES": "sockets"}, {"GOMP_CPU_AFFINITY": "0-1", "OMP_NUM_THREADS": "3"},
        {"GOMP_CPU_AFFINITY": "1 0", "OMP_NUM_THREADS": "2"}, {"OMP_PROC_BIND": "false", "OMP_PLACES": "{0}"},
        {"GOMP_CPU_AFFINITY": "1", "OMP_NUM_THREADS": "2"}),
    "malformed": (
        {"OMP_NUM_THREADS": "many"}, {"OMP_NUM_THREADS": "2,,3"}, {"OMP_NUM_THREADS": "-1"},
        {"OMP_THREAD_LIMIT": "abc"}, {"OMP_SCHEDULE": "fast,3"}, {"OMP_SCHEDULE": "dynamic,x"},
        {"OMP_STACKSIZE": "12q"}, {"OMP_PROC_BIND": "maybe"}, {"OMP_PLACES": "{0,,1}"},
        {"GOMP_CPU_AFFINITY": "0-"}, {"OMP_DYNAMIC": "perhaps"}, {"OMP_WAIT_POLICY": "idle"},
        {"GOMP_SPINCOUNT": "lots"}, {"OMP_CANCELLATION": "2"}, {"OMP_MAX_ACTIVE_LEVELS": "x"},
        {"OMP_NUM_THREADS": "99999999999999999999"}, {"OMP_DISPLAY_ENV": "what"}),
    "displays": (
        {"OMP_DISPLAY_ENV": "true"}, {"OMP_DISPLAY_ENV": "verbose", "OMP_NUM_THREADS": "2"},
        {"OMP_DISPLAY_AFFINITY": "true", "OMP_NUM_THREADS": "1", "OMP_AFFINITY_FORMAT": "level %L thread %n of %N"}),
    "limits_and_levels": (
        {"OMP_NUM_THREADS": "4", "OMP_THREAD_LIMIT": "3"}, {"OMP_NUM_THREADS": "2", "OMP_THREAD_LIMIT": "2"},
        {"OMP_NESTED": "true"}, {"OMP_NUM_THREADS": "2,3", "OMP_MAX_ACTIVE_LEVELS": "2"},
        {"OMP_NUM_THREADS": "2", "OMP_MAX_ACTIVE_LEVELS": "0"}, {"OMP_STACKSIZE": "64k", "OMP_NUM_THREADS": "3"},
        {"GOMP_STACKSIZE": "64", "OMP_NUM_THREADS": "2"}, {"OMP_MAX_TASK_PRIORITY": "7"},
        {"OMP_NUM_TEAMS": "3", "OMP_TEAMS_THREAD_LIMIT": "2"}, {"OMP_CANCELLATION": "true"}),
    "waiting": (
        {"OMP_WAIT_POLICY": "active", "OMP_NUM_THREADS": "2"}, {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "3"},
        {"GOMP_SPINCOUNT": "0", "OMP_NUM_THREADS": "2"}, {"GOMP_SPINCOUNT": "infinite", "OMP_NUM_THREADS": "2"}),
    "schedules": tuple({"OMP_SCHEDULE": kind, "OMP_NUM_THREADS": threads} for kind, threads in zip(
        ("static", "static,7", "dynamic", "dynamic,9", "guided", "guided,4", "auto", "monotonic:dynamic,5",
         "nonmonotonic:guided", "monotonic:static,6", " DYNAMIC , 3 "), "1231231231231")),
}


def make(name, sets):
    def run(directory):
        for number, settings in enumerate(sets):
            same(directory, program(), modes=(MODES[number % 3],), **settings)
    run.__name__ = name
    tap.case(run)


for title, several in SETTINGS.items():
    make(title, several)
tap.main()
