/* The comparison of threads, with all their columns.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_COMPARE_THREADS_VIEW_H
#define HPCPROF_LITE_REPORT_COMPARISON_COMPARE_THREADS_VIEW_H

#include "hpcprof-lite/report/report.h"

/* Shows all columns of each thread, or of many threads the column of --metric. */
void compare_threads_view_text(const struct report *report);

/* Returns 0. */
int compare_threads_view_table(const struct report *report, bool json);

#endif
