/* The part of the task graph that is open at one time of a graph log: tasks, the constructs in them, regions, their
 * loops, taskgroups, joins, locks, and what each stream of records runs.
 *
 * Context: BATCH.  The rules are those of hpcrun-lite/rt/span/graph.h.  Objects are named by numbers, 0 = none; object
 * 0 can be read and consists of zeros.  An object is freed when the last reference to it is dropped: whatever a log
 * contains, no number refers to a freed object.  If there are too many objects, the operation is left out and counted
 * in `lost`.
 */
#ifndef HPCPROF_LITE_REPLAY_TASK_GRAPH_H
#define HPCPROF_LITE_REPLAY_TASK_GRAPH_H

#include "hpcprof-lite/replay/joins.h"
#include "hpcprof-lite/replay/selection.h"

/* Twice SHARED_LOOPS of the running side: by their times, a record that enters a loop may come before the one by which
 * the last thread has left the loop in whose place it is. */
enum { TASK_GRAPH_LOOPS = 16, TASK_GRAPH_LOCK_ROWS = 4 };

enum task_graph_task_flag {
  TASK_GRAPH_SERIAL = 1, /* its creator waits for it */
  TASK_GRAPH_STARTED = 2,
  TASK_GRAPH_FINAL = 4,
  TASK_GRAPH_IMPLICIT = 8,
  TASK_GRAPH_LOOP = 16, /* it is in a worksharing loop or sections construct */
  TASK_GRAPH_ENDED = 32,
  TASK_GRAPH_MOVED = 64 /* in its loop, a chunk's own chain began later than the loop */
};

/* A construct that is open in a task; the outermost scope of a task is the task itself. */
struct task_graph_scope {
  uint32_t outer;            /* the scope around it, 0 for the task itself */
  uint32_t row;              /* directive */
  uint32_t instance;         /* 0 until something needs it */
  uint32_t choice;           /* what scenarios select, here and around it (selection.h) */
  struct clock_pair pending; /* work that has not been added to an instance yet */
  struct clock_pair begin;
};

struct task_graph_task {
  uint32_t refs; /* from itself until it ends, its children, streams that run it, regions that it created */
  uint32_t flags, parent, group, region, interval;
  uint32_t outer_instance;       /* the instance in which it was created */
  uint32_t choice;               /* what scenarios select there */
  uint32_t scope;                /* the innermost */
  uint32_t scopes_open;          /* constructs that the program has open, also those that have no scope */
  uint32_t constructs;           /* worksharing constructs that it has met */
  uint32_t loop_slot;            /* position of the current one in region.loops + 1, 0 = not shared */
  uint32_t chunk;                /* number of the current chunk */
  uint32_t creation_chunk;       /* the parent's `chunk` when it was created */
  uint32_t now, children;        /* clocks: of the task; ends of its children */
  uint32_t earlier_children;     /* clock: ends of the children that were created in earlier chunks */
  uint32_t loop_entry, loop_end; /* clocks: at the loop's start; latest end of a chunk */
  uint32_t grain;                /* of a sink (graph_reader.h), 0 at first */
  struct clock_pair loop_begin;  /* from which the chunk's own chain counts */
  struct clock_pair loop_span;   /* the longest own chain of a chunk */
  uint64_t name;
};

/* A worksharing construct that the team shares; `number` among those of each implicit task. */
struct task_graph_loop {
  uint64_t number;
  uint32_t instance, row;
  uint32_t ended; /* threads that have left it */
  uint32_t team;  /* of a sink (graph_reader.h), 0 at first */
};

struct task_graph_region {
  uint32_t refs; /* from itself until it ends, and its tasks */
  uint32_t creator, instance, row, choice;
  uint32_t outer; /* the stream's next open region */
  uint32_t team;  /* of a sink, 0 at first */
  bool open;
  uint64_t size, name;
  uint32_t start, intervals[2]; /* clocks; intervals by parity, because a thread may be one interval ahead */
  struct task_graph_loop loops[TASK_GRAPH_LOOPS];
};

struct task_graph_group {
  uint32_t refs;        /* from the task that is in it, tasks created in it, groups in it */
  uint32_t outer, ends; /* ends: clock */
};

/* Because a lock has one holder at a time, the span is at least the earliest time of any acquisition + the sum of all
 * times for which it was held (doc/format.md, Replay).  It lives as long as the graph. */
struct task_graph_lock {
  uint32_t rows[TASK_GRAPH_LOCK_ROWS];        /* directives of acquisitions: the first ones */
  uint32_t released;                          /* clock: the last release, in schedules */
  struct clock_pair earliest, acquired, held; /* earliest and last acquisition; sum of the times held */
};

