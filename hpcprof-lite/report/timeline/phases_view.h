/* Prints the phases of each process.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_PHASES_VIEW_H
#define HPCPROF_LITE_REPORT_TIMELINE_PHASES_VIEW_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

/* Prints the phases, as in the view of the timeline without their steps. */
void phases_view_list(const struct report *report, const struct terminal *terminal, bool with_steps);
void phases_view_legend(const struct report *report);

#endif
