#include "hpcprof-lite/replay/task_records.h"

static void set_current(struct task_graph *graph, struct task_stream *stream, uint32_t index)
{
  uint32_t before = stream->task;
  if (index)
    task_graph_task(graph, index)->refs++;
  stream->task = index;
  task_graph_task_release(graph, before);
}

/* Adds a cost to the burdened element of a clock. */
static void add_cost(struct task_graph *graph, uint32_t clock, double cost)
{
  if (graph->burdened_element && clock && !graph->instances.outside)
    vector_clock_at(&graph->clocks, clock)->element[graph->burdened_element].time += cost;
}

/* ---- tasks and regions ---- */

void task_records_implicit(struct task_graph *graph, struct task_stream *stream, uint32_t thread,
                           const struct graphlog_record *record)
{
  uint64_t name = task_graph_name(record->operand[0], record->operand[1]);
  uint32_t region_index = name ? index_find(&graph->region_names, name) : 0;
  uint32_t index = task_graph_task_new(graph, task_graph_name(thread, ++stream->tasks));
  struct task_graph_region *region = task_graph_region(graph, region_index);
  graph->invalid += name && !region_index;
  if (index) {
    struct task_graph_task *task = task_graph_task(graph, index);
    task->flags = TASK_GRAPH_IMPLICIT | TASK_GRAPH_STARTED;
    task->region = region_index;
    region->refs += region_index != 0;
    if (region_index)
      region->size = record->operand[2];
    task->now = vector_clock_copy(&graph->clocks, region->start);
    add_cost(graph, region_index ? task->now : 0, graph->cost_fork);
    task_graph_task_scope(graph, task, region->row, region->choice);
  }
  set_current(graph, stream, index);
}

/* Raises the clock at which the tasks of the region's phase join. */
static void offer_to_phase(struct task_graph *graph, const struct task_graph_task *task)
{
  struct task_graph_region *region = task_graph_region(graph, task->region);
  if (region->open)
    task_graph_raise(graph, &region->phases[task->phase & 1], task->now);
}

void task_records_implicit_end(struct task_graph *graph, struct task_stream *stream, uint32_t index)
{
  const struct task_graph_task *task = task_graph_task(graph, index);
  if (!index)
    return;
  if (task->region)
    offer_to_phase(graph, task);
  else
    vector_clock_raise(&graph->clocks, graph->program_end, task->now);
  if (stream->task == index)
    set_current(graph, stream, 0);
  task_graph_task_end(graph, index);
}

void task_records_region(struct task_graph *graph, struct task_stream *stream, uint32_t thread, uint64_t row)
{
  uint64_t name = task_graph_name(thread, ++stream->regions);
  uint32_t index = name ? object_pool_get(&graph->regions) : 0;
  if (!index || !index_add(&graph->region_names, name, index)) {
    graph->lost_tasks++;
    return;
  }
  struct task_graph_region *region = task_graph_region(graph, index);
  struct task_graph_task *creator = task_graph_task(graph, stream->task);
  *region = (struct task_graph_region){.refs = 1,
                                       .open = true,
                                       .name = name,
                                       .row = task_graph_row(graph, row),
                                       .size = 1,
                                       .creator = stream->task,
                                       .outer = stream->region,
                                       .start = vector_clock_copy(&graph->clocks, creator->now)};
  struct clock_pair now = task_graph_now(graph, creator);
  creator->refs += stream->task != 0;
  region->choice = selection_within(&graph->selection, task_graph_scope(graph, creator->scope)->choice, region->row);
  region->instance = instances_enter(&graph->instances, region->row,
                                     stream->task ? task_graph_make_instances(graph, creator) : 0, &now);
  stream->region = index;
}

