#!/usr/bin/env python3
"""Attacks on the measurement directory: files in it that are not ours, links, directories that other users can exchange,
and hard links to files of others.  As root and as an unprivileged user, where both can be attacked."""
import contextlib
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
from measurement_file import STRINGS, extent
from tap import (LAUNCHER, OTHER_USER, REPORT, Skip, case, compile_c, main, must, need_root, other_users_launcher, run,
                 start, wait_until)

OTHER = 65534
HOST = socket.gethostname()
TEXT = b"Chapter 1\nIt was a dark and stormy night.\n"
OURS = extent(STRINGS, 1, b"\0text\0")
CONTROL = b"hpcctl02" + bytes(8184)
INDEX = ("-q", "--view", "timeline", "--index")
# Names of the form HOST-PID-START of all kinds, and names that only end alike.
STEM = f"{HOST}-4711-18ab"
WHOLE = (".hpcrun", ".live", ".graph", ".trace", ".index", ".flush")
UNFINISHED = (".part", ".packing.graph", ".packing.trace", ".flush.flush", "-a1B2c3.index")
SIMILAR = ("mesh", "thesis", "notes", "a-b-c", "host-12", "12-ab", "-12-ab", "host-0-ab", "host-12x-ab", "host-12-xyz",
           "host-12-", "host--ab", "host-99999999999-ab", "host-12-ab.old")


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


# ---- what is replaced ----

def foreign_files():
    """Names and contents that are not ours: one of the two does not fit, or neither."""
    for suffix in WHOLE + UNFINISHED:
        yield STEM + suffix, TEXT
        yield STEM + suffix, OURS[:7]
        yield STEM + suffix, bytes(4096)
    for suffix in WHOLE:
        yield STEM + suffix, b""
    for stem in SIMILAR:
        for suffix in (".graph", ".trace", ".index", ".part"):
            yield stem + suffix, OURS
        yield stem + ".symbols", b""
        yield stem + ".perfmap", b"10 20 name\n"
    yield STEM + ".symbols", TEXT
    yield from ((name, content) for name in ("mesh.graph", "thesis.trace", "notes.index", "x.part", "y.hpcrun", "z.live")
                for content in (TEXT, b""))
    for content in (b"", b"\n", b"x", b"launch=", b"launch=\n", b"launch=a", b"launch=a\nb\n", b"NAME=a\n", b"launch=a\0\n",
                    b"launch=" + b"y" * 600 + b"\n", b"launch script\n", b"launch=$(date); exec ./start.sh\n", b"launch=a.1.2\n",
                    b"PMI_JOBID=a b\n", b"SLURM=$(id)\n", bytes(range(256))):
        yield "launch", content
    for content in (b"", b"hpcrun-lite snapshots are fine\n", b"hpcrun-lite snapshot on host\nx\n",
                    b"hpcrun-lite snapshot on host\n17"):
        yield "snapshot", content
    for content in (b"", bytes(8192), CONTROL[:100], CONTROL + b"\0", TEXT):
        yield "control-host-17", content
    yield "control-data.txt", CONTROL
    yield "control-17", CONTROL
    yield "control-host-17-a1B2c3.filter", TEXT
    yield "control-host-17-a1B2c3.filter", b""
    yield "control-host-17.filter", b"threads 0\n"
    for content in (b"", TEXT, b"code x\n", b"threads 0\n", b"code-missing x"):
        yield "code-0123456789abcdef.filter", content
    for content in (TEXT, b"my precious notes", b"\nsecond", b"code-missing x\nmy notes"):
        yield "code-0123456789abcdef.filter.a1B2c3", content
    yield "code-0123456789abcdef.filter.a1B2", b"code-missing x\n"
    for content in (TEXT, OURS[:7]):
        yield "debug-data", content
    yield "debug-data-a1B2c3", TEXT
    for name in ("debug-data.old", "debug-data-a1B2", "debug-data-a1B2c3d", "debug-database", "my-debug-data"):
        yield name, OURS
    yield "code-review.filter", b"code-missing x\n"
    yield "README", TEXT


def directory_with(user, name, content, beside):
    """A directory with that file, alone or beside a measurement."""
    path = user.path("d")
    shutil.rmtree(path, ignore_errors=True)
    if beside:
        user.measure("d")
    else:
        os.mkdir(path, 0o700)
        os.chown(path, user.uid, -1)
    return user.put(os.path.join(path, name), content)


@case
def files_that_are_not_ours_are_never_replaced(directory):
    for user in users(directory):
        for number, (name, content) in enumerate(foreign_files()):
            directory_with(user, name, content, number % 3 == 0)
            refused(user, "d", f"('{name}')", "not measurements")
            refused(user, "d", options=())


