#!/usr/bin/env python3
"""Prints what calls of MPI cost under hpcrun-lite, with Open MPI and MPICH: in ns, alone and measured in each of the ways
of MODES, and the ratio.

Each round runs a program alone and in each way, and begins with another of them.  Figures are medians and quartiles
over the rounds; differences and ratios are those of the same round.  Messages are sent by polling, so ratios hold
where each rank has a core.

Usage: mpi_costs.py [-n ROUNDS] [--seconds S] [-l LAUNCHER] [--csv FILE]"""
import argparse
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import costs
import tap
from figures_table import Table
from measured import source_file

OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm": "isolated",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
MODES = {"-p off": ("-p", "off"), "default": (), "-p log": ("-p", "log")}
# A form of mpi_costs.c: what one of it is, its ranks, how many ns more it may take, and what ratio it may have.
FORMS = {"probe": ("MPI_Iprobe that finds nothing", 1, 120, None),
         "cold": ("8 bytes to itself, cold cache", 1, 120, None),
         "small": ("8 bytes, there and back", 2, None, None),
         "large": ("16 KiB, there and back", 2, None, 1.03),
         "halo": ("step of 1 ms with halo exchange", 2, None, 1.01)}


def time_of(library, ranks, prefix, program, form, count):
    job = (f"mpirun.{library}", "-n", str(ranks), program, form, str(count))
    done = tap.run(*prefix, *job, **OPEN_MPI)
    if done.returncode:
        raise RuntimeError(f"{done.args} ended with {done.returncode}: {done.stderr}")
    return float(done.stderr.splitlines()[-1])


def print_form(table, options, library, program, form, ways):
    """A line for the time alone, and two for each way."""
    what, ranks, most_ns, most_ratio = FORMS[form]
    slowest = max(time_of(library, ranks, prefix, program, form, 100) for prefix in ways.values())
    count = max(100, int(options.seconds * 1e9 / slowest))
    found, names = {name: [] for name in ways}, list(ways)
    for at in range(options.runs):
        for name in names[at % len(names):] + names[:at % len(names)]:
            found[name].append(time_of(library, ranks, ways[name], program, form, count))
    table.line(what, "alone", "time", costs.quartiles(found["alone"]), "ns")
    for name in names[1:]:
        pairs = list(zip(found[name], found["alone"]))
        table.line(what, name, "more", costs.quartiles([one - other for one, other in pairs]), "ns",
                   most_ns if name == "default" else None)
        table.line(what, name, "ratio", costs.quartiles([one / other for one, other in pairs]), "x",
                   most_ratio if name == "default" else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", dest="runs", type=int, default=11, help="rounds (default 11)")
    parser.add_argument("--seconds", type=float, default=0.2, help="elapsed time of a run, about (default 0.2)")
    parser.add_argument("-l", dest="launcher", default=tap.LAUNCHER, help="another hpcrun-lite")
    parser.add_argument("--csv", help="write the figures to a file")
    options = parser.parse_args()
    table = Table()
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-bench-") as directory:
        launch = (options.launcher, "-q", "--overwrite", "-o", os.path.join(directory, "out"))
        ways = {"alone": (), **{mode: (*launch, *flags, "--") for mode, flags in MODES.items()}}
        for library in ("openmpi", "mpich"):
            program = os.path.join(directory, library)
            if not shutil.which(f"mpicc.{library}"):
                continue
            tap.must(f"mpicc.{library}", "-O2", "-g", source_file("mpi_costs.c"), "-o", program)
            table.begin(f"Calls of MPI, {library}", f"load {' '.join(f'{value:.1f}' for value in os.getloadavg())}")
            for form in FORMS:
                print_form(table, options, library, program, form, ways)
    table.summary()
    if options.csv:
        table.write(options.csv)


if __name__ == "__main__":
    main()
