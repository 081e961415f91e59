/* The intervals of the timeline as CSV, or its tiles as JSON.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TABLE_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TABLE_H

#include "hpcprof-lite/report/report.h"

/* Returns 0, ERR_INPUT or ERR_NOMEM. */
int timeline_table(const struct report *report, bool json);

#endif
