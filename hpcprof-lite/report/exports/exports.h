/* The exports of the graph of grains and of the timeline, each to the format of another tool.
 *
 * Context: BATCH, the main thread.  Functions return 0, or ERR_INPUT where a write has failed.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_EXPORTS_H
#define HPCPROF_LITE_REPORT_EXPORTS_EXPORTS_H

#include "hpcprof-lite/report/report.h"

int dot_write(const struct report *report);
int graphml_write(const struct report *report);
int graph_json(const struct report *report);

int perfetto_write(const struct report *report);
int firefox_write(const struct report *report);

/* Writes the archive into a directory, which exists; tells in the message, which otherwise is "", why it cannot. */
int otf2_write(const struct report *report, const char *directory, char *message, size_t size);

#endif
