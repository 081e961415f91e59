#!/usr/bin/env python3
"""The live view: what is on the screen while a program runs, its keys, and the terminal afterwards."""
import contextlib
import glob
import os
import pty
import re
import shutil
import signal
import sys
import termios
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import build, preload_library
from report import rows
from screen_model import Terminal
from tap import BUILD, GOLDEN, LAUNCHER, REPORT, case, main, must, run, start, timed, wait_until

SYNTHESIZE = os.path.join(BUILD, "tests", "synthesize")
BAR = r"[WoL.bct]+"


def live(directory, *options, **how):
    return Terminal(REPORT, "--live", *options, directory, **how)


class Followed:
    """A program that runs until it is asked to end, measured into directory/run."""

    def __init__(self, directory, threads=4, *, go=True, **settings):
        self.directory, self.run = directory, os.path.join(directory, "run")
        self.settings = {"OMP_NUM_THREADS": str(threads), **settings}
        self.child = None
        if go:
            self.begin()

    def begin(self):
        program = build("followed.c", "gcc")
        self.child = start(LAUNCHER, "-q", "-o", self.run, program, self.directory, cwd=self.directory,
                           **self.settings)

    def tell(self, name):
        with open(os.path.join(self.directory, name), "w", encoding="ascii"):
            pass

    def end(self):
        self.tell("second")
        self.tell("end")
        assert self.child.wait(60) == 7


def figures(text, name):
    """The numbers of a row."""
    line = next(line for line in text.splitlines() if re.search(rf"^ *[-\d][-.\d ]* {re.escape(name)}$", line))
    return [0.0 if word == "-" else float(word) for word in line[:-len(name)].split()]


def part_of_core_wait(directory):
    threads = rows("threads", directory)
    return sum(float(row["core_wait_s"]) for row in threads) / sum(float(row["wall_s"]) for row in threads)


@case
def a_running_program_is_followed_to_its_end(directory):
    followed = Followed(directory)
    screen = live(followed.run)
    text = screen.see("running", "Last interval:", "Whole run:", "first", "1 process, 4 threads", "[1 Summary]")
    assert re.search(rf"^{BAR}$", text, re.M) and "W work" in text, text
    assert re.search(r"main > .*first$", text, re.M), text
    followed.tell("second")
    screen.press("2")
    text = screen.wait(lambda text: " second" in text and "first" in text and figures(text, "first")[0] == 0
                       and figures(text, "second")[0] > 0, "an interval of the second phase only")
    assert "[2 Functions]" in text and figures(text, "first")[2] > 0, text
    assert text.index(" second") < text.index(" first"), text
    screen.press("3")
    text = screen.see("[3 Contexts]", "parallel @ followed.c:")
    assert re.search(r" main$", text, re.M) and re.search(r"^ .*   +second$", text, re.M), text
    screen.press("t")
    text = screen.see("[4 Threads]", "Last, s")
    assert len(re.findall(rf"^ +\d+( +\d+\.\d+){{4}} {BAR}$", text, re.M)) == 4, text
    followed.end()
    text = screen.see("ended", "Run, s")
    threads = {row["thread"]: row for row in rows("threads", followed.run)}
    for line in re.findall(rf"^ +(\d+) +(\S+) +(\S+) +(\S+) +(\S+) {BAR}$", text, re.M):
        row = threads.pop(line[0])
        for value, column in zip(line[1:], ("work_s", "overhead_s", "lockwait_s", "idle_s")):
            assert f"{float(row[column]):.3f}" == value, (line, row)
    assert not threads, threads
    screen.press("1")
    text = screen.see("[1 Summary]", "ended", "Whole run:")
    whole = {row["item"]: row["value"] for row in rows("summary", followed.run) if row["section"] == "kernel"}
    line = f"page faults {whole['page faults']}, switches {whole['context switches']}, threads created 3"
    assert whole["threads created"] == "3" and line in text.split("Whole run:")[1], (whole, text)
    screen.press("2")
    text = screen.see("[2 Functions]", "ended")
    for row in rows("flat", followed.run):
        own = float(row["work_excl_s"]) + float(row["overhead_excl_s"])
        if own and row["kind"] != "root":
            assert abs(figures(text, row["name"])[-2] - own) < 0.00051, (row, text)
    before = screen.bytes
    time.sleep(2.5)
    screen.read()
    assert screen.bytes == before, "nothing has changed, and nothing is drawn"
    assert screen.end() == 0


