/* The view tasks.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_TASKS_VIEW_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_TASKS_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema tasks_schema;
int tasks_table(const struct report *report, struct table *table);
void tasks_view_text(const struct report *report);

#endif
