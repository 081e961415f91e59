/* Who contributes how much to a clock of a replay: persistent lists, as hpcrun-lite/rt/path.h keeps them.
 *
 * Context: BATCH.  A trail is named by its newest link and counted by its owners; from there on links are shared.  A
 * trail that has grown long is folded: its sums by key.  So memory is bound by live clocks and keys.  Invariant: the
 * sum over a trail = the clock's value, unless links were lost for want of room, which is counted.
 */
#ifndef HPCPROF_TRAIL_H
#define HPCPROF_TRAIL_H

#include "hpcprof-lite/replay/slab.h"

struct trails {
  struct slab links;
  double *sums; /* [key], of the folding that runs: 0 between */
  uint32_t *used, keys;
  uint64_t lost;
};

/* Keys are below `keys`.  0, or ERR_NOMEM; trails_release() in any case. */
int trails_init(struct trails *trails, uint32_t keys);
void trails_release(struct trails *trails);

void trail_add(struct trails *trails, uint32_t *trail, uint32_t key, double amount);
uint32_t trail_share(struct trails *trails, uint32_t trail);
void trail_drop(struct trails *trails, uint32_t trail);

/* Adds the trail's amounts to sums[key]. */
void trail_sum(const struct trails *trails, uint32_t trail, double *sums);

#endif
