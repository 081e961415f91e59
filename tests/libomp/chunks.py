"""Chunks of clang's loops (chunk_forms.c): the same figures on every libomp, whether it announces chunks or its functions
are wrapped for that, and none where neither is so."""
import functools
import itertools
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, combinations, libomps, need_libomps, tap
from report import report

# The leagues' teams get their threads in spite of a machine with few cores.
SETTINGS = {"OMP_CANCELLATION": "true", "OMP_THREAD_LIMIT": "8", "KMP_TEAMS_THREAD_LIMIT": "8",
            "KMP_DEVICE_THREAD_LIMIT": "8"}
CHUNKS = ("exec_s", "construct", "name", "line", "first")
TASKS = ("path", "last") + CHUNKS  # helpers divide a large taskloop: of tasks without a range, the paths can differ
REGIONS = ("kind", "name", "line", "thread", "exec_count", "section_count", "single_count", "executions", "note")
PARALLELISM = ("kind", "name", "line", "instances", "work", "span", "critical_path", "iteration_parallelism", "lock_bound",
               "note", "executions")

# Ranges of chunks that follow from the source, for teams of three threads.  Of a static loop with a chunk size, each
# thread's first chunk is announced: it has a range if there is no other.
RANGES = {
    "statics": [(0, 3), (4, 6), (7, 9)] + [(0, 0), (1, 1), (2, 2)],
    "types": [(0, 1), (2, 3), (4, 5)] + [(i, i + 1) for i in range(0, 10, 2)] + [(0, 1), (2, 2), (3, 3)] +
             [(i, i) for i in range(8)] + [(i, i) for i in range(5)],
    "down": [(0, 4), (5, 8), (9, 12)] + [(i, min(i + 1, 8)) for i in range(0, 9, 2)],
    "collapsed": [(i, min(i + 2, 19)) for i in range(0, 20, 3)],
    "nested": [(0, 0), (1, 1)] + 2 * [(i, i + 1) for i in range(0, 8, 2)],
    "empty": [],
    "steps": [(0, 3), (6, 9), (12, 15), (18, 18)] + [(0, 6), (9, 12), (15, 18)] + [(14, 20), (8, 11), (2, 5)] +
             [(-15, -3), (-27, -19), (-39, -31)] +
             [(3 + i * 2**58, 3 + (i + 1) * 2**58) for i in range(0, 32, 2)],
}


def measure(directory, binary, form, library, *options):
    run = Measurement(directory, binary, form, "3", options=("--work", "user", "--omp-runtime", library, *options),
                      **SETTINGS)
    assert run.done.returncode == 0 and run.done.stdout == "done\n" and "not followed" not in run.done.stderr, run.done
    return run


def columns(rows, names):
    return sorted(tuple(row[name] for name in names) for row in rows)


def figures(directory, form, library):
    run = measure(directory, build("chunk_forms.c", "clang"), form, library, "-p", "log")
    grains = [row for row in run.view("grains") if row["kind"] in ("task", "chunk")]
    return {"chunks": columns((row for row in grains if row["construct"] != "task"), CHUNKS),
            "tasks": columns((row if row["first"] else row | {"path": ""} for row in grains if row["construct"] == "task"),
                             TASKS),
            "regions": columns((row for row in run.view("regions") if row["thread"] == "SUM"), REGIONS),
            "parallelism": columns(run.view("parallelism"), PARALLELISM)}


def forms():
    return tap.run(build("chunk_forms.c", "clang")).stdout.split()


@tap.case
def equal_figures_on_every_libomp(directory):
    need_libomps(14, 19)
    newest = libomps(19)
    known = functools.lru_cache(maxsize=None)(lambda form: figures(directory, form, newest[0]))
    for form in forms():
        for library in libomps(14) + (libomps(15, 16) if "--long" in sys.argv[1:] else []):
            got = figures(directory, form, library)
            for view, expected in known(form).items():
                assert got[view] == expected, (form, library, view, sorted(set(got[view]) ^ set(expected))[:10])


@tap.case
def ranges_follow_from_the_source(directory):
    wrapped = [("steps", library) for library in libomps(14)]
    for form, library in set(combinations(list(RANGES), need_libomps()) + wrapped):
        run = measure(directory, build("chunk_forms.c", "clang"), form, library, "-p", "log")
        got = [(int(row["first"]), int(row["last"])) for row in run.view("grains")
               if row["kind"] == "chunk" and row["last"]]
        assert sorted(got) == sorted(RANGES[form]), (form, library, sorted(got))


@tap.case
def the_threads_of_a_league_count_once(directory):
    """libomp announces a team in it twice, with all its threads."""
    for library in need_libomps(14, 19):
        run = measure(directory, build("chunk_forms.c", "clang"), "league", library)
        most, = (int(row["value"]) for row in run.view("summary") if row["item"] == "threads_max")
        assert most == 2, (library, most)


def loops(directory, *command, **settings):
    """Rows of loops; settings: of Measurement()."""
    options = ("-p", "online", "--work", "user", *settings.pop("options", ()))
    run = Measurement(directory, *command, options=options, **settings)
    assert run.done.returncode == 0 and run.done.stdout == "done\n", run.done
    return [row for row in run.view("parallelism") if row["kind"] == "for"]


