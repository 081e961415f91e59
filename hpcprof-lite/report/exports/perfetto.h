/* The timeline as Chrome's trace events in JSON, which ui.perfetto.dev and chrome://tracing read.
 *
 * Context: BATCH.  Constructs are nested slices, and each interval is a slice of its category in them.  Times are in
 * microseconds since the start of the run.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_PERFETTO_H
#define HPCPROF_LITE_REPORT_EXPORTS_PERFETTO_H

#include "hpcprof-lite/report/report.h"

/* Returns 0, or ERR_INPUT if the stream has failed. */
int perfetto_write(const struct report *report);

#endif
