"""hpcrun-lite --control: commands to programs that sleep."""
import contextlib
import glob
import os
import re
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Running, control, control_id, controlled, cpu_of, send_control_signal, write
from tap import LAUNCHER, case, children, main, need_program, start, wait_until


def is_held(pid):
    """The process sleeps with SIGURG blocked."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as file:
        status = file.read()
        blocked = int(re.search(r"SigBlk:\s*(\w+)", status)[1], 16)
        return re.search(r"State:\s*S", status) and blocked >> (signal.SIGURG - 1) & 1
    return False


def wake(pid):
    """The program works from then on, for so long that it would have 50 samples (task-clock@f500)."""
    before = cpu_of(pid)
    os.kill(pid, signal.SIGUSR1)
    wait_until(lambda: cpu_of(pid) > before + 0.1, "work")


@case
def a_command_takes_effect_when_the_program_wakes(directory):
    need_program("dash") # waits in sigsuspend()
    output, program = os.path.join(directory, "calls"), controlled()
    calls = ("poll", "select", "nanosleep", "pause", "sigsuspend")
    shell = start(LAUNCHER, "-o", output, "-e", "task-clock@f500", "dash", "-c",
                  "".join(f"{program} asleep {call} & " for call in calls) + "wait",
                  OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
    sleepers = wait_until(lambda: len(children(shell.pid)) == len(calls) and children(shell.pid), "the programs")
    wait_until(lambda: all(map(is_held, [shell.pid, *sleepers])), "all sleep")
    for command, answer in (("stop", "; the command takes effect when it wakes"),
                            ("status", ", 1 thread; 'stop' takes effect when it wakes"),
                            ("flush", "; what it has recorded can be read, work and span as of its last flush")):
        done = control(output, command)
        assert done.returncode == 0 and done.stderr == "", done
        assert sorted(done.stdout.splitlines()) == sorted(f"process {pid}: asleep in a system call{answer}"
                                                          for pid in [shell.pid, *sleepers]), (command, done)
    for pid in sleepers:
        wake(pid)
        done = control(pid, "status")
        assert re.match(r"process \d+: paused for .*, \d samples", done.stdout), done # some from before it slept
        assert control(pid, "start").stdout.endswith(": running\n")
        os.kill(pid, signal.SIGTERM)
    text, errors = shell.communicate(timeout=60)
    assert shell.returncode == 0, (shell.returncode, errors)
    assert sorted(text.splitlines()) == sorted([f"{call}: interrupted 1" for call in calls] + ["SIGURG 0"] * len(calls))
    assert not glob.glob(os.path.join(output, "control-*")), os.listdir(output)


@case
def a_command_replaces_one_that_waits(directory):
    program = Running(directory, "asleep")
    wait_until(lambda: is_held(program.pid), "it sleeps")
    asleep = "asleep in a system call; the command takes effect when it wakes"
    assert program.command("start") == asleep
    assert program.command("stop") == f"{asleep}, in place of 'start'"
    done = control(program.pid, "config", write(os.path.join(directory, "settings.ini"), "[measure]\nlevel = off\n"))
    assert done.returncode == 1 and "sleeps in a system call: repeat the command when it runs" in done.stderr, done
    wake(program.pid)
    status = program.status()
    assert status["state"] == "paused" and status["samples"] < 10, status
    assert program.command("start") == "running"
    program.wait_sampled()
    assert program.end() == "poll: interrupted 1\nSIGURG 0\n"


@case
def workers_hear_for_a_thread_that_sleeps(directory):
    """It follows when it wakes, also if the signal of a command that is over was pending."""
    settings = write(os.path.join(directory, "settings.ini"), "[measure]\nlevel = summary\n")
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        folder = os.path.join(directory, compiler)
        os.mkdir(folder)
        program = Running(folder, "workers", compiler=compiler, threads=3)
        wait_until(lambda: is_held(program.pid), "it sleeps")
        send_control_signal(program.pid, control_id(), program.pid)
        assert program.command("stop") == "paused"
        assert program.status()["state"] == "paused"
        assert program.command("start") == "running"
        assert program.command("config", settings) == "level summary"
        before = program.status()
        wake(program.pid)
        assert program.status()["samples"] < before["samples"] + 10, (before, program.status())
        assert program.end() == "poll: interrupted 1\nSIGURG 0\n"


if __name__ == "__main__":
    main()
