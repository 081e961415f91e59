/* The calls from libhpcrun-lite-mpi.so, which has the wrappers of MPI's functions, to libhpcrun-lite.so, which exports
 * these functions.  Where that is not loaded, they are NULL.
 *
 * Context: CTL, in calls of the program. */
#ifndef HPCRUN_LITE_MPI_MPI_RECORDER_H
#define HPCRUN_LITE_MPI_MPI_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#define MPI_RECORDER __attribute__((visibility("default"), weak))

/* The program calls a function (common/mpi_functions.h), from which it returns to `code` with the stack pointer `sp`.
 * Returns whether the call counts: then hpcrun_lite_mpi_end() must follow.  Those within another one do not. */
MPI_RECORDER bool hpcrun_lite_mpi_begin(uint32_t function, uint64_t code, uint64_t sp);

/* The call returns; known: it has sent and received so many bytes. */
MPI_RECORDER void hpcrun_lite_mpi_end(bool known, uint64_t sent, uint64_t received);

/* Returns whether the process logs what calls do. */
MPI_RECORDER bool hpcrun_lite_mpi_logs(void);

/* Appends an operation (common/graphlog.h) to the calling thread's graph log, if there is one. */
MPI_RECORDER void hpcrun_lite_mpi_log(uint32_t op, unsigned count, const uint64_t *operands);

/* What is known of the MPI library, as in struct format_process. */
struct mpi_facts {
  char library[128]; /* name and version; "": not known */
  int32_t rank;
  uint32_t size, threads, state;
  bool decoded;
};

/* MPI was initialized, is going to be finalized, or was finalized: that is the state from now on. */
MPI_RECORDER void hpcrun_lite_mpi_initialized(const struct mpi_facts *facts);
MPI_RECORDER void hpcrun_lite_mpi_finalizes(void);
MPI_RECORDER void hpcrun_lite_mpi_finalized(uint32_t state);

#endif
