/* The pipelines of the marks and user-counters views.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason.
 */
#ifndef HPCPROF_LITE_MARKS_PIPELINES_H
#define HPCPROF_LITE_MARKS_PIPELINES_H

#include "hpcprof-lite/job.h"

int marks_pipeline(struct job *job);
int user_counters_pipeline(struct job *job);

/* Collects the marks of the part of the run that is wanted for job->report.marks.  Returns 0 or the exit status. */
int marks_collect(struct job *job);

#endif
