/* The marks view: what the program has marked, and its phases, in the order of time.  The user-counters view: what it
 * has counted.  Neither needs a trace.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_MARKS_MARKS_VIEW_H
#define HPCPROF_LITE_REPORT_MARKS_MARKS_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema marks_schema, user_counters_schema;

int marks_view_table(const struct report *report, struct table *table);
void marks_view_text(const struct report *report);

int user_counters_table(const struct report *report, struct table *table);
void user_counters_text(const struct report *report);

#endif
