/* Above the lanes of the timeline: what the program has marked, at its place on the axis.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_MARKS_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_MARKS_H

#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/timeline/timeline_rows.h"

/* A line of the user phases that begin, and one of the marks; no line where there are none. */
void timeline_marks_print(const struct report *report, const struct terminal *terminal,
                          const struct timeline_rows *rows);

#endif
