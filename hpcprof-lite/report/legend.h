/* What the columns of a view mean: one line, or with --legend the long form.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_LEGEND_H
#define HPCPROF_LITE_REPORT_LEGEND_H

#include "hpcprof-lite/report/report.h"

/* Prints the text that was asked for; both end in a newline. */
void legend_print(const struct report *report, const char *line, const char *full);

/* Prints how many rows were left out, if any, and how to see them. */
void legend_omitted(const struct report *report);

/* Prints for how long measuring was paused, or no samples were taken, if ever. */
void legend_pauses(const struct report *report);

/* Prints what a filter of the measurement has left out, if there was one. */
void legend_filtered(const struct report *report);

#endif
