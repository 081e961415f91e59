/* Writes the report to its destination.  Context: BATCH, the main thread. */
#ifndef HPCPROF_LITE_OUTPUT_H
#define HPCPROF_LITE_OUTPUT_H

#include "hpcprof-lite/pipelines/job.h"

/* Writes the report by `print` to --output or standard output: to a file of that name only when it is complete.
 * Returns the exit status. */
int output_report(struct job *job, int (*print)(struct job *job));

/* Fills a directory, which exists, with a report.  Returns 0 or an error; a message tells why, unless it is "": then
 * the reason has been printed. */
typedef int output_directory_writer(const struct report *report, const char *directory, char *message, size_t size);

/* Writes the report to the directory of --output, which appears only when it is complete.  Returns the exit status. */
int output_directory(struct job *job, output_directory_writer *write);

/* Fills an empty file by its name.  Returns and tells the same. */
typedef int output_file_writer(struct job *job, const char *path, char *message, size_t size);

/* Writes the report to the file of --output, which appears only when it is complete.  Returns the exit status. */
int output_file(struct job *job, output_file_writer *write);

/* Returns the exit status: 0 if nothing has that name, or the failure, which it has printed. */
int output_is_new(const char *name);

/* Flushes a stream.  A closed pipe is not reported.  Returns the exit status. */
int output_finish(FILE *stream, const char *name);

/* Removes what is unfinished, and waits for the pager: the process ends without returning.  It allocates nothing
 * itself. */
void output_abandon(void);

#endif
