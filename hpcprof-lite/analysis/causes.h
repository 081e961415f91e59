/* The contexts that cost others most: who causes idleness and lock waiting, and what their figures suggest.
 *
 * Context: BATCH.  Pure: the trees are only read.  The rules are those of Liu et al., ICS'13, section 3.1; what they
 * call high is a tenth here.  They are about regions, so a function is judged by the parallel region around its
 * heaviest context, and code outside any region is serial.
 */
#ifndef HPCPROF_LITE_ANALYSIS_CAUSES_H
#define HPCPROF_LITE_ANALYSIS_CAUSES_H

#include "hpcprof-lite/model/tree.h"

enum { CAUSES_WORST = 3 };

/* What the combination of work, overhead, idleness and lock wait suggests. */
enum causes_verdict {
  CAUSES_SERIAL,       /* outside any region: the others wait                           */
  CAUSES_UNKNOWN,      /* its callers are not known                                     */
  CAUSES_RUNTIME,      /* the runtime at work outside any region                        */
  CAUSES_RETHINK,      /* overhead and idleness high: granularity will not help         */
  CAUSES_INSUFFICIENT, /* idleness exceeds work                                         */
  CAUSES_IMBALANCE,    /* idleness high, overhead low: smaller pieces                   */
  CAUSES_COARSER,      /* overhead high, idleness low: larger pieces                    */
  CAUSES_MODERATE,     /* both low, in a region that is only large                      */
  CAUSES_CONTENTION,   /* lock wait                                                     */
  CAUSES_LOCKED        /* lock wait that exceeds the region's work                      */
};

struct causes_finding {
  uint32_t flat;    /* row of the flat tree                                  */
  uint32_t context; /* row of the top-down tree that carries most of it      */
  uint64_t cost_ns; /* of the flat row, exclusive                            */
  enum causes_verdict verdict;
};

/* The functions to which most of that column (idleness or lock wait) is charged, if it is 1 % of all time at least, the
 * largest first.  Returns their number. */
uint32_t causes_worst(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                      uint32_t column, struct causes_finding worst[CAUSES_WORST]);

#endif
