/* What is open at a moment of a replay: tasks, the constructs in them, regions and groups.
 *
 * Context: BATCH.  The rules are those of hpcrun-lite/rt/graph.h; all records are named by numbers, 0 = none, which
 * reads as zeros.  A record goes when nobody refers to it: whatever a log says, no number leads to one that is gone.
 * Where there is no room the operation is left out, and counted.
 */
#ifndef HPCPROF_SHAPE_H
#define HPCPROF_SHAPE_H

#include "hpcprof-lite/replay/instances.h"
#include "hpcprof-lite/replay/lanes.h"
#include "hpcprof-lite/replay/selection.h"

enum { SHAPE_LOOPS = 8 }; /* as on the running side, which gives up on threads that are further ahead, too */

enum shape_task_flag {
  SHAPE_SERIAL = 1,
  SHAPE_STARTED = 2,
  SHAPE_FINAL = 4,
  SHAPE_IMPLICIT = 8,
  SHAPE_LOOP = 16,
  SHAPE_ENDED = 32
};

/* A construct that is open in a task, or the task itself: then nothing is around. */
struct shape_scope {
  uint32_t around, row, instance, chosen; /* chosen: what scenarios select, with all that is around (selection.h) */
  uint64_t pending;                       /* work that no instance knows yet */
  struct moment begin;
};

/* refs: itself until it ends, its children, threads that run it, regions that it has created. */
struct shape_task {
  uint32_t refs, flags, parent, group, region, phase, outer;
  uint32_t scope, scopes_open;                  /* the innermost; how many the program has open */
  uint32_t constructs, loop_slot;               /* loops met; place of the one it is in + 1, 0 = not shared */
  uint32_t chunk, of_chunk;                     /* chunks it has begun; of its parent's, the one it was created in */
  uint32_t now, children, loop_entry, loop_end; /* clocks */
  uint32_t earlier;                             /* the same: ends of children of the chunks before */
  uint64_t name;
};

struct shape_loop {
  uint64_t number;
  uint32_t instance, row, ended;
};

/* refs: itself until it ends, and its tasks. */
struct shape_region {
  uint32_t refs, creator, instance, row, chosen, around; /* around: the thread's next open one */
  bool open;
  uint64_t size, name;
  uint32_t start, phases[2]; /* clocks; as on the running side by parity */
  struct shape_loop loops[SHAPE_LOOPS];
};

/* refs: the task that is in it, tasks created in it, groups within it. */
struct shape_group {
  uint32_t refs, outer, ends;
};

struct shape {
  struct slab tasks, scopes, regions, groups;
  struct slab_map task_names, region_names;
  struct lanes lanes;
  struct instances instances;
  struct selection selection;
  uint32_t second; /* the lane that moments hold beside the first */
  uint64_t lost_tasks, lost_constructs;
};

/* All but lanes, instances and selection, which are the caller's to make.  0, or ERR_NOMEM; shape_release() in any
 * case, which releases these, too. */
int shape_init(struct shape *shape);
void shape_release(struct shape *shape);

/* Whether anything was left out for want of memory: then what the shape says is worth nothing. */
bool shape_starved(const struct shape *shape);

static inline struct shape_task *shape_task(const struct shape *shape, uint32_t index)
{
  return slab_at(&shape->tasks, index);
}

static inline struct shape_scope *shape_scope(const struct shape *shape, uint32_t index)
{
  return slab_at(&shape->scopes, index);
}

static inline struct shape_region *shape_region(const struct shape *shape, uint32_t index)
{
  return slab_at(&shape->regions, index);
}

static inline struct shape_group *shape_group(const struct shape *shape, uint32_t index)
{
  return slab_at(&shape->groups, index);
}

/* Of a clock, and of a task's. */
struct moment shape_moment(const struct shape *shape, uint32_t clock);
struct moment shape_now(const struct shape *shape, const struct shape_task *task);

/* A task of that name, which nothing else is known of; held by itself. */
uint32_t shape_task_new(struct shape *shape, uint64_t name);

/* The task's own scope, of a row, within what is chosen around it. */
void shape_task_scope(struct shape *shape, struct shape_task *task, uint32_t row, uint32_t chosen);

/* It leaves all constructs that are open, ends as a scope itself, and has no name any more. */
void shape_task_end(struct shape *shape, uint32_t index);
void shape_task_release(struct shape *shape, uint32_t index);
void shape_region_release(struct shape *shape, uint32_t index);
void shape_group_release(struct shape *shape, uint32_t index);

/* Tells the innermost instance what the task has done. */
void shape_settle(struct shape *shape, struct shape_task *task);

/* Makes the instances of all open scopes, the outermost first, and returns the innermost. */
uint32_t shape_make_instances(struct shape *shape, struct shape_task *task);

/* A construct begins in the task; the instance is passed on.  Returns whether it is followed. */
bool shape_construct_begin(struct shape *shape, struct shape_task *task, uint32_t row, uint32_t instance);
void shape_construct_end(struct shape *shape, struct shape_task *task);

#endif
