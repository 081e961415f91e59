#!/usr/bin/env python3
"""Attacks on the measurement directory: files in it that are not ours, links, directories that other users can exchange,
and hard links to files of others.  As root and as an unprivileged user, where both can be attacked."""
import contextlib
import functools
import glob
import os
import shutil
import signal
import socket
import stat
import struct
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Running, build, control, control_id, controlled, write
from measurement_file import STRINGS, chunk
from tap import (LAUNCHER, OTHER_USER, REPORT, Skip, case, compile_c, main, must, need_root, run, shared_directory, start,
                 wait_until)

OTHER = 65534
HOST = socket.gethostname()
TEXT = b"Chapter 1\nIt was a dark and stormy night.\n"
OURS = chunk(STRINGS, 1, b"\0text\0")
CONTROL = b"hpcctl02" + bytes(8184)
INDEX = ("-q", "--view", "timeline", "--index")
# Names of the form HOST-PID-START of all kinds, and names that only end alike.
STEM = f"{HOST}-4711-18ab"
WHOLE = (".hpcrun", ".live", ".graph", ".trace", ".index", ".flush")
UNFINISHED = (".part", ".packing.graph", ".packing.trace", ".flush.flush", "-a1B2c3.index")
SIMILAR = ("mesh", "thesis", "notes", "a-b-c", "host-12", "12-ab", "-12-ab", "host-0-ab", "host-12x-ab", "host-12-xyz",
           "host-12-", "host--ab", "host-99999999999-ab", "host-12-ab.old")


@functools.cache
def other_users_launcher():
    """An installation that every user can reach."""
    moved = os.path.join(shared_directory(), "prefix")
    shutil.copytree(os.path.dirname(os.path.dirname(LAUNCHER)), moved, symlinks=True)
    return os.path.join(moved, "bin", "hpcrun-lite")


class User:
    """Runs launches as this user, in a place of that user."""

    def __init__(self, directory, other):
        self.prefix, self.uid = (OTHER_USER, OTHER) if other else ((), os.geteuid())
        self.launcher = other_users_launcher() if other else LAUNCHER
        self.place = os.path.join(directory, f"user{self.uid}")
        os.chmod(directory, 0o755)
        os.mkdir(self.place, 0o700)
        os.chown(self.place, self.uid, -1)

    def path(self, *names):
        return os.path.join(self.place, *names)

    def launch(self, *arguments, **how):
        return run(*self.prefix, self.launcher, "-q", *arguments, cwd=self.place, **how)

    def measure(self, name, *options, **how):
        done = self.launch("-o", name, *options, "true", **how)
        assert done.returncode == 0, done
        return self.path(name)

    def put(self, path, content=b""):
        """Writes a file of this user."""
        with open(path, "wb") as file:
            file.write(content)
        os.chown(path, self.uid, -1)
        return path


def users(directory):
    """This user, and for root another one, too."""
    return [User(directory, other) for other in ((False, True) if os.geteuid() == 0 else (False,))]


def state(path):
    """Everything about a file or tree, but for times."""
    found, inside = {}, []
    if os.path.isdir(path) and not os.path.islink(path):
        inside = [os.path.join(folder, name) for folder, folders, files in os.walk(path) for name in folders + files]
    for name in [path] + inside:
        facts = os.lstat(name)
        content = os.readlink(name) if stat.S_ISLNK(facts.st_mode) else b""
        if stat.S_ISREG(facts.st_mode):
            with open(name, "rb") as file:
                content = file.read()
        found[name] = (facts.st_ino, facts.st_mode, facts.st_uid, facts.st_gid, facts.st_nlink, facts.st_size, content)
    return found


def refused(user, name, *parts, options=("--overwrite",), **how):
    """A launch into the directory is refused in one line, and nothing in it changes."""
    before = state(user.path(name))
    done = user.launch(*options, "-o", name, "true", **how)
    assert done.returncode == 125 and done.stderr.count("\n") == 1, done
    for part in parts:
        assert part in done.stderr, (part, done.stderr)
    assert state(user.path(name)) == before, name


# ---- the report's index ----

@case
def an_index_takes_no_other_files_place(directory):
    program = build("nested_regions.c", "gcc")
    must(LAUNCHER, "-q", "-t", "-e", "task-clock@f1000", "-o", "m", program, cwd=directory)
    path = glob.glob(os.path.join(directory, "m", "*.hpcrun"))[0].replace(".hpcrun", ".index")
    victim = write(os.path.join(directory, "victim"), "precious\n")
    for make in (lambda: os.link(victim, path), lambda: os.symlink(victim, path), lambda: write(path, "notes\n"),
                 lambda: write(path, ""), lambda: os.mkfifo(path)):
        make()
        before = state(path), state(victim)
        done = run(REPORT, *INDEX, "m", cwd=directory)
        assert done.returncode == 1 and "another file has that name" in done.stderr, done
        assert (state(path), state(victim)) == before and len(os.listdir(os.path.join(directory, "m"))) == 4
        os.unlink(path)
    for _ in range(2):
        must(REPORT, *INDEX, "m", cwd=directory)
    assert os.path.getsize(path) > 0


main()
