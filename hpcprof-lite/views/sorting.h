/* What --sort names in a tree view: a column of its CSV output.
 *
 * Context: BATCH.  Pure: a wish and the columns that there are, nothing else.
 */
#ifndef HPCPROF_LITE_VIEWS_SORTING_H
#define HPCPROF_LITE_VIEWS_SORTING_H

#include "hpcprof-lite/model/tree.h"

/* Sets what `order` sorts by.  0, or ERR_INPUT where no column with values has that name. */
int sorting_order(const char *column, const struct tree_columns *columns, struct tree_order *order);

#endif
