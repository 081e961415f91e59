/* Fewer rows of the timeline than there are threads: neighbours that did alike share one.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_FOLDING_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_FOLDING_H

#include "hpcprof-lite/report/timeline/timeline_rows.h"

/* The columns by which labels of several threads are wider. */
unsigned timeline_folding_width(const struct report *report);

/* Copies rows of threads, and joins neighbours of the same process, those that differ least first: all that hardly
 * differ, and others until there are `most` rows, or one for each process.  timeline_rows_release() both.  Returns the
 * share of their time, from 0 to 1, for which threads that share a row do what most of the row's time is; the least of
 * all rows. */
double timeline_folding_make(const struct timeline_rows *rows, uint32_t most, struct timeline_rows *folded);

#endif
