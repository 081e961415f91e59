/* The timeline as text: a line for each lane, a letter for each part of time.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TEXT_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TEXT_H

#include "hpcprof-lite/report/report.h"

/* Returns 0, ERR_INPUT or ERR_NOMEM. */
int timeline_text(const struct report *report);

#endif
