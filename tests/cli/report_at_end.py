#!/usr/bin/env python3
"""hpcrun-lite --report: the summary when the program has ended; the program is launched as without the option."""
import contextlib
import fcntl
import glob
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from tap import LAUNCHER, REPORT, case, children, environment, main, must, run, start, wait_until


def launch(directory, *arguments, **how):
    return run(LAUNCHER, "--report", *arguments, cwd=directory, **how)


def measurements(directory):
    """The files of all measurements by their directories, without those of the launcher and of reports."""
    return {name: [file for file in os.listdir(os.path.join(directory, name)) if file not in ("launch", "debug-data")]
            for name in os.listdir(directory) if name.endswith("-measurements")}


@case
def the_summary_is_printed_on_standard_error(directory):
    done = launch(directory, "sh", "-c", "echo out; echo err >&2; exit 7")
    report = must(REPORT, "hpcrun-lite-sh-measurements", cwd=directory)
    assert done.stdout == "out\n" and done.returncode == 7, done
    first, line, *rest, last = done.stderr.splitlines(keepends=True)
    page = "hpcrun-lite-sh-measurements.html"
    assert last == f"hpcrun-lite: the whole report for a browser: {page}\n", done.stderr
    assert os.path.getsize(os.path.join(directory, page)) > 10000
    assert first == "err\n" and "hpcrun-lite-sh-measurements" in line and " sample" in line, done.stderr
    assert "".join(rest) == report and "1 process on" in report, done.stderr
    # neither the launcher nor hpcprof-lite is measured
    assert [len(files) for files in measurements(directory).values()] == [1], measurements(directory)


@case
def quiet_leaves_only_the_report(directory):
    done = launch(directory, "-q", "-o", "flat", "true")  # the name of a view
    assert done.stderr == must(REPORT, "-q", "./flat", cwd=directory).replace("./flat", "flat"), done.stderr
    done = launch(directory, "-q", "-o", "topdown", "--scaling", "1,2", "true")
    assert done.returncode == 0 and "is a view" not in done.stderr, done
    assert os.path.getsize(os.path.join(directory, "topdown.html")) > 10000, done
    elsewhere = os.path.join(directory, "elsewhere")
    os.mkdir(elsewhere)
    done = launch(elsewhere, "-q", "-o", os.path.join(directory, "run"), "true")
    assert done.returncode == 0 and "1 process on" in done.stderr, done


@case
def status_and_signal_are_those_of_the_program(directory):
    for status in (0, 1, 125, 126, 127, 255):
        done = launch(directory, "-q", "sh", "-c", f"exit {status}")
        assert done.returncode == status and "1 process on" in done.stderr, done
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGABRT, signal.SIGUSR1, signal.SIGKILL):
        busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"  # before its first sample nothing is measured
        done = launch(directory, "-q", "sh", "-c", f"{busy}; kill -{int(number)} $$")
        assert done.returncode == -number and "1 process on" in done.stderr, done


@case
def a_program_that_is_not_run_has_no_report(directory):
    plain = os.path.join(directory, "plain")
    with open(plain, "w", encoding="ascii"):
        os.chmod(plain, 0o644)
    for command, status in (("./nosuch", 127), ("./plain", 126)):
        done = launch(directory, command)
        assert done.returncode == status and done.stderr.count("\n") == 1, done
    busy = shutil.copy(shutil.which("true"), os.path.join(directory, "busy"))
    with open(busy, "r+b"):  # only the kernel refuses a file that is open for writing
        done = launch(directory, "./busy")
    assert done.returncode == 126 and done.stderr == "hpcrun-lite: cannot run './busy': Text file busy\n", done


@case
def signals_reach_the_program(directory):
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR2, signal.SIGRTMIN + 3):
        code = "import os, signal, sys, time\n" \
               f"signal.signal({int(number)}, lambda *_: sys.exit(42))\nopen('ready', 'w').close()\n" \
               "while True: time.sleep(0.01)"
        process = start(LAUNCHER, "--report", "-q", "--overwrite", "-o", "run", sys.executable, "-c", code,
                        cwd=directory)
        ready = os.path.join(directory, "ready")
        wait_until(lambda: os.path.exists(ready), "the program runs")
        os.kill(process.pid, number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 42 and "1 process on" in said, (number, process.returncode, said)
        os.remove(ready)


def state_of_signals(text):
    return re.findall(r"^Sig(?:Blk|Ign|Cgt):.*", text, re.M)


@case
def the_program_starts_as_without_the_option(directory):
    script = "import signal, subprocess, sys\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n" \
             "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, [10])\n" \
             "import os; os.execv(sys.argv[1], sys.argv[1:])"
    command = ("-q", "sh", "-c", "cat /proc/self/status; exit 9")
    plain, with_report = (run(sys.executable, "-c", script, LAUNCHER, *options, *command, cwd=directory)
                          for options in ((), ("--report",)))
    assert plain.returncode == with_report.returncode == 9, with_report
    assert re.search("process(es)? on ", with_report.stderr), with_report
    found = state_of_signals(with_report.stdout)
    assert len(found) == 3 and found == state_of_signals(plain.stdout), (found, plain.stdout)
    files = [launched.stdout.split() for launched in (
        run(LAUNCHER, *options, "-q", "ls", "/proc/self/fd", cwd=directory) for options in ((), ("--report",)))]
    assert files[0] == files[1], files


def measured_signals(directory, act, *prefix):
    """How often a program gets SIGTERM while `act` is done with what has started it."""
    code = "import os, signal, sys, time\ncount = [0]\n" \
           "def term(*_): count[0] += 1\nsignal.signal(signal.SIGTERM, term)\n" \
           "open('ready', 'w').close()\nend = time.monotonic() + 1\n" \
           "while time.monotonic() < end: sum(range(100))\n" \
           "print(count[0])"
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(directory, "ready"))
    process = start(*prefix, sys.executable, "-c", code, cwd=directory)
    wait_until(lambda: os.path.exists(os.path.join(directory, "ready")), "the program runs")
    act(process.pid)
    output, _ = process.communicate(timeout=60)
    return int(output)


