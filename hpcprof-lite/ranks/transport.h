/* What hpcprof-lite asks of MPI: messages of any size between the ranks of one launch.
 *
 * Context: BATCH.  transport_mpi.c, a module of its own, is the only file that knows MPI: ranks.c loads it where a
 * launcher has started several ranks, so that all other runs neither load an MPI library nor wait for one.  Only the
 * main thread calls these.  Failures of MPI itself end the whole job, as is MPI's way: no rank waits for one that is
 * gone.
 */
#ifndef HPCPROF_LITE_RANKS_TRANSPORT_H
#define HPCPROF_LITE_RANKS_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_SYMBOL "transport"

struct transport {
  void (*start)(uint32_t *rank, uint32_t *size);
  void (*send)(uint32_t to, const void *bytes, uint64_t size);
  /* The size of the next message, once there is one; then it must be taken: into bytes, or not at all if NULL. */
  uint64_t (*expect)(uint32_t from);
  void (*take)(uint32_t from, void *bytes, uint64_t size);
  void (*stop)(void);
};

#endif
