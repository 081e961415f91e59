"""Names are readable: C++ templates and inlined functions, Fortran modules."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, near, no_runtime, tap


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
