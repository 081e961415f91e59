#include "hpcprof-lite/replay/graph_reader.h"

#include <assert.h>

static void set_current(struct task_graph *graph, struct task_graph_stream *stream, uint32_t index)
{
  assert(!index || task_graph_task(graph, index)->refs);
  uint32_t before = stream->task;
  if (index)
    task_graph_task(graph, index)->refs++;
  stream->task = index;
  task_graph_task_release(graph, before);
}

/* Adds a cost to the burdened element of a clock. */
static void add_cost(struct task_graph *graph, uint32_t clock, double cost)
{
  assert(cost >= 0);
  if (graph->burdened_element && clock && !graph->instances.outside)
    vector_clock_at(&graph->clocks, clock)->element[graph->burdened_element].time += cost;
}

/* ---- tasks and regions ---- */

static void on_implicit(struct task_graph *graph, struct graph_event *event)
{
  uint64_t name = task_graph_name(event->operand[0], event->operand[1]);
  uint32_t region_index = name ? hash_map_find(&graph->regions.names, name) : 0;
  uint32_t index = task_graph_task_new(graph, task_graph_name(event->next->thread, ++event->stream->tasks));
  struct task_graph_region *region = task_graph_region(graph, region_index);
  graph->lost.invalid += name && !region_index;
  if (index) {
    struct task_graph_task *task = task_graph_task(graph, index);
    task->flags = TASK_GRAPH_IMPLICIT | TASK_GRAPH_STARTED;
    task->region = region_index;
    region->refs += region_index != 0;
    if (region_index)
      region->size = event->operand[2];
    task->now = vector_clock_copy(&graph->clocks, region->start);
    add_cost(graph, region_index ? task->now : 0, graph->costs.fork);
    task_graph_task_scope(graph, task, region->row, region->choice);
  }
  event->created = index;
  set_current(graph, event->stream, index);
}

/* Raises the clock at which the tasks of the region's barrier interval join. */
static void offer_to_interval(struct task_graph *graph, const struct task_graph_task *task)
{
  assert(task->region);
  struct task_graph_region *region = task_graph_region(graph, task->region);
  if (region->open)
    task_graph_raise(graph, &region->intervals[task->interval & 1], task->now);
}

static void end_task(struct task_graph *graph, struct graph_event *event)
{
  assert(event->task);
  if (event->running == event->task)
    set_current(graph, event->stream, 0);
  task_graph_task_end(graph, event->task);
}

static void on_implicit_end(struct task_graph *graph, struct graph_event *event)
{
  const struct task_graph_task *task = task_graph_task(graph, event->task);
  if (!event->task)
    return;
  if (task->region)
    offer_to_interval(graph, task);
  else
    vector_clock_raise(&graph->clocks, graph->program_end, task->now);
  end_task(graph, event);
}

static void on_region(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_stream *stream = event->stream;
  uint64_t name = task_graph_name(event->next->thread, ++stream->regions);
  uint32_t index = object_table_add(&graph->regions, name);
  if (!index) {
    graph->lost.tasks++;
    return;
  }
  struct task_graph_region *region = task_graph_region(graph, index);
  struct task_graph_task *creator = task_graph_task(graph, stream->task);
  *region = (struct task_graph_region){.refs = 1,
                                       .open = true,
                                       .name = name,
                                       .row = task_graph_row(graph, event->operand[0]),
                                       .size = 1,
                                       .creator = stream->task,
                                       .outer = stream->region,
                                       .start = vector_clock_copy(&graph->clocks, creator->now)};
  struct clock_pair now = task_graph_now(graph, creator);
  uint32_t outer = 0;
  creator->refs += stream->task != 0;
  region->choice = selection_within(&graph->selection, task_graph_scope(graph, creator->scope)->choice, region->row);
  if (stream->task)
    outer = task_graph_make_instances(graph, creator);
  region->instance = instances_enter(&graph->instances, region->row, outer, &now);
  event->created = stream->region = index;
}

