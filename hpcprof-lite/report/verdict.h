/* The suggestion for a finding.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_VERDICT_H
#define HPCPROF_LITE_REPORT_VERDICT_H

#include "hpcprof-lite/report/report.h"

enum { VERDICT_TEXT_MAX = 128 };

/* One line that fits 76 columns. */
void verdict_text(const struct report *report, const struct causes_finding *finding, char out[VERDICT_TEXT_MAX]);

#endif
