/* The plot of speedups against numbers of threads, both logarithmic, in plain characters.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_SCALING_PLOT_H
#define HPCPROF_LITE_REPORT_COMPARISON_SCALING_PLOT_H

#include "hpcprof-lite/report/report.h"

/* Prints it, 76 columns wide at most: measured, forecast, extrapolated and ideal speedups. */
void scaling_plot(const struct report *report);

#endif
