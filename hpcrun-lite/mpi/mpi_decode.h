/* What the recording of MPI calls asks of a module that knows the ABI of an MPI library.
 *
 * Context: CTL, in calls of the program, outside the tool's own code.  A module is a shared object beside the library,
 * libhpcrun-lite-decode-openmpi.so or libhpcrun-lite-decode-mpich.so, which depends on no MPI library.  It exports
 * hpcrun_lite_mpi_decoder, a struct mpi_decoder.  It is loaded when the program initializes MPI.  Without one, or if
 * start() fails, bytes are not known. */
#ifndef HPCRUN_LITE_MPI_MPI_DECODE_H
#define HPCRUN_LITE_MPI_MPI_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/mpi_functions.h"

enum {
  MPI_DECODER_VERSION = 1,
  MPI_DECODER_THREAD_WORDS = 128,
  MPI_ARGUMENTS = 22 /* six in registers, and 16 words of the stack; those beyond a function's own mean nothing */
};

/* What a module keeps of the thread, 0 at first.  It belongs to the object that loads the module: variables of threads
 * in one that is loaded later cost a call at each use. */
extern __thread uint64_t hpcrun_lite_mpi_thread[MPI_DECODER_THREAD_WORDS]
    __attribute__((visibility("default"), tls_model("initial-exec")));

/* A call.  All fields are 0 before it.  The module sets those that it knows. */
struct mpi_call {
  bool known;              /* `sent` and `received` are what the call has sent and received, or what it has completed */
  uint64_t sent, received; /* bytes */
};

#define MPI_DECODER_NAME "hpcrun_lite_mpi_decoder"

struct mpi_decoder {
  int version; /* MPI_DECODER_VERSION */

  /* MPI is initialized; the library's other functions follow.  find(): a function or variable of the MPI library; NULL:
   * it has none of that name.  log(): logs an operation (common/graphlog.h) of the calling thread; NULL: nothing is
   * logged. Returns false if it is not a library that the module knows. */
  bool (*start)(void *(*find)(const char *name), void (*log)(uint32_t op, unsigned count, const uint64_t *operands));

  /* Around a call from outside MPI, between initialization and finalization, by any number of threads at once.
   * before() may replace arguments; those of the call of MPI_Init itself are not seen.  after() keeps errno. */
  void (*before)(enum mpi_function function, uint64_t *arguments, struct mpi_call *call);
  void (*after)(enum mpi_function function, const uint64_t *arguments, int result, struct mpi_call *call);
};

#endif
