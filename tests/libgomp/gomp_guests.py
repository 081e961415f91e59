"""Forks, thread churn, large teams, ends inside of regions, and libgomp in plugins, late, several times, or not at all.

Usage: gomp_guests.py [-k CASE]"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from libgomp_case import MODES, QUIET, built, measure, same
from measured import build, tap
from report import rows

program = built("gomp_guests.c", name="gomp_guests")
host = built("gomp_guests.c", name="gomp_host", openmp=False)
plugin, clang_plugin = (built("gomp_guests.c", compiler, "-DPLUGIN", "-shared", "-fPIC", name=f"{compiler}_plugin.so")
                        for compiler in ("gcc", "clang"))


def each(name, *rows, **how):
    """A case of several command lines, each in all modes but for those given."""
    def run(directory):
        for number, arguments in enumerate(rows):
            modes = how.get("modes") or (MODES[number % 3],)
            same(directory, program(), *arguments.split(), modes=modes, seen=how.get("seen", True), **QUIET)
    run.__name__ = name
    tap.case(run)


each("forks_before_the_first_region", *(f"forks before {end}" for end in ("exit", "_exit", "exec")), modes=MODES,
     seen=False)  # only the children meet libgomp
each("forks_between_regions", *(f"forks after {end}" for end in ("exit", "_exit", "exec")))
each("forks_in_regions", *(f"forks inside {end}" for end in ("exit", "_exit", "exec")))
each("threads_that_come_and_go", "churn 40", modes=MODES)
each("threads_with_a_region_in_a_destructor_only", "destructors 2000", modes=MODES)
each("a_team_of_1000_threads", "crowd 1000", modes=("online", "log"))
each("measuring_ends_before_the_program", "sandbox", modes=MODES)
each("longjmp_out_of_a_task", "jump", modes=("online",))
each("ends_in_regions", "ends exit", "ends quick", "leave master", "leave worker", "leave abort", seen=False)


@tap.case
def a_program_that_uses_up_the_keys(directory):
    """All threads of its team are followed: the dynamic loop and the critical section of each are in the report."""
    same(directory, program(), "keys", "3", modes=("online",), **QUIET)
    counts = {row["kind"]: int(row["instances"]) for row in rows("parallelism", os.path.join(directory, "measured-online"))}
    assert counts.get("critical") == 40, counts


def copied(directory, letter):
    """A copy of libgomp with a name of its own, as Python's wheels bring one, and a plugin that is bound to it."""
    name = f"libgomp-{letter}.so"
    with open(os.path.realpath(tap.must("gcc", "-print-file-name=libgomp.so.1").strip()), "rb") as file:
        text = file.read()
    with open(os.path.join(directory, name), "wb") as file:
        file.write(text.replace(b"\0libgomp.so.1\0", b"\0" + name.encode() + b"\0"))
    out = os.path.join(directory, f"plugin-{letter}.so")
    source = os.path.join(tap.SCRIPT, "gomp_guests.c")
    compiled = tap.must("gcc", "-O1", "-g", "-fopenmp", "-DPLUGIN", "-fPIC", "-c", source, "-o", out + ".o")
    tap.must("gcc", "-shared", out + ".o", "-o", out, f"-L{directory}", f"-l:{name}", f"-Wl,-rpath,{directory}")
    assert compiled == "" and name in tap.must("readelf", "-d", out)
    return out


def plugged(name, how, count, **keywords):
    def run(directory):
        done = same(directory, host(), "plugins", how, str(count), plugin(), **QUIET, **keywords)
        assert done.returncode == 0 and "sum" in done.stdout, done
    run.__name__ = name
    tap.case(run)


plugged("libgomp comes with a plugin", "stays", 3)
plugged("a plugin comes and goes", "comes and goes", 50, RUNTIME="libgomp.so.1")
plugged("a plugin's constructor has a region", "stays", 2, GUEST="begins")
plugged("a plugin's destructor has a region", "stays", 2, GUEST="ends")


@tap.case
def a_plugin_takes_the_place_of_another_one(directory):
    """Plugins with the same code are loaded in turn, mostly at the same address: each has its own constructs and
    contexts."""
    path = os.path.join(directory, "second.so")
    shutil.copy(plugin(), path)
    same(directory, host(), "plugins", "comes and goes", "6", plugin(), path, plugin(), modes=("online",),
         RUNTIME="libgomp.so.1", **QUIET)
    measured = os.path.join(directory, "measured-online")
    counts = sorted(int(row["instances"]) for row in rows("parallelism", measured) if row["kind"] == "critical")
    assert counts == [240, 480], counts
    nodes = {row["id"]: row for row in rows("topdown", measured)}
    for row in nodes.values():
        outer = nodes.get(row["parent_id"])
        assert row["kind"] != "parallel" or outer["module"] == row["module"], (outer, row)


@tap.case
def the_constructor_of_a_plugin_of_clang_has_a_region(directory):
    done = same(directory, host(), "plugins", "stays", "2", clang_plugin(), seen=False, GUEST="begins")
    assert done.returncode == 0 and "begins" in done.stdout, done


