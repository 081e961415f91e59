/* The report of --scaling: speedups, efficiencies, a plot, and the contexts that lose most.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_SCALING_VIEW_H
#define HPCPROF_LITE_REPORT_COMPARISON_SCALING_VIEW_H

#include "hpcprof-lite/report/report.h"

void scaling_view_text(const struct report *report);

/* CSV or JSON.  Returns 0. */
int scaling_view_table(const struct report *report, bool json);

#endif
