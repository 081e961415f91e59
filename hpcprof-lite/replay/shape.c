#include "hpcprof-lite/replay/shape.h"

#include "hpcprof-lite/model/profile.h"

enum {
  SCOPES_OPEN = 6, /* as on the running side */
  TASKS_MAX = 2 << 20,
  SCOPES_MAX = 4 << 20,
  REGIONS_MAX = 1 << 20
};

int shape_init(struct shape *shape)
{
  int status = slab_init(&shape->tasks, sizeof(struct shape_task), TASKS_MAX);
  status = status ? status : slab_init(&shape->scopes, sizeof(struct shape_scope), SCOPES_MAX);
  status = status ? status : slab_init(&shape->regions, sizeof(struct shape_region), REGIONS_MAX);
  return status ? status : slab_init(&shape->groups, sizeof(struct shape_group), TASKS_MAX);
}

bool shape_starved(const struct shape *shape)
{
  return shape->tasks.starved || shape->scopes.starved || shape->regions.starved || shape->groups.starved ||
         shape->instances.slab.starved || shape->lanes.clocks.starved || shape->lanes.trails->links.starved ||
         shape->task_names.starved || shape->region_names.starved || shape->selection.within.starved;
}

void shape_release(struct shape *shape)
{
  slab_release(&shape->tasks);
  slab_release(&shape->scopes);
  slab_release(&shape->regions);
  slab_release(&shape->groups);
  slab_map_release(&shape->task_names);
  slab_map_release(&shape->region_names);
  lanes_release(&shape->lanes);
  instances_release(&shape->instances);
  selection_release(&shape->selection);
}

struct moment shape_moment(const struct shape *shape, uint32_t clock)
{
  const struct lane *lane = lanes_at(&shape->lanes, clock)->lane;
  return (struct moment){{lane[0].at, lane[shape->second].at}};
}

struct moment shape_now(const struct shape *shape, const struct shape_task *task)
{
  return shape_moment(shape, task->now);
}

/* ---- tasks, regions and groups go when nobody refers to them ---- */

void shape_group_release(struct shape *shape, uint32_t index)
{
  while (index && --shape_group(shape, index)->refs == 0) {
    uint32_t outer = shape_group(shape, index)->outer;
    lanes_free(&shape->lanes, &shape_group(shape, index)->ends);
    slab_put(&shape->groups, index);
    index = outer;
  }
}

void shape_region_release(struct shape *shape, uint32_t index)
{
  struct shape_region *region = shape_region(shape, index);
  if (!index || --region->refs > 0)
    return;
  lanes_free(&shape->lanes, &region->start);
  lanes_free(&shape->lanes, &region->phases[0]);
  lanes_free(&shape->lanes, &region->phases[1]);
  slab_map_remove(&shape->region_names, region->name);
  slab_put(&shape->regions, index);
}

void shape_task_release(struct shape *shape, uint32_t index)
{
  while (index && --shape_task(shape, index)->refs == 0) {
    struct shape_task *task = shape_task(shape, index);
    uint32_t parent = task->parent;
    lanes_free(&shape->lanes, &task->now);
    lanes_free(&shape->lanes, &task->children);
    lanes_free(&shape->lanes, &task->earlier);
    lanes_free(&shape->lanes, &task->loop_entry);
    lanes_free(&shape->lanes, &task->loop_end);
    shape_group_release(shape, task->group);
    shape_region_release(shape, task->region);
    slab_put(&shape->tasks, index);
    index = parent;
  }
}

/* ---- scopes (hpcrun-lite/rt/graph.c) ---- */

/* An implicit task's own scope has its region's instance, as long as that is open. */
static uint32_t instance_of(const struct shape *shape, const struct shape_task *task, const struct shape_scope *scope)
{
  if (scope->around || !(task->flags & SHAPE_IMPLICIT))
    return scope->instance;
  const struct shape_region *region = shape_region(shape, task->region);
  return region->open ? region->instance : 0;
}

/* The innermost instance around the innermost scope. */
static uint32_t instance_around(const struct shape *shape, const struct shape_task *task)
{
  for (uint32_t i = shape_scope(shape, task->scope)->around; i; i = shape_scope(shape, i)->around) {
    uint32_t instance = instance_of(shape, task, shape_scope(shape, i));
    if (instance)
      return instance;
  }
  return task->outer;
}