@case
def some_files_that_look_alike_are_never_replaced_together(directory):
    for user in users(directory):
        for names in (("mesh.graph", "thesis.trace", "notes.index"), ("notes.index", "launch"), (".hidden", STEM + ".part")):
            shutil.rmtree(user.path("d"), ignore_errors=True)
            for name in names:
                os.makedirs(user.path("d"), exist_ok=True)
                os.chown(user.path("d"), user.uid, -1)
                user.put(user.path("d", name), TEXT)
            refused(user, "d", "not measurements")


@case
def only_regular_files_with_one_name_are_replaced(directory):
    for user in users(directory):
        outside = user.put(user.path("outside"), OURS)
        makers = {"hard link": lambda path: os.link(outside, path), "link": lambda path: os.symlink(outside, path),
                  "link to nothing": lambda path: os.symlink("nowhere", path), "FIFO": os.mkfifo, "directory": os.mkdir}
        for name in (STEM + ".hpcrun", STEM + ".live", STEM + ".part", "launch", "control-host-17", "snapshot"):
            for kind, make in makers.items():
                path = directory_with(user, name, b"", name != "launch")
                os.unlink(path)
                make(path)
                refused(user, "d", f"('{name}')", "not measurements")
                with open(outside, "rb") as file:
                    assert file.read() == OURS, kind
        path = directory_with(user, STEM + ".part", OURS, True)
        if os.geteuid() == 0:
            os.chown(path, OTHER + user.uid % 2 - 1, -1)  # of a third user
            refused(user, "d", "not measurements")


@case
def runs_of_a_series_follow_the_same_rule(directory):
    for user in users(directory):
        for run_name, name, fine in (("threads-4", STEM + ".graph", True), ("threads-4-2", STEM + ".part", True),
                                     ("threads-4", "mesh.graph", False), ("threads-x", STEM + ".part", False),
                                     ("threads-4-", STEM + ".part", False), ("threads-4.old", STEM + ".part", False),
                                     ("threads-4", "threads-2/" + STEM + ".part", False)):
            shutil.rmtree(user.path("d"), ignore_errors=True)
            user.measure("d")
            path = user.path("d", run_name, name)
            os.makedirs(os.path.dirname(path))
            for made in (user.path("d", run_name), os.path.dirname(path)):
                os.chown(made, user.uid, -1)
            user.put(path, OURS)
            if fine:
                user.measure("d", "--overwrite")
                assert not os.path.exists(user.path("d", run_name))
            else:
                refused(user, "d", "not measurements")


@case
def everything_that_we_write_is_replaced(directory):
    for user in users(directory):
        written = [(STEM + suffix, OURS) for suffix in WHOLE + UNFINISHED]
        written += [(STEM + suffix, b"") for suffix in UNFINISHED]
        written += [(STEM + ".symbols", content) for content in (b"", bytes(4096), b"\x7fELF")]
        written += [(STEM + ".perfmap", b"# names\n10 20 name\n"), (STEM + ".part.perfmap", b"# na")]
        written += [("host.example-1-2-a.part", b""), ("snapshot", b"hpcrun-lite snapshot on my-host\n17\n4711\n"),
                    ("control-my-host-17", CONTROL), ("control-host-17-a1B2c3.filter", b"threads 0-3\nfunctions main\n"),
                    ("code-0123456789abcdef.filter", b"code a b.so 0x10 0x20 include function\ncode-missing f\n"),
                    ("code-0123456789abcdef.filter.a1B2c3", b"code a 0x10 0x20 include function\ncode-mis"),
                    ("code-0123456789abcdef.filter.a1B2c3", b""), ("launch", b"PMIX_NAMESPACE=prterun-host-1@1\n")]
        for name, content in written:
            path = directory_with(user, name, content, name != "launch")
            user.measure("d", "--overwrite")
            assert name == "launch" or not os.path.exists(path), name


@case
def what_a_launch_leaves_is_replaced(directory):
    """The files of a log and a trace, of a process that was killed, of a filter with many functions, of an index, of a
    series."""
    program = build("nested_regions.c", "gcc", "-DPART=0.05")
    for user in users(directory):
        shutil.copy(program, user.path("program"))
        os.chmod(user.path("program"), 0o755)
        done = user.launch("-o", "d", "-p", "log", "-t", "-e", "task-clock@f1000", "./program")
        assert done.returncode == 0, done
        must(*user.prefix, os.path.join(os.path.dirname(user.launcher), "hpcprof-lite"), *INDEX, user.path("d"))
        names = os.listdir(user.path("d"))
        for suffix in (".hpcrun", ".graph", ".trace", ".index"):
            assert any(name.endswith(suffix) for name in names), (suffix, names)
        os.symlink("/usr/lib", user.path("d", "installation"))
        os.lchown(user.path("d", "installation"), user.uid, -1)
        refused(user, "d", "('installation')")
        os.unlink(user.path("d", "installation"))
        user.measure("d", "--overwrite")
        assert all("true" not in name for name in os.listdir(user.path("d")))
        many = ",\n  ".join(f"nothing_{number:04d}_of_that_name_is_in_the_program" for number in range(1000))
        write(user.path("many.ini"), f"[filter]\nfunctions = {many}\n")
        os.chmod(user.path("many.ini"), 0o644)
        user.measure("d", "--overwrite", "--config", "many.ini")
        assert glob.glob(user.path("d", "code-*.filter"))
        user.measure("d", "--overwrite")
        assert os.listdir(user.path("d")) and not glob.glob(user.path("d", "code-*.filter"))
        assert user.launch("--scaling=1,2", "-o", "series", "./program").returncode == 0
        user.measure("series", "--overwrite")
        assert not glob.glob(user.path("series", "threads-*"))


