/* The sum of intervals in a part of time: ns for each category, and the context and construct with the most time.
 *
 * Context: BATCH.  The structure belongs to its caller; of zeros at first.  Memory: the contexts and constructs that
 * occur in it.
 */
#ifndef HPCPROF_LITE_TIMELINE_CELL_SUM_H
#define HPCPROF_LITE_TIMELINE_CELL_SUM_H

#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/timeline.h"

/* Amounts of keys, each with another number that stands for it. */
struct cell_amount {
  uint64_t ns;
  uint32_t key, number;
};
struct cell_amounts {
  struct cell_amount *amounts;
  uint32_t count;
  size_t room;
  struct hash_map map; /* by key + 1: number of the amount + 1 */
};

struct cell_sum {
  uint64_t ns[TIMELINE_CATEGORIES], critical_ns;
  struct cell_amounts contexts, constructs;
};

/* Adds `ns` of an interval, or another sum. */
void cell_sum_add(struct cell_sum *sum, const struct timeline_interval *interval, uint64_t ns);
void cell_sum_join(struct cell_sum *sum, const struct cell_sum *other);

/* Adds an amount of a key, for which the number stands unless it has one already. */
void cell_sum_weigh(struct cell_amounts *amounts, uint32_t key, uint32_t number, uint64_t ns);

/* Returns the largest amount, of equal ones the one with the smaller key; key MODEL_NONE if there is none. */
struct cell_amount cell_sum_most(const struct cell_amounts *amounts);

/* Sets everything to zero, but keeps the memory for the next sum. */
void cell_sum_clear(struct cell_sum *sum);
void cell_sum_release(struct cell_sum *sum);

#endif
