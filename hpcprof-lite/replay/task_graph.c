#include "hpcprof-lite/replay/task_graph.h"

#include "common/graphlog.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum {
  SCOPES_OPEN_MAX = GRAPHLOG_SCOPES_MAX,
  TASKS_MAX = 2 << 20,
  SCOPES_MAX = 4 << 20,
  REGIONS_MAX = 1 << 20,
  LOCKS_MAX = 1 << 14,
  NAME_BITS = 44
};

void task_graph_init(struct task_graph *graph, uint32_t streams)
{
  assert(streams);
  graph->streams = xcalloc(streams, sizeof *graph->streams);
  graph->streams_count = streams;
  object_table_init(&graph->tasks, sizeof(struct task_graph_task), TASKS_MAX);
  object_table_init(&graph->regions, sizeof(struct task_graph_region), REGIONS_MAX);
  object_table_init(&graph->locks, sizeof(struct task_graph_lock), LOCKS_MAX);
  object_pool_init(&graph->scopes, sizeof(struct task_graph_scope), SCOPES_MAX);
  object_pool_init(&graph->groups, sizeof(struct task_graph_group), TASKS_MAX);
}

void task_graph_release(struct task_graph *graph)
{
  free(graph->streams);
  object_table_release(&graph->tasks);
  object_table_release(&graph->regions);
  object_table_release(&graph->locks);
  object_pool_release(&graph->scopes);
  object_pool_release(&graph->groups);
  joins_release(&graph->joins);
  vector_clock_release(&graph->clocks);
  instances_release(&graph->instances);
  selection_release(&graph->selection);
}

/* ---- names and directives ---- */

uint64_t task_graph_name(uint64_t thread, uint64_t number)
{
  bool valid = thread && number && thread >> (64 - NAME_BITS) == 0 && number >> NAME_BITS == 0;
  return valid ? thread << NAME_BITS | number : 0;
}

uint32_t task_graph_find(const struct task_graph *graph, uint64_t thread, uint64_t number)
{
  uint64_t name = task_graph_name(thread, number);
  return name ? hash_map_find(&graph->tasks.names, name) : 0;
}

uint32_t task_graph_row(struct task_graph *graph, uint64_t row)
{
  if (row < graph->instances.directives)
    return (uint32_t)row;
  graph->lost.invalid++;
  return 0;
}

/* ---- clocks ---- */

void task_graph_raise(struct task_graph *graph, uint32_t *clock, uint32_t other)
{
  if (!*clock)
    *clock = vector_clock_new(&graph->clocks);
  graph->lost.tasks += !*clock;
  vector_clock_raise(&graph->clocks, *clock, other);
}

struct clock_pair task_graph_now(const struct task_graph *graph, const struct task_graph_task *task)
{
  const struct vector_clock_element *element = vector_clock_at(&graph->clocks, task->now)->element;
  return (struct clock_pair){{element[0].time, element[graph->second_element].time}};
}

/* ---- references to tasks, regions and groups ---- */

void task_graph_group_release(struct task_graph *graph, uint32_t index)
{
  assert(!index || task_graph_group(graph, index)->refs);
  while (index && --task_graph_group(graph, index)->refs == 0) {
    uint32_t outer = task_graph_group(graph, index)->outer;
    vector_clock_free(&graph->clocks, &task_graph_group(graph, index)->ends);
    object_pool_put(&graph->groups, index);
    index = outer;
  }
}

void task_graph_region_release(struct task_graph *graph, uint32_t index)
{
  assert(!index || task_graph_region(graph, index)->refs);
  struct task_graph_region *region = task_graph_region(graph, index);
  if (!index || --region->refs > 0)
    return;
  vector_clock_free(&graph->clocks, &region->start);
  vector_clock_free(&graph->clocks, &region->intervals[0]);
  vector_clock_free(&graph->clocks, &region->intervals[1]);
  object_table_remove(&graph->regions, index, region->name);
}

