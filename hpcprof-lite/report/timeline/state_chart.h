/* A table of the time in each category: total, mean, and the lanes with the least and the most of it; for each
 * thread.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_STATE_CHART_H
#define HPCPROF_LITE_REPORT_TIMELINE_STATE_CHART_H

#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/timeline/timeline_rows.h"

void state_chart_text(const struct report *report, const struct terminal *terminal, const struct timeline_rows *rows);

/* Adds the arrays "states" and "lanes" to the table; rows must live as long. */
void state_chart_further(const struct timeline_rows *rows, struct table *table);

#endif
