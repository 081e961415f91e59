/* What the pipelines of all views begin with, and the trees of calling contexts that they share.
 *
 * Context: BATCH, the main thread.  Functions that return a status return 0, or the exit status after they have printed
 * the reason.
 */
#ifndef HPCPROF_LITE_PIPELINES_TREE_PIPELINE_H
#define HPCPROF_LITE_PIPELINES_TREE_PIPELINE_H

#include "hpcprof-lite/pipelines/job.h"

/* Begins a report: fills what all views share, and makes the top-down tree if the view needs it. */
void tree_begin(struct job *job, bool needs_tree);

/* Makes that again for another view of the job's options: that of source lines has more rows. */
void tree_prepare_again(struct job *job);

/* Returns the default order of siblings, by their exclusive or inclusive weight. */
struct tree_order tree_default_order(const struct job *job, bool exclusive);

/* Decides which rows of the report's tree are shown. */
void tree_limit(struct job *job);

#endif
