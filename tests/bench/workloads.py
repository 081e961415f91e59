"""The programs of the benchmark: from Debian, built here, and the extremes of workloads.c."""
import os
import shutil

import tap
from measured import build, source_file
from sequences import write_sequences

KIB, MIB = 1024, 1024 * 1024

# The promised ratios of CPU time.
REAL, REAL_MEDIAN, COARSE, EMPTY_REGIONS, SMALL_TASKS = 1.03, 1.01, 1.03, 1.15, 1.10
DEPENDENT_OFF, DEPENDENT = 1.02, 1.10


class Work:
    """A command with a name.  threads: their largest number; bars: mode of -p → the CPU ratio that is promised at
    200/s."""

    def __init__(self, name, command, kind, threads=2, bars=None, gcc=False, settings=None):
        self.name, self.command, self.kind, self.threads, self.gcc = name, command, kind, threads, gcc
        # what the launcher sets where it replaces libgomp, for all ways alike
        like_libgomp = {"KMP_LOCK_KIND": "tas", "KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE": "1"} if gcc else {}
        self.bars, self.settings = bars or {}, {**like_libgomp, **(settings or {})}


def _build(compiler, source, *flags, name=None):
    """Builds a program of this folder; None without the compiler."""
    return build(source, compiler, *flags, name=name) if shutil.which(compiler) else None


def _debian(directory):
    write_sequences(os.path.join(directory, "proteins.fa"), "ACDEFGHIKLMNPQRSTVWY", 100, 200, 0.2, 1)
    write_sequences(os.path.join(directory, "genes.fa"), "ACGT", 100, 400, 0.3, 2)
    for name, command in (
            ("gm convert -blur", ["gm", "convert", "-size", "2500x2500", "gradient:red-blue", "-blur", "0x9",
                                  "out.ppm"]),
            ("primecount 1e15", ["primecount", "1e15"]),
            ("clustalo 100 proteins", ["clustalo", "-i", "proteins.fa", "-o", "out.aln", "--force", "--threads=2"]),
            ("fasttreeMP 100 genes", ["fasttreeMP", "-nt", "-gtr", "-seed", "1", "genes.fa"])):
        if shutil.which(command[0]):
            yield name, command, True


def _built():
    for name, compiler, source, flags in (("C++ templates, g++", "g++", "template_mixers.cc", ("-O2",)),
                                          ("C++ templates, clang++", "clang++", "template_mixers.cc", ("-O2",)),
                                          ("Fortran stencil, gfortran", "gfortran", "stencil.f90", ("-O2",)),
                                          ("C mini-app, gcc", "gcc", "workloads.c", ("-O2",)),
                                          ("C mini-app, clang", "clang", "workloads.c", ("-O2",))):
        program = _build(compiler, source, *flags, name=name.translate({ord(" "): "-", ord(","): None, ord("+"): "p"}))
        if program:
            yield name, [program] + (["mini_app"] if source == "workloads.c" else []), not compiler.startswith("clang")


def real(directory):
    """Programs as users have them; the promise is for sampling, blame and contexts (-p off)."""
    for name, command, gcc in (*_debian(directory), *_built()):
        yield Work(name, command, "real", bars={"off": REAL}, gcc=gcc, settings={"OMP_NUM_THREADS": "2"})


def extremes():
    program = _build("clang", "workloads.c")
    for name, what, threads, bars in (
            ("100,000 empty regions", "empty_regions", 2, {"off": EMPTY_REGIONS}),
            ("2,000,000 tasks of 0.5 us", "small_tasks", 2, {"off": SMALL_TASKS}),
            ("2,000,000 empty tasks", "empty_tasks", 2, {}),
            ("tasks of 10 us", "tasks_10us", 2, {"online": COARSE}),
            ("empty criticals", "empty_criticals", 2, {}),
            ("locks held 0.5 us", "locks", 2, {}),
            ("dynamic,1, empty", "empty_chunks", 2, {}),
            ("dynamic,1, 10 us", "chunks_10us", 2, {"online": COARSE}),
            ("regions of 10 us", "regions_10us", 2, {"online": COARSE}),
            ("10 wavefronts of 400 x 400", "wavefront", 2, {}),
            ("wavefront of 10^6 cells", "wavefront_million", 2, {}),
            ("10^6 dependences", "addresses", 2, {}),
            ("stencil tasks of 10 us", "stencil", 2, {"off": DEPENDENT_OFF, "online": DEPENDENT}),
            ("30 frames deep", "deep_30", 2, {"off": REAL}),
            ("200 frames deep", "deep_200", 2, {"off": REAL}),
            ("1,000 frames deep", "deep_1000", 2, {}),
            ("1,000 contexts", "contexts_1000", 2, {"off": REAL}),
            ("64 threads", "threads_64", 64, {}),
            ("1,000 threads", "threads_1000", 1000, {})):
        if program:
            yield Work(name, [program, what], "extreme", threads, bars)


def other_languages():
    """Programs whose own runtime unwinds stacks, or interrupts threads by signals."""
    thrower = _build("g++", "thrower.cc", "-O2")
    if thrower:
        yield Work("C++ exceptions, g++", [thrower], "extreme", bars={"off": REAL}, gcc=True)
    if shutil.which("go") and shutil.which("gcc"):
        program = os.path.join(tap.shared_directory(), "collector")
        tap.must("go", "build", "-o", program, source_file("collector.go"), cwd=tap.shared_directory())
        yield Work("Go", [program], "extreme", bars={"off": REAL})


def scaled():
    """A small run, and the mini-app once and four times as long."""
    program = _build("clang", "workloads.c")
    return {name: [program, *command] for name, command in (("small", ["small"]), ("once", ["mini_app", "1"]),
                                                            ("longer", ["mini_app", "4"]))}
