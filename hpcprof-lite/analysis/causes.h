/* The functions that cause most idleness and lock waiting.
 *
 * Context: BATCH.  Pure: the trees are only read, the caller owns the result.
 */
#ifndef HPCPROF_LITE_ANALYSIS_CAUSES_H
#define HPCPROF_LITE_ANALYSIS_CAUSES_H

#include "hpcprof-lite/model/tree.h"

enum { CAUSES_WORST = 3 };

struct causes_finding {
  uint32_t flat;    /* row of the flat tree */
  uint32_t context; /* row of the top-down tree that causes most of it */
  uint64_t cost_ns; /* exclusive value of the flat row */
};

/* Fills worst[] with the functions to which most of a column, idleness or lock wait, is charged, the largest first.
 * Functions below 1 % of all time are left out.  Returns their number. */
uint32_t causes_worst(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                      uint32_t column, struct causes_finding worst[CAUSES_WORST]);

#endif
