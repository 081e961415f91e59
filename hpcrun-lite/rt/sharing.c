#include "hpcrun-lite/rt/sharing.h"

#include "hpcrun-lite/rt/directive.h"
#include "hpcrun-lite/rt/graph.h"
#include "hpcrun-lite/rt/log.h"
#include "hpcrun-lite/rt/region.h"

/* The construct that the task enters, as the team shares it; NULL where so many are open that it has no place. */
static struct loop *loop_enter(struct thread_state *t, struct task *task, uint32_t row, uint64_t iterations)
{
  struct team *team = task->flags & TASK_IMPLICIT && region_open(task->region) ? graph_team(task->region) : NULL;
  uint32_t number = ++task->constructs;
  if (!team)
    return NULL;
  struct loop *loop = &team->loops[number % SHARED_LOOPS];
  team->loops_met = true;
  clock_lock(&loop->lock);
  bool ours = loop->number == number;
  if (!ours && !loop->instance) {
    loop->number = number;
    loop->ended = 0;
    loop->row = row;
    loop->instance = directive_enter(t, row, team->instance, task->now.base);
    join_clear(t, &loop->ordered);
    if (iterations)
      directive_count(t, row, iterations); /* once for the team */
    ours = true;
  }
  clock_unlock(&loop->lock);
  return ours ? loop : NULL;
}

/* One thread has left the construct; the last one makes room for another. */
static void loop_leave(struct thread_state *t, struct team *team, struct loop *loop)
{
  uint32_t instance = 0;
  clock_lock(&loop->lock);
  if (++loop->ended == team->size) {
    instance = loop->instance;
    loop->instance = 0;
    loop->number = 0;
  }
  clock_unlock(&loop->lock);
  directive_leave(t, instance);
}

static enum format_directive_kind work_kind(int kind)
{
  switch (kind) {
  case ompt_work_sections:
    return FORMAT_DIRECTIVE_SECTIONS;
  case ompt_work_single_executor:
    return FORMAT_DIRECTIVE_SINGLE;
  case ompt_work_taskloop:
    return FORMAT_DIRECTIVE_TASKLOOP;
  default:
    return FORMAT_DIRECTIVE_FOR;
  }
}

static bool is_loop(int kind)
{
  return kind == ompt_work_loop || kind == ompt_work_sections || kind == ompt_work_workshare ||
         kind == ompt_work_distribute || kind >= ompt_work_loop_static;
}

/* A construct that is nothing else: it begins and ends in the task. */
static void scope_begin(struct thread_state *t, struct task *task, uint32_t row)
{
  graph_construct_begin(task, row, 0);
  log_op(t, GRAPHLOG_SCOPE, row);
}

static void scope_end(struct thread_state *t, struct task *task)
{
  graph_construct_end(t, task);
  log_op(t, GRAPHLOG_SCOPE_END);
}

static void single_end(struct thread_state *t, struct task *task)
{
  if (!(task->flags & TASK_SINGLE))
    return;
  task->flags &= ~(uint32_t)TASK_SINGLE;
  scope_end(t, task);
}

static void loop_end(struct thread_state *t, struct task *task)
{
  if (!(task->flags & TASK_LOOP))
    return;
  struct team *team = graph_team(task->region);
  graph_settle(task);
  clock_raise(t, &task->now, &task->loop_end);
  directive_span(task->scope.instance, task->now.base - task->loop_entry.base);
  task->flags &= ~(uint32_t)TASK_LOOP;
  graph_construct_end(t, task);
  log_op(t, GRAPHLOG_LOOP_END);
  if (task->loop_slot && team && region_open(task->region))
    loop_leave(t, team, &team->loops[task->loop_slot - 1]);
  task->loop_slot = 0;
}

void sharing_close(struct thread_state *t, struct task *task)
{
  single_end(t, task);
  loop_end(t, task);
}

