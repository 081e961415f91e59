/* The summary: what ran, how well it was measured, and where its time went, on one screen.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_SUMMARY_H
#define HPCPROF_LITE_REPORT_SUMMARY_H

#include "hpcprof-lite/report/report.h"

void summary_text(const struct report *report);

#endif
