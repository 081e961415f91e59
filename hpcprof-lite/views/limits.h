/* Which rows of a tree are shown.
 *
 * Context: BATCH.  Pure.  A row is shown only if its parent is, so that every row shown has its place.
 */
#ifndef HPCPROF_LITE_VIEWS_LIMITS_H
#define HPCPROF_LITE_VIEWS_LIMITS_H

#include "hpcprof-lite/model/tree.h"

struct limits {
  double percent;     /* rows that weigh less, in percent of the root's inclusive weight, are hidden */
  uint32_t depth;     /* levels below the root, 0 = all                                              */
  uint32_t rows;      /* the heaviest rows only, 0 = all; the root is not counted                    */
  bool by_excl;       /* weigh by exclusive values: bottom-up, where they belong to the function     */
  bool critical_path; /* the view is about the critical path: only what is on it */
  bool in_order;      /* take the first rows as they stand instead of the heaviest: flat views       */
};

/* Sets shown[row] (free()) and the number of rows left out.  0, or ERR_NOMEM. */
int limits_apply(const struct tree *tree, const struct tree_columns *columns, const struct limits *limits, bool **shown,
                 uint32_t *left_out);

#endif
