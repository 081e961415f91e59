"""What hpcrun-lite(1) and doc/reliability.md state about signals, waits, system call filters and refused programs.

Each case is a statement of both documents.  Usage: awkward_facts.py"""
import os
import shutil
import signal
import struct
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from alone_and_measured import built, check
from measured import Measurement, tap

program = built("awkward_facts.c", "clang", name="awkward_facts")
CPU, WALL = "task-clock@f5000", "wall@f5000"


def fact(directory, event, *arguments):
    """Runs a fact measured; returns its output."""
    run = Measurement(directory, program(), *arguments, options=("-e", event, "-p", "off"))
    assert run.done.returncode == 0, run.done
    return run.done.stdout.strip()


def alone(*arguments):
    done = tap.run(program(), *arguments)
    if done.returncode == 77:
        raise tap.Skip(f"the kernel has no {arguments[-1]}")
    assert done.returncode == 0, done
    return done.stdout.strip()


# ---- seccomp ----


@tap.case
def measuring_ends_before_a_filter_by_libc(directory):
    for number, how in enumerate((("prctl",), ("prctl", "kill"), ("syscall",), ("syscall", "kill"))):
        check(directory, number, program(), "filter", *how, kept=0.09, said="seccomp")


@tap.case
def a_filter_by_inline_assembler_goes_unnoticed(directory):
    check(directory, 0, program(), "filter", "inline", said="not armed")
    run = Measurement(directory, program(), "filter", "inline", "kill", options=("-e", CPU, "-p", "off"))
    assert run.done.returncode == -signal.SIGSYS, run.done


# ---- SIGURG ----


@tap.case
def sigurg_is_handled_blocked_and_awaited_as_alone(directory):
    for how in ("handler", "blocked", "sigwait", "sigwaitinfo", "sigtimedwait"):
        expected = alone("urgent", how)
        for event in (WALL,) if how == "handler" else (CPU, WALL):  # a sample of CPU time may end the poll, too
            same = fact(directory, event, "urgent", how) == expected
            if event is WALL:  # the kernel merges it with a sample of elapsed time that is pending at that moment
                tap.timed(same, (how, event))
            assert same, (how, event)
    # with samples of elapsed time it may merge with one
    assert fact(directory, CPU, "urgent", "syscall") == alone("urgent", "syscall") == "syscall delivers SIGURG"


@tap.case
def signalfd_does_not_deliver_sigurg(directory):
    assert alone("urgent", "signalfd") == "signalfd delivers SIGURG"
    for event in (CPU, WALL):
        assert fact(directory, event, "urgent", "signalfd") == "signalfd does not deliver SIGURG", event


# ---- interrupted waits ----


@tap.case
def no_sample_cuts_these_waits_short(directory):
    for how in ("nanosleep", "nanosleep-syscall", "thrd_sleep", "aio_suspend", "io_getevents-syscall"):
        assert alone("sleep", how) == f"{how} whole"
        for event in (CPU, WALL):
            assert fact(directory, event, "sleep", how) == f"{how} whole", (how, event)


@tap.case
def samples_of_elapsed_time_cut_waits_by_inline_assembler_short(directory):
    for how in ("nanosleep-inline", "io_getevents-inline"):
        assert alone("sleep", how) == f"{how} whole"
        assert fact(directory, WALL, "sleep", how) == f"{how} cut short, EINTR", how


@tap.case
def samples_of_elapsed_time_cut_io_uring_enter_short(directory):
    assert alone("sleep", "io_uring_enter-syscall") == "io_uring_enter-syscall whole"
    assert fact(directory, WALL, "sleep", "io_uring_enter-syscall") == "io_uring_enter-syscall cut short, EINTR"


# ---- what counts as blocked ----

INTERRUPTED = ("nanosleep", "nanosleep-syscall", "futex-syscall", "io_getevents-syscall", "thrd_sleep", "poll",
               "sem_wait",
               "aio_suspend", "read-limited")
CONTINUED = ("waitpid", "pthread_cond_timedwait", "cnd_timedwait", "pthread_barrier_wait")
OTHERS = ("nanosleep-inline", "wait", "wait4", "mq_receive", "flock", "read", "write", "system")
LOCKS = ("pthread_mutex_lock", "pthread_mutex_timedlock")


