#!/usr/bin/env python3
"""The pager: started for text on a terminal only, with what git gives to its own; quitting it is not an error."""
import fcntl
import os
import pty
import shlex
import signal
import struct
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from report import golden_report
from tap import BUILD, GOLDEN, REPORT, case, main, must, start, wait_until


class Terminal:
    """hpcprof-lite with a terminal as standard output, 100 columns wide."""

    def __init__(self, *arguments, columns=100, **settings):
        self.text = b""
        self.ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        settings = {"PAGER": "cat", "TERM": "xterm", **settings}
        self.child = start(REPORT, *arguments, cwd=GOLDEN, stdout=its, LC_ALL="C.UTF-8",
                           **{name: value for name, value in settings.items() if value is not None})
        os.close(its)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        try:
            while more := os.read(self.ours, 4096):
                self.text += more
        except OSError:  # the last process on this terminal has ended
            pass

    def end(self, status=0):
        """What was shown on the terminal, and what on standard error."""
        _, said = self.child.communicate(timeout=60)
        self.reader.join(10)
        os.close(self.ours)
        assert self.child.returncode == status, (self.child.returncode, said, self.text)
        return self.text.decode().replace("\r", ""), said


def program(directory, name, script):
    """An executable script; returns its path."""
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + script)
    os.chmod(path, 0o755)
    return path


def lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@case
def the_pager_gets_what_the_terminal_would(directory):
    out = os.path.join(directory, "out")
    for pager in (program(directory, "pager", f"cat >{out}\n"), f"cat >{shlex.quote(out)}"):  # with and without a shell
        for view in ("summary", "regions", "topdown", "timeline"):
            for settings in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"columns": 140}):
                name = "traced" if view == "timeline" else "constructs"
                direct, _ = Terminal("-q", view, name, **settings).end()
                shown, _ = Terminal("-q", view, name, PAGER=pager, **settings).end()
                assert shown == "" and lines(out) == direct, (view, settings)
                coloured = settings in ({}, {"columns": 140})
                assert ("\033[" in direct) == coloured or view not in ("summary", "topdown"), (view, settings, direct)


@case
def a_category_has_one_colour_in_all_views(_):
    colours = {"Work": ("34", "W"), "Ovhd": ("33", "o"), "Lock": ("35", "L"), "Idle": ("90", ".")}
    bar, timeline, threads, flat, efficiency = (
        Terminal("-q", "--no-pager", view, "traced").end()[0]
        for view in ("summary", "timeline", "threads", "flat", "efficiency"))
    for title, (code, letter) in colours.items():
        assert f"\033[{code}m{letter}\033[0m " in bar and f"\033[{code}m{title}\033[0m" in threads, (title, bar, threads)
    for title in ("Work", "Idle"):
        code, letter = colours[title]
        assert f"\033[{code}m{letter}" in timeline and f"\033[{code}m{letter}{letter}" in bar, (title, timeline)
        assert f"\033[{code}m{'work' if title == 'Work' else 'idle'} " in efficiency, efficiency
    assert "\033[90mIdle%\033[0m" in flat, flat


@case
def without_pager_less_shows_it(directory):
    out = os.path.join(directory, "out")
    program(directory, "less", f'echo "$LESS" >{out}; cat >>{out}\n')
    path = f"{directory}:{os.environ['PATH']}"
    os.environ.pop("LESS", None)
    direct, _ = Terminal("-q", "basic").end()
    os.environ.pop("PAGER", None)
    assert Terminal("-q", "basic", PAGER=None, PATH=path).end()[0] == "" and lines(out) == "FRX\n" + direct
    assert Terminal("-q", "basic", PAGER=None, PATH=path, LESS="-i").end()[0] == "" and lines(out) == "-i\n" + direct
    # where there is no less, and nobody has asked for a pager, the report appears all the same
    shown, said = Terminal("-q", "basic", PAGER=None, PATH=os.path.join(directory, "none")).end()
    assert shown == direct and said == "", said


@case
def only_text_on_a_terminal_is_paged(directory):
    ran = os.path.join(directory, "ran")
    pager = program(directory, "pager", f"cat >{ran}\n")
    direct, _ = Terminal("-q", "flat", "basic").end()
    for arguments in (("--no-pager",), ("-f", "csv"), ("-f", "json"), ("-o", os.path.join(directory, "report")),
                      ("--help",), ("--version",)):
        shown, _ = Terminal("-q", *arguments, "flat", "basic", PAGER=pager).end()
        assert not os.path.exists(ran), arguments
        assert arguments != ("--no-pager",) or shown == direct
    for command in ("", "cat"):
        assert Terminal("-q", "flat", "basic", PAGER=command).end()[0] == direct
    assert golden_report("-q", "flat", "basic", PAGER=pager).stdout and not os.path.exists(ran)
    assert "--merge" in Terminal("flat", "basic", "two", PAGER=pager).end(2)[1] and not os.path.exists(ran)
    assert Terminal("-q", "flat", "basic", PAGER=pager, columns=0).end()[0]  # as mpirun gives to ranks
    assert not os.path.exists(ran)


@case
def quitting_is_no_error(directory):
    large = os.path.join(directory, "large")
    must(os.path.join(BUILD, "tests", "synthesize"), "--threads", "2", "--contexts", "30000", large)
    all_of_it = ("-q", "topdown", "--percent-limit", "0")
    assert len(must(REPORT, *all_of_it, large)) > 1 << 18  # more than a pipe holds
    for pager in ("true", "head -1", "exit 3", program(directory, "pager", "exit 4\n")):
        assert Terminal(*all_of_it, large, PAGER=pager).end()[1] == "", pager
    _, said = Terminal("-q", "flat", "truncated", PAGER="true").end(1)  # the status stays that of the report
    assert "truncated" in said, said


@case
def a_pager_that_cannot_be_run_is_reported(_):
    direct, _ = Terminal("-q", "basic").end()
    shown, said = Terminal("-q", "basic", PAGER="nosuch-pager").end()
    assert shown == direct and said.count("\n") == 1, said
    assert "cannot run the pager 'nosuch-pager': No such file" in said and "--no-pager" in said, said
    _, said = Terminal("-q", "basic", PAGER="nosuch-pager -x").end(1)  # the shell has found out too late
    assert "the pager 'nosuch-pager -x' could not be run: change PAGER, or use --no-pager" in said, said


@case
def interrupts_are_the_pagers(directory):
    ready, go = os.path.join(directory, "ready"), os.path.join(directory, "go")
    script = f"cat >/dev/null; touch {ready}; while [ ! -e {go} ]; do sleep 0.01; done\n"
    terminal = Terminal("-q", "basic", PAGER=program(directory, "pager", script))
    wait_until(lambda: os.path.exists(ready), "the pager runs")
    for number in (signal.SIGINT, signal.SIGQUIT):
        os.kill(terminal.child.pid, number)
    time.sleep(0.1)
    assert terminal.child.poll() is None
    with open(go, "w", encoding="ascii"):
        terminal.end()
    # the pager itself has the signals' default actions
    _, said = Terminal("-q", "basic", PAGER="kill -INT $$; echo alive >&2").end()
    assert "alive" not in said, said


main()
