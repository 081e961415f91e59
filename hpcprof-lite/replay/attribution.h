/* Which contexts the samples of a recorded graph fell into: (directive, thread, node), and how much work they stand
 * for.
 *
 * Context: BATCH.  Filled by the first replay of a log, read by the second, which knows what scenarios select of it.
 */
#ifndef HPCPROF_LITE_REPLAY_ATTRIBUTION_H
#define HPCPROF_LITE_REPLAY_ATTRIBUTION_H

#include "hpcprof-lite/model/index.h"

enum { ATTRIBUTION_MAX = 1 << 18 };

struct attribution_entry {
  uint32_t row, thread, node; /* thread 0: work in which no sample fell */
  double amount;              /* in the unit of the log */
};

struct attribution {
  struct index index;
  struct attribution_entry *entries; /* from 1 */
  uint32_t count;
  size_t room;
  bool overflow; /* one was refused for want of memory */
};

/* Its number, 0 where it is not known; attribution_add() adds it, if there are not too many and it can be.  Part 0
 * takes what is lost. */
uint32_t attribution_find(const struct attribution *attribution, uint32_t row, uint64_t thread, uint64_t node);
uint32_t attribution_add(struct attribution *attribution, uint32_t row, uint64_t thread, uint64_t node);
void attribution_release(struct attribution *attribution);

#endif