@tap.case
def a_plugin_with_deepbind(directory):
    same(directory, host(), "plugins", "deepbind", "3", plugin(), seen=False, **QUIET)
    done = measure(directory, "online", host(), "plugins", "deepbind", "500", plugin(), **QUIET)  # some samples
    assert "calls to libgomp were not seen" in done.stderr, done.stderr


def outcome(directory, name, source):
    """What is stated of a program without constructs that are measured, if libgomp's code was sampled."""
    path = os.path.join(directory, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(source)
    tap.must("gcc", "-O1", "-fopenmp", path + ".c", "-o", path)
    done = measure(directory, "online", path)
    assert done.returncode == 0 and "calls to libgomp were not seen" not in done.stderr, done
    return done.stderr


@tap.case
def target_regions_only(directory):
    said = outcome(directory, "targets", "int main(void) { int a[1000] = {0};\n for (int k = 0; k < 400000; k++) {\n"
                   "#pragma omp target map(tofrom: a)\n { a[k % 1000]++; } }\n return a[5] != 400; }\n")
    assert "libgomp of GCC" in said, said
    said = outcome(directory, "no_targets", "int main(int count, char **words) { (void)words;\n if (count > 1) {\n"
                   "#pragma omp target\n count++; }\n return count != 1; }\n")
    assert "libgomp is loaded, but no call to it was seen" in said, said


@tap.case
def a_note_says_of_how_many_processes_it_is(directory):
    code = ("int main(int count, char **words) { (void)words;\n for (volatile long i = 0; i < 20000000; i++);\n"
            "if (count %s) {\n#pragma omp parallel num_threads(2)\n count++; }\n return 0; }\n")
    used = tap.compile_c(directory, "used", code % ">= 1", "-fopenmp")
    unused = tap.compile_c(directory, "unused", code % "> 1", "-fopenmp")
    out = os.path.join(directory, "measured")
    tap.must(tap.LAUNCHER, "-o", out, "sh", "-c", f"{used}; {unused}; :")
    said = " ".join(tap.must(tap.REPORT, "--legend", out).split())
    assert "OpenMP runtime: libgomp" in said, said
    assert "In 1 of 3 processes: libgomp is loaded, but no call to it was seen" in said, said


@tap.case
def queries_only(directory):
    said = outcome(directory, "queries", "#include <omp.h>\nint main(void) { long sum = 0;\n"
                   "for (long i = 0; i < 40000000; i++) sum += omp_get_max_threads();\n return sum < 0; }\n")
    assert "only functions of libgomp that are not measured were called" in said, said


@tap.case
def dynamic_sections_that_cannot_be_written(directory):
    """The loader leaves their addresses as they are in the file."""
    if not shutil.which("ld.lld"):
        raise tap.Skip("no lld here")
    library = tap.compile_c(directory, "fixed.so", "int used(void); int fixed(void) { return used(); }\n", "-shared", "-fPIC",
                            "-fuse-ld=lld", "-Wl,-z,rodynamic")
    program = tap.compile_c(directory, "fixed", "#include <omp.h>\nint fixed(void);\nint used(void)"
                            " { return omp_get_max_threads(); }\nint main(void) { return fixed() < 1; }\n", library,
                            "-fopenmp", "-rdynamic")
    done = measure(directory, "online", program)
    assert done.returncode == 0 and "no call to it was seen" in done.stderr, done


@tap.case
def a_constructor_before_the_tool(directory):
    linked = build("gomp_guests.c", "gcc", "-Wl,--no-as-needed", plugin(), name="gomp_linked", openmp=False)
    same(directory, linked, "plugins", "stays", "2", plugin(), GUEST="begins", **QUIET)


WEAK = r"""#include <stdio.h>
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned) __attribute__((weak));
void omp_init_lock(long *) __attribute__((weak));
void omp_set_lock(long *) __attribute__((weak));
static void run(void *runs) { ++*(int *)runs; }
int main(void)
{
  int runs = 0;
  long lock[4];
  if (omp_init_lock) {
    omp_init_lock(lock);
    omp_set_lock(lock);
  }
  if (GOMP_parallel)
    GOMP_parallel(run, &runs, 4, 0);
  else
    run(&runs);
  printf("%d runs, %s\n", runs, omp_init_lock ? "locked" : "serial");
}
"""


@tap.case
def weak_functions_and_no_runtime(directory):
    weak = tap.compile_c(directory, "weak", WEAK)
    assert tap.must(weak) == "1 runs, serial\n"
    for mode in MODES:
        done = measure(directory, mode, weak)
        assert done.returncode == 0 and done.stdout in ("1 runs, locked\n", "1 runs, serial\n"), done


@tap.case
def two_copies_of_libgomp(directory):
    first, second = (copied(directory, letter) for letter in "ab")
    same(directory, host(), "plugins", "stays", "4", first, second, **QUIET)
    counts = [int(row["instances"]) for row in rows("parallelism", os.path.join(directory, "measured-online"))
              if row["kind"] == "critical"]
    assert counts == [160, 160], counts
    same(directory, host(), "plugins", "stays", "3", plugin(), first, second, modes=("online",), **QUIET)
    same(directory, host(), "plugins", "deepbind", "2", first, second, modes=("online",), seen=False, **QUIET)
    same(directory, program(), "plugins", "stays", "4", first, second, modes=("log",), seen=False, **QUIET)


tap.main()
