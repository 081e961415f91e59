/* Clocks that tasks meet at, by name: dependences, ordered, doacross, threads that are made and joined.
 *
 * Context: BATCH.  Nobody says when the last task has taken a join: those that were not used for the longest time are
 * given up where there are too many.
 */
#ifndef HPCPROF_LITE_REPLAY_JOINS_H
#define HPCPROF_LITE_REPLAY_JOINS_H

#include "hpcprof-lite/replay/vector_clock.h"

#include "hpcprof-lite/model/index.h"

struct joins {
  struct object_pool pool;
  struct index names;
  struct vector_clocks *clocks; /* the caller's */
  uint32_t newest, oldest;      /* by use */
};

/* At most `most`, and no more than JOINS_BYTES_MAX of clocks.  0, or ERR_NOMEM; joins_release() in any case, before
 * that of the lanes. */
enum { JOINS_MAX = 4 << 20, JOINS_BYTES_MAX = 256 << 20 };
int joins_init(struct joins *joins, struct vector_clocks *clocks, uint32_t most);
void joins_release(struct joins *joins);

/* The clock of that name; 0 where there is none, or, with `make`, no room. */
uint32_t joins_clock(struct joins *joins, uint64_t name, bool make);

#endif
