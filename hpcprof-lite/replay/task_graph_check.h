/* A check of the task graph, for assertions and their tests only.
 *
 * Context: BATCH.  As in model/checks.h. */
#ifndef HPCPROF_LITE_REPLAY_TASK_GRAPH_CHECK_H
#define HPCPROF_LITE_REPLAY_TASK_GRAPH_CHECK_H

#include "hpcprof-lite/replay/task_graph.h"

/* Objects that are referred to are in use, with as many references as they count; each scope is in one task; names are
 * those of objects in use.  Between two records of the log. */
bool task_graph_check(const struct task_graph *graph);

#endif