void task_graph_task_release(struct task_graph *graph, uint32_t index)
{
  assert(!index || task_graph_task(graph, index)->refs);
  while (index && --task_graph_task(graph, index)->refs == 0) {
    struct task_graph_task *task = task_graph_task(graph, index);
    uint32_t parent = task->parent;
    vector_clock_free(&graph->clocks, &task->now);
    vector_clock_free(&graph->clocks, &task->children);
    vector_clock_free(&graph->clocks, &task->earlier_children);
    vector_clock_free(&graph->clocks, &task->loop_entry);
    vector_clock_free(&graph->clocks, &task->loop_end);
    task_graph_group_release(graph, task->group);
    task_graph_region_release(graph, task->region);
    object_pool_put(&graph->tasks.pool, index);
    index = parent;
  }
}

/* ---- scopes (hpcrun-lite/rt/span/graph.c) ---- */

/* Returns the instance of a scope, 0 if there is none.  An implicit task's own scope has the instance of its region
 * while that is open. */
static uint32_t scope_instance(const struct task_graph *graph, const struct task_graph_task *task,
                               const struct task_graph_scope *scope)
{
  if (scope->outer || !(task->flags & TASK_GRAPH_IMPLICIT))
    return scope->instance;
  const struct task_graph_region *region = task_graph_region(graph, task->region);
  return region->open ? region->instance : 0;
}

/* Returns the innermost instance around one of the task's scopes. */
static uint32_t outer_instance(const struct task_graph *graph, const struct task_graph_task *task, uint32_t scope)
{
  for (uint32_t i = task_graph_scope(graph, scope)->outer; i; i = task_graph_scope(graph, i)->outer) {
    uint32_t instance = scope_instance(graph, task, task_graph_scope(graph, i));
    if (instance)
      return instance;
  }
  return task->outer_instance;
}

/* Is one of the task's scopes within another one, or an instance, of its row? */
static bool is_nested(const struct task_graph *graph, const struct task_graph_task *task, uint32_t index)
{
  const struct task_graph_scope *scope = task_graph_scope(graph, index);
  bool nested = instances_contain(&graph->instances, outer_instance(graph, task, index), scope->row);
  for (uint32_t i = scope->outer; i; i = task_graph_scope(graph, i)->outer)
    nested |= task_graph_scope(graph, i)->row == scope->row;
  return nested;
}

void task_graph_device_time(struct task_graph *graph, const struct task_graph_task *task, double amount)
{
  bool implicit = task->flags & TASK_GRAPH_IMPLICIT;
  const struct task_graph_region *region = task_graph_region(graph, task->region);
  struct instances_total *totals = graph->instances.totals;
  totals[0].device_time += amount;
  for (uint32_t i = task->scope; i; i = task_graph_scope(graph, i)->outer) {
    const struct task_graph_scope *scope = task_graph_scope(graph, i);
    if (scope->row && (scope->outer || !implicit) && !is_nested(graph, task, i))
      totals[scope->row].device_time += amount;
  }
  uint32_t around = task->outer_instance;
  if (implicit)
    around = region->open ? region->instance : 0;
  instances_device_time(&graph->instances, around, amount);
}

static bool push_scope(struct task_graph *graph, struct task_graph_task *task, uint32_t row, uint32_t instance,
                       uint32_t outer_choice)
{
  assert(row < graph->instances.directives);
  uint32_t index = object_pool_get(&graph->scopes);
  if (!index) {
    graph->lost.constructs++;
    return false;
  }
  *task_graph_scope(graph, index) =
      (struct task_graph_scope){.outer = task->scope,
                                .row = row,
                                .instance = instance,
                                .choice = selection_within(&graph->selection, outer_choice, row),
                                .begin = task_graph_now(graph, task)};
  task->scope = index;
  return true;
}

void task_graph_flush_work(struct task_graph *graph, struct task_graph_task *task)
{
  struct task_graph_scope *scope = task_graph_scope(graph, task->scope);
  uint32_t instance = task->scope ? scope_instance(graph, task, scope) : 0;
  struct clock_pair now = task_graph_now(graph, task);
  if (!instance)
    return;
  instances_work(&graph->instances, instance, &scope->pending, &now);
  scope->pending = (struct clock_pair){0};
}