static void on_region_end(struct task_graph *graph, struct graph_event *event)
{
  uint32_t index = event->stream->region;
  struct task_graph_region *region = task_graph_region(graph, index);
  struct task_graph_task *creator = task_graph_task(graph, region->creator);
  if (!index) {
    graph->lost.invalid++;
    return;
  }
  vector_clock_raise(&graph->clocks, creator->now, region->intervals[0]);
  vector_clock_raise(&graph->clocks, creator->now, region->intervals[1]);
  for (unsigned i = 0; i < TASK_GRAPH_LOOPS; i++)
    task_graph_loop_close(graph, &region->loops[i]);
  add_cost(graph, creator->now, graph->costs.join);
  struct clock_pair now = task_graph_now(graph, creator);
  if (region->creator)
    instances_work(&graph->instances, region->instance, &(struct clock_pair){0}, &now);
  instances_leave(&graph->instances, region->instance);
  region->instance = 0;
  region->open = false;
  event->stream->region = region->outer;
  set_current(graph, event->stream, region->creator);
  uint32_t creator_index = region->creator;
  region->creator = 0;
  task_graph_region_release(graph, index);
  task_graph_task_release(graph, creator_index);
}

static void on_task(struct task_graph *graph, struct graph_event *event)
{
  uint32_t parent_index = event->task;
  uint32_t index = task_graph_task_new(graph, task_graph_name(event->next->thread, ++event->stream->tasks));
  event->created = index;
  if (!index)
    return;
  uint64_t flags = event->operand[3];
  bool beside = flags & GRAPHLOG_FOR_PARENT && event->running; /* the running task creates it for its own parent */
  struct task_graph_task *task = task_graph_task(graph, index), *parent = task_graph_task(graph, parent_index);
  const struct task_graph_task *starter = beside ? task_graph_task(graph, event->running) : parent;
  uint32_t row = task_graph_row(graph, event->operand[2]), choice = 0;
  bool final = parent->flags & TASK_GRAPH_FINAL;
  if (flags & GRAPHLOG_SERIAL || final)
    task->flags |= TASK_GRAPH_SERIAL;
  if (flags & GRAPHLOG_FINAL || final)
    task->flags |= TASK_GRAPH_FINAL;
  task->now = vector_clock_copy(&graph->clocks, starter->now);
  if (parent_index) {
    parent->refs++;
    task->parent = parent_index;
    task->group = starter->group;
    task_graph_group(graph, task->group)->refs += task->group != 0;
    task->region = parent->region;
    task_graph_region(graph, task->region)->refs += task->region != 0;
    task->interval = starter->interval;
    if (beside) {
      task->creation_chunk = starter->creation_chunk;
      task->outer_instance = instances_share(&graph->instances, starter->outer_instance);
      choice = starter->choice;
    } else {
      task->creation_chunk = parent->chunk;
      task->outer_instance = instances_share(&graph->instances, task_graph_make_instances(graph, parent));
      choice = task_graph_scope(graph, parent->scope)->choice;
    }
  }
  graph->lost.invalid += !parent_index;
  task->choice = choice;
  add_cost(graph, task->flags & TASK_GRAPH_SERIAL ? 0 : task->now, graph->costs.task);
  task_graph_task_scope(graph, task, row, choice);
}

static void on_switch(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->task);
  if (event->task && !(task->flags & TASK_GRAPH_STARTED)) {
    task->flags |= TASK_GRAPH_STARTED;
    if (task->scope)
      task_graph_scope(graph, task->scope)->begin = task_graph_now(graph, task);
  }
  set_current(graph, event->stream, event->task);
}

/* Raises the clock at which the parent's children join.  A taskwait in a chunk of a loop waits only for the children
 * that were created in that chunk. */
static void offer_to_parent(struct task_graph *graph, const struct task_graph_task *task)
{
  struct task_graph_task *parent = task_graph_task(graph, task->parent);
  task_graph_raise(graph, task->creation_chunk == parent->chunk ? &parent->children : &parent->earlier_children,
                   task->now);
}

