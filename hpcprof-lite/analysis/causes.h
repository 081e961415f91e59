/* The functions that cause most idleness and lock waiting, and what their figures suggest.
 *
 * Context: BATCH.  Pure: the trees are only read, the caller owns the result.  Source: the rules of Liu et al., ICS'13,
 * section 3.1.  Here a figure is high from one tenth on.  The rules are about parallel regions: a function is judged by
 * the region around its heaviest context; code outside regions is serial.
 */
#ifndef HPCPROF_LITE_ANALYSIS_CAUSES_H
#define HPCPROF_LITE_ANALYSIS_CAUSES_H

#include "hpcprof-lite/model/tree.h"

enum { CAUSES_WORST = 3 };

/* What the combination of work, overhead, idleness and lock wait suggests. */
enum causes_verdict {
  CAUSES_SERIAL,       /* code outside regions, while the other threads wait     */
  CAUSES_UNKNOWN,      /* its callers are not known                              */
  CAUSES_UNSEEN,       /* waiting that no sample saw                             */
  CAUSES_RUNTIME,      /* the OpenMP runtime outside regions                     */
  CAUSES_RETHINK,      /* overhead and idleness high: granularity will not help  */
  CAUSES_INSUFFICIENT, /* idleness exceeds work                                  */
  CAUSES_IMBALANCE,    /* idleness high, overhead low: use smaller pieces        */
  CAUSES_COARSER,      /* overhead high, idleness low: use larger pieces         */
  CAUSES_MODERATE,     /* both low, in a region that is merely large             */
  CAUSES_CONTENTION,   /* lock wait                                              */
  CAUSES_LOCKED        /* lock wait exceeds the region's work                    */
};

struct causes_finding {
  uint32_t flat;    /* row of the flat tree */
  uint32_t context; /* row of the top-down tree that causes most of it */
  uint64_t cost_ns; /* exclusive value of the flat row */
  enum causes_verdict verdict;
};

/* Fills worst[] with the functions to which most of a column, idleness or lock wait, is charged, the largest first.
 * Functions below 1 % of all time are left out.  Returns their number. */
uint32_t causes_worst(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                      uint32_t column, struct causes_finding worst[CAUSES_WORST]);

#endif
