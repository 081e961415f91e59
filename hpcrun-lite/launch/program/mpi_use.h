/* Whether the program may use MPI: then the wrappers of MPI's functions are preloaded (hpcrun-lite/mpi).
 *
 * They must not be where no MPI library is: a program that asks by weak references, or by looking a name up, whether
 * there is MPI, would find them.
 *
 * Context: BATCH (the launcher).  Stateless. */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_MPI_USE_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_MPI_USE_H

#include "hpcrun-lite/launch/program/program.h"

/* Returns true if an MPI library is among the program's modules; or if the environment is that of a rank, or the
 * command starts ranks, and no module refers to MPI without a library for it.  command: its words, the first one NULL
 * if it is not known. */
bool mpi_use_expected(const struct program *program, char *const *command);

#endif
