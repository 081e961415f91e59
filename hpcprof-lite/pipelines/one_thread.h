/* Runs of the same command with one thread, whose directories are given behind that of the run: what its work takes
 * without other threads.
 *
 * Context: BATCH, the main thread.
 */
#ifndef HPCPROF_LITE_PIPELINES_ONE_THREAD_H
#define HPCPROF_LITE_PIPELINES_ONE_THREAD_H

#include "hpcprof-lite/pipelines/job.h"

/* The caller releases `regions`, in any case. */
struct one_thread {
  double work_s; /* the mean of the runs; 0 without any */
  struct region_threads_alone regions;
};

/* Reads these runs.  Requires tree_begin().  Returns 0 or the exit status. */
int one_thread_read(const struct job *job, struct one_thread *result);

#endif
