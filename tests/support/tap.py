"""The little that the test scripts share: cases in TAP, and how the measured programs are run."""
import os
import subprocess
import sys
import tempfile
import traceback

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUPPORT, GOLDEN, INCLUDE = (os.path.join(TESTS, *part) for part in (("support",), ("golden",), ("..", "include")))
LAUNCHER = os.environ.get("HPCRUN_LITE_TEST_LAUNCHER", "hpcrun-lite")
REPORT = os.environ.get("HPCRUN_LITE_TEST_REPORT", "hpcprof-lite")
LIBRARY = os.environ.get("HPCRUN_LITE_TEST_LIBRARY", "")
DEPS = os.environ.get("HPCRUN_LITE_TEST_DEPS", "")

# Settings of the machine that would change what is tested.
CLEARED = ("OMP_TOOL", "OMP_TOOL_LIBRARIES", "LD_PRELOAD", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID", "PBS_JOBID",
           "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid", "PMI_JOBID")


CASES = []


def case(function):
    """Marks a function as a test case: it gets an empty directory, and fails by raising."""
    CASES.append(function)
    return function


class Off(AssertionError):
    """Raised by a case whose figure is further from what a clock says than it may be.  Neighbours on the machine do that now
    and then: the case is taken again, TRIES times in all, and each time is shown."""


TRIES = 3


def timed(holds, *what):
    """An assertion whose outcome other programs on the machine can change."""
    if not holds:
        raise Off(*what)


class Skip(Exception):
    """Raised by a case that this machine cannot run; says why."""


def environment(**settings):
    """The test's environment without what would disturb, and with settings."""
    kept = {name: value for name, value in os.environ.items()
            if name not in CLEARED and not name.startswith("HPCRUN_LITE_")}
    kept.update(settings)
    return kept


def run(*command, cwd=None, timeout=120, stdin=None, **settings):
    """Runs a command and returns its CompletedProcess with text output."""
    return subprocess.run(command, cwd=cwd, env=environment(**settings), timeout=timeout, input=stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace", check=False)


def compile_c(directory, name, source, *arguments, compiler="gcc"):
    """Builds a C program in directory and returns its path."""
    path = os.path.join(directory, name)
    text = path + ".c"
    with open(text, "w", encoding="utf-8") as file:
        file.write(source)
    done = run(compiler, "-g", "-O1", text, "-o", path, *arguments)
    assert done.returncode == 0, done.stderr
    return path


def again(function, *arguments):
    """Calls it, and once more where it raises Off, TRIES times in all."""
    for left in reversed(range(TRIES)):
        try:
            return function(*arguments)
        except Off as reason:
            if not left:
                raise
            print(f"# once more, {reason}", flush=True)


def take(function):
    """Runs a case in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-test-") as directory:
        function(directory)


def main():
    """Runs every case of the script and prints TAP.  Exits 1 where one failed."""
    failed = 0
    print(f"1..{len(CASES)}", flush=True)
    for number, function in enumerate(CASES, 1):
        name = f"{number} - {function.__name__}"
        try:
            again(take, function)
            print(f"ok {name}", flush=True)
        except Skip as reason:
            print(f"ok {name} # SKIP {reason}", flush=True)
        except Exception:  # a case that breaks is a case that fails
            failed += 1
            print(f"not ok {name}")
            print("# " + traceback.format_exc().rstrip().replace("\n", "\n# "), flush=True)
    sys.exit(1 if failed else 0)
