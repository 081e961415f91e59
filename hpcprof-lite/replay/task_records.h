/* What the records of regions, tasks, taskgroups and waits do to the task graph of a replay.
 *
 * Context: BATCH.  The rules are those of hpcrun-lite/rt/span/span.h and explicit_task.h, and of doc/format.md, Replay.
 * Tasks are named by their numbers in the graph, 0 = none: a record of a task that is not known changes nothing.  What
 * contradicts the graph or is beyond its limits is left out and counted there.
 */
#ifndef HPCPROF_LITE_REPLAY_TASK_RECORDS_H
#define HPCPROF_LITE_REPLAY_TASK_RECORDS_H

#include "common/graphlog.h"
#include "hpcprof-lite/replay/task_graph.h"

/* What one thread's stream of records runs and has created. */
struct task_stream {
  uint32_t task;           /* the task that the thread runs */
  uint32_t region;         /* the innermost region that it has open */
  uint64_t tasks, regions; /* how many it has created: their numbers are their names */
};

/* One function for each kind of record (common/graphlog.h).  thread: that of the stream. */
void task_records_region(struct task_graph *graph, struct task_stream *stream, uint32_t thread, uint64_t row);
void task_records_region_end(struct task_graph *graph, struct task_stream *stream);
void task_records_implicit(struct task_graph *graph, struct task_stream *stream, uint32_t thread,
                           const struct graphlog_record *record);
void task_records_implicit_end(struct task_graph *graph, struct task_stream *stream, uint32_t index);
void task_records_task(struct task_graph *graph, struct task_stream *stream, uint32_t thread,
                       const struct graphlog_record *record);
void task_records_switch(struct task_graph *graph, struct task_stream *stream, uint32_t index);

/* awaited: false for a task that is dropped. */
void task_records_task_end(struct task_graph *graph, struct task_stream *stream, uint32_t index, bool awaited);
void task_records_wait(struct task_graph *graph, uint32_t index, uint64_t kind, uint64_t row);
void task_records_wait_end(struct task_graph *graph, uint32_t index, uint64_t kind);
void task_records_group(struct task_graph *graph, struct task_graph_task *task, uint64_t row);
void task_records_group_end(struct task_graph *graph, struct task_graph_task *task);

/* The log ends: raises the end of the program to all chains of a task, and of the tasks and regions around it, that
 * have not been awaited. */
void task_records_unawaited(struct task_graph *graph, uint32_t index);

#endif
