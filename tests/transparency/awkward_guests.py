"""Programs with guests: other libraries preloaded, a malloc of its own, C++ exceptions, plugins that use OpenMP.

Usage: awkward_guests.py [--long]     (--long: every case in all settings, ten times)"""
import glob
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import LONG, built, check
from measured import build, tap

ends = built(build, "awkward_ends.c", "clang", name="awkward_ends")
throws = {compiler: built(build, "awkward_throws.cc", compiler, name=f"awkward_throws-{compiler}")
          for compiler in ("g++", "clang++")}
nested = built(build, "nested_regions.c", "clang", name="guests-nested")
own_malloc = {compiler: built(build, "awkward_malloc.c", compiler, name=f"awkward_malloc-{compiler}",
                              flags=("-O1", "-g", "-fopenmp", "-fno-builtin"))
              for compiler in ("gcc", "clang")}
host = built(build, "awkward_plugins.c", name="awkward_plugins", flags=("-O1", "-g"))
plugins = {compiler: built(build, "awkward_plugins.c", compiler, name=f"plugin-{compiler}.so",
                           flags=("-O1", "-g", "-fopenmp", "-DPLUGIN", "-shared", "-fPIC"))
           for compiler in ("gcc", "clang")}


def jemalloc():
    found = glob.glob("/usr/lib/*/libjemalloc.so.2")
    if not found:
        raise tap.Skip("no libjemalloc2")
    return found[0]


@tap.case
def jemalloc_preloaded_by_the_user(directory):
    check(directory, 0, nested(), LD_PRELOAD=jemalloc())
    check(directory, 1, throws["g++"](), "regions", "500", LD_PRELOAD=jemalloc())
    check(directory, 4, ends(), "fork_storm", "5", LD_PRELOAD=jemalloc())


@tap.case
def jemalloc_preloaded_before_us(directory):
    script = f'LD_PRELOAD="{jemalloc()} $LD_PRELOAD" exec "$@"'
    for number, command in enumerate(((nested(),), (ends(), "cancels", "40"), (ends(), "exec", "execv", "5"))):
        check(directory, number, "/bin/sh", "-c", script, "sh", *command)


@tap.case
def a_malloc_of_the_program(directory):
    for number, program in enumerate(own_malloc.values()):
        check(directory, number, program(), kept=0.1)


def throwing(name, *arguments, number=0, **keywords):
    def run(directory):
        for more, program in enumerate(throws.values()):
            check(directory, number + 4 * more, program(), *arguments, **keywords)  # with and without callbacks
    run.__name__ = name
    tap.case(run)


COUNT = "50000" if LONG else "4000"
throwing("exceptions in regions and tasks", "regions", COUNT, kept=0.1)
throwing("exceptions in threads", "threads", COUNT, kept=0.1)
throwing("exceptions in threads, elapsed time", "threads", "2000", number=1, kept=0.1)
throwing("threads cancelled and ended deep inside", "unwinds", "60", kept=0.16)
for end in ("handled", "noexcept", "region"):
    throwing(f"std::terminate: {end}", "uncaught", end, kept=0.05)


@tap.case
def exceptions_out_of_handlers(directory):
    program = build(directory, "awkward_faults.cc", "g++", flags=("-O1", "-g", "-fnon-call-exceptions"))
    for number in (4, 1):
        check(directory, number, program, "20000", kept=0.05)


def plugged(name, how, count, *compilers, number=0, measured=True, **settings):
    def run(directory):
        paths = [plugins[compiler]() for compiler in compilers]
        check(directory, number, host(), how, str(count), *paths, kept=0.015 * count if measured else None, **settings)
    run.__name__ = name
    tap.case(run)


plugged("clang's plugin comes and goes", "plain", 20, "clang")
plugged("clang's plugin, RTLD_DEEPBIND", "deepbind", 20, "clang", number=4)
plugged("clang's plugin, RTLD_GLOBAL", "global", 20, "clang", number=1)
plugged("GCC's plugin comes and goes", "plain", 20, "gcc", RUNTIME="libgomp.so.1")
plugged("GCC's plugin, RTLD_DEEPBIND", "deepbind", 20, "gcc", number=4, RUNTIME="libgomp.so.1", measured=False)
plugged("both, one after the other", "plain", 20, "gcc", "clang", number=1, RUNTIME="libgomp.so.1")
plugged("both, kept", "kept", 20, "gcc", "clang", number=4)
# in a namespace of its own a plugin has a libc of its own: its threads are not known here
plugged("clang's plugin in a namespace", "namespace", 1, "clang", number=4, measured=False)
plugged("GCC's plugin in a namespace", "namespace", 3, "gcc", measured=False)


tap.main()