uint32_t task_graph_make_instances(struct task_graph *graph, struct task_graph_task *task)
{
  uint32_t open[SCOPES_OPEN_MAX + 1], count = 0, outer = task->outer_instance;
  for (uint32_t i = task->scope; i; i = task_graph_scope(graph, i)->outer)
    open[count++] = i;
  while (count) {
    struct task_graph_scope *scope = task_graph_scope(graph, open[--count]);
    bool own = scope->outer || !(task->flags & TASK_GRAPH_IMPLICIT);
    if (own && !scope->instance && scope->row)
      scope->instance = instances_enter(&graph->instances, scope->row, outer, &scope->begin);
    uint32_t instance = scope_instance(graph, task, scope);
    if (instance)
      outer = instance;
  }
  return outer;
}

/* Ends the innermost scope.  If it has no instance, it is added to the totals here, unless it is nested in a scope or
 * instance of its row, and its work is passed to the scope or instance around it. */
static void pop_scope(struct task_graph *graph, struct task_graph_task *task)
{
  assert(task->scope);
  uint32_t index = task->scope;
  struct task_graph_scope *scope = task_graph_scope(graph, index);
  struct clock_pair now = task_graph_now(graph, task);
  uint32_t outer = scope->outer;
  if (scope->instance) {
    task_graph_flush_work(graph, task);
    instances_leave(&graph->instances, scope->instance);
  } else {
    bool nested = !scope->row || is_nested(graph, task, index);
    struct clock_pair span = clock_pair_own_span(&scope->pending, &scope->begin, &now);
    if (!nested)
      instances_ended(&graph->instances, scope->row, &scope->pending, &span);
    if (outer)
      clock_pair_add(&task_graph_scope(graph, outer)->pending, &scope->pending);
    else
      instances_work(&graph->instances, task->outer_instance, &scope->pending, &now);
  }
  task->scope = outer;
  object_pool_put(&graph->scopes, index);
}

bool task_graph_construct_begin(struct task_graph *graph, struct task_graph_task *task, uint32_t row, uint32_t instance)
{
  assert(row < graph->instances.directives);
  if (task->scope && ++task->scopes_open <= SCOPES_OPEN_MAX) {
    if (push_scope(graph, task, row, instance, task_graph_scope(graph, task->scope)->choice))
      return true;
    task->scopes_open = SCOPES_OPEN_MAX + 1; /* its end must not end another scope */
  }
  instances_leave(&graph->instances, instance);
  return false;
}

void task_graph_construct_end(struct task_graph *graph, struct task_graph_task *task)
{
  if (!task->scopes_open)
    return;
  if (task->scopes_open-- <= SCOPES_OPEN_MAX && task_graph_scope(graph, task->scope)->outer)
    pop_scope(graph, task);
}

uint32_t task_graph_task_new(struct task_graph *graph, uint64_t name)
{
  uint32_t index = object_table_add(&graph->tasks, name);
  graph->lost.tasks += !index;
  if (index)
    *task_graph_task(graph, index) = (struct task_graph_task){.refs = 1, .name = name};
  return index;
}

void task_graph_task_scope(struct task_graph *graph, struct task_graph_task *task, uint32_t row, uint32_t outer_choice)
{
  assert(!task->scope);
  push_scope(graph, task, row, 0, outer_choice);
}

void task_graph_task_end(struct task_graph *graph, uint32_t index)
{
  assert(index && !(task_graph_task(graph, index)->flags & TASK_GRAPH_ENDED));
  struct task_graph_task *task = task_graph_task(graph, index);
  while (task->scope && task_graph_scope(graph, task->scope)->outer)
    pop_scope(graph, task);
  if (task->scope && task->flags & TASK_GRAPH_IMPLICIT) {
    task_graph_flush_work(graph, task);
    object_pool_put(&graph->scopes, task->scope);
    task->scope = 0;
  } else if (task->scope) {
    pop_scope(graph, task);
  }
  instances_leave(&graph->instances, task->outer_instance);
  task->outer_instance = 0;
  task->flags |= TASK_GRAPH_ENDED;
  hash_map_remove(&graph->tasks.names, task->name);
  task_graph_task_release(graph, index);
}

void task_graph_loop_close(struct task_graph *graph, struct task_graph_loop *loop)
{
  instances_leave(&graph->instances, loop->instance);
  *loop = (struct task_graph_loop){0};
}