def killed(directory, when):
    """What a process leaves that is killed at some moment."""
    program = Running(directory, "regions", "-t", "-p", "log")
    when(program)
    os.kill(program.pid, signal.SIGKILL)
    program.process.communicate()
    assert glob.glob(os.path.join(program.output, "*.live"))
    return program.output


@case
def a_killed_process_leaves_what_is_replaced(directory):
    output = killed(directory, Running.wait_sampled)
    done = run(LAUNCHER, "-q", "--overwrite", "-o", output, "true")
    assert done.returncode == 0 and not glob.glob(os.path.join(output, "*.live")), done


@case
def only_a_file_that_was_being_made_keeps_a_killed_measurement_from_being_replaced(directory):
    """It is named; without it the others are replaced."""
    output = killed(directory, lambda program: wait_until(
        lambda: glob.glob(os.path.join(program.output, "*.live")), "a live file"))
    for name in os.listdir(output):
        with open(os.path.join(output, name), "rb") as file:
            if name != "launch" and file.read(8) != OURS[:8]:
                done = run(LAUNCHER, "-q", "--overwrite", "-o", output, "true")
                assert done.returncode == 125 and "not measurements" in done.stderr, done
                os.unlink(file.name)
    done = run(LAUNCHER, "-q", "--overwrite", "-o", output, "true")
    assert done.returncode == 0 and not glob.glob(os.path.join(output, "*.live")), done


@case
def nothing_is_deleted_before_all_is_checked(directory):
    for user in users(directory):
        user.measure("d")
        user.put(user.path("d", STEM + ".hpcrun"), OURS)
        many = ",\n  ".join(f"f{number}" for number in range(1100))
        for name, text in (("many.ini", f"[filter]\nfunctions = {many}\n"), ("list.ini", "[filter]\nthreads = x\n"),
                           ("constructs.ini", "[filter]\nconstructs = nothing\n")):
            write(user.path(name), text)
            os.chmod(user.path(name), 0o644)
            refused(user, "d", options=("--overwrite", "--config", name))
        before = state(user.path("d"))
        for options in (["-e", "nonsense", "true"], ["no-such-command"], ["--omp-runtime", "/nowhere", "true"], ["/"]):
            assert user.launch("--overwrite", "-o", "d", *options).returncode >= 125, options
            assert state(user.path("d")) == before, options


# ---- places ----

def place(user, *chain):
    """Makes directories in each other, each with a mode and an owner; returns the innermost one's name."""
    names = []
    for number, (mode, owner) in enumerate(chain):
        names.append(f"p{number}-{len(os.listdir(user.place))}")
        os.mkdir(user.path(*names))
    for depth in range(len(chain), 0, -1):
        mode, owner = chain[depth - 1]
        os.chown(user.path(*names[:depth]), owner, -1)
        os.chmod(user.path(*names[:depth]), mode)
    return os.path.join(*names)


@case
def places_in_which_others_can_exchange_the_directory_are_refused(directory):
    for user in users(directory):
        mine, root, other = user.uid, 0, 1234
        places = [([(0o755, mine)], True), ([(0o2775, mine)], mine != 0), ([(0o777, mine)], False), ([(0o1777, mine)], True),
                  ([(0o1770, mine)], True), ([(0o757, mine)], False), ([(0o777, mine), (0o700, mine)], False),
                  ([(0o770, mine), (0o700, mine), (0o700, mine)], mine != 0)]
        if os.geteuid() == 0:
            places += [([(0o777, other)], False), ([(0o755, other), (0o755, mine)], False), ([(0o1777, other)], mine != 0),
                       ([(0o1777, root)], True), ([(0o755, root), (0o755, mine)], True),
                       ([(0o777, root), (0o755, mine)], False)]
        for chain, fine in places:
            inner = place(user, *chain)
            output = os.path.join(inner, "m")
            done = user.launch("-o", output, "true")
            if fine:
                assert done.returncode == 0, (chain, done)
                assert os.stat(user.path(output)).st_mode & 0o777 == 0o700
                continue
            assert done.returncode == 125 and "--trust-directory" in done.stderr and done.stderr.count("\n") == 1, done
            assert user.path(inner.split("/")[0]) in done.stderr, (chain, done)
            assert os.listdir(user.path(inner)) == [], chain
            told = user.launch("--diagnose", "-o", output, "true")
            assert "!! directory" in told.stdout and "--trust-directory" in told.stdout and told.returncode == 1, told
            done = user.launch("--trust-directory", "-o", output, "true")
            assert done.returncode == 0, (chain, done)


