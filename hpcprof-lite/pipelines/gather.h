/* Finds, reads and merges the measurement files.  Context: BATCH, the main thread. */
#ifndef HPCPROF_LITE_PIPELINES_GATHER_H
#define HPCPROF_LITE_PIPELINES_GATHER_H

#include "hpcprof-lite/pipelines/job.h"

/* Fills the job's profile, on the first rank; reports what is wrong with the files.  Returns 0, or the exit status if
 * nothing is left to report. */
int gather(struct job *job);

/* Fills the profile of a job that is zero with another run, whose directory must live as long; job_release() in any
 * case. Returns the same. */
int gather_beside(const struct job *job, char **directory, struct job *other);

/* Does the work of a rank other than the first. */
void gather_as_helper(struct job *job);

#endif
