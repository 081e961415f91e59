/* The pipelines of the views of work and span.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason.  parallelism and whatif require tree_prepare().
 */
#ifndef HPCPROF_LITE_GRAPH_PIPELINES_H
#define HPCPROF_LITE_GRAPH_PIPELINES_H

#include "hpcprof-lite/job.h"

int parallelism_pipeline(struct job *job);
int whatif_pipeline(struct job *job);
int speedup_pipeline(struct job *job);

#endif
