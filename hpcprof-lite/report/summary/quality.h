/* Measurement quality in the summary: losses with their remedies, and what samples do not show.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_SUMMARY_QUALITY_H
#define HPCPROF_LITE_REPORT_SUMMARY_QUALITY_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

void quality_print(const struct report *report, const struct terminal *terminal);

#endif
