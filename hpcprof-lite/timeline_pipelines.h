/* The pipelines of the views on the axis of time.
 *
 * Context: BATCH, the main thread.  Functions that return a status return 0, or the exit status after they have printed
 * the reason.
 */
#ifndef HPCPROF_LITE_TIMELINE_PIPELINES_H
#define HPCPROF_LITE_TIMELINE_PIPELINES_H

#include "hpcprof-lite/job.h"

/* Opens the traces of all processes, builds their indexes if these are wanted, and fills the report with the timeline,
 * as text also with phases.  Requires tree_prepare(). */
int timeline_view_pipeline(struct job *job);

/* Describes the timeline: of intervals, or as JSON of tiles. */
table_maker *timeline_pipeline_maker(const struct options *options);

/* As timeline_view_pipeline(), for the view of phases. */
int phases_pipeline(struct job *job);

/* Of the marks and user-counters views, which need no trace. */
int marks_pipeline(struct job *job);
int user_counters_pipeline(struct job *job);

#endif
