/* Lists of what contributes how much to a clock of a replay: persistent lists with shared tails, as
 * hpcrun-lite/rt/span/critical_path.h keeps them.
 *
 * Context: BATCH.  A list is named by the number of its newest link, 0 = empty.  Links count their owners: lists and
 * newer links.  A list that has become long is folded: it is replaced by one sum for each key.  Therefore memory is
 * bounded by the number of live clocks and keys.  All links belong to struct contributions.
 *
 * Invariant: the sum of the amounts of a list = the value of its clock, unless there were too many links.  Amounts that
 * are not kept are counted in `lost`.
 */
#ifndef HPCPROF_LITE_REPLAY_CONTRIBUTIONS_H
#define HPCPROF_LITE_REPLAY_CONTRIBUTIONS_H

#include "hpcprof-lite/model/object_pool.h"

struct contributions {
  struct object_pool links;
  double *sums;   /* [key] scratch memory of folding, otherwise 0 */
  uint32_t *used; /* likewise: keys whose sum is not 0            */
  size_t sums_room, used_room;
  uint32_t keys;
  uint64_t lost; /* amounts that were not kept */
};

/* Prepares for keys below `keys`. */
void contributions_init(struct contributions *contributions, uint32_t keys);
void contributions_release(struct contributions *contributions);

/* Prepares for more keys. */
void contributions_reserve(struct contributions *contributions, uint32_t keys);

/* Adds an amount to a list, which changes *list but no other list that shares its links.  Ignores amounts that are not
 * above 0. */
void contributions_add(struct contributions *contributions, uint32_t *list, uint32_t key, double amount);

/* Adds an owner of a list and returns the list. */
uint32_t contributions_share(struct contributions *contributions, uint32_t list);

/* Removes an owner of a list, and frees the links that have no owner left. */
void contributions_drop(struct contributions *contributions, uint32_t list);

/* Adds the amounts of a list to sums[key]. */
void contributions_sum(const struct contributions *contributions, uint32_t list, double *sums);

#endif