void sharing_work_begin(struct thread_state *t, uint32_t index, int kind, uint64_t count, const void *code)
{
  if (!index || kind == ompt_work_single_other || kind == ompt_work_scope)
    return;
  graph_fragment_end(t);
  struct task *task = graph_task(index);
  if (kind != ompt_work_taskloop)
    sharing_close(t, task);
  const struct team *team = graph_team(task->region);
  if (!code && team)
    code = team->code; /* workers are not told */
  uint32_t row = directive_row(t, work_kind(kind), code);
  if (is_loop(kind)) {
    struct loop *loop = loop_enter(t, task, row, count);
    row = loop ? loop->row : row;
    graph_construct_begin(task, row, loop ? directive_share(loop->instance) : 0);
    log_op(t, GRAPHLOG_LOOP, row, count);
    task->loop_slot = loop && team ? (uint32_t)(loop - team->loops) + 1 : 0;
    task->flags |= TASK_LOOP;
    clock_set(t, &task->loop_entry, &task->now);
    clock_set(t, &task->loop_end, &task->now);
  } else {
    scope_begin(t, task, row);
    task->flags |= kind == ompt_work_single_executor ? TASK_SINGLE : 0;
  }
  graph_fragment_begin(t);
}

/* Ends a chunk: the next one begins where the loop did. */
static void chunk_end(struct thread_state *t, struct task *task)
{
  clock_raise(t, &task->loop_end, &task->now);
  clock_set(t, &task->now, &task->loop_entry);
}

void sharing_chunk(struct thread_state *t, uint32_t index, int kind, uint64_t start, uint64_t iterations)
{
  if (!index || !(graph_task(index)->flags & TASK_LOOP) || kind == ompt_dispatch_taskloop_chunk)
    return;
  uint64_t moment = work_moment(t);
  graph_fragment_end_at(t, moment);
  struct task *task = graph_task(index);
  graph_settle(task);
  chunk_end(t, task);
  log_op(t, GRAPHLOG_CHUNK, start, iterations);
  graph_fragment_begin_after(t, moment);
}

void sharing_work_end(struct thread_state *t, uint32_t index, int kind)
{
  if (!index || kind == ompt_work_single_other || kind == ompt_work_scope)
    return;
  graph_fragment_end(t);
  struct task *task = graph_task(index);
  if (is_loop(kind))
    loop_end(t, task);
  else if (kind == ompt_work_single_executor)
    single_end(t, task);
  else
    scope_end(t, task);
  graph_fragment_begin(t);
}

void sharing_masked(struct thread_state *t, uint32_t index, bool begin, const void *code)
{
  if (!index)
    return;
  graph_fragment_end(t);
  if (begin)
    scope_begin(t, graph_task(index), directive_row(t, FORMAT_DIRECTIVE_MASKED, code));
  else
    scope_end(t, graph_task(index));
  graph_fragment_begin(t);
}

void sharing_user_region(struct thread_state *t, uint32_t row)
{
  graph_fragment_end(t);
  if (t->task)
    scope_begin(t, graph_task(t->task), row);
  graph_fragment_begin(t);
}

void sharing_user_end(struct thread_state *t)
{
  graph_fragment_end(t);
  if (t->task)
    scope_end(t, graph_task(t->task));
  graph_fragment_begin(t);
}

/* ---- mutual exclusion ---- */

/* A lock's holders, one after the other: a lower bound of the span. */
struct lock_chain {
  uint64_t id, earliest, acquired, held;
  uint32_t row;
};

enum { LOCKS = 4096 };
static struct lock_chain locks[LOCKS];

void sharing_start(void)
{
  __builtin_memset(locks, 0, sizeof locks);
}

static struct lock_chain *chain_of(uint64_t id)
{
  return &locks[(id * 0x9e3779b97f4a7c15ULL) >> 52];
}

static struct loop *ordered_loop(const struct task *task)
{
  struct team *team = task->loop_slot && region_open(task->region) ? graph_team(task->region) : NULL;
  return team ? &team->loops[task->loop_slot - 1] : NULL;
}

