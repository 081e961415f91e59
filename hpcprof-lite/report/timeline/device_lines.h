/* Lines of the drawn timeline for devices: what each did in most of a column, as the host saw it.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_DEVICE_LINES_H
#define HPCPROF_LITE_REPORT_TIMELINE_DEVICE_LINES_H

#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/timeline/timeline_rows.h"

/* Prints a line for each device that has target constructs in the range, below those of the threads, and what its marks
 * mean.  Nothing without devices.  Intervals of threads that overlap count once. */
void device_lines_print(const struct report *report, const struct terminal *terminal, const struct timeline_rows *rows);

#endif
