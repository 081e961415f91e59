/* The advice view: findings in the order of what they would gain.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_ADVICE_VIEW_H
#define HPCPROF_LITE_REPORT_ADVICE_VIEW_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

void advice_view_text(const struct report *report);
int advice_view_table(const struct report *report, bool json);

/* Prints the first findings, for the summary. */
void advice_view_first(const struct report *report, const struct terminal *terminal, uint32_t count);

#endif
