/* The pipelines of the views of constructs.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason.  All require tree_prepare().
 */
#ifndef HPCPROF_LITE_CONSTRUCT_PIPELINES_H
#define HPCPROF_LITE_CONSTRUCT_PIPELINES_H

#include "hpcprof-lite/job.h"

int regions_pipeline(struct job *job);
int region_tree_pipeline(struct job *job);
int overheads_pipeline(struct job *job);
int tasks_pipeline(struct job *job);

/* Makes the list of constructs, those first that would gain most, for the summary.  Returns 0 or ERR_NOMEM. */
int construct_gains(struct job *job);

#endif
