/* What threads counted along their lanes: events of -c, and counters of the program.
 *
 * Context: BATCH.  Reads the traces of processes that have counted; the others' are not read.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_COUNTERS_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_COUNTERS_H

#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/timeline/timeline_rows.h"

/* Whether something was counted. */
bool timeline_counters_any(const struct report *report);

/* Calls `row` with each lane and what it counted.  Returns 0, or what `row` has returned, which ends it. */
typedef int timeline_counters_row(void *context, uint32_t lane, const struct timeline_count *count);
int timeline_counters_each(const struct report *report, timeline_counters_row *row, void *context);

/* Prints two lines for each counter: its name, sum and highest rate; and its rate in each column of the rows, of all
 * lanes together.  Returns whether there was one. */
bool timeline_counters_print(const struct report *report, const struct terminal *terminal,
                             const struct timeline_rows *rows);

#endif
