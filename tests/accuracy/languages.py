"""Names are readable: C++ templates and inlined functions, Fortran modules; constructs have their places."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, line_of, near, no_runtime, tap
from report import report


def check_templates(directory, compiler):
    program = build("template_blocks.cc", compiler, "-O2")
    run = Measurement(directory, program)
    assert run.done.stdout == "1\n", run.done
    nodes = run.tree()
    no_runtime(nodes)
    names = {node.name for node in nodes}
    for kind, seconds in (("float", 0.4), ("double", 0.8)):
        near(sum(node.value("work_incl_s") for node in nodes if node.name.startswith(f"grid::Block<{kind}>::reduce(")),
             seconds, 0.12,
             f"reduce of {kind}: {names}")
        inlined = [node for node in nodes if node.kind == "inlined" and f"Block<{kind}>::hot_inlined" in node.name]
        assert inlined and all(node.path()[0] == "main" for node in inlined), names
        assert any(node.kind == "parallel" and node.parent.name.startswith(f"grid::Block<{kind}>::reduce(")
                   for node in nodes)


@tap.case
def templates_by_gcc(directory):
    check_templates(directory, "g++")


@tap.case
def templates_by_clang(directory):
    check_templates(directory, "clang++")


def check_lambdas(directory, compiler):
    """Each has the line at which it begins; that of GCC has no place of its own in DWARF."""
    source = """
#include "leaf_work.h"
template <typename F> NOINLINE static void twice(F body) { body(2); body(2); }
int main()
{
  twice([](int n) { leaf_work(n * 0.02); });
  twice([](int n) {
    leaf_work(n * 0.04);
  });
  return 0;
}
"""
    path = os.path.join(directory, "lambdas.cc")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    program = os.path.join(directory, "lambdas")
    tap.must(compiler, "-O2", "-g", "-fno-optimize-sibling-calls", "-I", tap.SUPPORT, path, "-o", program)
    nodes = Measurement(directory, program).tree()
    lambdas = [node for node in nodes if "operator()" in node.name]
    assert {(os.path.basename(node.row["file"]), node.row["line"]) for node in lambdas} == {
        ("lambdas.cc", "6"), ("lambdas.cc", "7")}, [(node.name, node.row) for node in lambdas]
    for line, seconds in (("6", 0.08), ("7", 0.16)):  # each call may be inlined
        near(sum(node.value("work_incl_s") for node in lambdas if node.row["line"] == line), seconds, 0.15, line)


@tap.case
def lambdas_by_gcc(directory):
    check_lambdas(directory, "g++")


@tap.case
def lambdas_by_clang(directory):
    check_lambdas(directory, "clang++")


def check_places(directory, compiler, level):
    source = "construct_places.cc"
    lines = {mark: line_of(source, "// = " + mark) for mark in ("inlined", "taskloop", "nogroup", "blocks", "branch one",
                                                               "branch two", "tasks")}
    run = Measurement(directory, build(source, compiler, level), OMP_NUM_THREADS="2")
    rows = run.view("parallelism")[1:]
    assert all(row["file"].endswith(source) and row["line"] for row in rows), rows
    places = [(row["kind"], row["name"], row["line"]) for row in rows]
    assert len(set(places)) == len(places), places
    for kind in ("taskloop", "task"):
        found = {(row["line"], row["name"][0:9]) for row in rows if row["kind"] == kind}
        assert found == {(str(lines[mark]), "taskloops") for mark in ("taskloop", "nogroup")}, found
    regions = [(int(row["line"]), row["name"]) for row in rows if row["kind"] == "parallel"]
    calls = sorted(name for line, name in regions if line == lines["inlined"])
    plain = [name.split("(")[0].split(" < ")[0] for name in calls]
    assert plain == ["region_in_a_function"] * (1 if level == "-O0" else 2), calls
    assert level == "-O0" or all(name.endswith(f" < {source}:{line_of(source, call)}") for name, call in
                                 zip(calls, ("(1, 0.02)", "(2, 0.04)"))), calls
    nodes = [node for node in run.tree() if node.kind == "parallel"]
    shown = {int(re.search(r"@ [a-z_.]+:(\d+)", node.name)[1]) for node in nodes}
    assert shown == {lines[mark] for mark in lines if mark not in ("taskloop", "nogroup")}, (
        shown, lines, [node.name for node in nodes])
    merged = {lines["branch one"], lines["branch two"]}  # one call may be left
    assert shown - merged == {line for line, name in regions} - merged, (shown, regions)
    assert merged & {line for line, name in regions}, regions
    for node in nodes:
        if f":{lines['blocks']} " in node.name:
            assert [name.split("(")[0] for name in node.path()[:-1]] == ["main", "blocks"], node.path()
    text = report("--view", "parallelism", run.output).stdout
    assert " (..)" not in text and "libomp" not in text, text
    assert re.findall(r"@ construct_places[.]cc:\d+ \(", text), text


@tap.case
def places_by_gcc(directory):
    for level in ("-O0", "-O2"):
        check_places(directory, "g++", level)


@tap.case
def places_by_clang(directory):
    for level in ("-O0", "-O2"):
        check_places(directory, "clang++", level)


@tap.case
def fortran(directory):
    program = build("heat.f90", "gfortran", "-O2", "-fno-inline")
    run = Measurement(directory, program)
    assert run.done.stdout.strip() == "T", run.done
    nodes = run.tree()
    no_runtime(nodes)
    paths = [node.path() for node in nodes]
    assert any(path and path[-1].endswith("smooth") and "relax" in " ".join(path) for path in paths), paths
    assert not any("_MOD_" in node.name and node.kind == "function" for node in nodes), [n.name for n in nodes]


tap.main()
