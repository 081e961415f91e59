/* The view overheads.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_OVERHEADS_VIEW_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_OVERHEADS_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema overheads_schema;
int overheads_table(const struct report *report, struct table *table);
void overheads_view_text(const struct report *report);

#endif
