/* The intervals of the timeline as a table, with what the program has marked and what was counted.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TABLE_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TABLE_H

#include "hpcprof-lite/report/report.h"

/* Adds the arrays "marks" and, if anything was counted, "counters". */
void timeline_table_further(const struct report *report, struct table *table);

#endif