void task_records_region_end(struct task_graph *graph, struct task_stream *stream)
{
  uint32_t index = stream->region;
  struct task_graph_region *region = task_graph_region(graph, index);
  struct task_graph_task *creator = task_graph_task(graph, region->creator);
  if (!index) {
    graph->invalid++;
    return;
  }
  vector_clock_raise(&graph->clocks, creator->now, region->phases[0]);
  vector_clock_raise(&graph->clocks, creator->now, region->phases[1]);
  for (unsigned i = 0; i < TASK_GRAPH_LOOPS; i++)
    task_graph_loop_close(graph, &region->loops[i]);
  add_cost(graph, creator->now, graph->cost_join);
  struct clock_pair now = task_graph_now(graph, creator);
  if (region->creator)
    instances_work(&graph->instances, region->instance, &(struct clock_pair){0}, &now);
  instances_leave(&graph->instances, region->instance);
  region->instance = 0;
  region->open = false;
  stream->region = region->outer;
  set_current(graph, stream, region->creator);
  uint32_t creator_index = region->creator;
  region->creator = 0;
  task_graph_region_release(graph, index);
  task_graph_task_release(graph, creator_index);
}

void task_records_task(struct task_graph *graph, struct task_stream *stream, uint32_t thread,
                       const struct graphlog_record *record)
{
  uint32_t parent_index = task_graph_find(graph, record->operand[0], record->operand[1]);
  uint32_t index = task_graph_task_new(graph, task_graph_name(thread, ++stream->tasks));
  if (!index)
    return;
  uint64_t flags = record->operand[3];
  bool beside = flags & GRAPHLOG_FOR_PARENT && stream->task; /* the running task creates it for its own parent */
  struct task_graph_task *task = task_graph_task(graph, index), *parent = task_graph_task(graph, parent_index);
  const struct task_graph_task *starter = beside ? task_graph_task(graph, stream->task) : parent;
  uint32_t row = task_graph_row(graph, record->operand[2]), choice = 0;
  bool final = parent->flags & TASK_GRAPH_FINAL;
  task->flags = (flags & GRAPHLOG_SERIAL || final ? TASK_GRAPH_SERIAL : 0) |
                (flags & GRAPHLOG_FINAL || final ? TASK_GRAPH_FINAL : 0);
  task->now = vector_clock_copy(&graph->clocks, starter->now);
  if (parent_index) {
    parent->refs++;
    task->parent = parent_index;
    task->creation_chunk = beside ? starter->creation_chunk : parent->chunk;
    task->group = starter->group;
    task_graph_group(graph, task->group)->refs += task->group != 0;
    task->region = parent->region;
    task_graph_region(graph, task->region)->refs += task->region != 0;
    task->phase = starter->phase;
    choice = beside ? starter->choice : task_graph_scope(graph, parent->scope)->choice;
    uint32_t outer = beside ? starter->outer_instance : task_graph_make_instances(graph, parent);
    task->outer_instance = instances_share(&graph->instances, outer);
  }
  graph->invalid += !parent_index;
  task->choice = choice;
  add_cost(graph, task->flags & TASK_GRAPH_SERIAL ? 0 : task->now, graph->cost_task);
  task_graph_task_scope(graph, task, row, choice);
}

void task_records_switch(struct task_graph *graph, struct task_stream *stream, uint32_t index)
{
  struct task_graph_task *task = task_graph_task(graph, index);
  if (index && !(task->flags & TASK_GRAPH_STARTED)) {
    task->flags |= TASK_GRAPH_STARTED;
    if (task->scope)
      task_graph_scope(graph, task->scope)->begin = task_graph_now(graph, task);
  }
  set_current(graph, stream, index);
}

/* Raises the clock at which the parent's children join.  A taskwait in a chunk of a loop waits only for the children
 * that were created in that chunk. */
static void offer_to_parent(struct task_graph *graph, const struct task_graph_task *task)
{
  struct task_graph_task *parent = task_graph_task(graph, task->parent);
  task_graph_raise(graph, task->creation_chunk == parent->chunk ? &parent->children : &parent->earlier_children,
                   task->now);
}

