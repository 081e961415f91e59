/* The views of a comparison.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_COMPARE_VIEW_H
#define HPCPROF_LITE_REPORT_COMPARISON_COMPARE_VIEW_H

#include "hpcprof-lite/report/report.h"

/* Trees, regions and parallelism. */
void compare_view_tree(const struct report *report);

void compare_view_summary(const struct report *report);

/* Return 0 or ERR_NOMEM. */
int compare_view_summary_table(const struct report *report, bool json);
int compare_view_regions_table(const struct report *report, bool json);
int compare_view_parallelism_table(const struct report *report, bool json);

#endif
