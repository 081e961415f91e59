/* The comparison of views that are lists: threads, and those of constructs.
 *
 * Context: BATCH.  A row of their tables is one of the report's tree, a struct tree_row.
 */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_COMPARE_LIST_VIEW_H
#define HPCPROF_LITE_REPORT_COMPARISON_COMPARE_LIST_VIEW_H

#include "hpcprof-lite/report/report.h"

int compare_list_view_table(const struct report *report, struct table *table);

/* Shows all figures of each thread, or of many threads the one of --metric. */
void compare_list_view_threads(const struct report *report);

#endif
