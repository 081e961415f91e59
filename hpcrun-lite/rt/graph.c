#include "hpcrun-lite/rt/graph.h"

#include "hpcrun-lite/rt/directive.h"
#include "hpcrun-lite/rt/log.h"
#include "hpcrun-lite/rt/path.h"

enum { TEAMS_FIRST = 64 };

struct pool graph_tasks, graph_groups;
struct table graph_teams;

void graph_start(void)
{
  pool_init(&graph_tasks, sizeof(struct task));
  pool_init(&graph_groups, sizeof(struct group));
  table_init(&graph_teams, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct team), TEAMS_FIRST);
}

struct costs graph_costs;

void graph_cost(uint64_t *mean, uint64_t ticks)
{
  enum { LONGEST = 200000, SHARE = 8 };
  uint64_t now = __atomic_load_n(mean, __ATOMIC_RELAXED);
  if (rt.work_unit == WORK_USER || ticks > LONGEST)
    return;
  __atomic_store_n(mean, now ? now - now / SHARE + ticks / SHARE : ticks, __ATOMIC_RELAXED);
}

/* Splits a fragment's work over its samples by their weight; the directive gets what has no sample. */
static void attribute(struct thread_state *t, struct task *task, uint64_t work)
{
  uint64_t weight = 0, left = work;
  for (unsigned i = 0; i < t->fragment_samples; i++)
    weight += t->fragment[i].weight;
  for (unsigned i = 0; i < t->fragment_samples && weight; i++) {
    bool last = i + 1 == t->fragment_samples;
    uint64_t part = last ? left : (uint64_t)((double)work * (double)t->fragment[i].weight / (double)weight);
    part = part > left ? left : part;
    left -= part;
    path_add(t, &task->now.path, PATH_KEY(task->scope.row, t->index, t->fragment[i].node), part);
  }
  if (!weight)
    path_add(t, &task->now.path, PATH_KEY(task->scope.row, 0, 0), work);
  t->fragment_samples = 0;
}

/* Ends the fragment that runs, at that moment: its work is the current task's. */
void graph_fragment_end_at(struct thread_state *t, uint64_t moment)
{
  struct task *task = t->task ? graph_task(t->task) : NULL;
  if (!task || task->flags & TASK_WAITING) {
    t->fragment_samples = 0;
    if (task)
      log_time(t, moment);
    return;
  }
  uint64_t work = work_until(t, moment);
  if (!work || atomic_load_explicit(&rt.paused, memory_order_relaxed)) {
    log_time(t, moment);
    return;
  }
  log_run(t, moment, work);
  attribute(t, task, work);
  task->now.base += work;
  task->now.burdened += work;
  task->scope.pending += work;
  t->total_work += work;
}

void graph_fragment_end(struct thread_state *t)
{
  graph_fragment_end_at(t, work_moment(t));
}

/* The moment to take, if the time-stamp counter has been read already (0: not). */
uint64_t graph_moment(const struct thread_state *t, uint64_t read)
{
  return read && rt.work_unit != WORK_USER ? read : work_moment(t);
}

/* The fragment begins a little after that moment: a short callback does not read the counter again. */
void graph_fragment_begin_after(struct thread_state *t, uint64_t moment)
{
  enum { CALLBACK_TICKS = 60 };
  t->work.since = rt.work_unit == WORK_USER ? moment : moment + CALLBACK_TICKS;
}

/* The fragment begins here: what we have done in a callback is no work. */
void graph_fragment_begin(struct thread_state *t)
{
  if (!t->task)
    return; /* what it does until it has one is that one's */
  t->work.since = work_moment(t);
}

/* Tells the innermost instance what the task has done. */
void graph_settle(struct task *task)
{
  if (!task->scope.instance)
    return;
  directive_work(task->scope.instance, task->scope.pending, task->now.base);
  task->scope.pending = 0;
}

static uint32_t open_scopes(const struct task *task)
{
  return task->rows_open < ROWS_OPEN ? task->rows_open : ROWS_OPEN;
}

/* The innermost instance around the innermost scope. */
static uint32_t instance_around(const struct task *task)
{
  for (uint32_t i = open_scopes(task); i > 0; i--)
    if (task->around[i - 1].instance)
      return task->around[i - 1].instance;
  return task->outer;
}

/* Makes the instances of all open scopes, for what the task creates, and returns the innermost. */
uint32_t graph_make_instances(struct thread_state *t, struct task *task)
{
  uint32_t outer = task->outer;
  for (uint32_t i = 0; i <= open_scopes(task); i++) {
    struct scope *scope = i < open_scopes(task) ? &task->around[i] : &task->scope;
    if (!scope->instance && scope->row)
      scope->instance = directive_enter(t, scope->row, outer, scope->begin);
    outer = scope->instance ? scope->instance : outer;
  }
  return outer;
}

/* The innermost scope ends.  What has no instance counts here, if it is the outermost of its row, and its work goes on
 * to what is around it. */
void graph_scope_close(struct thread_state *t, struct task *task)
{
  struct scope *scope = &task->scope;
  uint64_t pending = scope->pending;
  if (scope->instance) {
    graph_settle(task);
    directive_leave(t, scope->instance);
    scope->instance = 0;
    return;
  }
  bool nested = scope->row == 0 || directive_contains(instance_around(task), scope->row);
  for (uint32_t i = 0; i < open_scopes(task); i++)
    nested |= task->around[i].row == scope->row;
  if (!nested)
    directive_ended(t, scope->row, pending, task->now.base - scope->begin);
  if (task->rows_open)
    task->around[open_scopes(task) - 1].pending += pending;
  else
    directive_work(task->outer, pending, task->now.base);
}

/* A construct begins in the task.  `shared` is its instance where the team has one. */
void graph_construct_begin(struct task *task, uint32_t row, uint32_t shared)
{
  if (task->rows_open++ >= ROWS_OPEN)
    return;
  task->around[task->rows_open - 1] = task->scope;
  task->scope = (struct scope){.row = row, .instance = shared, .begin = task->now.base};
}

void graph_construct_end(struct thread_state *t, struct task *task)
{
  if (!task->rows_open)
    return;
  if (task->rows_open <= ROWS_OPEN) {
    graph_scope_close(t, task);
    uint64_t pending = task->around[task->rows_open - 1].pending;
    task->scope = task->around[task->rows_open - 1];
    task->scope.pending = pending;
  }
  task->rows_open--;
}
