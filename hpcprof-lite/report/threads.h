/* The threads view as text: each thread, or the distribution of many.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_THREADS_H
#define HPCPROF_LITE_REPORT_THREADS_H

#include "hpcprof-lite/report/report.h"

extern const struct schema threads_schema;
int threads_table(const struct report *report, struct table *table);
void threads_text(const struct report *report);

#endif