void task_records_task_end(struct task_graph *graph, struct task_stream *stream, uint32_t index, bool awaited)
{
  const struct task_graph_task *task = task_graph_task(graph, index);
  const struct task_graph_task *parent = task_graph_task(graph, task->parent);
  if (!index || task->flags & TASK_GRAPH_IMPLICIT) {
    graph->invalid++;
    return;
  }
  if (awaited && task->parent && task->flags & TASK_GRAPH_SERIAL)
    vector_clock_set(&graph->clocks, parent->now, task->now);
  else if (awaited && task->parent && !(parent->flags & TASK_GRAPH_ENDED))
    offer_to_parent(graph, task);
  if (awaited && task->group)
    task_graph_raise(graph, &task_graph_group(graph, task->group)->ends, task->now);
  else if (awaited && task->region)
    offer_to_phase(graph, task);
  else if (awaited) /* neither a taskgroup nor a region waits for it */
    vector_clock_raise(&graph->clocks, graph->program_end, task->now);
  if (stream->task == index)
    set_current(graph, stream, 0);
  task_graph_task_end(graph, index);
}

/* ---- waits and taskgroups ---- */

void task_records_wait(struct task_graph *graph, uint32_t index, uint64_t kind, uint64_t row)
{
  struct task_graph_task *task = task_graph_task(graph, index);
  if (!index)
    return;
  task_graph_flush_work(graph, task);
  if (kind == GRAPHLOG_BARRIER && task->region)
    offer_to_phase(graph, task);
  instances_count(&graph->instances, task_graph_row(graph, row));
}

static void take_children(struct task_graph *graph, const struct task_graph_task *task)
{
  vector_clock_raise(&graph->clocks, task->now, task->children);
  if (!(task->flags & TASK_GRAPH_LOOP))
    vector_clock_raise(&graph->clocks, task->now, task->earlier_children);
}

void task_records_wait_end(struct task_graph *graph, uint32_t index, uint64_t kind)
{
  struct task_graph_task *task = task_graph_task(graph, index);
  const struct task_graph_region *region = task_graph_region(graph, task->region);
  if (!index)
    return;
  if (kind == GRAPHLOG_TASKWAIT)
    take_children(graph, task);
  else if (kind == GRAPHLOG_TASKGROUP)
    vector_clock_raise(&graph->clocks, task->now, task_graph_group(graph, task->group)->ends);
  else if (region->open) {
    vector_clock_raise(&graph->clocks, task->now, region->phases[task->phase & 1]);
    task->phase++;
  }
}

void task_records_group(struct task_graph *graph, struct task_graph_task *task, uint64_t row)
{
  task_graph_construct_begin(graph, task, task_graph_row(graph, row), 0);
  uint32_t index = object_pool_get(&graph->groups);
  if (!index) {
    graph->lost_tasks++;
    return;
  }
  *task_graph_group(graph, index) = (struct task_graph_group){.refs = 1, .outer = task->group};
  task->group = index;
}

void task_records_group_end(struct task_graph *graph, struct task_graph_task *task)
{
  uint32_t ended = task->group;
  if (!ended)
    return;
  const struct task_graph_group *group = task_graph_group(graph, ended);
  vector_clock_raise(&graph->clocks, task->now, group->ends);
  task->group = group->outer;
  task_graph_group(graph, group->outer)->refs += group->outer != 0;
  task_graph_group_release(graph, ended);
  task_graph_construct_end(graph, task);
}

/* ---- the end ---- */

void task_records_unawaited(struct task_graph *graph, uint32_t index)
{
  struct vector_clocks *clocks = &graph->clocks;
  while (index) {
    const struct task_graph_task *task = task_graph_task(graph, index);
    const struct task_graph_region *region = task_graph_region(graph, task->region);
    const uint32_t ends[] = {
        task->now,         task->children,   task->earlier_children, task->flags & TASK_GRAPH_LOOP ? task->loop_end : 0,
        region->phases[0], region->phases[1]};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
      vector_clock_raise(clocks, graph->program_end, ends[i]);
    for (uint32_t group = task->group; group; group = task_graph_group(graph, group)->outer)
      vector_clock_raise(clocks, graph->program_end, task_graph_group(graph, group)->ends);
    index = task->flags & TASK_GRAPH_IMPLICIT ? region->creator : task->parent;
  }
}
