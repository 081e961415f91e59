/* The speedup that can be expected on several cores, as a table and as text.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_SPEEDUP_VIEW_H
#define HPCPROF_LITE_REPORT_SPEEDUP_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema speedup_schema;
int speedup_view_table(const struct report *report, struct table *table);
void speedup_view_text(const struct report *report);

#endif