/* No task waits for one that is dropped. */
static void on_task_end(struct task_graph *graph, struct graph_event *event)
{
  const struct task_graph_task *task = task_graph_task(graph, event->task);
  const struct task_graph_task *parent = task_graph_task(graph, task->parent);
  bool awaited = event->op == GRAPHLOG_TASK_END;
  if (!event->task || task->flags & TASK_GRAPH_IMPLICIT) {
    graph->lost.invalid++;
    return;
  }
  if (awaited && task->parent && task->flags & TASK_GRAPH_SERIAL)
    vector_clock_set(&graph->clocks, parent->now, task->now);
  else if (awaited && task->parent && !(parent->flags & TASK_GRAPH_ENDED))
    offer_to_parent(graph, task);
  if (awaited && task->group)
    task_graph_raise(graph, &task_graph_group(graph, task->group)->ends, task->now);
  else if (awaited && task->region)
    offer_to_interval(graph, task);
  else if (awaited) /* neither a taskgroup nor a region waits for it */
    vector_clock_raise(&graph->clocks, graph->program_end, task->now);
  end_task(graph, event);
}

/* ---- waits and taskgroups ---- */

static void on_wait(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->task);
  if (!event->task)
    return;
  task_graph_flush_work(graph, task);
  if (event->operand[2] == GRAPHLOG_BARRIER && task->region)
    offer_to_interval(graph, task);
  instances_count(&graph->instances, task_graph_row(graph, event->operand[3]));
}

static void take_children(struct task_graph *graph, const struct task_graph_task *task)
{
  assert(task->now || !task->children);
  vector_clock_raise(&graph->clocks, task->now, task->children);
  if (!(task->flags & TASK_GRAPH_LOOP))
    vector_clock_raise(&graph->clocks, task->now, task->earlier_children);
}

static void on_wait_end(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->task);
  uint64_t kind = event->operand[2];
  const struct task_graph_region *region = task_graph_region(graph, task->region);
  if (!event->task)
    return;
  if (kind == GRAPHLOG_TASKWAIT)
    take_children(graph, task);
  else if (kind == GRAPHLOG_TASKGROUP)
    vector_clock_raise(&graph->clocks, task->now, task_graph_group(graph, task->group)->ends);
  else if (region->open) {
    vector_clock_raise(&graph->clocks, task->now, region->intervals[task->interval & 1]);
    task->interval++;
  }
}

static void on_scope(struct task_graph *graph, struct graph_event *event)
{
  task_graph_construct_begin(graph, task_graph_task(graph, event->running), task_graph_row(graph, event->operand[0]),
                             0);
}

static void on_scope_end(struct task_graph *graph, struct graph_event *event)
{
  task_graph_construct_end(graph, task_graph_task(graph, event->running));
}

static void on_group(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->running);
  on_scope(graph, event);
  uint32_t index = object_pool_get(&graph->groups);
  if (!index) {
    graph->lost.tasks++;
    return;
  }
  *task_graph_group(graph, index) = (struct task_graph_group){.refs = 1, .outer = task->group};
  event->created = task->group = index;
}

static void on_group_end(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->running);
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

/* ---- loops ---- */

/* Begins the next chunk: children so far are those of earlier chunks. */
static void next_chunk(struct task_graph *graph, struct task_graph_task *task)
{
  task->chunk++;
  if (!task->children)
    return;
  if (task->earlier_children)
    vector_clock_raise(&graph->clocks, task->earlier_children, task->children);
  else
    task->earlier_children = task->children;
  if (task->earlier_children != task->children)
    vector_clock_free(&graph->clocks, &task->children);
  task->children = 0;
}

static struct clock_pair own_chain(const struct task_graph *graph, const struct task_graph_task *task)
{
  struct clock_pair now = task_graph_now(graph, task);
  return clock_pair_since(&now, &task->loop_begin);
}

/* Finds or begins the loop that the team shares.  Returns NULL if the task has the loop for itself. */
static struct task_graph_loop *enter_loop(struct task_graph *graph, struct task_graph_task *task, uint32_t row,
                                          const struct graph_event *event)
{
  struct task_graph_region *region = task_graph_region(graph, task->region);
  uint32_t number = ++task->constructs;
  if (event->op == GRAPHLOG_LOOP_ALONE || !region->open || !(task->flags & TASK_GRAPH_IMPLICIT))
    return NULL;
  struct task_graph_loop *loop = &region->loops[number % TASK_GRAPH_LOOPS];
  if (loop->number == number)
    return loop;
  if (loop->number)
    return NULL;
  struct clock_pair now = task_graph_now(graph, task);
  *loop = (struct task_graph_loop){.number = number, .row = row};
  if (!instances_contain(&graph->instances, region->instance, row))
    loop->instance = instances_enter(&graph->instances, row, 0, &now);
  if (row)
    graph->instances.totals[row].iterations += event->operand[1];
  return loop;
}

