/* The threads view as text: each thread, or the distribution of many.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_THREADS_H
#define HPCPROF_LITE_REPORT_THREADS_H

#include "hpcprof-lite/report/report.h"

void threads_text(const struct report *report);

#endif
