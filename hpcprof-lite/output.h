/* Writes the report to its destination.  Context: BATCH, the main thread. */
#ifndef HPCPROF_LITE_OUTPUT_H
#define HPCPROF_LITE_OUTPUT_H

#include "hpcprof-lite/job.h"

/* Writes the report by `print` to --output or standard output: to a file of that name only when it is complete.
 * Returns the exit status. */
int output_report(struct job *job, int (*print)(const struct job *job));

/* Flushes a stream.  A closed pipe is not reported.  Returns the exit status. */
int output_finish(FILE *stream, const char *name);

#endif