@case
def a_signal_to_the_group_comes_once(directory):
    launcher = (LAUNCHER, "--report", "-q", "--overwrite", "-o", "run")

    def to_group(pid):
        os.killpg(pid, signal.SIGTERM)

    def as_timeout(pid):
        os.kill(pid, signal.SIGTERM)
        os.killpg(pid, signal.SIGTERM)

    def twice(pid):
        for _ in range(2):
            os.kill(pid, signal.SIGTERM)
            time.sleep(0.2)

    def both(pid):
        to_group(pid)
        time.sleep(0.2)
        twice(pid)

    for act, count in ((to_group, 1), (as_timeout, 1), (twice, 2), (both, 3)):
        found = measured_signals(directory, act, *launcher)
        assert found == count, (act.__name__, found)


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


@case
def stopping_and_continuing_reach_the_program(directory):
    """The launcher is a job of this process, as of a shell."""
    command = ("sh", "-c", "echo $$ >pid; i=0; while [ ! -e go ]; do i=$((i+1)); done; exit 6")
    for number, stops in ((signal.SIGTSTP, "launcher"), (signal.SIGTSTP, "group"), (signal.SIGSTOP, "program")):
        for name in ("pid", "go"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(directory, name))
        process = subprocess.Popen((LAUNCHER, "--report", "-q", "--overwrite", "-o", "run", *command), cwd=directory,
                                   process_group=0, stderr=subprocess.PIPE, env=environment())
        path = os.path.join(directory, "pid")
        wait_until(lambda: os.path.exists(path) and os.path.getsize(path), "the program runs")
        with open(path, encoding="ascii") as file:
            program = int(file.read())
        for _ in range(2):
            if stops == "group":
                os.killpg(process.pid, number)
            else:
                os.kill(process.pid if stops == "launcher" else program, number)
            wait_until(lambda: state(program) == "T" and state(process.pid) == "T", f"{stops}: both are stopped")
            os.kill(process.pid, signal.SIGCONT)
            wait_until(lambda: state(program) != "T" and state(process.pid) != "T", f"{stops}: both are continued")
        with open(os.path.join(directory, "go"), "w", encoding="ascii"):
            _, said = process.communicate(timeout=60)
        assert process.returncode == 6 and b"1 process on" in said, (process.returncode, said)


@case
def a_child_that_ends_at_once_keeps_its_status(directory):
    code = "import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n" \
           "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\nos.execv(sys.argv[1], sys.argv[1:])"
    plain = os.path.join(directory, "plain")
    with open(plain, "w", encoding="ascii"):
        os.chmod(plain, 0o755)
    for _ in range(20):
        done = run(sys.executable, "-c", code, LAUNCHER, "--report", "-q", "--overwrite", "-o", "run", "sh", "-c",
                   "exit 9", cwd=directory)
        assert done.returncode == 9, done


@case
def nothing_measured_is_reported_as_that(directory):
    process = start(LAUNCHER, "--report", "-q", "-e", "task-clock@f1", "sleep", "60", cwd=directory)

    def sleeps():
        for pid in children(process.pid):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="ascii") as file:
                if file.read() == "sleep\n" and state(pid) == "S" and glob.glob(os.path.join(directory, "*", "*.live")):
                    return True
        return False

    wait_until(sleeps, "the program sleeps")
    os.kill(process.pid, signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM, process
    assert said.startswith("Unreliable: nothing was sampled, because the program was killed before its first"), said


@case
def there_is_no_pager(directory):
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 90, 0, 0))
    ran = os.path.join(directory, "ran")
    process = start(LAUNCHER, "--report", "-q", "true", cwd=directory, stdout=its, stderr=its, PAGER=f"cat >{ran}")
    os.close(its)
    text = b""
    try:
        while more := os.read(ours, 4096):
            text += more
    except OSError:  # all have ended
        pass
    os.close(ours)
    assert process.wait(60) == 0 and b"1 process on" in text and not os.path.exists(ran), text


@case
def where_there_is_nothing_to_report_it_is_refused(directory):
    for option in ("--env", "--diagnose"):
        done = launch(directory, option, "true")
        assert done.returncode == 125 and f"option --report needs a run: {option} runs nothing" in done.stderr, done
    for size in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"):
        done = launch(directory, "touch", "ran", **{size: "2"})
        assert done.returncode == 125 and "one of several ranks" in done.stderr and done.stderr.count("\n") == 1, done
        assert not os.path.exists(os.path.join(directory, "ran")) and not measurements(directory)
    assert launch(directory, "-q", "true", SLURM_STEP_NUM_TASKS="1").returncode == 0


main()
