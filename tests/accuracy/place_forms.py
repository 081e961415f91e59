"""A construct has one place in all views: the line of its directive, where debug data tell it.

In the programs, every line that ends in "@ KIND" has a construct of that kind."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, libomps, openmp_flags, source_file, tap
from report import report, rows

TREES = ("topdown", "bottomup", "flat", "critical-path")
ENTRIES = {"parallel": ("parallel", "teams"), "task": ("task", "taskloop")}

# GCC gives no line to the calls by which these enter the runtime, so they have that of the code before.
NO_LINE = ("for", "sections", "single", "ordered", "taskgroup", "barrier")


def marks(*sources):
    """The places of each kind of construct in the sources, as (file, line)."""
    found = collections.defaultdict(set)
    for source in sources:
        with open(source_file(source), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                mark = re.search(r"(?://|!|/\*) @ ([a-z -]+?)(?: \*/ *\\)?$", line)
                for kind in mark[1].split() if mark else ():
                    found[kind].add((source, number))
    for kind in ("task", "taskgroup"):  # a taskloop consists of these
        found[kind] |= found["taskloop"]
    return found


def place(row):
    return os.path.basename(row["file"]), int(row["line"] or 0)


def check_parallelism(run, marked, gcc):
    """Constructs by kind, each at its mark; without samples the rows have the same names."""
    seen = collections.defaultdict(set)
    for row in run.view("parallelism")[1:]:
        if row["kind"] == "user-region" or row["instances"] == "0":
            continue
        seen[row["kind"]].add(place(row))
        if row["kind"] in NO_LINE and gcc:
            assert row["file"] and row["line"], row
            continue
        allowed = marked[row["kind"]]
        if row["kind"] == "for":  # clang gives a combined loop the line of the statement
            allowed = allowed | {(file, line + 1) for file, line in allowed}
        if row["kind"] == "parallel":  # the region that the runtime makes for each team
            allowed = allowed | marked["teams"]
        assert place(row) in allowed, (row["kind"], place(row), row["name"])
    return seen


def check_trees(run, marked, seen):
    for view in TREES:
        for row in run.view(view):
            kinds = ENTRIES.get(row["kind"])
            if row["kind"] == "partial" and "@" in row["name"]:
                assert place(row) in seen[row["name"].split(" @ ")[0]], row["name"]
            if not kinds:
                continue
            assert "{} @ {}:{}".format(row["kind"], *place(row)) in row["name"], row
            for places in (marked, seen):
                assert any(place(row) in places[kind] for kind in kinds), (view, row["name"])


def check_constructs(run, seen, gcc):
    """The views of constructs show the places of the parallelism view."""
    known = {places for kind in seen for places in seen[kind]}
    for view in ("regions", "region-tree", "overheads", "tasks"):
        for row in run.view(view):
            if row["file"] and row["line"] and row["kind"] != "reduction":  # of clang, at the region's line
                assert place(row) in known, (view, row["kind"], place(row))
            if view == "regions" and gcc and row["kind"] == "single" and row["thread"] == "SUM":
                assert "nowait" in row["note"], row


def check_texts(run, seen):
    """The sentences of text reports name the same places, and selectors accept them."""
    known = {f"{file}:{line}" for places in seen.values() for file, line in places}
    for view in ("summary", "topdown"):
        done = report("--view", view, run.output, COLUMNS="400")
        assert done.returncode == 0, done
        for found in re.findall(r"(?:@|' at) ([\w.]+:\d+)", done.stdout):
            assert found in known or ".." in found, (view, found)
    shown = sorted({place(row) for row in run.view("topdown") if row["kind"] == "parallel"})
    scenarios = [option for file, line in shown for option in ("--what-if", f"{file}:{line}=2")]
    assert len(rows("whatif", *scenarios, run.output)) == len(shown)
    for file, line in shown[:3]:
        rows("topdown", "--root", f"{file}:{line}", run.output)


def measured(directory, program, *arguments, rate=2000):
    """Clang's programs run on libomp 19: on 14 and 15, place_forms.c hangs by itself after teams()."""
    newest = libomps(19) if "clang" in os.path.basename(program) else []
    return Measurement(directory, program, *arguments, OMP_NUM_THREADS="3", OMP_WAIT_POLICY="passive",
                       options=("-e", f"task-clock@f{rate}", *(("--omp-runtime", newest[0]) if newest else ())))


def check(directory, program, *arguments, marked, gcc):
    """Checks one run; returns the constructs that were seen."""
    run = measured(directory, program, *arguments)
    assert run.done.returncode == 0, run.done
    seen = check_parallelism(run, marked, gcc)
    check_trees(run, marked, seen)
    check_constructs(run, seen, gcc)
    check_texts(run, seen)
    return seen