void sharing_mutex_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, const void *code)
{
  struct task *task = t->task ? graph_task(t->task) : NULL;
  if (!task)
    return;
  bool waited = moment && rt.work_unit != WORK_USER;
  moment = graph_moment(t, moment);
  graph_fragment_end_at(t, waited ? t->lock_since : moment);
  log_time(t, moment);
  if (kind == ompt_mutex_ordered) {
    struct loop *loop = ordered_loop(task);
    scope_begin(t, task, directive_row(t, FORMAT_DIRECTIVE_ORDERED, code));
    if (loop) {
      join_take(t, &task->now, &loop->ordered);
      log_take(t, task->name, &loop->ordered);
    }
  } else {
    bool lock = kind <= ompt_mutex_test_nest_lock;
    uint32_t row = directive_row(t, lock ? FORMAT_DIRECTIVE_LOCK : FORMAT_DIRECTIVE_CRITICAL, code);
    struct lock_chain *chain = chain_of(wait_id);
    if (chain->id != wait_id)
      *chain = (struct lock_chain){.id = wait_id, .earliest = task->now.base}; /* the lock is ours */
    if (task->now.base < chain->earliest)
      chain->earliest = task->now.base;
    chain->row = row;
    if (!lock)
      graph_construct_begin(task, row, 0);
    else
      directive_count(t, row, 0);
    chain->acquired = task->now.base;
    log_op(t, GRAPHLOG_ACQUIRE, row, wait_id, !lock);
  }
  graph_fragment_begin_after(t, moment);
}

void sharing_mutex_released(struct thread_state *t, int kind, uint64_t wait_id)
{
  struct task *task = t->task ? graph_task(t->task) : NULL;
  if (!task)
    return;
  uint64_t moment = work_moment(t);
  graph_fragment_end_at(t, moment);
  if (kind == ompt_mutex_ordered) {
    struct loop *loop = ordered_loop(task);
    if (loop) {
      join_offer(t, &loop->ordered, &task->now);
      log_offer(t, task->name, &loop->ordered);
    }
    scope_end(t, task);
  } else {
    struct lock_chain *chain = chain_of(wait_id);
    if (chain->id == wait_id) {
      chain->held += task->now.base - chain->acquired;
      directive_lock_bound(chain->row, chain->earliest + chain->held);
    }
    log_op(t, GRAPHLOG_RELEASE, wait_id, kind > ompt_mutex_test_nest_lock);
    if (kind > ompt_mutex_test_nest_lock)
      graph_construct_end(t, task);
  }
  graph_fragment_begin_after(t, moment);
}

/* ---- dependences ---- */

/* An iteration announces what others wait for (source), or waits for another one (sink). */
static void doacross(struct thread_state *t, struct task *task, const ompt_dependence_t *vector, int count)
{
  struct team *team = graph_team(task->region);
  uint64_t where = task->constructs;
  for (int i = 0; i < count; i++)
    where = (where ^ vector[i].variable.value) * 0x9e3779b97f4a7c15ULL + 1;
  if (!team)
    return;
  clock_lock(&team->doacross_lock);
  struct join *join = depend_place(t, &team->doacross, where);
  clock_unlock(&team->doacross_lock);
  if (join && vector[0].dependence_type == ompt_dependence_type_source) {
    join_offer(t, join, &task->now);
    log_offer(t, task->name, join);
  } else if (join) {
    join_take(t, &task->now, join);
    log_take(t, task->name, join);
  }
}

void sharing_dependences(struct thread_state *t, uint32_t index, const ompt_dependence_t *dependences, int count)
{
  if (!index || count <= 0)
    return;
  graph_fragment_end(t);
  struct task *task = graph_task(index);
  int kind = dependences[0].dependence_type;
  if (kind == ompt_dependence_type_source || kind == ompt_dependence_type_sink)
    doacross(t, task, dependences, count);
  else if (task->parent)
    depend_add(t, &graph_task(task->parent)->depend, &task->depend, dependences, count);
  graph_fragment_begin(t);
}
