/* The pipelines of the views (views.def).
 *
 * Context: BATCH, the main thread.  A pipeline fills the report of its view and returns 0, or the exit status after it
 * has printed the reason.  Those of views with HAS_TREE require tree_begin() with the tree.
 */
#ifndef HPCPROF_LITE_PIPELINES_PIPELINES_H
#define HPCPROF_LITE_PIPELINES_PIPELINES_H

#include "hpcprof-lite/pipelines/job.h"

typedef int view_pipeline(struct job *job);
view_pipeline summary_pipeline, tree_pipeline, threads_pipeline, processes_pipeline, locks_pipeline, devices_pipeline,
    ranks_pipeline, mpi_pipeline, parallelism_pipeline, whatif_pipeline, speedup_pipeline, regions_pipeline,
    region_tree_pipeline, overheads_pipeline, tasks_pipeline, grains_pipeline, grain_graph_pipeline,
    timeline_view_pipeline, phases_pipeline, marks_pipeline, user_counters_pipeline, advice_tried_pipeline,
    try_pipeline, source_pipeline, messages_pipeline, wait_states_pipeline, efficiency_pipeline;

/* Finds the advice of the report, without what was tried. */
int advice_pipeline(struct job *job);

/* Returns what describes the table of a view by its options. */
typedef table_maker *view_maker(const struct options *options);
view_maker grains_pipeline_maker, timeline_pipeline_maker;

/* Reads the messages between the lanes of the timeline, which timeline_view_pipeline() has opened. */
void timeline_pipeline_messages(struct job *job);

/* Makes the tree of constructs; the list of them, those first that would gain most, for the summary. */
void make_constructs(struct job *job);
void construct_gains(struct job *job);

#endif
