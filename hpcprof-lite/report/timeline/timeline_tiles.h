/* The timeline as tiles: what each lane did in parts of time of equal length, as many as the text view has columns.
 *
 * Context: BATCH.  Further arrays have the time in each category, and what the program has marked and counted.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TILES_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TILES_H

#include "hpcprof-lite/report/report.h"

extern const struct schema timeline_tiles_schema;

/* Reads the cells of the timeline, if that is open. */
int timeline_tiles_table(const struct report *report, struct table *table);

#endif
