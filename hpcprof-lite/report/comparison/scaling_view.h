/* The report of --scaling: speedups, efficiencies, a plot, and the contexts that lose most.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_SCALING_VIEW_H
#define HPCPROF_LITE_REPORT_COMPARISON_SCALING_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema scaling_schema;
int scaling_view_table(const struct report *report, struct table *table);
void scaling_view_text(const struct report *report);

#endif
