/* What hpcprof-lite needs of MPI: messages of any size between the ranks of one launch.
 *
 * Context: BATCH, main thread only.  transport_mpi.c, which is built as a module, is the only file that includes MPI.
 * ranks.c loads it if a launcher has started several ranks, so that all other runs neither load nor need an MPI
 * library.  Buffers belong to the caller.  If MPI itself fails, it ends the whole job, so that no rank waits for one
 * that no longer exists.
 */
#ifndef HPCPROF_LITE_RANKS_TRANSPORT_H
#define HPCPROF_LITE_RANKS_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_SYMBOL "transport"

struct transport {
  /* Connects to the other ranks; fills in the number of this rank, and how many there are. */
  void (*start)(uint32_t *rank, uint32_t *size);
  /* Sends one message, once the receiver expects it. */
  void (*send)(uint32_t to, const void *bytes, uint64_t size);
  /* Waits for the next message and returns its size.  take() must follow. */
  uint64_t (*expect)(uint32_t from);
  /* Receives the expected message. */
  void (*take)(uint32_t from, void *bytes, uint64_t size);
  /* Disconnects. */
  void (*stop)(void);
};

#endif