@case
def waiting_for_a_core_is_shown_while_the_program_runs(directory):
    threads = 4 * len(os.sched_getaffinity(0))
    followed = Followed(directory, threads, BUSY="1")
    screen = live(followed.run, "threads", columns=120)
    text = screen.see("[4 Threads]", "Core")
    wait_until(lambda: part_of_core_wait(followed.run) > 0.25, "waiting for a core")
    text = screen.wait(lambda text: re.search(r"^ +1( +\d+\.\d+){5} +0\.[1-9]", text, re.M), "the column Core")
    assert "c" in re.search(r" (\S+)$", re.search(r"^ +1 +\d.*$", text, re.M)[0])[1], text
    screen.press("1")
    screen.see("[1 Summary]", "Unreliable: threads had no core for ")
    screen.end()
    followed.end()


@case
def keys_freeze_scroll_sort_and_explain(directory):
    followed = Followed(directory, threads=64)
    screen = live(followed.run, "threads")
    text = screen.see("[4 Threads]", "64 threads", "1-19 of 64", "Last, s")
    assert re.search(r"^ +1 .*\n +2 ", text, re.M), text
    screen.press("\033[6~")
    assert re.search(r"^ +19 ", screen.see("19-37 of 64"), re.M)
    screen.press("\033[B\033[B\033[A")
    screen.see("20-38 of 64")
    screen.press("\033[F")
    assert re.search(r"^ +64 ", screen.see("46-64 of 64"), re.M)
    screen.press("\033[5~")
    screen.see("28-46 of 64")
    screen.press("\033[H")
    screen.see("1-19 of 64")
    screen.press("r")
    screen.see("Run, s", "r: by whole run")
    screen.press(" ")
    frozen = screen.see("frozen")
    time.sleep(2.2)
    screen.read(0.2)
    assert screen.screen.text() == frozen, screen.screen.text()
    screen.press(" ")
    screen.wait(lambda text: "frozen" not in text and text.splitlines()[0] != frozen.splitlines()[0].split(",")[0])
    screen.press("\033[6~\033[B")
    screen.see("20-38 of 64")
    screen.press("?")
    assert "PageUp" in screen.see("quit", "help")
    screen.press("\033[B?")
    screen.see("20-38 of 64")
    screen.press("+")
    screen.wait(lambda text: re.search(r"every ([2-9]|\d\d+)", text.splitlines()[0]), "a longer interval")
    screen.resize(80, 60)
    screen.press("1")
    text = screen.see("[1 Summary]", " more: key 4", "\nq quit")  # all fits, and there is no room for many more
    assert 24 < len(re.findall(rf"^ +\d+( +\d+\.\d+){{4}} {BAR}$", text, re.M)) < 50, text
    assert screen.end() == 0
    followed.end()


@case
def a_filter_of_the_measurement_is_named(_):
    screen = live(os.path.join(GOLDEN, "filtered"))
    screen.see("ended", "filtered (functions")
    assert screen.end() == 0


@case
def no_line_is_wider_than_the_terminal(directory):
    followed = Followed(directory)
    screen = live(followed.run, columns=40, rows=12)
    screen.see("running", "[1 Summary]  2")
    for columns, lines in ((40, 12), (250, 60), (97, 8), (60, 24), (30, 5), (61, 30), (80, 24)):
        screen.resize(columns, lines)
        for key in "1234?":
            screen.press(key)
            screen.see(f"[{key} " if key != "?" else "Keys")  # which fails if a line is wider
        screen.press("?1")
        screen.see("[1 Summary]")
    assert screen.end() == 0
    followed.end()


@case
def many_processes_are_one_picture(directory):
    measured = os.path.join(directory, "ranks")
    must(SYNTHESIZE, "--processes=64", "--threads=4", "--ranks", measured)
    screen = live(measured)
    text = screen.see("ended", "64 processes, 256 threads")
    screen.press("4")
    text = screen.see("1-19 of 256", "Proc:Thread")
    assert re.search(r"^ +0:1 ", text, re.M), text
    screen.press("\033[F")
    text = screen.see("238-256 of 256")
    assert re.search(r"^ +63:4 ", text, re.M), text
    threads = rows("threads", measured)
    last = threads[-1]
    assert f"{float(last['work_s']):.3f}" == re.search(r"^ +63:4 +(\S+)", text, re.M)[1], (text, last)
    assert screen.end() == 0


