/* The trees: topdown, bottomup, flat, and the contexts on the critical path.
 *
 * Context: BATCH.  A row of their tables is an element of report->tree->rows.
 */
#ifndef HPCPROF_LITE_REPORT_TREE_VIEW_H
#define HPCPROF_LITE_REPORT_TREE_VIEW_H

#include "hpcprof-lite/report/report.h"

/* Whether a column of such a table belongs to the statistics of threads and ranks. */
bool tree_view_is_statistic(const struct table *table, uint32_t column);

/* Which columns of figures a tree needs: those that are not 0 in all rows. */
struct tree_figures {
  bool time, overhead, lockwait, idleness, critical;
  uint32_t events;   /* further events, of which the first ones are shown */
  unsigned decimals; /* of seconds */
};

struct tree_figures tree_view_figures(const struct tree *tree, const struct tree_columns *columns);

/* Returns the name of what was counted where no time was sampled. */
const char *tree_view_counted(const struct tree_columns *columns);

#endif