def check_all(marked, seen, gcc):
    """Every construct was seen."""
    for kind in marked:
        if kind not in ("user-region", "masked", *(NO_LINE if gcc else ("for", "taskgroup"))):
            assert marked[kind] <= seen[kind], (kind, marked[kind] - seen[kind])


def check_unsampled(directory, program, *arguments):
    """Without samples, constructs have the same names and places."""
    names = [{(row["kind"], row["name"], place(row)) for row in
              measured(directory, program, *arguments, rate=rate).view("parallelism")[1:]
              if row["name"] != "one_or_other"} for rate in (2000, 1)]  # which of its regions a jump entered is sampled
    assert names[0] == names[1], names[0] ^ names[1]


def build_c(compiler, *flags):
    """The program, with a library of its own for one of its parts."""
    gcc = not compiler.startswith("clang")
    library = build("place_forms.c", compiler, "-shared", "-fPIC", "-DPART=1", *flags,
                    name=f"libplaces-{compiler}{''.join(flags)}.so")
    return build("place_forms.c", compiler, "-DPART=2", *flags, "-Wl,--no-as-needed", library,
                 f"-Wl,-rpath,{os.path.dirname(library)}",
                 name=f"places-{compiler}{''.join(flags)}"), gcc


def check_c(directory, compiler, *flags):
    program, gcc = build_c(compiler, *flags)
    marked = marks("place_forms.c", "place_forms.h")
    seen = check(directory, program, "everything", marked=marked, gcc=gcc)
    for mode in ("last_act", "last_of_two"):  # called by way of a table, they leave no frame
        if "-O0" in flags:
            here = check_parallelism(measured(directory, program, mode), marked, gcc)
        else:
            here = check(directory, program, mode, marked=marked, gcc=gcc)
        assert len(here["parallel"]) == 1, here
        seen = {kind: seen[kind] | here[kind] for kind in marked}
    if "-O0" in flags:
        check_all(marked, seen, gcc)
    else:
        check_unsampled(directory, program, "everything")


@tap.case
def c_by_gcc(directory):
    check_c(directory, "gcc", "-O0")
    check_c(directory, "gcc", "-O2")


@tap.case
def c_by_clang(directory):
    check_c(directory, "clang", "-O0")
    check_c(directory, "clang", "-O2")


@tap.case
def c_by_clang_19(directory):
    openmp_flags("clang-19")
    check_c(directory, "clang-19", "-O2")


@tap.case
def cc(directory):
    for compiler in ("g++", "clang++"):
        for level in ("-O0", "-O2"):
            program, marked, gcc = build("place_forms.cc", compiler, level), marks("place_forms.cc"), compiler == "g++"
            check_all(marked, check(directory, program, marked=marked, gcc=gcc), gcc)
            check_unsampled(directory, program)


@tap.case
def fortran(directory):
    for level in ("-O0", "-O2"):
        program = build("place_forms_in_fortran.f90", "gfortran", level, "-J", directory)
        marked = marks("place_forms_in_fortran.f90")
        check_all(marked, check(directory, program, marked=marked, gcc=True), True)
        check_unsampled(directory, program)


INLINED = """static inline __attribute__((always_inline)) void act(volatile int *sum)
{
#pragma omp parallel
  ++*sum;
}
__attribute__((noinline)) void calls(volatile int *sum)
{
  act(sum);
  act(sum);
  act(sum);
}
int main(void)
{
  volatile int sum = 0;
  calls(&sum);
  return !sum;
}
"""


@tap.case
def inlined_copies_read_differently(directory):
    """Also where a line has no room for the function."""
    for compiler in ("gcc", "clang"):
        tap.need_program(compiler)
        program = tap.compile_c(directory, f"in-{compiler}", INLINED, "-O2", "-g", *openmp_flags(compiler), compiler=compiler)
        run = measured(directory, program, rate=1)
        for columns, form in (("80", "parallel @ in-{}.c:3 < :{}"), ("120", "parallel @ in-{0}.c:3 (act < in-{0}.c:{1})")):
            done = report("-q", "--view", "regions", "--percent-limit", "0", run.output, COLUMNS=columns)
            for line in (8, 9, 10):
                assert form.format(compiler, line) in done.stdout, (columns, line, done.stdout)


@tap.case
def without_symbols(directory):
    """Regions are named by addresses, which are the same in all views."""
    for compiler in ("gcc", "clang"):
        run = measured(directory, build("place_forms.c", compiler, "-O2", "-g0", "-s", "-DPART=3",
                                        name=f"stripped-{compiler}"), "everything")
        names = {row["name"] for row in run.view("parallelism") if row["kind"] in ("parallel", "teams")}
        for row in run.view("topdown"):
            if row["kind"] == "parallel":
                assert row["name"].split(" @ ")[1].split(" [")[0] in names, (row["name"], names)


tap.main()
