/* The pipelines of the views of grains.
 *
 * Context: BATCH, the main thread.  Functions that return a status return 0, or the exit status after they have printed
 * the reason.
 */
#ifndef HPCPROF_LITE_GRAIN_PIPELINES_H
#define HPCPROF_LITE_GRAIN_PIPELINES_H

#include "hpcprof-lite/job.h"

/* Fills the report with the groups, or with what delivers single grains while they are printed. */
int grains_pipeline(struct job *job);

/* Describes the table of grains, or as text, or if they are wanted, of groups. */
table_maker *grains_pipeline_maker(const struct options *options);

/* Fills the report with the graph. */
int grain_graph_pipeline(struct job *job);

#endif
