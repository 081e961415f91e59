/* Interprets --sort for tree views: it names a column of their CSV output.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_VIEWS_SORTING_H
#define HPCPROF_LITE_VIEWS_SORTING_H

#include "hpcprof-lite/model/tree.h"

/* Sets the criterion of *order.  Returns 0, or ERR_INPUT if no column that has values has that name. */
int sorting_order(const char *column, const struct tree_columns *columns, struct tree_order *order);

#endif
