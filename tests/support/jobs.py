"""MPI jobs that the tests run, on Open MPI and on MPICH."""
import glob
import os
import tempfile

import tap
from measured import Measurement, source_file

LIBRARIES = ("openmpi", "mpich")
# Open MPI also runs as root, with more ranks than cores, and does not look for other machines.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm": "isolated",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_MCA_btl": "^tcp,ofi",  # 5 reports networks on which it finds no way to itself; ofi takes 1 s to find none
            "OMPI_MCA_pml": "ob1",  # what it chooses where there is no such network; the others are not loaded then
            # the same in Open MPI 5, which starts ranks by PRRTE
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none"}


def need(library, compiler="mpicc"):
    tap.need_program(f"{compiler}.{library}", f"mpirun.{library}")


def build(directory, source, library, *flags, compiler="mpicc", name=None):
    """Builds a program beside the script with that MPI, once."""
    need(library, compiler)
    out = os.path.join(directory, name or f"{os.path.splitext(source)[0]}-{library}")
    if not os.path.exists(out):
        tap.must(f"{compiler}.{library}", "-O1", "-g", "-w", "-I", tap.SUPPORT, "-I", tap.INCLUDE, source_file(source),
                 *flags, "-o", out, "-lpthread", "-ldl", cwd=directory)
    return out


def mpirun(library, ranks, *command, cwd, before=(), **settings):
    """Runs a command in so many ranks, in a session directory of its own: others begin and end, or are killed, beside
    it.  before: words before mpirun."""
    need(library)
    with tempfile.TemporaryDirectory(prefix="mpi-") as session:
        return tap.run(*before, f"mpirun.{library}", "-n", str(ranks), *command, cwd=cwd,
                       **{**OPEN_MPI, "OMPI_MCA_orte_tmpdir_base": session, "OMP_WAIT_POLICY": "passive",
                          "UCX_VFS_ENABLE": "n",  # otherwise UCX creates a thread while it is loaded: the program's
                          **settings})


class Job(Measurement):
    """One mpirun whose ranks are measured."""

    def __init__(self, directory, library, ranks, *command, options=(), output="job", **settings):
        self.output = os.path.join(directory, output)
        self.done = mpirun(library, ranks, tap.LAUNCHER, "-o", self.output, *options, *command, cwd=directory,
                           **settings)


def change_logs(measurement, count, generator):
    """Changes so many bytes of each graph log."""
    paths = glob.glob(os.path.join(measurement, "*.graph"))
    assert paths, measurement
    for path in paths:
        with open(path, "r+b") as file:
            content = bytearray(file.read())
            for _ in range(count):
                content[generator.randrange(len(content))] = generator.randrange(256)
            file.seek(0)
            file.write(content)