@case
def the_real_path_counts_not_a_link(directory):
    need_root()
    user = users(directory)[0]
    bad = place(user, (0o755, 1234))
    good = place(user, (0o755, 0))
    os.symlink(user.path(bad), user.path("to-bad"))
    os.symlink(user.path(good), user.path("to-good"))
    done = user.launch("-o", "to-bad/m", "true")
    assert done.returncode == 125 and user.path(bad) in done.stderr, done
    done = user.launch("-o", "to-good/m", "sh", "-c", "echo $HPCRUN_LITE_DIR")
    assert done.stdout == user.path(good, "m") + "\n", done
    for name in ("to-good", "to-good/"):
        done = user.launch("-o", name, "true")
        assert done.returncode == 125 and "links are not followed" in done.stderr, done


@case
def a_directory_of_another_user_is_used_only_when_it_is_trusted(directory):
    need_root()
    for user in users(directory):
        for mode in (0o700, 0o777):
            name = place(user, (mode, 1234))
            reachable = user.uid == 0 or mode == 0o777
            parts = ("another user", "--trust-directory") if reachable else ("Permission denied",)
            refused(user, name, *parts, options=())
            refused(user, name, *parts)
            if reachable:
                told = user.launch("--diagnose", "-o", name, "true")
                assert told.returncode == 1 and "!! directory" in told.stdout, told
                done = user.launch("--trust-directory", "-o", name, "true")
                assert done.returncode == 0, done
    user.put(user.path(".hpcrun-lite.ini"), b"[measure]\ntrust-directory = yes\n")
    done = user.launch("true")  # a file cannot say so
    assert done.returncode == 125 and "unknown key" in done.stderr, done


@case
def a_trusted_directory_is_still_replaced_only_if_all_is_ours(directory):
    need_root()
    user = users(directory)[0]
    name = place(user, (0o777, OTHER))
    refused_options = ("--overwrite", "--trust-directory")
    victim = user.put(user.path("victim"), OURS)
    for make in (lambda path: os.link(victim, path), lambda path: os.symlink(victim, path),
                 lambda path: (user.put(path, OURS), os.chown(path, OTHER, -1)), lambda path: user.put(path, TEXT)):
        path = user.path(name, STEM + ".hpcrun")
        make(path)
        refused(user, name, "not measurements", options=refused_options)
        os.unlink(path)


@case
def a_directory_becomes_private_when_it_is_taken(directory):
    for user in users(directory):
        for mode in (0o755, 0o777, 0o770, 0o500 | 0o200):
            for content, options in ((None, ()), (OURS, ("--overwrite",))):
                name = place(user, (mode, user.uid))
                if content:
                    user.put(user.path(name, STEM + ".hpcrun"), content)
                done = user.launch("-o", name, *options, "true")
                assert done.returncode == 0, done
                assert stat.S_IMODE(os.stat(user.path(name)).st_mode) == 0o700, (mode, options)
        name = place(user, (0o755, user.uid))
        user.put(user.path(name, "README"), TEXT)
        refused(user, name, "README")
        told = user.launch("--diagnose", "-o", name, "true")
        assert told.returncode == 1 and "README" in told.stdout, told


@case
def a_directory_that_a_rank_joins_is_private_too(directory):
    for user in users(directory):
        name = place(user, (0o777, user.uid))
        user.put(user.path(name, "launch"), b"PMI_JOBID=5\n")
        done = user.launch("-o", name, "true", PMI_JOBID="5")
        assert done.returncode == 0 and stat.S_IMODE(os.stat(user.path(name)).st_mode) == 0o700, done
        if user.uid:
            continue
        name = place(user, (0o777, 0))
        write(user.path(name, "launch"), "PMI_JOBID=5\n")
        os.chown(user.path(name, "launch"), OTHER, -1)  # another user's marker
        refused(user, name, "('launch')", options=(), PMI_JOBID="5")


@case
def the_page_of_a_report_replaces_nothing_but_an_earlier_page(directory):
    program = build("nested_regions.c", "gcc", "-DPART=0.05")

    def measure(output):
        done = run(LAUNCHER, "-e", "task-clock@f1000", "--overwrite", "-o", output, "--report", program, cwd=directory)
        assert done.returncode == 0 and not glob.glob(os.path.join(directory, output + ".*.html")), done
        return done.stderr

    victim = write(os.path.join(directory, "victim"), "precious")
    plants = (lambda path: os.symlink(victim, path), lambda path: os.link(victim, path), lambda path: write(path, "notes"),
              os.mkdir, os.mkfifo, lambda path: write(path, "<!DOCTYPE html>\n<title>hpcprof-lite</title>"))
    for number, plant in enumerate(plants):
        path = os.path.join(directory, f"m{number}.html")
        plant(path)
        before = state(path), state(victim)
        said = measure(f"m{number}")
        assert f"cannot write m{number}.html" in said and "-f html -o FILE" in said, said
        assert (state(path), state(victim)) == before
    for _ in range(2):
        measure("fine")
        assert os.path.getsize(os.path.join(directory, "fine.html")) > 10000


