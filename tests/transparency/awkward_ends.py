"""Every way in which a process, a thread or a program image ends: the same as alone, and what was measured is kept.

Usage: awkward_ends.py [--long] [-k CASE]     (--long: every case in all settings, ten times)"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import built, cases
from measured import tap

program = built("awkward_ends.c", "clang", name="awkward_ends")
WORKED = {"UNLOAD_WORK": "1"}


def rows():
    for how, kept in (("exit", 0.1), ("_exit", 0.1), ("_Exit", 0.1), ("quick", 0.1), ("fork", 0.27), ("exec", 0.17)):
        for who, where in (("w", "a worker"), ("m", "the master")):
            yield f"{how} in a region by {where}", ("region", who + how), {"kept": kept}
    for how in ("abort", "segv", "raise"):
        yield f"{how} in a region by a worker", ("region", "w" + how), {}
    for signal in ("segv", "fpe", "bus", "term"):
        for how, text in (("default", "default action"), ("sexit", "handler exits, on its stack"),
                          ("again", "handler raises it again"), ("sagain", "raised again, on its stack"),
                          ("jump", "handler jumps"), ("sjump", "handler jumps off its stack"),
                          ("reset", "handler for one signal")):
            # a handler on an alternate stack is not sampled
            kept = {"jump": {"kept": 0.32}, "sjump": {"kept": 0.12}, "sexit": {"kept": 0.05}}.get(how, {})
            yield f"{signal}: {text}", (signal, how), kept
    for signal in ("ill", "hup", "int", "abrt", "usr1", "prof", "pipe"):
        yield f"{signal}: default action", (signal, "default"), {}
    for which in ("segv", "term"):
        yield f"{which} raised in a thread", ("thread", which), {}
    yield "a thread that outlives main", ("thread", "outlive"), {"kept": 0.07}
    yield "detached threads alive at exit", ("thread", "detached"), {"kept": None}
    yield "a C11 thread", ("thread", "c11"), {"kept": 0.07}
    yield "pthread_kill", ("thread", "killed"), {}
    for kind in ("execv", "execve", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat"):
        yield f"a chain of {kind}", ("exec", kind, "10"), {"LEFT": "here"}
    yield "failing execs", ("failing", "50"), {}
    yield "a handler that exits during an exec", ("exec_and_alarm",), {}
    yield "forks of three threads", ("fork_storm", "20"), {}
    yield "forks in a signal handler", ("handler_forks", "50"), {}
    yield "_Fork and clone", ("raw_children", "20"), {}
    yield "daemons", ("daemons",), {}
    yield "vfork", ("vforks", "30"), {}
    yield "posix_spawn, system, popen", ("spawns", "10"), {}
    yield "threads cancelled", ("cancels", "200"), {}
    yield "destructors of threads and of the program", ("destructors",), {"kept": 0.29, **WORKED}
    yield "a region at exit", ("atexit",), {"kept": 0.08}
    yield "SIGEV_THREAD", ("notify",), {}
    yield "omp_pause_resource_all", ("pauses",), {"kept": 0.14}
    yield "an exit status", ("return", "7"), {"kept": 0.02}


cases(rows(), program)
tap.main()
