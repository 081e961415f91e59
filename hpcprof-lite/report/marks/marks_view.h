/* The marks view: what the program has marked, and its phases, in the order of time.  The user-counters view: what it
 * has counted.  Neither needs a trace.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_MARKS_MARKS_VIEW_H
#define HPCPROF_LITE_REPORT_MARKS_MARKS_VIEW_H

#include "hpcprof-lite/report/report.h"

void marks_view_text(const struct report *report);
int marks_view_table(const struct report *report, bool json);

void user_counters_text(const struct report *report);
int user_counters_table(const struct report *report, bool json);

#endif