@case
def a_job_of_any_name_leaves_a_marker_that_is_known(directory):
    for user in users(directory):
        for number, name in enumerate(("kvs=1 (a) $x;~", "\u00e9", "a" * 600)):
            for _ in range(2):  # the second rank joins
                done = user.launch("-o", f"m{number}", "true", PMI_JOBID=name)
                assert done.returncode == 0, (name, done)
            user.measure(f"m{number}", "--overwrite")


@case
def a_directory_without_a_marker_is_no_run_of_a_series(directory):
    for user in users(directory):
        user.measure("d")
        os.mkdir(user.path("d", "threads-4"))
        os.chown(user.path("d", "threads-4"), user.uid, -1)
        refused(user, "d", "threads-4")


# ---- the link to the installation ----

def prefix_named(directory, name):
    """A copy of the installation below a directory of that name."""
    moved = os.path.join(directory, name)
    shutil.copytree(os.path.dirname(os.path.dirname(LAUNCHER)), moved, symlinks=True)
    return os.path.join(moved, "bin", "hpcrun-lite")


def preloaded(done):
    assert done.returncode == 0, done
    return done.stdout.strip().split(":")[0]


SHOW = ("sh", "-c", "echo $LD_PRELOAD")


@case
def no_link_in_a_measurement_directory_is_preloaded(directory):
    temporary = os.path.join(directory, "tmp")
    os.mkdir(temporary, 0o700)
    for name in ("with space", "a:b", "$ORIGIN", "semi;colon"):
        launcher = prefix_named(directory, name)
        seen = set()
        for output in ("m1", "m2"):
            path = preloaded(run(launcher, "-q", "-o", output, "--overwrite", *SHOW, cwd=directory, TMPDIR=temporary))
            assert path.startswith(temporary + f"/hpcrun-lite-{os.geteuid()}-") and not set(path) & set(" :$;"), path
            assert os.path.samefile(os.path.realpath(path), glob.glob(os.path.join(
                os.path.dirname(os.path.dirname(launcher)), "**", "libhpcrun-lite.so"), recursive=True)[0])
            assert not [entry for entry in os.scandir(os.path.join(directory, output)) if entry.is_symlink()]
            private = os.path.dirname(os.path.dirname(path))
            facts = os.lstat(private)
            assert stat.S_ISDIR(facts.st_mode) and stat.S_IMODE(facts.st_mode) == 0o700 and facts.st_uid == os.geteuid()
            seen.add(path)
        assert len(seen) == 1  # all launches use the same
    # a place that LD_PRELOAD cannot name, one in which others can exchange it, and one whose owner can
    launcher = os.path.join(directory, "with space", "bin", "hpcrun-lite")
    places = [(0o700, "tmp dir", -1), (0o777, "open", -1)] + [(0o1777, "sticky", OTHER)] * (os.geteuid() == 0)
    for mode, name, owner in places:
        os.mkdir(os.path.join(directory, name))
        os.chown(os.path.join(directory, name), owner, -1)
        os.chmod(os.path.join(directory, name), mode)
        path = preloaded(run(launcher, "-q", "-o", "m1", "--overwrite", *SHOW, cwd=directory,
                             TMPDIR=os.path.join(directory, name)))
        assert path.startswith("/tmp/hpcrun-lite-") and os.listdir(os.path.join(directory, name)) == [], path
        shutil.rmtree(os.path.dirname(os.path.dirname(path)))


@case
def a_private_directory_that_is_not_ours_is_not_used(directory):
    temporary = os.path.join(directory, "tmp")
    os.mkdir(temporary, 0o700)
    launcher = prefix_named(directory, "with space")

    def link():
        return preloaded(run(launcher, "-q", "-o", "m", "--overwrite", *SHOW, cwd=directory, TMPDIR=temporary))

    path = link()
    private, installed = os.path.dirname(os.path.dirname(path)), os.path.realpath(os.path.dirname(path))
    evil = os.path.join(directory, "evil")
    os.mkdir(evil)
    # a link in it that leads elsewhere is replaced; rights of others are withdrawn
    os.unlink(os.path.join(private, "installation"))
    os.symlink(evil, os.path.join(private, "installation"))
    os.chmod(private, 0o777)
    assert link() == path and os.path.realpath(os.path.dirname(path)) == installed
    assert stat.S_IMODE(os.stat(private).st_mode) == 0o700
    shutil.rmtree(private)
    attacks = [lambda: os.symlink(evil, private), lambda: write(private, ""), lambda: os.symlink("nowhere", private)]
    if os.geteuid() == 0:
        attacks += [lambda: (os.mkdir(private), os.symlink(evil, os.path.join(private, "installation")),
                             os.chown(private, OTHER, -1))]
    for attack in attacks:
        attack()
        before = state(private)
        other = link()
        assert other != path and os.path.realpath(os.path.dirname(other)) == installed, other
        assert before == state(private)
        assert os.listdir(evil) == []
        shutil.rmtree(os.path.dirname(os.path.dirname(other)))
        shutil.rmtree(private) if os.path.isdir(private) and not os.path.islink(private) else os.unlink(private)


