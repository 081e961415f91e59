"""Names and lines, wherever linkers and compilers put what tells them.

Usage: symbol_files.py [-k CASE]"""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, line_of, tap

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


tap.main()