static void on_loop(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->running);
  uint32_t row = task_graph_row(graph, event->operand[0]);
  struct task_graph_loop *loop = enter_loop(graph, task, row, event);
  struct clock_pair now = task_graph_now(graph, task);
  uint32_t part = 0;
  task->loop_slot = 0;
  if (loop) {
    row = loop->row;
    part = instances_enter_part(&graph->instances, loop->instance, task_graph_make_instances(graph, task), &now);
    task->loop_slot = (uint32_t)(loop - task_graph_region(graph, task->region)->loops) + 1;
  }
  task_graph_construct_begin(graph, task, row, part);
  task->flags |= TASK_GRAPH_LOOP;
  if (!task->loop_entry)
    task->loop_entry = vector_clock_new(&graph->clocks);
  if (!task->loop_end)
    task->loop_end = vector_clock_new(&graph->clocks);
  next_chunk(graph, task);
  vector_clock_set(&graph->clocks, task->loop_entry, task->now);
  vector_clock_set(&graph->clocks, task->loop_end, task->now);
  task->loop_begin = task_graph_now(graph, task);
  task->loop_span = (struct clock_pair){0};
}

/* A chunk of the loop ends. */
static void own_chain_ends(struct task_graph *graph, struct task_graph_task *task)
{
  struct clock_pair own = own_chain(graph, task);
  clock_pair_raise(&task->loop_span, &own);
  task_graph_flush_work(graph, task);
}

static void on_loop_end(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->running);
  if (!(task->flags & TASK_GRAPH_LOOP)) {
    graph->lost.invalid++;
    return;
  }
  bool followed = task->scopes_open <= GRAPHLOG_SCOPES_MAX;
  own_chain_ends(graph, task);
  vector_clock_raise(&graph->clocks, task->now, task->loop_end);
  if (task->flags & TASK_GRAPH_MOVED && followed && task->scope)
    instances_part_moved(&graph->instances, task_graph_scope(graph, task->scope)->instance);
  task->flags &= ~(uint32_t)(TASK_GRAPH_LOOP | TASK_GRAPH_MOVED);
  next_chunk(graph, task);
  task_graph_construct_end(graph, task);
  struct task_graph_region *region = task_graph_region(graph, task->region);
  bool shared = followed && task->loop_slot && region->open;
  struct task_graph_loop *loop = shared ? &region->loops[task->loop_slot - 1] : NULL;
  if (loop)
    instances_span(&graph->instances, loop->instance, &task->loop_span);
  if (loop && ++loop->ended == region->size) {
    event->closed_loop = loop->team;
    task_graph_loop_close(graph, loop);
  }
  task->loop_slot = 0;
}

static void on_chunk(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->running);
  if (!(task->flags & TASK_GRAPH_LOOP))
    return;
  own_chain_ends(graph, task);
  next_chunk(graph, task);
  vector_clock_raise(&graph->clocks, task->loop_end, task->now);
  vector_clock_set(&graph->clocks, task->now, task->loop_entry);
  task->loop_begin = task_graph_now(graph, task);
}

/* ---- joins ---- */

static void offer_to_join(struct task_graph *graph, const struct task_graph_task *task, struct join *join)
{
  vector_clock_raise(&graph->clocks, join->clock, task->now);
  if (!(task->flags & TASK_GRAPH_LOOP))
    return;
  struct clock_pair own = own_chain(graph, task);
  clock_pair_raise(&join->within, &own);
  join->in_loop = true;
}