/* What one thread's stream of records runs and has created. */
struct task_graph_stream {
  uint32_t task;           /* the task that the thread runs */
  uint32_t region;         /* the innermost region that it has open */
  uint64_t tasks, regions; /* how many it has created: their numbers are their names */
};

/* What the burdened span adds for each of them, in the unit of the log. */
struct task_graph_costs {
  double fork, task, join;
};

/* What was left out. */
struct task_graph_losses {
  uint64_t tasks, constructs, joins;
  uint64_t invalid; /* records that contradict the graph */
};

struct task_graph {
  struct object_table tasks, regions, locks;
  struct object_pool scopes, groups;
  struct joins joins;
  struct task_graph_stream *streams;
  uint32_t streams_count;
  struct vector_clocks clocks;
  struct instances instances;
  struct selection selection;
  uint32_t second_element;   /* the element of clocks that is at[1] of a clock_pair */
  uint32_t program_end;      /* clock: latest end of all chains of work */
  uint32_t burdened_element; /* the element of clocks that these costs are added to, 0: none */
  uint32_t first_schedule;   /* from this element of clocks on, a task also waits for locks */
  struct task_graph_costs costs;
  struct task_graph_losses lost;
};

/* Prepares pools and streams.  The caller initialises clocks, joins, instances, selection and what is computed;
 * task_graph_release() releases everything, also these four. */
void task_graph_init(struct task_graph *graph, uint32_t streams);
void task_graph_release(struct task_graph *graph);

static inline struct task_graph_task *task_graph_task(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->tasks.pool, index);
}

static inline struct task_graph_scope *task_graph_scope(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->scopes, index);
}

static inline struct task_graph_region *task_graph_region(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->regions.pool, index);
}

static inline struct task_graph_group *task_graph_group(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->groups, index);
}

/* Returns the name of a task, region or join, 0 if no thread can have created it. */
uint64_t task_graph_name(uint64_t thread, uint64_t number);

/* Returns the task that (thread, number) names, or 0. */
uint32_t task_graph_find(const struct task_graph *graph, uint64_t thread, uint64_t number);

/* Returns the row of a record, or 0 if it does not exist. */
uint32_t task_graph_row(struct task_graph *graph, uint64_t row);

/* Raises a clock to another one; makes it if it does not exist. */
void task_graph_raise(struct task_graph *graph, uint32_t *clock, uint32_t other);

/* Returns the time of a task's clock. */
struct clock_pair task_graph_now(const struct task_graph *graph, const struct task_graph_task *task);

/* Adds a task with that name and a reference from itself.  Returns its number, or 0 if the name is 0 or there is no
 * room.
 */
uint32_t task_graph_task_new(struct task_graph *graph, uint64_t name);

/* Begins the task's own scope, of a row, inside a construct with the choice `outer_choice`. */
void task_graph_task_scope(struct task_graph *graph, struct task_graph_task *task, uint32_t row, uint32_t outer_choice);

/* Ends a task: ends all its scopes, removes its name and drops its reference to itself. */
void task_graph_task_end(struct task_graph *graph, uint32_t index);

/* Drop a reference. */
void task_graph_task_release(struct task_graph *graph, uint32_t index);
void task_graph_region_release(struct task_graph *graph, uint32_t index);
void task_graph_group_release(struct task_graph *graph, uint32_t index);

/* Of the work that the task's innermost scope has pending, so much is time in which the task waits for a device. */
void task_graph_device_time(struct task_graph *graph, const struct task_graph_task *task, double amount);

/* Adds the pending work of the task's innermost scope to its instance, if it has one. */
void task_graph_flush_work(struct task_graph *graph, struct task_graph_task *task);

/* Makes the instances of all scopes of the task that have none.  Returns the innermost instance. */
uint32_t task_graph_make_instances(struct task_graph *graph, struct task_graph_task *task);

/* Begins a construct in the task.  Takes over the caller's hold of the instance, which may be 0.  Returns whether the
 * construct has a scope: it has none if constructs nest too deeply. */
bool task_graph_construct_begin(struct task_graph *graph, struct task_graph_task *task, uint32_t row,
                                uint32_t instance);
void task_graph_construct_end(struct task_graph *graph, struct task_graph_task *task);

/* Ends a loop of a region; its place is free. */
void task_graph_loop_close(struct task_graph *graph, struct task_graph_loop *loop);

#endif
