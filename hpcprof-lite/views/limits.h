/* Chooses the rows of a tree that are shown.
 *
 * Context: BATCH.  Pure: the tree is only read.  A row is shown only if its parent is.
 */
#ifndef HPCPROF_LITE_VIEWS_LIMITS_H
#define HPCPROF_LITE_VIEWS_LIMITS_H

#include "hpcprof-lite/model/tree.h"

struct limits {
  double percent;     /* hide rows below this percentage of both the root's weight and the critical path */
  uint32_t depth;     /* levels below the root, 0 = all */
  uint32_t rows;      /* show only the heaviest rows, 0 = all; the root is not counted */
  bool by_excl;       /* weigh rows by exclusive values: in a bottom-up view, these are the function's */
  bool critical_path; /* weigh rows by their share of the critical path: hide rows that are not on it */
  bool part;          /* of a run: hide rows of contexts in which nothing happened then */
  bool in_order;      /* show the first rows in the order of the view instead of the heaviest: flat views */
  bool lines_follow;  /* rows of kind line do not count, and are shown where the row above is */
};

/* Sets *shown to a new array, (*shown)[row], which the caller frees, and *left_out to the number of hidden rows. */
void limits_apply(const struct tree *tree, const struct tree_columns *columns, const struct limits *limits,
                  bool **shown, uint32_t *left_out);

#endif
