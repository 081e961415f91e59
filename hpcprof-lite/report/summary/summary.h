/* The summary, on one screen: what limits the run, where its time went, what to change first, how well it was measured.
 *
 * Context: BATCH.  What has no room here is in other views, which the last lines name.
 */
#ifndef HPCPROF_LITE_REPORT_SUMMARY_SUMMARY_H
#define HPCPROF_LITE_REPORT_SUMMARY_SUMMARY_H

#include "hpcprof-lite/report/report.h"

void summary_text(const struct report *report);

#endif
