/* The views of a comparison, but for threads; its summary.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_COMPARE_VIEW_H
#define HPCPROF_LITE_REPORT_COMPARISON_COMPARE_VIEW_H

#include "hpcprof-lite/report/report.h"

/* Trees, and lists of constructs. */
void compare_view_tree(const struct report *report);
void compare_view_summary(const struct report *report);
int compare_view_summary_table(const struct report *report, struct table *table);

#endif
