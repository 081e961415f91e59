/* The functions of MPI whose calls are recorded, by the numbers that files have for them (mpi_functions.def).
 *
 * Context: all.  Stateless. */
#ifndef COMMON_MPI_FUNCTIONS_H
#define COMMON_MPI_FUNCTIONS_H

enum mpi_function {
  MPI_FUNCTION_NONE,
#define MPI_FUNCTION(name, kind, arguments) MPI_FUNCTION_##name,
#include "common/mpi_functions.def"
#undef MPI_FUNCTION
  MPI_FUNCTIONS
};

/* What a function does.  START_...: begins what another call completes; PREPARE: of a persistent or partitioned
 * operation. */
enum mpi_kind {
  MPI_KIND_INIT,
  MPI_KIND_FINALIZE,
  MPI_KIND_SEND,
  MPI_KIND_RECEIVE,
  MPI_KIND_SENDRECV,
  MPI_KIND_START_SEND,
  MPI_KIND_START_RECEIVE,
  MPI_KIND_START_SENDRECV,
  MPI_KIND_PREPARE,
  MPI_KIND_START,
  MPI_KIND_WAIT,
  MPI_KIND_TEST, /* of requests or messages: does not wait, but programs call it until something has happened */
  MPI_KIND_REQUEST,
  MPI_KIND_PROBE,
  MPI_KIND_BUFFER,
  MPI_KIND_COLLECTIVE,
  MPI_KIND_START_COLLECTIVE,
  MPI_KIND_COMMUNICATOR,
  MPI_KIND_CONNECT, /* with other jobs */
  MPI_KIND_ONE_SIDED,
  MPI_KIND_ONE_SIDED_SYNC,
  MPI_KIND_WINDOW,
  MPI_KIND_FILE
};

/* Both accept any number below MPI_FUNCTIONS but 0.  The name is that of C, as "MPI_Send". */
const char *mpi_function_name(enum mpi_function function);
enum mpi_kind mpi_function_kind(enum mpi_function function);

#endif
