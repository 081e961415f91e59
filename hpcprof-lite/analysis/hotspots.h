/* The functions with most time of their own, and with most of the critical path.
 *
 * Context: BATCH.  Pure: the trees are only read.
 */
#ifndef HPCPROF_LITE_ANALYSIS_HOTSPOTS_H
#define HPCPROF_LITE_ANALYSIS_HOTSPOTS_H

#include "hpcprof-lite/model/tree.h"

enum { HOTSPOTS_MAX = 6, HOTSPOTS_CRITICAL_MAX = 3 };

/* A function with much time of its own, and the calling path on which most of it was spent. */
struct hotspot {
  uint32_t flat;    /* row of the flat tree     */
  uint32_t context; /* row of the top-down tree */
};

/* The functions with most time of their own, and for each its heaviest context.  Returns their number. */
uint32_t hotspots_find(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                       struct hotspot hot[HOTSPOTS_MAX]);

/* The functions with most of the critical path of their own, 1 % at least: rows of the flat tree.  Returns their
 * number. */
uint32_t hotspots_critical(const struct tree *flat, const struct tree_columns *columns,
                           uint32_t path[HOTSPOTS_CRITICAL_MAX]);

#endif
