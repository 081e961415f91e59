/* A table of the time in each category: total, mean, and the lanes with the least and the most of it; for each
 * thread.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_STATE_CHART_H
#define HPCPROF_LITE_REPORT_TIMELINE_STATE_CHART_H

#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/timeline/timeline_rows.h"

/* Return 0 or ERR_NOMEM.  Further: the arrays "states" and "lanes" of the table; rows must live as long. */
int state_chart_text(const struct report *report, const struct terminal *terminal, const struct timeline_rows *rows);
int state_chart_further(const struct timeline_rows *rows, struct table *table);

#endif
