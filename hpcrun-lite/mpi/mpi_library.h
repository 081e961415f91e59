/* The MPI library of the process: its functions, and what it is.
 *
 * Context: CTL, in calls of the program.  State: addresses that were looked up, written by any thread with the same
 * values. */
#ifndef HPCRUN_LITE_MPI_MPI_LIBRARY_H
#define HPCRUN_LITE_MPI_MPI_LIBRARY_H

#include "hpcrun-lite/mpi/mpi_decode.h"
#include "hpcrun-lite/mpi/mpi_recorder.h"

/* The function of that name to which a call from this library is passed on: that of the next library in the global
 * scope, which may be a tool's; else that of the library in which `caller` lies, or on which that depends, which was
 * loaded later; else that of any other object.  The object that has it stays loaded.  NULL if there is none. */
void *mpi_library_next(const char *name, const void *caller);

/* What the library's functions return for an error of no other class. */
int mpi_library_error(void);

/* A function or variable of the MPI library itself; NULL: it has none of that name.  To be called while or after the
 * program calls a function of it. */
void *mpi_library_find(const char *name);

/* Asks the library what it is, once it is initialized; state: bits of enum format_mpi_state. */
void mpi_library_describe(struct mpi_facts *facts, uint32_t state);

/* Loads and starts the module that decodes the library's calls.  NULL: there is none. */
const struct mpi_decoder *mpi_library_decoder(void);

#endif
