/* The pipelines of the summary, advice and threads views.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason.  Summary and advice require tree_prepare().
 */
#ifndef HPCPROF_LITE_OVERVIEW_PIPELINES_H
#define HPCPROF_LITE_OVERVIEW_PIPELINES_H

#include "hpcprof-lite/job.h"

int summary_pipeline(struct job *job);
int advice_pipeline(struct job *job);
int threads_pipeline(struct job *job);

#endif
