/* The functions with the most exclusive time, and those with the most exclusive part of the critical path.
 *
 * Context: BATCH.  Pure: the trees are only read, the caller owns the results.
 */
#ifndef HPCPROF_LITE_ANALYSIS_HOTSPOTS_H
#define HPCPROF_LITE_ANALYSIS_HOTSPOTS_H

#include "hpcprof-lite/model/tree.h"

enum { HOTSPOTS_MAX = 6, HOTSPOTS_CRITICAL_MAX = 3 };

struct hotspot {
  uint32_t flat;    /* row of the flat tree */
  uint32_t context; /* row of the top-down tree: the heaviest context of the function */
};

/* Fills hot[] with the functions at the top of the flat tree, which must be sorted by exclusive time, that have at
 * least 0.5 % of all time.  Returns their number. */
uint32_t hotspots_find(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                       struct hotspot hot[HOTSPOTS_MAX]);

/* Fills path[] with the rows of the flat tree that have the most of the critical path exclusively, at least 1 % of it,
 * the largest first.  Returns their number. */
uint32_t hotspots_critical(const struct tree *flat, const struct tree_columns *columns,
                           uint32_t path[HOTSPOTS_CRITICAL_MAX]);

#endif
