#include "hpcprof-lite/replay/shared_records.h"

int shared_records_init(struct shared_records *shared, struct task_graph *graph, uint32_t first_schedule,
                        uint32_t elements)
{
  *shared = (struct shared_records){.first_schedule = first_schedule, .elements = elements};
  int status = locks_init(&shared->locks);
  return status ? status : joins_init(&shared->joins, &graph->clocks, JOINS_MAX);
}

void shared_records_free(struct shared_records *shared)
{
  joins_release(&shared->joins);
  locks_release(&shared->locks);
}

bool shared_records_overflow(const struct shared_records *shared)
{
  return shared->joins.pool.overflow || shared->joins.names.overflow || locks_overflow(&shared->locks);
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
                                          const struct graphlog_record *record)
{
  struct task_graph_region *region = task_graph_region(graph, task->region);
  uint32_t number = ++task->constructs;
  if (record->op == GRAPHLOG_LOOP_ALONE || !region->open || !(task->flags & TASK_GRAPH_IMPLICIT))
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
    graph->instances.totals[row].iterations += record->operand[1];
  return loop;
}

void shared_records_loop(struct task_graph *graph, struct task_graph_task *task, const struct graphlog_record *record)
{
  uint32_t row = task_graph_row(graph, record->operand[0]);
  struct task_graph_loop *loop = enter_loop(graph, task, row, record);
  struct clock_pair now = task_graph_now(graph, task);
  uint32_t outer = loop ? task_graph_make_instances(graph, task) : 0;
  uint32_t part = loop ? instances_enter_part(&graph->instances, loop->instance, outer, &now) : 0;
  task_graph_construct_begin(graph, task, loop ? loop->row : row, part);
  task->loop_slot = loop ? (uint32_t)(loop - task_graph_region(graph, task->region)->loops) + 1 : 0;
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

void shared_records_loop_end(struct task_graph *graph, struct task_graph_task *task)
{
  if (!(task->flags & TASK_GRAPH_LOOP)) {
    graph->invalid++;
    return;
  }
  bool followed = task->scopes_open <= GRAPHLOG_SCOPES_MAX;
  own_chain_ends(graph, task);
  vector_clock_raise(&graph->clocks, task->now, task->loop_end);
  task->flags &= ~(uint32_t)TASK_GRAPH_LOOP;
  next_chunk(graph, task);
  task_graph_construct_end(graph, task);
  struct task_graph_region *region = task_graph_region(graph, task->region);
  bool shared = followed && task->loop_slot && region->open;
  struct task_graph_loop *loop = shared ? &region->loops[task->loop_slot - 1] : NULL;
  if (loop)
    instances_span(&graph->instances, loop->instance, &task->loop_span);
  if (loop && ++loop->ended == region->size)
    task_graph_loop_close(graph, loop);
  task->loop_slot = 0;
}

void shared_records_chunk(struct task_graph *graph, struct task_graph_task *task)
{
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
}

/* A join by name: dependences, ordered, doacross, threads that are created and joined. */
void shared_records_join(struct shared_records *shared, struct task_graph *graph, uint32_t task,
                         const struct graphlog_record *record)
{
  uint64_t name = task_graph_name(record->operand[2], record->operand[3]);
  if (!task || !name) {
    graph->invalid++;
    return;
  }
  struct join *join = joins_find(&shared->joins, name, record->op == GRAPHLOG_OFFER);
  shared->lost_joins += !join;
  if (join && record->op == GRAPHLOG_TAKE)
    take_join(graph, task_graph_task(graph, task), join);
  else if (join)
    offer_to_join(graph, task_graph_task(graph, task), join);
}

/* ---- locks ---- */

/* Only schedules delay a task until the lock's last holder has released it. */
void shared_records_acquire(struct shared_records *shared, struct task_graph *graph, struct task_graph_task *task,
                            const struct graphlog_record *record)
{
  uint32_t row = task_graph_row(graph, record->operand[0]);
  struct clock_pair now = task_graph_now(graph, task);
  struct lock *lock = locks_get(&shared->locks, record->operand[1], &now);
  graph->lost_constructs += !lock;
  for (uint32_t i = shared->first_schedule; lock && task->now && i < shared->elements; i++) {
    struct vector_clock_element *own = &vector_clock_at(&graph->clocks, task->now)->element[i];
    const struct vector_clock_element *released = &vector_clock_at(&graph->clocks, lock->released)->element[i];
    own->time = released->time > own->time ? released->time : own->time;
  }
  if (record->operand[2])
    task_graph_construct_begin(graph, task, row, 0);
  else
    instances_count(&graph->instances, row);
  if (lock)
    lock_acquired(lock, row, &now);
}

void shared_records_release(struct shared_records *shared, struct task_graph *graph, struct task_graph_task *task,
                            const struct graphlog_record *record)
{
  struct lock *lock = locks_find(&shared->locks, record->operand[0]);
  struct clock_pair now = task_graph_now(graph, task);
  if (lock) {
    struct clock_pair bound = lock_released(lock, &now);
    if (lock->row)
      clock_pair_raise(&graph->instances.totals[lock->row].lock_bound, &bound);
    if (shared->first_schedule < shared->elements)
      task_graph_raise(graph, &lock->released, task->now);
  }
  if (record->operand[1])
    task_graph_construct_end(graph, task);
}
