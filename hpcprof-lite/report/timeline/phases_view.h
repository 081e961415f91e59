/* Prints the phases of each process.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_PHASES_VIEW_H
#define HPCPROF_LITE_REPORT_TIMELINE_PHASES_VIEW_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

/* The phases without their steps, for the view of the timeline. */
void phases_view_list(const struct report *report, const struct terminal *terminal);
void phases_view_legend(const struct report *report);

#endif
