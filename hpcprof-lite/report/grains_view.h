/* Grains: single ones as a table, groups of them as a table and as text.
 *
 * Context: BATCH.  Tables of single grains are printed while the grains are read: the functions return 0, or what the
 * source of the grains has returned.
 */
#ifndef HPCPROF_LITE_REPORT_GRAINS_VIEW_H
#define HPCPROF_LITE_REPORT_GRAINS_VIEW_H

#include "hpcprof-lite/report/report.h"

int grains_view_table(const struct report *report, bool json);
void grains_view_text(const struct report *report);

#endif