@case
def children_of_root_run_no_library_of_the_owner_of_the_directory(directory):
    """The owner of a directory that root trusts replaces its entries during the run by links with names that hpcrun-lite uses."""
    need_root()
    temporary = os.path.join(directory, "tmp")
    os.mkdir(temporary, 0o700)
    user = User(directory, True)
    launcher = prefix_named(directory, "with space")
    evil = user.path("evil")
    os.mkdir(evil)
    compile_c(user.place, "evil/libhpcrun-lite.so", """
        #include <stdio.h>
        __attribute__((constructor)) static void run(void) { fclose(fopen(EVIDENCE, "w")); }""",
              "-shared", "-fPIC", f'-DEVIDENCE="{directory}/evidence"')
    name = place(user, (0o777, OTHER))
    script = (f"for name in installation link libhpcrun-lite.so; do rm -rf '{user.path(name)}'/$name; "
              f"ln -s {evil} '{user.path(name)}'/$name; done; true; sh -c true; true")
    for options in ((), ("--scaling=1,2",), ("--report",)):
        shutil.rmtree(user.path(name))
        os.mkdir(user.path(name))
        os.chown(user.path(name), OTHER, -1)
        done = run(launcher, "--trust-directory", "-o", user.path(name), *options, "sh", "-c", script, cwd=directory,
                   TMPDIR=temporary)
        assert done.returncode == 0 and not os.path.exists(os.path.join(directory, "evidence")), done


