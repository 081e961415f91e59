/* Views as text for people: aligned, as wide as the terminal or 80 columns.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TEXT_H
#define HPCPROF_LITE_REPORT_TEXT_H

#include "hpcprof-lite/report/report.h"

void text_tree(const struct report *report);
void text_critical_path(const struct report *report);
void text_efficiency(const struct report *report);

#endif