@tap.case
def gcc_code_on_an_old_libomp_is_marked(directory):
    """libomp itself then calls the functions that hand out chunks."""
    for library in need_libomps(14):
        binary = build(os.path.join(tap.TESTS, "span", "basic_forms.c"), "gcc", name="basic_forms-gcc")
        rows = loops(directory, binary, "loops", "2", options=("--omp-runtime", library))
        assert [float(row["work"]) for row in rows] == [400] and float(rows[0]["span"]) >= 200, rows
        assert "does not report chunks" in rows[0]["note"], rows


def plugin(library, *flags):
    folder, name = os.path.split(library)
    return build("chunk_plugin.c", "clang", "-DPLUGIN", "-shared", "-fPIC", *flags, f"-Wl,-rpath,{folder}", f"-L{folder}",
                 name="-".join(("plugin", os.path.basename(folder), name, *flags)) + ".so")


def renamed(library, directory, *flags):
    """A copy with another SONAME, and a plugin that needs it: the loader takes libraries of one name for the same."""
    found, name = os.path.join(directory, "libomq.so.5"), os.path.basename(library).encode()
    with open(library, "rb") as source, open(found, "wb") as copy:
        copy.write(source.read().replace(b"\0" + name + b"\0", b"\0libomq.so.5\0"))
    os.symlink(found, os.path.join(directory, "libomp.so"))  # what the linker looks for
    return plugin(found, *flags)


@tap.case
def a_libomp_that_is_loaded_late(directory):
    """With RTLD_DEEPBIND its functions cannot be wrapped."""
    host = build("chunk_plugin.c", openmp=False)
    for library in need_libomps(14, 19):
        rows = loops(directory, host, "local", plugin(library))
        assert [(float(row["work"]), float(row["span"])) for row in rows] == [(40, 4)], (library, rows)
        assert "report chunks" not in rows[0]["note"], (library, rows)
    for library in libomps(14):
        rows = loops(directory, host, "deepbind", plugin(library))
        assert [float(row["work"]) for row in rows] == [40] and "does not report chunks" in rows[0]["note"], rows


def orders(directory, *flags):
    """Plugins on libomp 14 and on a renamed libomp 19, in both orders; and how the host is started."""
    found = need_libomps(14, 19)
    both = [plugin(found[0], *flags), renamed(found[1], directory, *flags)]
    return build("chunk_plugin.c", openmp=False), (both, both[::-1]), {"KMP_DUPLICATE_LIB_OK": "1"}


@tap.case
def views_that_depend_on_chunks_say_that_they_are_unknown(directory):
    host = build("chunk_plugin.c", openmp=False)
    for library, how in ((library, how) for library in libomps(14, 19) for how in ("local", "deepbind")):
        run = Measurement(directory, host, how, plugin(library), options=("-p", "log"))
        unknown = how == "deepbind" and library in libomps(14)
        for view in ("summary", "speedup", "whatif", "grains", "advice"):
            text = " ".join(report("--view", view, run.output).stdout.split())
            assert ("Chunks of loops are not known" in text) == unknown, (library, how, view, text)
        for form in ("graphml", "json", "dot"):
            text = report("--view", "grain-graph", "-f", form, run.output).stdout
            assert ("Chunks of loops are not known" in text) == unknown, (library, how, form, text)
        notes = {row["note"] for row in run.view("regions") if row["kind"] == "for" and row["thread"] == "SUM"}
        assert notes == {"this runtime does not report chunks" if unknown else ""}, (library, how, notes)


@tap.case
def tables_are_on_disk_before_an_unseen_thread(directory):
    """With RTLD_DEEPBIND libomp calls libc's pthread_create.  A sample would make the file as well: there is none."""
    host = build("chunk_plugin.c", openmp=False)
    for library, mode in combinations(libomps(), ["online", "log"]):
        run = Measurement(directory, host, "deepbind", plugin(library), options=("-p", mode, "-e", "task-clock@60000000"))
        assert run.done.returncode == 0 and ": 0 samples of 2 threads" in run.done.stderr, run.done
        assert "not kept on disk" not in run.done.stderr, run.done


@tap.case
def two_libomps_in_a_process(directory):
    """Chunks are reported once."""
    host, pairs, settings = orders(directory)
    for plugins in pairs:
        rows = loops(directory, host, "two", *plugins, **settings)
        assert [(float(row["work"]), float(row["span"])) for row in rows] == 2 * [(40, 4)], rows


@tap.case
def two_libomps_in_a_process_that_is_not_measured(directory):
    """Each plugin's calls lead to its own libomp: without the launcher, with a filter of system calls, which ends
    measuring, and without OMPT."""
    host, pairs, settings = orders(directory)
    launch = (tap.LAUNCHER, "--overwrite", "-o", os.path.join(directory, "filtered"), "-p", "online", "--")
    ways = (("sums", (), {"LD_PRELOAD": tap.LIBRARY}), ("sums", (), {"LD_PRELOAD": tap.LIBRARY, "OMP_TOOL": "disabled"}),
            ("filter", launch, {}))
    for plugins, (how, before, more) in itertools.product(pairs, ways):
        done = tap.run(*before, host, how, *plugins, **settings, **more)
        assert (done.returncode, done.stdout) == (0, "done\n"), (plugins, how, more, done)


@tap.case
def loops_in_constructors_that_are_not_measured(directory):
    """No thread of the team waits for the loader."""
    host, pairs, settings = orders(directory, "-DAT_LOAD")
    for plugins in pairs:
        done = tap.run(host, "sums", *plugins, LD_PRELOAD=tap.LIBRARY, KMP_BLOCKTIME="0", **settings)
        assert (done.returncode, done.stdout) == (0, "done\n"), (plugins, done)


tap.main()
