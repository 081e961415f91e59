/* Who contributes how much to a clock of a replay: persistent lists, as hpcrun-lite/rt/span/critical_path.h keeps them.
 *
 * Context: BATCH.  A trail is named by its newest link and counted by its owners; from there on links are shared.  A
 * trail that has grown long is folded: its sums by key.  So memory is bound by live clocks and keys.  Invariant: the
 * sum over a trail = the clock's value, unless links were lost for want of room, which is counted.
 */
#ifndef HPCPROF_LITE_REPLAY_CONTRIBUTIONS_H
#define HPCPROF_LITE_REPLAY_CONTRIBUTIONS_H

#include "hpcprof-lite/replay/object_pool.h"

struct contributions {
  struct object_pool links;
  double *sums; /* [key], of the folding that runs: 0 between */
  uint32_t *used, keys;
  uint64_t lost;
};

/* Keys are below `keys`.  0, or ERR_NOMEM; contributions_release() in any case. */
int contributions_init(struct contributions *contributions, uint32_t keys);
void contributions_release(struct contributions *contributions);

void contributions_add(struct contributions *contributions, uint32_t *contribution, uint32_t key, double amount);
uint32_t contributions_share(struct contributions *contributions, uint32_t contribution);
void contributions_drop(struct contributions *contributions, uint32_t contribution);

/* Adds the trail's amounts to sums[key]. */
void contributions_sum(const struct contributions *contributions, uint32_t contribution, double *sums);

#endif
