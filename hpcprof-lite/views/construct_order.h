/* The order of constructs in a report, and which of them are shown.
 *
 * Context: BATCH.  For trees and for lists, which are trees of one level.
 */
#ifndef HPCPROF_LITE_VIEWS_CONSTRUCT_ORDER_H
#define HPCPROF_LITE_VIEWS_CONSTRUCT_ORDER_H

#include "hpcprof-lite/model/construct_tree.h"

enum { CONSTRUCT_ORDER_COLUMNS_MAX = 32 + 2 * COUNTERS_MAX };

/* The columns by which a view can be sorted; `own` has the names of those of counted events. */
struct construct_order_columns {
  const char *names[CONSTRUCT_ORDER_COLUMNS_MAX];
  uint32_t count;
  char own[2 * COUNTERS_MAX][COUNTER_NAME_MAX + 8];
};

/* Fills in the columns of the list or of the tree, whose names stay while *columns does. */
void construct_order_columns(bool list, const struct counter_names *counters, struct construct_order_columns *columns);

/* Sorts siblings by a column of the views of constructs: figures with the largest first, text and numbers in ascending
 * order.  Returns 0, ERR_INPUT if there is no such column, or ERR_NOMEM. */
int construct_order(struct construct_tree *tree, const struct counter_names *counters, const char *column);

struct construct_limits {
  double percent; /* hide what takes less than this percentage of all threads' time */
  uint32_t depth; /* levels below the first entry, 0 = all */
  uint32_t rows;  /* show only the ones with the longest time, of a list the first ones; 0 = all */
  bool in_order;  /* it is a list */
};

/* Sets *shown to a new array, (*shown)[entry], which the caller frees, and *left_out to the number of hidden entries.
 * An entry is shown only if its parent is.  Returns 0 or ERR_NOMEM. */
int construct_order_limit(const struct construct_tree *tree, const struct construct_limits *limits, bool **shown,
                          uint32_t *left_out);

#endif