@case
def keys_are_obeyed_while_a_reading_lasts(directory):
    """Each file takes 30 ms to open, so that a reading lasts 4.5 s and costs little CPU time."""
    measured = os.path.join(directory, "ranks")
    must(SYNTHESIZE, "--processes=150", "--threads=1", "--contexts=20", "--ranks", measured)
    log = os.path.join(directory, "opened")
    screen = live(measured, LD_PRELOAD=preload_library("slow_open.c"), OPENED=log)
    screen.see("[1 Summary]", "150 processes")
    first = os.path.getsize(log)
    assert first >= 150, first
    os.utime(glob.glob(measured + "/*")[0])
    wait_until(lambda: os.path.getsize(log) > first, "the next reading")
    screen.press("4")
    screen.see("[4 Threads]", "1-19 of 150")
    screen.press("3")
    screen.see("[3 Contexts]")
    timed(os.path.getsize(log) < 2 * first - 20, "keys were obeyed after the reading")
    begin = time.monotonic()
    assert screen.end() == 0
    timed(time.monotonic() - begin < 2, "the reading was not ended by q")


@case
def colours_are_those_of_the_summary_or_none(directory):
    must(SYNTHESIZE, "--processes=2", "--threads=4", os.path.join(directory, "run"))
    for settings, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        screen = live(os.path.join(directory, "run"), **settings)
        screen.see("Whole run:")
        assert screen.screen.coloured == coloured, settings
        assert screen.end() == 0


@case
def the_terminal_is_given_back_whatever_ends_the_view(directory):
    must(SYNTHESIZE, "--processes=1", "--threads=2", os.path.join(directory, "run"))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT):
        screen = live(os.path.join(directory, "run"), limits={"CORE": 0})
        screen.see("ended")
        assert screen.screen.alternate and screen.screen.hidden
        screen.child.send_signal(number)
        assert screen.end("") == -number, number


@case
def a_stopped_view_gives_the_terminal_back_meanwhile(directory):
    must(SYNTHESIZE, "--processes=1", "--threads=2", os.path.join(directory, "run"))
    screen = live(os.path.join(directory, "run"))
    picture = screen.see("ended")
    screen.child.send_signal(signal.SIGTSTP)
    wait_until(lambda: screen.read(0.05) or not screen.screen.alternate, "the ordinary screen")
    wait_until(lambda: screen.read(0.05) or not screen.screen.alternate, "the ordinary screen")
    assert not screen.screen.hidden
    screen.child.send_signal(signal.SIGCONT)
    screen.wait(lambda text: screen.screen.alternate and text == picture, "the picture again")
    assert screen.end() == 0


def job_control(directory):
    """A shell that stops the view, goes on with it in the background, where it stays stopped, and in the foreground."""
    def modes():
        return bool(termios.tcgetattr(0)[3] & termios.ICANON)

    def stopped():
        return os.WIFSTOPPED(os.waitpid(view, os.WUNTRACED)[1])

    signal.alarm(60)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    view = os.fork()
    if view == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.alarm(0)
        os.execve(REPORT, [REPORT, "--live", directory], {**os.environ, "TERM": "xterm"})
    wait_until(lambda: not modes(), "the view")
    os.kill(view, signal.SIGTSTP)
    assert stopped() and modes()
    os.tcsetpgrp(0, os.getpgrp())
    os.kill(view, signal.SIGCONT)
    assert stopped() and modes()
    os.tcsetpgrp(0, view)
    os.kill(view, signal.SIGCONT)
    wait_until(lambda: not modes(), "the view again")
    os.kill(view, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(view, 0)[1]) == -signal.SIGTERM
    assert modes()


@case
def in_the_background_the_view_stays_stopped(directory):
    run_directory = os.path.join(directory, "run")
    must(SYNTHESIZE, "--processes=1", "--threads=2", run_directory)
    shell, terminal = pty.fork()
    if shell == 0:
        status = 1
        try:
            job_control(run_directory)
            status = 0
        finally:
            os._exit(status)
    with contextlib.suppress(OSError):  # at the end of the session
        while os.read(terminal, 1 << 16):
            pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1]) == 0


@case
def a_measurement_that_has_not_begun_is_waited_for(directory):
    followed = Followed(directory, go=False)
    screen = live(followed.run)
    screen.see("waiting", "Waiting: '")
    os.mkdir(followed.run)
    with open(os.path.join(followed.run, "launch"), "w", encoding="ascii") as file:
        file.write("0")
    time.sleep(1.2)
    screen.see("waiting")
    shutil.rmtree(followed.run)
    followed.begin()
    screen.see("running", "first")
    followed.end()
    screen.see("ended")
    assert screen.end() == 0


