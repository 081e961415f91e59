"""MPI jobs that the tests measure, on Open MPI and on MPICH."""
import os
import shutil
import tempfile

import tap
from measured import Measurement, source_file

# Open MPI also runs as root, with more ranks than cores, and does not look for other machines.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm": "isolated",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none"}
OPENMP = {"OMP_WAIT_POLICY": "passive"}


def launchers():
    """The MPIs that are installed."""
    return [name for name in ("openmpi", "mpich") if shutil.which("mpirun." + name) and shutil.which("mpicc." + name)]


def program(directory, mpi, source, *flags):
    """Builds a program of the tests with that MPI, once."""
    if mpi not in launchers():
        raise tap.Skip(f"no {mpi}: run scripts/setup")
    out = os.path.join(directory, f"{os.path.splitext(source)[0]}-{mpi}")
    if not os.path.exists(out):
        tap.must("mpicc." + mpi, "-O1", "-g", "-fopenmp", "-I", tap.INCLUDE, source_file(source), "-o", out, *flags)
    return out


def mpirun(mpi, ranks, *command, cwd, **settings):
    """Runs a command in so many ranks, in a session directory of its own: others begin and end beside it."""
    with tempfile.TemporaryDirectory(prefix="mpi-") as session:
        own = {**OPEN_MPI, "OMPI_MCA_orte_tmpdir_base": session} if mpi == "openmpi" else {}
        return tap.run("mpirun." + mpi, "-n", str(ranks), *command, cwd=cwd, **{**own, **OPENMP, **settings})


class Job(Measurement):
    """One mpirun whose ranks are measured."""

    def __init__(self, directory, mpi, ranks, *command, options=(), output="job", **settings):
        self.output = os.path.join(directory, output)
        self.done = mpirun(mpi, ranks, tap.LAUNCHER, "-o", self.output, *options, *command, cwd=directory, **settings)
