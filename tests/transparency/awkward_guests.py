"""Programs with other code inside: preloaded libraries, a malloc of their own, C++ exceptions, plugins that use OpenMP.

Usage: awkward_guests.py [--long] [-k CASE]     (--long: every case in all settings, ten times)"""
import glob
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import LONG, built, check
from measured import build, tap

ends = built("awkward_ends.c", "clang", name="awkward_ends")
throws = {compiler: built("awkward_throws.cc", compiler)
          for compiler in ("g++", "clang++")}
nested = built("nested_regions.c", "clang")
own_malloc = {compiler: built("awkward_malloc.c", compiler, "-fno-builtin")
              for compiler in ("gcc", "clang")}
host = built("awkward_plugins.c", name="awkward_plugins", openmp=False)
plugins = {compiler: built("awkward_plugins.c", compiler, "-DPLUGIN", "-shared", "-fPIC", name=f"plugin-{compiler}.so")
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
def jemalloc_preloaded_before_the_tool(directory):
    script = f'LD_PRELOAD="{jemalloc()} $LD_PRELOAD" exec "$@"'
    for number, command in enumerate(((nested(),), (ends(), "cancels", "40"), (ends(), "exec", "execv", "5"))):
        check(directory, number, "/bin/sh", "-c", script, "sh", *command)


@tap.case
def a_program_with_its_own_malloc(directory):
    for number, program in enumerate(own_malloc.values()):
        check(directory, number, program(), kept=0.1)


@tap.case
def a_thread_that_a_librarys_constructor_creates(directory):
    library = build("awkward_pool.c", "gcc", "-DLIBRARY", "-shared", "-fPIC", name="libpool.so", openmp=False)
    program = build("awkward_pool.c", "gcc", "-Wl,--no-as-needed", library, name="awkward_pool", openmp=False)
    for number in range(4):
        assert len(check(directory, number, program).threads()) == 2


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
throwing("threads cancelled and ended deep in the stack", "unwinds", "60", kept=0.16)
for end in ("handled", "noexcept", "region"):
    throwing(f"std::terminate: {end}", "uncaught", end, kept=0.05)


@tap.case
def exceptions_out_of_handlers(directory):
    program = build("awkward_faults.cc", "g++", "-fnon-call-exceptions", openmp=False)
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
plugged("both, never unloaded", "kept", 20, "gcc", "clang", number=4)
# a plugin in another linker namespace has its own libc: the tool does not see its threads
plugged("clang's plugin in a namespace", "namespace", 1, "clang", number=4, measured=False)
plugged("GCC's plugin in a namespace", "namespace", 3, "gcc", measured=False)


tap.main()
