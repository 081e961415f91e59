"""Programs of clang on each libomp, alone and measured (own_runtime.c): the same output, errors and status, since none is
exchanged without being asked."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, libomps, need_libomps, tap

MODES = (("-p", "off"), ("-p", "online"), ("-p", "log", "-t"))


def without_own(errors):
    return [line for line in errors.splitlines() if not line.startswith("hpcrun-lite: ")]


def check(directory, what, library, modes=MODES):
    """Returns what the program prints."""
    settings = {"OMP_NUM_THREADS": "3", "KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE": "1"}
    if library:
        settings["LD_LIBRARY_PATH"] = os.path.dirname(library)
    program = build("own_runtime.c", "clang")
    alone = tap.run(program, what, cwd=directory, timeout=100, **settings)
    for mode in modes:
        done = Measurement(directory, program, what, options=("-e", "task-clock@f1000", *mode), timeout=100,
                           **settings).done
        for each in (done, alone):
            assert "error while loading" not in each.stderr, each
        assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout), (what, library, mode, alone, done)
        assert without_own(done.stderr) == without_own(alone.stderr), (what, library, mode, alone, done)
    assert alone.returncode == 0 and alone.stdout, alone
    return alone.stdout


@tap.case
def a_region_after_a_pause_and_a_fork(directory):
    """Up to libomp 15, an assertion ends the child.  libomp 15 is left out: there the child often hangs on a busy machine, also
    without the tool."""
    seen = {library: check(directory, "after_fork", library) for library in need_libomps() if library not in libomps(15)}
    for library in libomps(14):
        assert seen[library] == "pause: 0\nsignal 6\n", seen
    for library in libomps(19):
        assert seen[library] == "pause: 0\nexit status 7\n", seen


@tap.case
def the_runtime_that_is_loaded(directory):
    for library in need_libomps():
        seen = check(directory, "loaded", library, MODES if library in libomps(14) else MODES[1:2])
        assert seen == os.path.realpath(library) + "\n", (library, seen)
    check(directory, "loaded", None)


@tap.case
def results_of_loops(directory):
    """With schedules that are not monotonic, libomp by itself sometimes loses the value of lastprivate."""
    seen = {check(directory, "loops", library, MODES if library in libomps(14) else MODES[1:2])
            for library in need_libomps()}
    assert len(seen) == 1, seen


tap.main()
