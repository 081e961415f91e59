/* Which contexts the samples of a recorded graph fell into: (directive, thread, node), and how much work they stand
 * for.
 *
 * Context: BATCH.  Filled by the first replay of a log, read by the second, which knows what scenarios select of it.
 */
#ifndef HPCPROF_PARTS_H
#define HPCPROF_PARTS_H

#include "hpcprof-lite/replay/slab.h"

enum { PARTS_MAX = 1 << 18 };

struct part {
  uint32_t row, thread, node; /* thread 0: work in which no sample fell */
  double amount;              /* in the unit of the log */
};

struct parts {
  struct slab_map map;
  struct part *parts; /* from 1 */
  uint32_t count, room;
  bool starved; /* one was refused for want of memory */
};

/* Its number, 0 where it is not known; parts_add() adds it, if there are not too many and it can be.  Part 0 takes what
 * is lost. */
uint32_t parts_find(const struct parts *parts, uint32_t row, uint64_t thread, uint64_t node);
uint32_t parts_add(struct parts *parts, uint32_t row, uint64_t thread, uint64_t node);
void parts_release(struct parts *parts);

#endif