/* A loop's own chain goes on through joins between its iterations; of what else arrives, nothing belongs to it. */
static void take_join(struct task_graph *graph, struct task_graph_task *task, const struct join *join)
{
  struct clock_pair own = own_chain(graph, task);
  vector_clock_raise(&graph->clocks, task->now, join->clock);
  if (!(task->flags & TASK_GRAPH_LOOP) || !join->in_loop)
    return;
  struct clock_pair now = task_graph_now(graph, task);
  clock_pair_raise(&own, &join->within);
  task->loop_begin = clock_pair_since(&now, &own);
  task->flags |= TASK_GRAPH_MOVED;
}

/* A join by name: dependences, ordered, doacross, threads that are created and joined. */
static void on_join(struct task_graph *graph, struct graph_event *event)
{
  uint64_t name = task_graph_name(event->operand[2], event->operand[3]);
  if (!event->task || !name) {
    graph->lost.invalid++;
    return;
  }
  struct join *join = joins_find(&graph->joins, name, event->op == GRAPHLOG_OFFER);
  graph->lost.joins += !join;
  if (join && event->op == GRAPHLOG_TAKE)
    take_join(graph, task_graph_task(graph, event->task), join);
  else if (join)
    offer_to_join(graph, task_graph_task(graph, event->task), join);
}

void graph_reader_message(struct task_graph *graph, uint32_t stream, uint64_t number, bool offers)
{
  uint32_t task = graph->streams[stream].task;
  struct join *join = task ? joins_of_message(&graph->joins, number, offers) : NULL;
  graph->lost.joins += !join;
  if (join && offers)
    offer_to_join(graph, task_graph_task(graph, task), join);
  else if (join)
    take_join(graph, task_graph_task(graph, task), join);
}

void graph_reader_message_ends(struct task_graph *graph, uint64_t number)
{
  joins_drop_message(&graph->joins, number);
}

/* ---- locks ---- */

static struct task_graph_lock *lock_at(const struct task_graph *graph, uint32_t index)
{
  return object_pool_at(&graph->locks.pool, index);
}

/* Names must not be 0. */
static uint64_t lock_name(uint64_t id)
{
  return id + 1 ? id + 1 : 1;
}

/* Returns the lock with that number, which is added if it does not exist; 0 if there is no room. */
static uint32_t get_lock(struct task_graph *graph, uint64_t id, const struct clock_pair *now)
{
  uint32_t index = hash_map_find(&graph->locks.names, lock_name(id));
  if (index)
    return index;
  index = object_table_add(&graph->locks, lock_name(id));
  graph->lost.constructs += !index;
  if (index)
    lock_at(graph, index)->earliest = *now;
  return index;
}

/* Only schedules delay a task until the lock's last holder has released it. */
static void wait_for_lock(struct task_graph *graph, const struct task_graph_task *task,
                          const struct task_graph_lock *lock)
{
  for (uint32_t i = graph->first_schedule; task->now && i < graph->clocks.width; i++) {
    struct vector_clock_element *own = &vector_clock_at(&graph->clocks, task->now)->element[i];
    const struct vector_clock_element *released = &vector_clock_at(&graph->clocks, lock->released)->element[i];
    own->time = MAX(own->time, released->time);
  }
}

static void add_lock_row(struct task_graph_lock *lock, uint32_t row)
{
  for (unsigned i = 0; i < TASK_GRAPH_LOCK_ROWS && lock->rows[i] != row; i++)
    if (!lock->rows[i]) {
      lock->rows[i] = row;
      return;
    }
}

static void on_acquire(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->running);
  uint32_t row = task_graph_row(graph, event->operand[0]);
  struct clock_pair now = task_graph_now(graph, task);
  uint32_t index = get_lock(graph, event->operand[1], &now);
  struct task_graph_lock *lock = lock_at(graph, index);
  if (index)
    wait_for_lock(graph, task, lock);
  if (event->operand[2])
    task_graph_construct_begin(graph, task, row, 0);
  else
    instances_count(&graph->instances, row);
  if (!index)
    return;
  for (unsigned i = 0; i < INSTANCES_TIMES; i++)
    if (now.at[i] < lock->earliest.at[i])
      lock->earliest.at[i] = now.at[i];
  add_lock_row(lock, row);
  lock->acquired = now;
}

