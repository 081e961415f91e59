"""OpenMP that comes with a library loaded late, without an option: plugins on libgomp and on a renamed libgomp, Python
with numpy on OpenBLAS, R's data.table."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, near, no_losses, no_runtime, sums_hold, tap, work_of

SHARE = 0.12
ROUNDS, UNIT = 8, 0.02  # as in late_plugin.c

NUMPY = """
import time
begin = time.monotonic()
import numpy

def multiply(a, b):
    return a @ b

def count(number):
    begin = time.monotonic()
    sum(range(number))
    return time.monotonic() - begin

a, b = numpy.full((400, 400), 0.5), numpy.full((400, 400), 2.0)
alone = 0
for i in range(20):
    c = multiply(a, b)
    alone += count(500000)
print("product", c[1, 1])
print("alone", alone)
print("elapsed", time.monotonic() - begin)
"""

DATA_TABLE = """
library(data.table)
setDTthreads(2)
d <- data.table(k = (1:1000000 * 7919) %% 1000003, v = 1:1000000)
for (i in 1:5) e <- d[order(k)]
cat(getDTthreads(), nrow(e), "\\n")
"""


def plugin(name, *flags):
    return build("late_plugin.c", "gcc", "-DPLUGIN", "-shared", "-fPIC", "-Wl,-rpath,$ORIGIN", *flags, name=name)


def measured(directory, *command, **settings):
    run = Measurement(directory, *command, **settings)
    assert run.done.returncode == 0, run.done
    no_losses(run)
    nodes = run.tree()
    sums_hold(nodes)
    no_runtime(nodes)
    assert re.search(r"libgomp of GCC \d+", tap.must(tap.REPORT, "--legend", run.output)), run.done.stderr
    return run, nodes


def regions_of(run):
    """All parallel regions of the program: how many, their work, the sum of their spans."""
    rows = [row for row in run.view("parallelism") if row["kind"] == "parallel"]
    return [sum(float(row[column]) for row in rows) for column in ("instances", "work", "span")]


def known_plugin(directory, local):
    host = build("late_plugin.c", openmp=False)
    run, nodes = measured(directory, host, local, str(ROUNDS), plugin("plain.so"))
    assert run.done.stdout == "2\n" * ROUNDS, run.done
    count, work, span = regions_of(run)
    assert count == ROUNDS, count
    near(work, 3 * UNIT * ROUNDS, SHARE, "work of regions")
    near(span, 2 * UNIT * ROUNDS, SHARE, "span of regions")
    near(work_of(nodes, "plugin_work"), 3 * UNIT * ROUNDS, SHARE, "samples in regions")
    idle = float(re.search("^idle (.+)", run.done.stderr, re.M)[1])
    near(sum(float(row["idle_s"]) for row in run.threads()), idle, 0.1, "the threads that wait for the last")
    for node in nodes:
        if node.name == "plugin_work":
            path = node.path()
            assert path[:3] == ["main", "call_plugin", "plugin_region"] and node.parent.kind == "parallel", path


@tap.case
def a_plugin(directory):
    known_plugin(directory, "1")


@tap.case
def a_plugin_with_global_symbols(directory):
    known_plugin(directory, "0")


def with_own_runtime(directory, path):
    """A copy of a plugin with a libgomp of its own beside it, of another name, as wheels of Python packages have."""
    runtime = re.search(r"libgomp\.so\.1 => (\S+)", tap.must("ldd", path))[1]
    for name, source in (("own.so", path), ("libgomp-1.so", runtime)):
        with open(source, "rb") as file:
            content = file.read()
        assert b"libgomp.so.1\0" in content, source
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content.replace(b"libgomp.so.1\0", b"libgomp-1.so\0"))
    return os.path.join(directory, "own.so")


@tap.case
def two_libgomps_in_a_process(directory):
    """The loader, not the tool, says which one serves a plugin."""
    host, plain = build("late_plugin.c", openmp=False), plugin("plain.so")
    own = with_own_runtime(directory, plain)
    for local, *paths in (("2", plain, own), ("1", own, plain), ("0", plain, own)):
        alone = tap.must(host, local, "4", *paths)
        assert alone == ("3 3\n" if local == "0" else "2 3\n") * 4, alone
        run, nodes = measured(directory, host, local, "4", *paths)
        assert run.done.stdout == alone, (local, run.done)
        threads = 6 if local == "0" else 5
        count, work, _ = regions_of(run)
        assert count == 8, count
        near(work, (threads + 2) * UNIT * 4, SHARE, "work of regions")
        near(work_of(nodes, "plugin_work"), (threads + 2) * UNIT * 4, SHARE, "samples in regions")
        for node in nodes:
            assert node.name != "plugin_work" or node.path()[:2] == ["main", "call_plugin"], node.path()


def below(nodes, module):
    """All parallel regions are below frames of the module, and work was done in them."""
    regions = [node for node in nodes if node.kind == "parallel"]
    assert sum(node.value("work_incl_s") for node in regions) > 0
    for node in regions:
        above = node.parent
        while above and not re.match(module, os.path.basename(above.module)):
            above = above.parent
        assert above, node.path()


@tap.case
def numpy_on_openblas(directory):
    python, found = "/usr/bin/python3", glob.glob("/usr/lib/*/openblas-openmp")
    if not found or tap.run(python, "-c", "import numpy").returncode:
        raise tap.Skip("no python3-numpy or no libopenblas0-openmp")
    run, nodes = measured(directory, python, "-c", NUMPY, LD_LIBRARY_PATH=found[0], OMP_NUM_THREADS="2")
    product, alone, elapsed = (float(line.split()[1]) for line in run.done.stdout.splitlines())
    assert product == 400, run.done
    count, work, span = regions_of(run)
    assert count >= 20 and len(run.threads()) == 2, count
    assert work / 2 <= span <= work, (work, span)
    below(nodes, "python3")
    idle = sum(float(row["idle_s"]) for row in run.threads())
    tap.timed(0.9 * alone <= idle <= elapsed, f"idle while Python counts {alone} s of {elapsed}: {idle}")


@tap.case
def data_table_of_r(directory):
    tap.need_program("Rscript")
    if tap.run("Rscript", "--vanilla", "-e", "library(data.table)").returncode:
        raise tap.Skip("no r-cran-data.table")
    run, nodes = measured(directory, "Rscript", "--vanilla", "-e", DATA_TABLE, OMP_NUM_THREADS="2")
    assert run.done.stdout == "2 1000000 \n", run.done
    count, work, span = regions_of(run)
    assert count > 0 and 0 < span <= work, (count, work, span)
    below(nodes, r"libR\.so")


tap.main()
