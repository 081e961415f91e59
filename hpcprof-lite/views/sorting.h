/* Interprets --sort for tree views: it names a column of their CSV output.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_VIEWS_SORTING_H
#define HPCPROF_LITE_VIEWS_SORTING_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/tree.h"

enum { SORTING_NAMES_MAX = 21 + 2 * CATALOG_COLUMNS_MAX };

/* Lists the columns that have values in names[]; those of events belong to `owner`.  Returns 0 or ERR_NOMEM. */
int sorting_names(const struct tree_columns *columns, struct names *owner, const char *names[SORTING_NAMES_MAX],
                  uint32_t *count);

/* Sets the criterion of *order.  Returns 0, or ERR_INPUT if no column that has values has that name. */
int sorting_order(const char *column, const struct tree_columns *columns, struct tree_order *order);

#endif
