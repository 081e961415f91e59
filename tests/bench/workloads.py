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
    200/s; gcc: built by GCC, and therefore measured on libgomp, against the plain run on libgomp."""

    def __init__(self, name, command, kind, threads=2, bars=None, gcc=False, settings=None):
        self.name, self.command, self.kind, self.threads, self.gcc = name, command, kind, threads, gcc
        self.bars, self.settings = bars or {}, settings or {}


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


def _real(programs):
    """Programs as users have them; the promise is for sampling, blame and contexts (-p off)."""
    for name, command, gcc in programs:
        yield Work(name, command, "real", bars={"off": REAL}, gcc=gcc, settings={"OMP_NUM_THREADS": "2"})


def debian(directory):
    return _real(_debian(directory))


def built():
    return _real(_built())


def extremes():
    """Each built by clang, on libomp; and those with a scale by GCC, on libgomp, so many times as long: what libgomp
    does in less than a tenth of a second would be lost beside the start of a process."""
    programs = {compiler: _build(compiler, "workloads.c") for compiler in ("clang", "gcc")}
    for name, what, threads, bars, scale in (
            ("100,000 empty regions", "empty_regions", 2, {"off": EMPTY_REGIONS}, 10),
            ("regions of 2 us", "regions_2us", 2, {}, 3),
            ("regions of 10 us", "regions_10us", 2, {"online": COARSE}, 2),
            ("nested, 1 thread", "nested", 2, {}, 2),
            ("nested, 2 threads", "nested_threads", 4, {}, 1),
            ("2,000,000 tasks of 0.5 us", "small_tasks", 2, {"off": SMALL_TASKS}, 1),
            ("2,000,000 empty tasks", "empty_tasks", 2, {}, 3),
            ("tasks of 10 us", "tasks_10us", 2, {"online": COARSE}, 2),
            ("taskloops, 0.5 us", "taskloops", 2, {}, 1),
            ("empty criticals", "empty_criticals", 2, {}, 10),
            ("empty criticals, 1 thread", "lone_criticals", 1, {}, 10),
            ("locks held 0.5 us", "locks", 2, {}, 1),
            ("empty locks, 1 thread", "lone_locks", 1, {}, 10),
            ("dynamic,1, empty", "empty_chunks", 2, {}, 20),
            ("dynamic,1, 10 us", "chunks_10us", 2, {"online": COARSE}, 2),
            ("10 wavefronts of 400 x 400", "wavefront", 2, {}, 10),
            ("wavefront of 10^6 cells", "wavefront_million", 2, {}, 0),
            ("10^6 dependences", "addresses", 2, {}, 1),
            ("stencil tasks of 10 us", "stencil", 2, {"off": DEPENDENT_OFF, "online": DEPENDENT}, 3),
            ("30 frames deep", "deep_30", 2, {"off": REAL}, 0),
            ("200 frames deep", "deep_200", 2, {"off": REAL}, 0),
            ("1,000 frames deep", "deep_1000", 2, {}, 0),
            ("1,000 contexts", "contexts_1000", 2, {"off": REAL}, 1),
            ("64 threads", "threads_64", 64, {}, 0),
            ("1,000 threads", "threads_1000", 1000, {}, 1)):
        if programs["clang"]:
            yield Work(name, [programs["clang"], what], "extreme", threads, bars)
        if programs["gcc"] and scale:
            yield Work(name + ", gcc", [programs["gcc"], what, str(scale)], "extreme", threads, bars, gcc=True)


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
