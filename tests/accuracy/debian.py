"""Unmodified programs from Debian, built by GCC: the same output as without the tool, and a plausible report."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, no_runtime, sums_hold, tap
from sequences import write_sequences


def measured(directory, *command, result=None, **settings):
    """Runs a program alone and measured; both must print the same, and write the same file `result`."""
    tap.need_program(command[0])
    outcomes = []
    for run in (lambda: tap.run(*command, cwd=directory, **settings),
                lambda: Measurement(directory, *command, **settings)):
        done = run()
        content = b""
        if result:
            with open(os.path.join(directory, result), "rb") as file:
                content = file.read()
            os.remove(os.path.join(directory, result))
        program = getattr(done, "done", done)
        outcomes.append((program.returncode, program.stdout, content))
    assert outcomes[0] == outcomes[1], (outcomes[0][:2], outcomes[1][:2])
    nodes = done.tree()
    sums_hold(nodes)
    no_runtime(nodes)
    threads = done.threads()
    cpu = sum(float(row["cpu_s"]) for row in threads)
    seen = sum(float(row[column]) for row in threads for column in ("work_s", "overhead_s"))
    tap.timed(seen <= cpu * 1.05 + 0.05, (seen, cpu))
    return done, nodes


def parallel_below_main(nodes):
    """All parallel regions are below a frame of the program, and work was done in them."""
    regions = [node for node in nodes if node.kind == "parallel"]
    assert regions and all(node.parent.kind != "root" for node in regions), [node.path() for node in regions]
    assert sum(node.value("work_incl_s") for node in regions) > 0


@tap.case
def graphicsmagick(directory):
    run, nodes = measured(directory, "gm", "convert", "-size", "900x900", "gradient:red-blue", "-blur", "0x5",
                          "out.ppm",
                          result="out.ppm", OMP_NUM_THREADS="2")
    parallel_below_main(nodes)
    assert any("BlurImage" in node.name for node in nodes)
    assert "OpenMP attached (libgomp of GCC " in run.done.stderr, run.done.stderr


@tap.case
def primecount(directory):
    _, nodes = measured(directory, "primecount", "1e15", OMP_NUM_THREADS="4")
    parallel_below_main(nodes)


@tap.case
def clustal_omega(directory):
    write_sequences(os.path.join(directory, "in.fa"), "ACDEFGHIKLMNPQRSTVWY", 60, 150, 0.2)
    _, nodes = measured(directory, "clustalo", "-i", "in.fa", "-o", "out.aln", "--force", "--threads=2",
                        result="out.aln", OMP_WAIT_POLICY="passive")
    parallel_below_main(nodes)


@tap.case
def fasttree(directory):
    write_sequences(os.path.join(directory, "in.fa"), "ACGT", 80, 300, 0.3)
    _, nodes = measured(directory, "fasttreeMP", "-nt", "-gtr", "-seed", "1", "in.fa", OMP_NUM_THREADS="1")
    assert nodes


tap.main()