# ---- while the program runs ----

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static void *burn(void *unused)
{
  struct timespec now;
  double end;
  clock_gettime(CLOCK_MONOTONIC, &now);
  end = now.tv_sec + now.tv_nsec / 1e9 + 0.2;
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec + now.tv_nsec / 1e9 < end);
  return unused;
}
int main(int count, char **arguments)
{
  pthread_t thread;
  burn(0);
  puts("ready");
  fflush(stdout);
  getchar();
  for (int i = 0; i < 3; i++) {
    pthread_create(&thread, 0, burn, 0);
    pthread_join(thread, 0);
  }
  puts("done");
  fflush(stdout);
  if (count > 1)
    execv(arguments[1], arguments + 1);
  return 3;
}
"""


class Waiting:
    """A measured program that waits until it may go on."""

    def __init__(self, directory, output, *options):
        self.program = compile_c(directory, "waiting", PROGRAM, "-pthread")
        self.process = start(LAUNCHER, "-e", "task-clock@f1000", *options, "-o", output, self.program, stdin=-1,
                             cwd=directory)
        assert self.process.stdout.readline() == "ready\n", self.process.communicate()
        wait_until(lambda: glob.glob(os.path.join(directory, output, "*.live")), "a live file")

    def go_on(self):
        output, errors = self.process.communicate("\n", timeout=60)
        assert output == "done\n" and self.process.returncode == 3, (output, errors)
        return errors


@case
def another_directory_in_its_place_gets_nothing(directory):
    for number, make in enumerate((os.mkdir, lambda path: os.symlink("elsewhere", path), lambda path: write(path, ""))):
        output = os.path.join(directory, f"m{number}")
        os.makedirs(os.path.join(directory, "elsewhere"), exist_ok=True)
        program = Waiting(directory, output, "-t")
        os.rename(output, output + "-moved")
        make(output)
        errors = program.go_on()
        assert "another file or directory has taken its place" in errors, errors
        assert os.listdir(os.path.join(directory, "elsewhere")) == []
        assert not os.path.isdir(output) or os.listdir(output) == []
        assert glob.glob(os.path.join(output + "-moved", "*.live"))  # what was measured until then


@case
def children_that_begin_later_do_not_use_it_either(directory):
    """A child that is executed after the exchange knows the directory by its path, and by its inode."""
    for number, make in enumerate((os.mkdir, lambda path: os.symlink("elsewhere", path))):
        output = os.path.join(directory, f"m{number}")
        os.makedirs(os.path.join(directory, "elsewhere"), exist_ok=True)
        process = start(LAUNCHER, "-o", output, "-e", "task-clock@f1000", "sh", "-c",
                        "echo ready; read x; timeout 0.2 yes >/dev/null; timeout 0.2 yes >/dev/null; true", stdin=-1,
                        cwd=directory)
        assert process.stdout.readline() == "ready\n"
        os.rename(output, output + "-moved")
        make(output)
        process.communicate("\n", timeout=60)
        assert os.listdir(os.path.join(directory, "elsewhere")) == []
        assert os.path.islink(output) or os.listdir(output) == []


@case
def another_file_in_the_place_of_ours_is_left_alone(directory):
    """Also with a second name of our own file, and with files that will be made."""
    victim = write(os.path.join(directory, "victim"), "precious\n" * 10000)
    kinds = {"link": lambda path: os.symlink(victim, path), "hard link": lambda path: os.link(victim, path),
             "copy": lambda path: shutil.copy(victim, path), "FIFO": os.mkfifo}
    for number, (kind, make) in enumerate(kinds.items()):
        for suffix in ((".live", ".part"), (".trace", ".hpcrun"))[number % 2]:
            output = os.path.join(directory, f"m{number}{suffix}")
            program = Waiting(directory, output, "-t")
            path = glob.glob(os.path.join(output, "*.live"))[0].replace(".live", suffix)
            if os.path.exists(path):
                os.rename(path, path + ".moved")
            make(path)
            before = state(path), state(victim)
            program.go_on()
            assert (state(path), state(victim)) == before, (kind, suffix)
    output = os.path.join(directory, "twice")
    program = Waiting(directory, output, "-t")
    path = glob.glob(os.path.join(output, "*.live"))[0]
    os.link(path, os.path.join(directory, "second-name"))
    program.go_on()
    assert os.path.exists(path)  # it is left where it is, and nothing is lost


# ---- commands ----

def control_file(program):
    return os.path.join(program.output, f"control-{HOST}-{program.pid}")


def hostile_files(path, victim, owner):
    """What an attacker puts in the place of a control file: (description, how)."""
    def content(data, uid):
        def make():
            with open(path, "wb") as file:
                file.write(data)
            os.chown(path, uid, -1)
        return make

    yield "hard link", lambda: os.link(victim, path)
    yield "link", lambda: os.symlink(victim, path)
    yield "link to nothing", lambda: os.symlink(victim + "-not", path)
    yield "FIFO", lambda: os.mkfifo(path)
    yield "directory", lambda: os.mkdir(path)
    yield "socket", lambda: socket.socket(socket.AF_UNIX).bind(path)
    for data in (TEXT, bytes(8192), b"hpcctl01" + bytes(8184), os.urandom(8192), b""):
        yield f"content {data[:9]}", content(data, owner)
        if os.geteuid() == 0:
            yield f"content {data[:9]} of root", content(data, 0)
    if os.geteuid() == 0:
        yield "our content of another user", content(CONTROL, 1234)


def attack_control(program, owner, victim):
    path = control_file(program)
    for what, make in hostile_files(path, victim, owner):
        make()
        facts = os.lstat(path)
        before = state(path), state(victim)
        for command in (("status",), ("stop",), ("flush",), ("mark", "x")) if what == "hard link" else (("status",),):
            done = control(program.output if what != "FIFO" else program.pid, *command)
            assert done.returncode == 1 and path in done.stderr and "remove it" in done.stderr, (what, done)
            assert (state(path), state(victim)) == before, (what, command)
        os.rmdir(path) if stat.S_ISDIR(facts.st_mode) else os.unlink(path)
        assert program.status()["state"] == "running", what


def victim_in(directory, program):
    """A file of root's on the same file system, which starts like a control file."""
    victim = os.path.join(directory, "victim")
    with open(victim, "wb") as file:
        file.write(b"hpcctl02" + b"precious\n" * 1000)
    os.chmod(victim, 0o600)
    return victim


@case
def foreign_control_files_are_refused_untouched(directory):
    program = Running(directory, "handler").wait_sampled()
    attack_control(program, os.geteuid(), victim_in(directory, program))
    program.end()