static void on_release(struct task_graph *graph, struct graph_event *event)
{
  struct task_graph_task *task = task_graph_task(graph, event->running);
  uint32_t index = hash_map_find(&graph->locks.names, lock_name(event->operand[0]));
  struct task_graph_lock *lock = lock_at(graph, index);
  struct clock_pair now = task_graph_now(graph, task);
  if (index) {
    struct clock_pair held = clock_pair_since(&now, &lock->acquired);
    clock_pair_add(&lock->held, &held);
    if (graph->first_schedule < graph->clocks.width)
      task_graph_raise(graph, &lock->released, task->now);
  }
  if (event->operand[1])
    task_graph_construct_end(graph, task);
}

/* ---- records ---- */

typedef void take_event(struct task_graph *graph, struct graph_event *event);

static take_event *const operations[GRAPHLOG_OPS] = {
    [GRAPHLOG_REGION] = on_region,     [GRAPHLOG_REGION_END] = on_region_end,
    [GRAPHLOG_IMPLICIT] = on_implicit, [GRAPHLOG_IMPLICIT_END] = on_implicit_end,
    [GRAPHLOG_TASK] = on_task,         [GRAPHLOG_SWITCH] = on_switch,
    [GRAPHLOG_TASK_END] = on_task_end, [GRAPHLOG_TASK_DROP] = on_task_end,
    [GRAPHLOG_WAIT] = on_wait,         [GRAPHLOG_WAIT_END] = on_wait_end,
    [GRAPHLOG_OFFER] = on_join,        [GRAPHLOG_TAKE] = on_join,
};

/* These happen to the task that the stream runs, which must have a scope. */
static take_event *const operations_of_task[GRAPHLOG_OPS] = {
    [GRAPHLOG_GROUP] = on_group,         [GRAPHLOG_GROUP_END] = on_group_end, [GRAPHLOG_SCOPE] = on_scope,
    [GRAPHLOG_SCOPE_END] = on_scope_end, [GRAPHLOG_LOOP] = on_loop,           [GRAPHLOG_LOOP_ALONE] = on_loop,
    [GRAPHLOG_LOOP_END] = on_loop_end,   [GRAPHLOG_CHUNK] = on_chunk,         [GRAPHLOG_ACQUIRE] = on_acquire,
    [GRAPHLOG_RELEASE] = on_release,
};

void graph_reader_take(struct task_graph *graph, struct graph_event *event)
{
  assert(event->op < GRAPHLOG_OPS);
  if (operations[event->op])
    operations[event->op](graph, event);
  else if (operations_of_task[event->op] && event->running && task_graph_task(graph, event->running)->scope)
    operations_of_task[event->op](graph, event);
  else
    graph->lost.invalid += operations_of_task[event->op] != NULL;
}

/* ---- the end ---- */

void graph_reader_unawaited(struct task_graph *graph, uint32_t index)
{
  struct vector_clocks *clocks = &graph->clocks;
  while (index) {
    const struct task_graph_task *task = task_graph_task(graph, index);
    const struct task_graph_region *region = task_graph_region(graph, task->region);
    const uint32_t ends[] = {task->now,
                             task->children,
                             task->earlier_children,
                             task->flags & TASK_GRAPH_LOOP ? task->loop_end : 0,
                             region->intervals[0],
                             region->intervals[1]};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
      vector_clock_raise(clocks, graph->program_end, ends[i]);
    for (uint32_t group = task->group; group; group = task_graph_group(graph, group)->outer)
      vector_clock_raise(clocks, graph->program_end, task_graph_group(graph, group)->ends);
    index = task->flags & TASK_GRAPH_IMPLICIT ? region->creator : task->parent;
  }
}

void graph_reader_lock_bounds(struct task_graph *graph)
{
  for (uint32_t index = 1; index < graph->locks.pool.used; index++) {
    const struct task_graph_lock *lock = lock_at(graph, index);
    struct clock_pair bound = lock->earliest;
    clock_pair_add(&bound, &lock->held);
    for (unsigned i = 0; i < TASK_GRAPH_LOCK_ROWS && lock->rows[i] && lock->held.at[0] > 0; i++)
      clock_pair_raise(&graph->instances.totals[lock->rows[i]].lock_bound, &bound);
  }
}
