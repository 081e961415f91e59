"""A terminal for programs that draw: a pseudo-terminal, and a model of its screen that knows the few control sequences
which the live view may use.  Anything else fails the test."""
import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

from tap import start

SEQUENCE = re.compile(r"\033\[(\??)([0-9;]*)([A-Za-z])")


class Screen:
    """What a terminal of that size shows.  `wide` is true if anything was written beyond the last column."""

    def __init__(self, columns, rows):
        self.alternate = self.hidden = self.wide = self.coloured = False
        self.wraps = True
        self.plain = ""  # what was written on the ordinary screen
        self.rest = ""
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows, self.row, self.column = columns, rows, 0, 0
        self.stale = self.alternate  # what follows may have been drawn for the size before, until all is erased
        self.cells = [[" "] * columns for _ in range(rows)]

    def lines(self):
        return ["".join(cells).rstrip() for cells in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def feed(self, text):
        text, at = self.rest + text, 0
        self.rest = ""
        while at < len(text):
            if text[at] != "\033":
                self._put(text[at])
                at += 1
                continue
            found = SEQUENCE.match(text, at)
            if not found:
                assert len(text) - at < 16, repr(text[at:at + 40])
                self.rest = text[at:]
                return
            self._obey(*found.groups())
            at = found.end()

    def _put(self, character):
        if not self.alternate:
            self.plain += character
            return
        assert character >= " ", repr(character)
        if self.stale:
            return
        if self.column >= self.columns or self.row >= self.rows:
            self.wide = True
            return
        self.cells[self.row][self.column] = character
        self.column += 1

    def _obey(self, private, numbers, kind):
        if private:
            modes = {"1049": "alternate", "25": "hidden", "7": "wraps"}
            assert numbers in modes and kind in "hl", (numbers, kind)
            setattr(self, modes[numbers], (kind == "h") != (numbers == "25"))
            return
        values = [int(number or 0) for number in numbers.split(";")]
        if kind == "H":
            self.row, self.column = (values + [1, 1])[0] - 1, (values + [1, 1])[1] - 1
        elif kind == "J":
            assert values == [2]
            self.stale = False
            self.cells = [[" "] * self.columns for _ in range(self.rows)]
        elif kind == "K":
            if self.stale:
                return
            assert self.column < self.columns, "erases the last character of a full line"
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)
        else:
            assert kind == "m", kind
            self.coloured |= values != [0]


class Terminal:
    """A program on a terminal: keys go in, the screen comes out."""

    def __init__(self, *command, columns=80, rows=24, **settings):
        self.ours, self.its = pty.openpty()
        self.before = termios.tcgetattr(self.its)
        self._set_size(columns, rows)
        self.screen = Screen(columns, rows)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.bytes = 0
        settings = {"TERM": "xterm", "LC_ALL": "C.UTF-8", **settings}
        streams = {name: settings.pop(name, self.its) for name in ("stdin", "stdout", "stderr")}
        self.child = start(*command, **streams, **{name: value for name, value in settings.items() if value is not None})

    def _set_size(self, columns, rows):
        fcntl.ioctl(self.its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.read()
        self.screen.resize(columns, rows)
        self._set_size(columns, rows)
        os.killpg(self.child.pid, 28)  # the kernel sends SIGWINCH only to the group of a controlling terminal

    def read(self, seconds=0.0):
        """Shows what the program has written; returns whether there was anything."""
        ready = select.select([self.ours], [], [], seconds)[0]
        if not ready:
            return False
        more = os.read(self.ours, 1 << 20)
        self.bytes += len(more)
        self.screen.feed(self.decoder.decode(more))
        return True

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def wait(self, holds, what="", seconds=60):
        """Reads until holds(the screen's text), and a moment longer; returns the text."""
        deadline = time.monotonic() + seconds
        while not holds(self.screen.text()):
            assert time.monotonic() < deadline, f"not within {seconds} s: {what}\n{self.screen.text()}"
            assert self.child.poll() is None or self.read(), f"ended: {self.screen.plain}\n{self.screen.text()}"
            self.read(0.1)
        while self.read(0.05):
            pass
        assert not self.screen.wide, self.screen.text()
        return self.screen.text()

    def see(self, *parts):
        """Waits until all of these are on the screen."""
        return self.wait(lambda text: all(part in text for part in parts), parts)

    def end(self, keys="q"):
        """Quits; returns the exit status.  The terminal is as it was."""
        with contextlib.suppress(OSError):
            self.press(keys)
        deadline = time.monotonic() + 60
        while self.child.poll() is None:
            assert time.monotonic() < deadline, self.screen.text()
            self.read(0.05)
        while self.read(0.05):
            pass
        assert termios.tcgetattr(self.its) == self.before, "the modes of the terminal have changed"
        assert not self.screen.alternate and not self.screen.hidden and self.screen.wraps, "the screen is not given back"
        os.close(self.ours)
        os.close(self.its)
        return self.child.returncode
