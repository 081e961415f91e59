/* The order of constructs in a report, and which of them are shown.
 *
 * Context: BATCH.  For trees and for lists, which are trees of one level.
 */
#ifndef HPCPROF_LITE_VIEWS_CONSTRUCT_ORDER_H
#define HPCPROF_LITE_VIEWS_CONSTRUCT_ORDER_H

#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/table.h"

/* Sorts siblings by their keys, of which there is one for each entry. */
void construct_order(struct construct_tree *tree, const struct table_keys *keys);

struct construct_limits {
  double percent; /* hide what takes less than this percentage of all threads' time */
  uint32_t depth; /* levels below the first entry, 0 = all */
  uint32_t rows;  /* show only so many: those with the longest time, in a list the first; 0 = all */
  bool in_order;  /* it is a list */
};

/* Sets *shown to a new array, (*shown)[entry], which the caller frees, and *left_out to the number of hidden entries.
 * An entry is shown only if its parent is. */
void construct_order_limit(const struct construct_tree *tree, const struct construct_limits *limits, bool **shown,
                           uint32_t *left_out);

#endif
