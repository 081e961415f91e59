"""What every test script uses: cases in TAP, the processes that they start, and where things are.

A script marks its cases with @case and ends in main().  It runs under meson, or by hand after one scripts/stage:

    python3 tests/cli/launcher.py [-k CASE]...      (only cases with CASE in their names)

Whatever a case starts is killed when the case ends, fails, or is ended by a signal: the script adopts its orphaned
descendants, finds them in /proc, and kills them.
"""
import atexit
import contextlib
import ctypes
import functools
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

SUPPORT = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(SUPPORT)
SOURCE = os.path.dirname(TESTS)
GOLDEN, INCLUDE, DEPS = (os.path.join(SOURCE, *part) for part in (("tests", "golden"), ("include",), ("build-deps",)))
SCRIPT = os.path.dirname(os.path.abspath(sys.argv[0]))  # the directory of the script that runs

# Another build directory, and the sanitized report, are named by the environment.
BUILD = os.environ.get("HPCRUN_LITE_TEST_BUILD", os.path.join(SOURCE, "build"))


def _programs():
    """The directory of the installed programs, as scripts/stage prints it."""
    try:
        with open(os.path.join(BUILD, "stage-prefix"), encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        sys.exit(f"{sys.argv[0]}: nothing is built in {BUILD}: run scripts/stage first")


BIN = _programs()
LAUNCHER = os.path.join(BIN, "hpcrun-lite")
REPORT = os.environ.get("HPCRUN_LITE_TEST_REPORT", os.path.join(BIN, "hpcprof-lite"))
LIBRARY = next(iter(glob.glob(os.path.join(os.path.dirname(BIN), "lib*", "**", "libhpcrun-lite.so"), recursive=True)),
               "")

# Settings of the machine that would change what is tested.
CLEARED = ("OMP_TOOL", "OMP_TOOL_LIBRARIES", "LD_PRELOAD", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID", "PBS_JOBID",
           "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid", "PMI_JOBID", "COLUMNS")
os.environ["MALLOC_PERTURB_"] = "0"  # meson's own value makes libc overwrite freed memory, which takes time


# ---- cases ----

CASES = []
TRIES = 5
BUSY = 0.3  # cores that other programs take
ALONE = "HPCRUN_LITE_TEST_ALONE" in os.environ  # no test runs beside this one


def case(function):
    """Marks a function as a test case: it gets an empty directory, and fails by raising."""
    CASES.append(function)
    return function


def group(function):
    """Marks a case that runs a test program and returns relay(): each of that program's cases is shown as one."""
    function.group = True
    return case(function)


class Skip(Exception):
    """Raised by a case that this machine cannot run; says why."""


class Off(AssertionError):
    """Raised where a figure differs from what a clock says by more than it may.  Other programs on the machine cause
    that now and then, so the case is repeated, TRIES times in all; every attempt is shown."""


def timed(holds, *what):
    """An assertion whose outcome other programs on the machine can change."""
    if not holds:
        raise Off(*what)


class Others:
    """Measures how much CPU time other processes take of the machine meanwhile, in cores."""

    def __enter__(self):
        self.began, self.all, self.own = time.monotonic(), self._all(), self._own()
        return self

    def __exit__(self, *unused):
        elapsed = time.monotonic() - self.began
        self.cores = max(self._all() - self.all - (self._own() - self.own), 0) / elapsed

    @staticmethod
    def _all():
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, irq, softirq, steal = (int(field) for field in file.readline().split()[1:9])
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _own():
        used = os.times()
        return used.user + used.system + used.children_user + used.children_system


_patience = 30 if ALONE else 3  # seconds for which the whole script waits for a quiet machine


def wait_for_quiet():
    """Waits until other processes use less than a tenth of a core, for half a second, but no longer than 10 s."""
    global _patience  # pylint: disable=global-statement
    began = time.monotonic()
    while time.monotonic() - began < min(_patience, 10):
        with Others() as others:
            time.sleep(0.5)
        if others.cores < 0.1:
            break
    _patience -= time.monotonic() - began


def again(function, *arguments):
    """Calls the function, up to TRIES times while it raises Off.  Waits in between, see wait_for_quiet().  If no test ran
    beside this one, but other programs took much of the machine three times, nothing can be said about the figure: Skip."""
    quietest = float("inf")
    for left in reversed(range(TRIES)):
        try:
            with Others() as others:
                return function(*arguments)
        except Off as reason:
            quietest = min(quietest, others.cores)
            if ALONE and left <= TRIES - 3 and quietest > BUSY:
                raise Skip(f"other programs took {quietest:.1f} cores and more: {reason}") from reason
            if not left:
                raise
            print(f"# once more, {reason}", flush=True)
            wait_for_quiet()


def wait_until(holds, what, seconds=60):
    """Returns what `holds` returns as soon as that is true; fails after so many seconds."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.001)
    return found


# ---- processes ----

class Ended(BaseException):
    """The script has to end: meson sends SIGTERM when the time is up."""


_ending = threading.Event()
_kept = set()


def children(pid):
    """The process ids of the children of a process."""
    return _families().get(pid, [])


def _families():
    """Process id → ids of its children, zombies included."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
                found.setdefault(parent, []).append(int(name))
    return found


def keep(pid):
    """From here on the end of a case leaves this process and what it has started, until the script ends."""
    _kept.add(pid)


def _descendants():
    """Everything that this process has started, and what that has started, without what is kept."""
    families, found = _families(), []
    level = [pid for pid in families.get(os.getpid(), []) if pid not in _kept]
    while level:
        found += level
        level = [child for pid in level for child in families.get(pid, [])]
    return found


def _kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_processes():
    """Kills all that is left of what this script has started.  Orphans become this process's children, so that killing
    and looking again finds everything."""
    deadline = time.monotonic() + 20
    while left := _descendants():
        _kill(left)
        _reap()
        if time.monotonic() > deadline:
            print(f"# cannot end processes {left}", flush=True)
            return
        time.sleep(0.001)


def _told_to_end(number, _):
    _ending.set()
    _kept.clear()
    _kill(_descendants())  # at once: meson waits half a second
    raise Ended(signal.Signals(number).name)


def take_charge():
    """From here on orphaned descendants are adopted, and SIGTERM ends them all."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _told_to_end)


def environment(**settings):
    """The environment of this script without what would disturb a test, and with settings."""
    kept = {name: value for name, value in os.environ.items()
            if name not in CLEARED and not name.startswith("HPCRUN_LITE_")}
    kept.update(settings)
    return kept


def _limited(limits):
    """Sets limits in a child: RLIMIT_* names without the prefix, each soft and hard."""
    def set_limits():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
    return set_limits if limits else None


def start(*command, cwd=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
          limits=None, pass_fds=(),
          only_environment=None, **settings):
    """Starts a command in a new session and returns its Popen."""
    if _ending.is_set():
        raise Ended
    return subprocess.Popen(command, cwd=cwd, env=only_environment or environment(**settings), stdin=stdin,
                            stdout=stdout,
                            stderr=stderr, text=text, errors="replace" if text else None, start_new_session=True,
                            pass_fds=pass_fds, preexec_fn=_limited(limits))


def run(*command, timeout=300, stdin=None, **how):
    """Runs a command and returns its CompletedProcess; stdin is what the command reads.  See start() for the rest."""
    process = start(*command, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE, **how)
    try:
        output, errors = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        _kill([process.pid])
        process.wait()
        raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def must(*command, **how):
    """Runs a command that has to succeed and returns its output."""
    done = run(*command, **how)
    assert done.returncode == 0, done
    return done.stdout


def compile_c(directory, name, source, *arguments, compiler="gcc"):
    """Builds a C program from its text in directory and returns its path."""
    path = os.path.join(directory, name)
    text = path + ".c"
    with open(text, "w", encoding="utf-8") as file:
        file.write(source)
    must(compiler, "-g", "-O1", text, "-o", path, "-I", SUPPORT, *arguments)
    return path


# ---- what a machine may lack ----

OTHER_USER = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


def need_program(*names):
    for name in names:
        if not shutil.which(name):
            raise Skip(f"no {name}")


@contextlib.contextmanager
def small_disk(directory, size, name="small"):
    """A small file system below directory, of a size such as 100k; Skip where it cannot be mounted."""
    path = os.path.join(directory, name)
    os.mkdir(path)
    if os.geteuid() != 0 or run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", path).returncode != 0:
        raise Skip("may not mount a file system")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=False)  # also while this script is being ended


# ---- the run ----

@functools.lru_cache(maxsize=None)
def shared_directory():
    """A directory for the whole script, removed at its end.  Other users may read it."""
    directory = tempfile.mkdtemp(prefix="hpcrun-lite-test-")
    os.chmod(directory, 0o755)
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


@functools.lru_cache(maxsize=None)
def other_users_launcher():
    """The launcher in an installation that every user can reach: the checkout may be in a private directory."""
    moved = os.path.join(shared_directory(), "prefix")
    shutil.copytree(os.path.dirname(BIN), moved, symlinks=True)
    return os.path.join(moved, "bin", "hpcrun-lite")


def take(function):
    """Runs a case in an empty directory, and ends what it has started."""
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-test-") as directory:
        try:
            return function(directory)
        finally:
            end_processes()


def chosen(names):
    """Which of the names are asked for by -k: all without it.  Fails where it names none."""
    asked = [value for option, value in zip(sys.argv, sys.argv[1:]) if option == "-k"]
    found = [name for name in names if not asked or any(fold(part) in fold(name) for part in asked)]
    if not found:
        print("1..1\nnot ok 1 - no case has " + " or ".join(map(repr, asked)) + " in its name")
        print("\n".join(["# The cases are:"] + [f"#   {name}" for name in names]), flush=True)
        sys.exit(1)
    return found


def fold(name):
    """A name as -k compares it: words may be joined by blanks or underscores."""
    return name.lower().replace("_", " ")


def shown(text):
    """Text as a TAP comment."""
    return "# " + text.rstrip().replace("\n", "\n# ")


def relay(*command, **how):
    """Runs a program that prints TAP; returns (fine, name) of each of its cases, and of itself where it fails
    otherwise."""
    done = run(*command, stderr=subprocess.STDOUT, CMOCKA_MESSAGE_OUTPUT="TAP", **how)
    results = [(word == "ok", text) for word, text in re.findall(r"^(ok|not ok) \d+ -? ?(.*)", done.stdout, re.M)]
    if done.returncode and all(fine for fine, _ in results) or not results:
        results.append((False, f"exit status {done.returncode}"))
    if not all(fine for fine, _ in results):
        print(shown(done.stdout[-4000:]), flush=True)
    return results


def cpu_used():
    """Seconds of CPU time that this script and all its ended processes have used."""
    return sum(sum(resource.getrusage(which)[:2]) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Tap:
    """The lines of TAP that the script has printed."""

    def __init__(self):
        self.count = self.failed = 0

    def line(self, fine, name):
        self.count += 1
        self.failed += not fine
        print(f"{'ok' if fine else 'not ok'} {self.count} - {name}", flush=True)

    def attempt(self, function):
        """Runs one case and prints its line, or those of its group."""
        name = function.__name__
        began, used = time.monotonic(), cpu_used()
        try:
            results = again(take, function)
            for fine, part in results if hasattr(function, "group") else ():
                self.line(fine, f"{name}: {part}")
            if not hasattr(function, "group"):
                self.line(True, name)
        except Skip as reason:
            self.line(True, f"{name} # SKIP {reason}")
        except BaseException as error:  # a case that breaks is a case that fails
            self.line(False, name)
            print(shown(f"{type(error).__name__}: {error}"[:4000]), shown(traceback.format_exc()), sep="\n", flush=True)
            if not isinstance(error, Exception):
                raise
        finally:
            print(f"# {name}: {time.monotonic() - began:.1f} s, {cpu_used() - used:.1f} s of CPU time", flush=True)


def main():
    """Runs the cases of the script, or those that -k names, and prints TAP.  Exits 1 where one failed."""
    functions = {function.__name__: function for function in CASES}
    assert len(functions) == len(CASES), "two cases have the same name"
    names = chosen(list(functions))
    plan_first = not any(hasattr(functions[name], "group") for name in names)
    take_charge()
    if plan_first:
        print(f"1..{len(names)}", flush=True)
    tap = Tap()
    try:
        for name in names:
            tap.attempt(functions[name])
        if not plan_first:
            print(f"1..{tap.count}", flush=True)
    except (Ended, KeyboardInterrupt) as reason:
        print(f"Bail out! {type(reason).__name__} {reason}", flush=True)
        tap.failed += 1
    finally:
        _kept.clear()
        end_processes()
        if _ending.is_set():  # do not wait for threads whose programs were killed
            shutil.rmtree(shared_directory(), ignore_errors=True)
            sys.stdout.flush()
            os._exit(1)
    sys.exit(1 if tap.failed else 0)
