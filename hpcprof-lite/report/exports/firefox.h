/* The timeline as a processed profile of the Firefox Profiler (profiler.firefox.com), version 60 of that format.
 *
 * Context: BATCH.  Each interval is a sample whose weight is its duration; its stack is a path of the top-down tree.
 * Constructs, and waiting with what it is for, are markers.  The format has columns: the intervals of a lane are read
 * once for each, so that memory does not grow with their number.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_FIREFOX_H
#define HPCPROF_LITE_REPORT_EXPORTS_FIREFOX_H

#include "hpcprof-lite/report/report.h"

/* Returns 0, ERR_NOMEM, or what the source of the intervals has returned. */
int firefox_write(const struct report *report);

#endif