static bool push_scope(struct shape *shape, struct shape_task *task, uint32_t row, uint32_t instance, uint32_t chosen)
{
  uint32_t index = slab_get(&shape->scopes);
  if (!index) {
    shape->lost_constructs++;
    return false;
  }
  *shape_scope(shape, index) = (struct shape_scope){.around = task->scope,
                                                    .row = row,
                                                    .instance = instance,
                                                    .chosen = selection_within(&shape->selection, chosen, row),
                                                    .begin = shape_now(shape, task)};
  task->scope = index;
  return true;
}

void shape_settle(struct shape *shape, struct shape_task *task)
{
  struct shape_scope *scope = shape_scope(shape, task->scope);
  uint32_t instance = task->scope ? instance_of(shape, task, scope) : 0;
  struct moment now = shape_now(shape, task);
  if (!instance)
    return;
  instances_work(&shape->instances, instance, scope->pending, &now);
  scope->pending = 0;
}

uint32_t shape_make_instances(struct shape *shape, struct shape_task *task)
{
  uint32_t open[SCOPES_OPEN + 1], count = 0, outer = task->outer;
  for (uint32_t i = task->scope; i; i = shape_scope(shape, i)->around)
    open[count++] = i;
  while (count) {
    struct shape_scope *scope = shape_scope(shape, open[--count]);
    bool own = scope->around || !(task->flags & SHAPE_IMPLICIT);
    if (own && !scope->instance && scope->row)
      scope->instance = instances_enter(&shape->instances, scope->row, outer, &scope->begin);
    uint32_t instance = instance_of(shape, task, scope);
    outer = instance ? instance : outer;
  }
  return outer;
}

/* The innermost scope ends.  Without an instance it counts here, if it is the outermost of its row, and its work goes
 * on to what is around. */
static void pop_scope(struct shape *shape, struct shape_task *task)
{
  uint32_t index = task->scope;
  struct shape_scope *scope = shape_scope(shape, index);
  struct moment now = shape_now(shape, task);
  uint32_t around = scope->around;
  if (scope->instance) {
    shape_settle(shape, task);
    instances_leave(&shape->instances, scope->instance);
  } else {
    bool nested = !scope->row || instances_contain(&shape->instances, instance_around(shape, task), scope->row);
    for (uint32_t i = around; i; i = shape_scope(shape, i)->around)
      nested |= shape_scope(shape, i)->row == scope->row;
    struct moment span = moment_since(&now, &scope->begin);
    if (!nested)
      instances_ended(&shape->instances, scope->row, scope->pending, &span);
    if (around)
      shape_scope(shape, around)->pending += scope->pending;
    else
      instances_work(&shape->instances, task->outer, scope->pending, &now);
  }
  task->scope = around;
  slab_put(&shape->scopes, index);
}

bool shape_construct_begin(struct shape *shape, struct shape_task *task, uint32_t row, uint32_t instance)
{
  if (task->scope && ++task->scopes_open <= SCOPES_OPEN) {
    if (push_scope(shape, task, row, instance, shape_scope(shape, task->scope)->chosen))
      return true;
    task->scopes_open = SCOPES_OPEN + 1; /* else another one would be popped in its place */
  }
  instances_leave(&shape->instances, instance);
  return false;
}

void shape_construct_end(struct shape *shape, struct shape_task *task)
{
  if (!task->scopes_open)
    return;
  if (task->scopes_open-- <= SCOPES_OPEN && shape_scope(shape, task->scope)->around)
    pop_scope(shape, task);
}

uint32_t shape_task_new(struct shape *shape, uint64_t name)
{
  uint32_t index = name ? slab_get(&shape->tasks) : 0;
  if (!index || !slab_map_add(&shape->task_names, name, index)) {
    shape->lost_tasks++;
    return 0;
  }
  *shape_task(shape, index) = (struct shape_task){.refs = 1, .name = name};
  return index;
}

void shape_task_scope(struct shape *shape, struct shape_task *task, uint32_t row, uint32_t chosen)
{
  push_scope(shape, task, row, 0, chosen);
}

void shape_task_end(struct shape *shape, uint32_t index)
{
  struct shape_task *task = shape_task(shape, index);
  while (task->scope && shape_scope(shape, task->scope)->around)
    pop_scope(shape, task);
  if (task->scope && task->flags & SHAPE_IMPLICIT) {
    shape_settle(shape, task);
    slab_put(&shape->scopes, task->scope);
    task->scope = 0;
  } else if (task->scope) {
    pop_scope(shape, task);
  }
  instances_leave(&shape->instances, task->outer);
  task->outer = 0;
  task->flags |= SHAPE_ENDED;
  slab_map_remove(&shape->task_names, task->name);
  shape_task_release(shape, index);
}