@case
def damaged_and_vanishing_files_are_said_in_a_line(directory):
    measured = os.path.join(directory, "run")
    must(SYNTHESIZE, "--processes=4", "--threads=2", measured)
    screen = live(measured)
    screen.see("4 processes, 8 threads")
    files = sorted(glob.glob(os.path.join(measured, "*.hpcrun")))
    with open(files[0], "r+b") as file:
        file.truncate(os.path.getsize(files[0]) // 2)
    text = screen.see("4 processes")
    text = screen.wait(lambda text: "problem" in text or ".hpcrun" in text, "the problem")
    os.unlink(files[1])
    screen.see("3 processes")
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    screen.see("waiting")
    assert screen.child.poll() is None and screen.end() == 0


@case
def a_process_that_is_missing_once_is_no_work_of_the_interval(directory):
    followed = Followed(directory, threads=2, BUSY="1")
    screen = live(followed.run, "flat")
    screen.wait(lambda text: " first" in text and "Last s" in text and figures(text, "first")[2] > 2, "2 s of work")
    path, = glob.glob(os.path.join(followed.run, "*.live"))
    os.rename(path, path + "-away")
    text = screen.see("1 process cannot be read again")
    assert figures(text, "first")[2] > 2, text
    os.rename(path + "-away", path)
    text = screen.wait(lambda text: "cannot be read" not in text, "the process again")
    elapsed = figures(text, "first")[2]
    timed("Last s" in text and figures(text, "first")[0] < 0.9 * elapsed, text)
    followed.end()
    assert screen.end() == 0


@case
def symbols_are_kept_between_readings(directory):
    followed = Followed(directory)
    screen = live(followed.run)
    screen.see("Last interval:", "first")

    def figures_of_view():
        with open(f"/proc/{screen.child.pid}/stat", encoding="ascii") as file:
            return [int(word) for word in file.read().rsplit(")", 1)[1].split()[1:]]

    def faults_of_children():
        """Page faults of children that were waited for: symbols are read in children."""
        return figures_of_view()[7]

    def cpu_s():
        return sum(figures_of_view()[10:14]) / os.sysconf("SC_CLK_TCK")

    assert faults_of_children() > 0
    seen = set()
    began, cpu = time.monotonic(), cpu_s()
    deadline = began + 60
    while len(seen) < 8 and time.monotonic() < deadline:
        before = faults_of_children(), screen.screen.text().splitlines()[0]
        screen.wait(lambda text: text.splitlines()[0] != before[1], "another reading")
        seen.add((before[1], faults_of_children() == before[0]))
    assert sum(same for _, same in seen) >= 5, seen  # a few find functions that were not seen before
    timed(cpu_s() - cpu < 0.02 * (time.monotonic() - began), "1 % of a core, and what the clock's ticks may add")
    assert screen.end() == 0
    followed.end()


@case
def what_cannot_be_shown_is_refused(directory):
    os.mkdir(os.path.join(directory, "run"))
    for options, said in ((("-f", "csv"), "--format"), (("-o", "x"), "--output"), (("--sort", "work"), "--sort"),
                          (("--from", "1"), "--from and --to"), (("--merge",), "--merge"), (("--lines",), "--lines"),
                          (("--scaling",), "--scaling"), (("--max-rows", "3"), "--max-rows"),
                          (("--legend",), "--legend"), (("--root", "f"), "--root"), (("-j", "2"), "-j")):
        done = run(REPORT, "--live", *options, "run", cwd=directory)
        assert done.returncode == 2 and f"--live cannot be used with {said}: " in done.stderr, done
    done = run(REPORT, "--live", "regions", "run", cwd=directory)
    assert done.returncode == 2 and "view 'regions' has no --live" in done.stderr, done
    done = run(REPORT, "--live", "run", cwd=directory)
    assert done.returncode == 2 and "standard output is no terminal" in done.stderr, done
    for settings, said in (({"TERM": "dumb"}, "cannot move its cursor"), ({"TERM": ""}, "cannot move its cursor"),
                           ({"stdin": -3}, "standard input is no terminal")):
        screen = live(os.path.join(directory, "run"), **settings)
        assert screen.end("") == 2 and said in screen.screen.plain.replace("\r\n", " "), screen.screen.plain
    screen = live(__file__)
    assert screen.end("") == 2 and "it is no directory" in screen.screen.plain, screen.screen.plain
    os.makedirs(os.path.join(directory, "series", "threads-2"))
    screen = live(os.path.join(directory, "series"))
    assert screen.end("") == 2 and "it is a series of runs" in screen.screen.plain, screen.screen.plain
    done = run(LAUNCHER, "--live", "true", cwd=directory)
    assert done.returncode == 125 and "option --live needs a terminal" in done.stderr, done
    for option in ("--env", "--diagnose"):
        done = run(LAUNCHER, "--live", option, "true", cwd=directory)
        assert done.returncode == 125 and "option --live needs a run" in done.stderr, done
    done = run(LAUNCHER, "--live", "--scaling", "1,2", "true", cwd=directory)
    assert done.returncode == 125 and "cannot be used with --scaling" in done.stderr, done


# Runs a command without pidfd_open(), as on kernels before 5.3: a seccomp filter answers ENOSYS.
WITHOUT_PIDFD = (sys.executable, "-c", """if True:
    import ctypes, os, struct, sys
    rules = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in (
        (0x20, 0, 0, 0), (0x15, 0, 1, 434), (0x06, 0, 0, 0x50026), (0x06, 0, 0, 0x7fff0000))))
    filter = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(rules)))
    call = ctypes.CDLL(None).prctl
    assert call(38, 1, 0, 0, 0) == 0 and call(22, 2, filter) == 0
    os.execv(sys.argv[1], sys.argv[1:])""")


def launch(directory, *options, wrapper=(), **how):
    return Terminal(*wrapper, LAUNCHER, "--live", *options, build("followed.c", "gcc"), directory, "read", cwd=directory,
                    OMP_NUM_THREADS="2", **how)


@case
def a_launched_program_prints_after_the_view(directory):
    output = os.path.join(directory, "run.output")
    screen = launch(directory, "-q", "-o", "run")
    screen.see("running", "first", "Last interval:")
    assert "begins" in open(output, encoding="utf-8").read() and not screen.screen.plain
    for name in ("second", "end"):
        open(os.path.join(directory, name), "w", encoding="ascii").close()
    screen.see("ended")
    assert screen.child.poll() is None and not screen.screen.plain
    assert screen.end() == 7
    said = screen.screen.plain.replace("\r\n", "\n")
    assert said.startswith("begins\nsecond phase\nends with empty input\n"), said
    assert not os.path.exists(output)


@case
def the_report_follows_the_view(directory):
    screen = launch(directory, "-q", "--report", "-o", "run")
    screen.see("running", "first")
    for name in ("second", "end"):
        open(os.path.join(directory, name), "w", encoding="ascii").close()
    screen.see("ended")
    assert screen.child.poll() is None and "1 process on" not in screen.screen.plain, screen.screen.plain
    assert screen.end() == 7
    said = screen.screen.plain.replace("\r\n", "\n")
    assert said.index("ends with empty input\n") < said.index("1 process on ") < said.index("\nnext: "), said
    assert os.path.getsize(os.path.join(directory, "run.html")) > 10000


@case
def output_that_is_redirected_is_left_alone(directory):
    with open(os.path.join(directory, "out"), "w", encoding="utf-8") as file:
        screen = launch(directory, "-q", "-o", "run", stdout=file)
    screen.see("running", "first")
    assert open(os.path.join(directory, "out"), encoding="utf-8").read() == "begins\n"
    screen.press("q")  # what comes after that is shown at once
    open(os.path.join(directory, "second"), "w", encoding="ascii").close()
    wait_until(lambda: screen.read(0.05) and False or "second phase" in screen.screen.plain, "the output")
    assert not screen.screen.alternate and screen.child.poll() is None
    open(os.path.join(directory, "end"), "w", encoding="ascii").close()
    assert screen.end("") == 7
    assert open(os.path.join(directory, "out"), encoding="utf-8").read() == "begins\nends with empty input\n"


@case
def a_signal_ends_program_and_view(directory):
    for number, wrapper in ((signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGTERM, WITHOUT_PIDFD)):
        screen = launch(directory, "-q", "--overwrite", "-o", "run", wrapper=wrapper)
        screen.see("running", "first")
        if number == signal.SIGINT:
            os.killpg(screen.child.pid, number)  # as a terminal does
        else:
            screen.child.send_signal(number)
        assert screen.end("") == -number
        assert "begins" in screen.screen.plain and not os.path.exists(os.path.join(directory, "run.output"))


@case
def a_program_that_is_not_run_needs_no_key(directory):
    screen = Terminal(LAUNCHER, "--live", "-q", "-o", "run", "./absent", cwd=directory)
    assert screen.end("") == 127 and "cannot run './absent'" in screen.screen.plain, screen.screen.plain
    done = run(LAUNCHER, "--live", "true", cwd=directory, OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="0")
    assert done.returncode == 125, done


main()
