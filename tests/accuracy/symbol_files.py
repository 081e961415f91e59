"""Names and lines, wherever linkers and compilers put what tells them.

Usage: symbol_files.py [-k CASE]"""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, line_of, openmp_flags, source_file, tap, write
from report import report

SOURCE = "symbol_files.c"
REGION = f"parallel @ {SOURCE}:{line_of(SOURCE, 'omp parallel')}"
SERIAL, PARALLEL = ["main", "outer", "middle", "leaf"], ["main", "team", REGION, "middle", "leaf"]


def paths(run):
    """The call paths of the functions that work, without what leaf() calls."""
    return [[name.split(" [")[0] for name in node.path()] for node in run.tree() if node.name == "leaf"]


def check_chains(run, *, inlined=True):
    assert run.done.returncode == 0 and run.done.stdout == "done\n", run.done
    expected = [[name for name in path if inlined or name != "middle"] for path in (SERIAL, PARALLEL)]
    assert sorted(paths(run)) == expected, paths(run)


@tap.case
def stubs_of_every_linker_leave_no_frame(directory):
    measured = []
    for linker in ("bfd", "gold", "lld", "mold"):
        for flags in ((), ("-Wl,-z,now",), ("-fcf-protection=full",)):
            if linker != "bfd" and tap.run("which", f"ld.{linker}").returncode:
                continue
            run = Measurement(directory, build(SOURCE, "gcc", f"-fuse-ld={linker}", *flags))
            check_chains(run)
            assert not [node.name for node in run.tree() if "$" in node.name or "GOMP" in node.name]
            measured.append(linker)
    if "mold" not in measured:
        raise tap.Skip("no mold: its stubs were not seen")


def loader():
    """The dynamic loader that programs name."""
    shown = tap.must("readelf", "-l", build(SOURCE))
    return re.search(r"interpreter: (\S+)]", shown)[1]


@tap.case
def a_program_that_the_loader_is_told_to_run_has_its_own_names(directory):
    program, settings = build(SOURCE), write(os.path.join(directory, "team.ini"), "[filter]\nfunctions = !team\n")
    for prefix, options in (((), ()), ((), ("--argv0", "other", "--library-path", "/nonexistent")),
                            (("/bin/sh", "-c", 'exec "$@"', "sh"), ()), ((), ("--preload", "libm.so.6", "--inhibit-cache"))):
        run = Measurement(directory, *prefix, loader(), *options, program)
        check_chains(run)
        assert {node.module for node in run.tree() if node.name == "leaf"} == {program}
        filtered = Measurement(directory, *prefix, loader(), *options, program, options=("--config", settings))
        assert paths(filtered) == [SERIAL], paths(filtered)


@tap.case
def the_directory_has_the_name_of_the_program_that_the_loader_runs(directory):
    program = build(SOURCE)
    tap.must(tap.LAUNCHER, loader(), program, "0", cwd=directory)
    assert os.listdir(directory) == [f"hpcrun-lite-{os.path.basename(program)}-measurements"], os.listdir(directory)


@tap.case
def a_loader_without_a_program_is_refused(directory):
    for words in ((), ("--list", build(SOURCE)), ("--library-path",)):
        run = Measurement(directory, loader(), *words)
        assert run.done.returncode == 125 and "is the dynamic loader, and runs no program here" in run.done.stderr, run.done
        assert not os.path.exists(run.output)


@tap.case
def split_dwarf_is_read_and_missed(directory):
    for compiler in ("gcc", "clang"):
        for version in (4, 5):
            program, part = os.path.join(directory, "program"), os.path.join(directory, "part.o")
            tap.must(compiler, "-O1", f"-gdwarf-{version}", "-gsplit-dwarf", *openmp_flags(compiler), "-c",
                     source_file(SOURCE), "-o", part)
            tap.must(compiler, *openmp_flags(compiler), part, "-o", program, "-lm")
            run = Measurement(directory, program)
            check_chains(run)
            os.remove(os.path.join(directory, "part.dwo"))
            done = report("--view", "topdown", run.output)
            assert "1 of the .dwo files of" in done.stderr and "llvm-dwp" in done.stderr, done
            assert done.stderr.count("\n") == 1, done.stderr


tap.main()
