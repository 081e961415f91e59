"""What a program can see of its own process and threads: the same under measurement as alone.

Usage: awkward_traces.py [--long] [-k CASE]     (--long: every case in all settings, ten times)"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import LONG, built, cases, check
from measured import Measurement, preload_library, tap

program = built("awkward_traces.c", "gcc", name="awkward_traces", openmp=False)
runtime = built("awkward_runtime.c", "gcc", name="awkward_runtime", openmp=False)
churn = built("awkward_threads.c", "clang", name="awkward_threads")


def limits():
    for count in ("8", "16", "64"):
        yield f"{count} descriptors, all in use", ("nofile", count), {"kept": 0.11}
    yield "no more descriptors at all", ("nofile", "8"), {"said": "Too many open files", "HARD": "1"}
    for size in ("64", "200"):
        yield f"{size} MB of address space", ("as", size), {"kept": 0.08}
    yield "no files to be written", ("fsize", "0"), {"said": "not written"}
    yield "no queued signals", ("sigpending", "0"), {}
    yield "no locked memory", ("memlock", "0"), {"kept": 0.08}
    yield "few processes", ("nproc",), {"kept": 0.08}
    yield "SIGXCPU", ("cpu",), {}


def rows():
    yield "numbers of descriptors", ("list",), {"kept": 0.07}
    yield "all descriptors closed, any descriptor used", ("close",), {"kept": 0.15}
    yield from limits()
    yield "signal masks", ("masks",), {}
    yield "SIGURG of the program", ("urgents",), {}
    yield "waits for all signals", ("all",), {}
    yield "jumps out of sleeps", ("jumping",), {"kept": 0.42}
    yield "100,000 signals", ("storm", "100000"), {}
    yield "waits are not cut short", ("waiting",), {}
    yield "small alternate stacks and threads' stacks", ("small_stacks",), {}
    for size in ("16384", "12288", "8192"):
        yield f"coroutines on {size} bytes", ("coroutines", size), {"kept": 0.22}
    yield "stacks that overflow", ("overflows",), {}
    yield "floating-point flags and traps", ("floats",), {}
    yield "generated code, the red zone, gs", ("made_code",), {}
    yield "seccomp, strict", ("strict",), {"kept": 0.05, "said": "seccomp"}
    yield "seccomp that denies", ("errno",), {"kept": 0.05, "said": "seccomp"}
    yield "seccomp that kills", ("kill",), {"kept": 0.05, "said": "seccomp"}
    yield "seccomp by a raw call", ("kill",), {"kept": 0.05, "said": "seccomp", "BY_SYSCALL": "1"}
    yield "environment cleared", ("environment", "clear"), {}
    yield "children's environment", ("environment", "children"), {}
    yield "another working directory", ("environment", "chdir"), {"kept": 0.08}


cases(rows(), program)


@tap.case
def threads_by_the_thousand(directory):
    count = "100000" if LONG else "2000"
    for settings, arguments in ((0, ("churn", count)), (1, ("churn", count)), (0, ("nest", "17")), (5, ("nest", "17")),
                                (2, ("many", "1000"))):
        # 5,000 signals a second for each of 1,000 threads are more than the machine can deliver
        check(directory, settings, churn(), *arguments, always=arguments[0] == "many")


@tap.case
def threads_end_while_all_enter_a_sandbox(directory):
    for settings in range(3):
        check(directory, settings, churn(), "sandbox", "16", said="seccomp")


@tap.case
def memory_does_not_grow_with_threads(directory):
    grown = []
    for count in ("1000", "5500"):
        run = Measurement(directory, churn(), "churn", count, options=("-e", "task-clock@f5000", "-p", "online"),
                          SHOW="1")
        grown.append(int([line for line in run.done.stderr.splitlines() if line.startswith("peak")][0].split()[1]))
    print("# peaks in KB:", *grown)
    assert grown[1] - grown[0] < 450, grown  # KiB: at most 102 bytes per thread


@tap.case
def short_threads_under_a_tracer(directory):
    """A signal takes longer under a tracer than the time until a thread's first sample, which is random within a
    period."""
    tracer = ("strace", "-f", "-e", "trace=none", "-o", "/dev/null")
    tap.need_program("strace")
    if tap.run(*tracer, "true").returncode != 0:
        raise tap.Skip("strace cannot trace here")
    for mode in ("off", "online"):
        run = Measurement(directory, churn(), "churn", "300", options=("-e", "task-clock@f1000", "-p", mode),
                          prefix=tracer)
        assert (run.done.returncode, run.done.stdout) == (0, "done\n"), run.done
        assert len(run.threads()) == 301, run.done


@tap.case
def two_events_and_one_high_descriptor(directory):
    run = Measurement(directory, churn(), "churn", "20", options=("-e", "task-clock@f1000", "-e", "page-faults@100"),
                      timeout=60,
                      prefix=("sh", "-c", 'ulimit -n 901; exec "$@"', "sh"))
    assert (run.done.returncode, run.done.stdout) == (0, "done\n") and "not armed" in run.done.stderr, run.done
    assert len(run.threads()) == 21, run.done


@tap.case
def a_working_directory_that_was_removed(directory):
    gone = os.path.join(directory, "gone")
    os.mkdir(gone)
    script = f'cd {gone}; exec "$@"'
    run = Measurement(directory, program(), "environment", "chdir", prefix=("sh", "-c", script, "sh"))
    assert (run.done.returncode, run.done.stdout) == (0, "0\n"), run.done
    run.tree()


@tap.case
def a_runtime_that_insists_on_alternate_stacks(directory):
    for number, size in enumerate(("0", "32768")):
        check(directory, number, runtime(), size, kept=0.93)


@tap.case
def signals_awaited_by_system_calls(directory):
    check(directory, 1, program(), "urgents_awaited")


@tap.case
def a_child_that_is_traced(directory):
    for how in ("libc", "raw"):
        check(directory, 0, program(), "traced", how, said="ptrace")


@tap.case
def thread_local_storage_that_is_not_libcs(directory):
    check(directory, 0, program(), "other_storage")


@tap.case
def other_handlers_preloaded(directory):
    # A library like libSegFault: it installs handlers before main, also on an alternate stack.
    other = preload_library("awkward_preload.c")
    check(directory, 0, program(), "masks", LD_PRELOAD=other)
    check(directory, 1, program(), "list", LD_PRELOAD=other)


tap.main()
