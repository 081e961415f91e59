"""Processes that keep processors busy, so that a program on the same ones misses them whatever else the machine does."""
import contextlib
import os
import subprocess
import sys

import tap

CPUS = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))[-2:]]
ONE, TWO = ("taskset", "-c", CPUS[-1]), ("taskset", "-c", ",".join(CPUS))
UNLOCKED = ("bash", "-c", 'ulimit -l 0 && exec "$@"', "bash")  # no memory for records of switches


def need_two_processors():
    if len(CPUS) < 2:
        raise tap.Skip("one processor: a thread that spins there yields it, and no thread waits while it has it")


@contextlib.contextmanager
def busy_processes(count, where=TWO):
    """Processes that use processors of the program meanwhile."""
    processes = [subprocess.Popen([*where, sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
