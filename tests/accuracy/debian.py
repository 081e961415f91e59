"""Programs of Debian's, unmodified, built by GCC: same output as alone, and a report that makes sense."""
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, no_runtime, sums_hold, tap


def measured(directory, *command, result=None, **settings):
    """Runs a program alone and measured; both must give the same output (and the same file, where it writes one)."""
    if not shutil.which(command[0]):
        raise tap.Skip(f"no {command[0]}")
    outcomes = []
    for run in (lambda: tap.run(*command, cwd=directory, **settings), lambda: Measurement(directory, *command, **settings)):
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
    """All parallel regions hang below a frame, and workers did something in them."""
    regions = [node for node in nodes if node.kind == "parallel"]
    assert regions and all(node.parent.kind != "root" for node in regions), [node.path() for node in regions]
    assert sum(node.value("work_incl_s") for node in regions) > 0


@tap.case
def graphicsmagick(directory):
    run, nodes = measured(directory, "gm", "convert", "-size", "900x900", "gradient:red-blue", "-blur", "0x5", "out.ppm",
                          result="out.ppm", OMP_NUM_THREADS="2")
    parallel_below_main(nodes)
    assert any("BlurImage" in node.name for node in nodes)
    assert "libomp" in run.done.stderr and "OpenMP attached" in run.done.stderr, run.done.stderr


@tap.case
def primecount(directory):
    _, nodes = measured(directory, "primecount", "1e15", OMP_NUM_THREADS="4")
    parallel_below_main(nodes)


@tap.case
def clustal_omega(directory):
    random.seed(1)
    letters = "ACDEFGHIKLMNPQRSTVWY"
    base = [random.choice(letters) for _ in range(200)]
    with open(os.path.join(directory, "in.fa"), "w", encoding="utf-8") as file:
        for number in range(100):
            sequence = [random.choice(letters) if random.random() < 0.2 else letter for letter in base]
            file.write(f">s{number}\n{''.join(sequence)}\n")
    _, nodes = measured(directory, "clustalo", "-i", "in.fa", "-o", "out.aln", "--force", "--threads=2", result="out.aln")
    parallel_below_main(nodes)


@tap.case
def fasttree(directory):
    random.seed(2)
    base = [random.choice("ACGT") for _ in range(400)]
    with open(os.path.join(directory, "in.fa"), "w", encoding="utf-8") as file:
        for number in range(300):
            sequence = [random.choice("ACGT") if random.random() < 0.3 else letter for letter in base]
            file.write(f">s{number}\n{''.join(sequence)}\n")
    _, nodes = measured(directory, "fasttreeMP", "-nt", "-gtr", "-seed", "1", "in.fa", OMP_NUM_THREADS="1")
    assert nodes


tap.main()