@case
def root_touches_no_foreign_control_file_of_a_user(directory):
    need_root()
    os.chmod(directory, 0o755)
    user = User(directory, True)
    binary = shutil.copy(controlled("gcc"), user.path("controlled"))
    program = Running.__new__(Running)
    program.output = user.path("m")
    program.process = start(*OTHER_USER, user.launcher, "-o", program.output, "-e", "task-clock@f500", binary, "regions",
                            cwd=user.place, OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
    program.pid = program.process.pid
    program.wait_sampled()
    assert program.command("stop") == "paused" and program.command("start") == "running"
    settings = write(os.path.join(directory, "settings.ini"), "[filter]\nthreads = 0\n")
    assert "filter: threads 0" in program.command("config", settings)
    attack_control(program, OTHER, victim_in(directory, program))
    done = control(program.output, "snapshot", os.path.join(directory, "copy"))
    assert done.returncode == 0, done
    # another file under the name of a measurement file is not copied
    os.link(os.path.join(directory, "victim"), user.path("m", f"{HOST}-9-9.hpcrun"))
    done = control(program.output, "snapshot", os.path.join(directory, "second"))
    assert done.returncode == 1 and not os.path.exists(os.path.join(directory, "second")), done
    os.unlink(user.path("m", f"{HOST}-9-9.hpcrun"))
    program.end()


def pretender(target):
    """A process of another user with the library, whose environment names the directory."""
    installation = os.path.dirname(os.path.dirname(other_users_launcher()))
    library = glob.glob(os.path.join(installation, "**", "libhpcrun-lite.so"), recursive=True)[0]
    process = start(*OTHER_USER, "env", f"LD_PRELOAD={library}", f"HPCRUN_LITE_DIR={target}", "sleep", "60", cwd="/")
    wait_until(lambda: "libhpcrun-lite" in open(f"/proc/{process.pid}/maps", encoding="ascii").read() and
               b"sleep" in open(f"/proc/{process.pid}/cmdline", "rb").read().split(b"\0")[0], "the library")
    return process


@case
def root_writes_only_into_measurement_directories(directory):
    """The environment of another user's process can name any directory."""
    need_root()
    os.chmod(directory, 0o755)
    target = os.path.join(directory, "root's")
    os.mkdir(target, 0o755)
    process = pretender(target)
    before = os.stat(target).st_mtime_ns
    for which in (process.pid, target):
        done = control(which, "status")
        assert done.returncode == 1 and "not a measurement directory" in done.stderr, done
    assert os.stat(target).st_mtime_ns == before


@case
def root_gives_no_file_in_its_measurement_to_another_user(directory):
    """Another user's process claims that it is measured into the directory of root's launch."""
    need_root()
    os.chmod(directory, 0o755)
    target = os.path.join(directory, "root's")
    assert run(LAUNCHER, "-q", "-o", target, "true").returncode == 0
    process = pretender(target)
    write(os.path.join(directory, "filter.ini"), "[filter]\nthreads = 0\n")
    before = sorted(os.listdir(target))
    for which in (process.pid, target):
        for words in (("status",), ("config", os.path.join(directory, "filter.ini"))):
            done = control(which, *words)
            assert done.returncode == 1 and "another user" in done.stdout + done.stderr, done
            assert sorted(os.listdir(target)) == before


@case
def a_snapshot_skips_holes(directory):
    program = Running(directory, "regions").wait_sampled()
    sparse = os.path.join(program.output, f"{HOST}-1-ab.trace")
    with open(sparse, "wb") as file:
        file.truncate(1 << 43)
    if os.stat(sparse).st_blocks:
        raise Skip("files have no holes here")
    done = control(program.output, "snapshot", os.path.join(directory, "copy"))
    assert done.returncode == 0 and os.path.getsize(os.path.join(directory, "copy", f"{HOST}-1-ab.trace")) == 1 << 43, done
    os.unlink(sparse)
    os.link(glob.glob(os.path.join(program.output, "*.live"))[0], os.path.join(program.output, f"{HOST}-2-ab.live"))
    done = control(program.output, "snapshot", os.path.join(directory, "second"))
    assert done.returncode == 1 and "has a second hard link: remove it" in done.stderr, done
    assert not os.path.exists(os.path.join(directory, "second"))
    program.process.kill()


@case
def a_new_control_file_belongs_to_the_process_only(directory):
    """Its owner is that of the process, also while the process does not answer."""
    need_root()
    program = Running(directory, "regions").wait_sampled()
    os.kill(program.pid, signal.SIGSTOP)
    done = control(program.pid, "status")
    facts = os.stat(control_file(program))
    assert done.returncode == 1 and stat.S_IMODE(facts.st_mode) == 0o600 and facts.st_uid == 0 and facts.st_nlink == 1
    os.kill(program.pid, signal.SIGCONT)
    assert program.status()["state"] == "running"
    program.end()


# ---- the report's index ----

@case
def an_index_takes_no_other_files_place(directory):
    program = build("nested_regions.c", "gcc", "-DPART=0.05")
    must(LAUNCHER, "-q", "-t", "-e", "task-clock@f1000", "-o", "m", program, cwd=directory)
    path = glob.glob(os.path.join(directory, "m", "*.hpcrun"))[0].replace(".hpcrun", ".index")
    victim = write(os.path.join(directory, "victim"), "precious\n")
    ours = os.path.join(directory, "ours")
    must(REPORT, *INDEX, "m", cwd=directory)
    names = set(os.listdir(os.path.join(directory, "m"))) - {"debug-data"}
    os.rename(path, ours)
    os.truncate(ours, os.path.getsize(ours) - 1)  # it has to be made anew
    for make in (lambda: os.link(victim, path), lambda: os.link(ours, path), lambda: os.symlink(ours, path),
                 lambda: write(path, "notes\n"),
                 lambda: write(path, ""), lambda: os.mkfifo(path)):
        make()
        before = state(path), state(victim)
        done = run(REPORT, *INDEX, "m", cwd=directory)
        assert done.returncode == 1 and "another file has that name" in done.stderr, done
        assert (state(path), state(victim)) == before
        assert set(os.listdir(os.path.join(directory, "m"))) - {"debug-data"} == names
        os.unlink(path)
    for _ in range(2):
        must(REPORT, *INDEX, "m", cwd=directory)
    assert os.path.getsize(path) > 0


main()
