/* Efficiencies, and how the time of all threads is divided.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_EFFICIENCY_VIEW_H
#define HPCPROF_LITE_REPORT_EFFICIENCY_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema efficiency_view_schema;
int efficiency_view_table(const struct report *report, struct table *table);
void efficiency_view_text(const struct report *report);

#endif