def sleeper(directory, how, event):
    """The row of the thread that sleeps for 0.1 s, or for what is left of it when it begins."""
    run = Measurement(directory, program(), "blocked", how, options=("-e", event, "-p", "off"))
    if run.done.returncode == 77:
        return None
    assert (run.done.returncode, run.done.stdout) == (0, "done\n"), run.done
    return run.threads()[0]


@tap.case
def blocked_calls_with_cpu_time(directory):
    for how in INTERRUPTED + CONTINUED:
        row = sleeper(directory, how, "task-clock@f1000")
        tap.timed(0.04 < float(row["blocked_s"]) < 0.6, how, row)
        tap.timed(float(row["work_s"]) < 0.06, how, row)
    for how in LOCKS:
        row = sleeper(directory, how, "task-clock@f1000")
        tap.timed(0.04 < float(row["lockwait_s"]) < 0.6 and float(row["blocked_s"]) < 0.04, how, row)
    for how in OTHERS:
        row = sleeper(directory, how, "task-clock@f1000")
        # not intercepted, but the kernel tells that the thread neither ran nor was ready
        tap.timed(row is None or 0.04 < float(row["blocked_s"]) < 0.6, how, row)


@tap.case
def a_sleep_is_work_of_its_context_with_elapsed_time(directory):
    for how in ("nanosleep", "nanosleep-syscall", "thrd_sleep"):
        row = sleeper(directory, how, "wall@f1000")
        tap.timed(float(row["work_s"]) > 0.1 and float(row["blocked_s"]) > 0.09, how, row)
    row = sleeper(directory, "pthread_cond_timedwait", "wall@f1000")
    tap.timed(float(row["work_s"]) > 0.1 and float(row["blocked_s"]) < 0.01, row)


# ---- ends and programs that are not seen ----


@tap.case
def an_exit_by_inline_assembler_leaves_the_files_of_a_killed_process(directory):
    run = Measurement(directory, program(), "exit", options=("-e", CPU, "-p", "off"))
    assert (run.done.returncode, run.done.stdout) == (3, "done\n"), run.done
    assert any(name.endswith(".live") for name in os.listdir(run.output)), os.listdir(run.output)
    row, = run.threads()
    tap.timed(float(row["work_s"]) > 0.15, row)


def program_of_32_bits(path):
    """A static program for i386 that ends with status 7."""
    code, base, headers = b"\xb8\x01\0\0\0\xbb\x07\0\0\0\xcd\x80", 0x08048000, 52 + 32
    size = headers + len(code)
    header = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + headers, 52, 0, 0, 52, 32, 1,
                                                       40, 0, 0)
    with open(path, "wb") as file:
        file.write(header + struct.pack("<8I", 1, 0, base, base, size, size, 5, 4096) + code)
    os.chmod(path, 0o755)
    return path


@tap.case
def programs_of_32_bits_are_refused_and_run_unmeasured_as_children(directory):
    path = program_of_32_bits(os.path.join(directory, "small"))
    refused = tap.run(tap.LAUNCHER, path, cwd=directory)
    assert refused.returncode == 125 and "32-bit" in refused.stderr, refused
    try:
        if tap.run(path).returncode != 7:
            raise tap.Skip("no 32-bit programs here")
    except OSError as error:
        raise tap.Skip("no 32-bit programs here") from error
    run = Measurement(directory, "/bin/sh", "-c", f"{path}; echo $?")
    assert (run.done.returncode, run.done.stdout) == (0, "7\n"), run.done


@tap.case
def setuid_programs_are_refused_only_where_they_gain_privileges(directory):
    tap.need_root()
    path = os.path.join(directory, "setuid")
    shutil.copy(program(), path)
    os.chmod(path, 0o4755)
    os.chmod(directory, 0o755)
    output = os.path.join(directory, "as_nobody")
    os.mkdir(output)
    os.chown(output, 65534, 65534)
    refused = tap.run(*tap.OTHER_USER, tap.other_users_launcher(), "-o", os.path.join(output, "m"), path, "urgent",
                      "blocked", cwd=output)
    assert refused.returncode == 125 and "setuid" in refused.stderr, refused
    own = Measurement(directory, path, "urgent", "blocked")
    assert own.done.returncode == 0 and "1 thread" in own.done.stderr, own.done


tap.main()
