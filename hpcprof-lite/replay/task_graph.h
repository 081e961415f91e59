/* What is open at a moment of a replay: tasks, the constructs in them, regions and groups.
 *
 * Context: BATCH.  The rules are those of hpcrun-lite/rt/graph.h; all records are named by numbers, 0 = none, which
 * reads as zeros.  A record goes when nobody refers to it: whatever a log says, no number leads to one that is gone.
 * Where there is no room the operation is left out, and counted.
 */
#ifndef HPCPROF_LITE_REPLAY_TASK_GRAPH_H
#define HPCPROF_LITE_REPLAY_TASK_GRAPH_H

#include "hpcprof-lite/replay/instances.h"

#include "hpcprof-lite/model/index.h"
#include "hpcprof-lite/replay/selection.h"
#include "hpcprof-lite/replay/vector_clock.h"

enum { TASK_GRAPH_LOOPS = 8 }; /* as on the running side, which gives up on threads that are further ahead, too */

enum task_graph_task_flag {
  TASK_GRAPH_SERIAL = 1,
  TASK_GRAPH_STARTED = 2,
  TASK_GRAPH_FINAL = 4,
  TASK_GRAPH_IMPLICIT = 8,
  TASK_GRAPH_LOOP = 16,
  TASK_GRAPH_ENDED = 32
};

/* A construct that is open in a task, or the task itself: then nothing is around. */
struct task_graph_scope {
  uint32_t around, row, instance, chosen; /* chosen: what scenarios select, with all that is around (selection.h) */
  uint64_t pending;                       /* work that no instance knows yet */
  struct moment begin;
};

/* refs: itself until it ends, its children, threads that run it, regions that it has created. */
struct task_graph_task {
  uint32_t refs, flags, parent, group, region, phase, outer;
  uint32_t scope, scopes_open;                  /* the innermost; how many the program has open */
  uint32_t constructs, loop_slot;               /* loops met; place of the one it is in + 1, 0 = not shared */
  uint32_t chunk, of_chunk;                     /* chunks it has begun; of its parent's, the one it was created in */
  uint32_t now, children, loop_entry, loop_end; /* clocks */
  uint32_t earlier;                             /* the same: ends of children of the chunks before */
  uint64_t name;
};

struct task_graph_loop {
  uint64_t number;
  uint32_t instance, row, ended;
};

/* refs: itself until it ends, and its tasks. */
struct task_graph_region {
  uint32_t refs, creator, instance, row, chosen, around; /* around: the thread's next open one */
  bool open;
  uint64_t size, name;
  uint32_t start, phases[2]; /* clocks; as on the running side by parity */
  struct task_graph_loop loops[TASK_GRAPH_LOOPS];
};

/* refs: the task that is in it, tasks created in it, groups within it. */
struct task_graph_group {
  uint32_t refs, outer, ends;
};

struct task_graph {
  struct object_pool tasks, scopes, regions, groups;
  struct index task_names, region_names;
  struct vector_clocks clocks;
  struct instances instances;
  struct selection selection;
  uint32_t second; /* the lane that moments hold beside the first */
  uint64_t lost_tasks, lost_constructs;
};

/* All but lanes, instances and selection, which are the caller's to make.  0, or ERR_NOMEM; task_graph_release() in any
 * case, which releases these, too. */
int task_graph_init(struct task_graph *graph);
void task_graph_release(struct task_graph *graph);

/* Whether anything was left out for want of memory: then what the shape says is worth nothing. */
bool task_graph_starved(const struct task_graph *graph);

static inline struct task_graph_task *task_graph_task(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->tasks, index);
}

static inline struct task_graph_scope *task_graph_scope(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->scopes, index);
}

static inline struct task_graph_region *task_graph_region(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->regions, index);
}

static inline struct task_graph_group *task_graph_group(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->groups, index);
}

/* Of a clock, and of a task's. */
struct moment task_graph_moment(const struct task_graph *graph, uint32_t clock);
struct moment task_graph_now(const struct task_graph *graph, const struct task_graph_task *task);

/* A task of that name, which nothing else is known of; held by itself. */
uint32_t task_graph_task_new(struct task_graph *graph, uint64_t name);

/* The task's own scope, of a row, within what is chosen around it. */
void task_graph_task_scope(struct task_graph *graph, struct task_graph_task *task, uint32_t row, uint32_t chosen);

/* It leaves all constructs that are open, ends as a scope itself, and has no name any more. */
void task_graph_task_end(struct task_graph *graph, uint32_t index);
void task_graph_task_release(struct task_graph *graph, uint32_t index);
void task_graph_region_release(struct task_graph *graph, uint32_t index);
void task_graph_group_release(struct task_graph *graph, uint32_t index);

/* Tells the innermost instance what the task has done. */
void task_graph_settle(struct task_graph *graph, struct task_graph_task *task);

/* Makes the instances of all open scopes, the outermost first, and returns the innermost. */
uint32_t task_graph_make_instances(struct task_graph *graph, struct task_graph_task *task);

/* A construct begins in the task; the instance is passed on.  Returns whether it is followed. */
bool task_graph_construct_begin(struct task_graph *graph, struct task_graph_task *task, uint32_t row,
                                uint32_t instance);
void task_graph_construct_end(struct task_graph *graph, struct task_graph_task *task);

#endif
