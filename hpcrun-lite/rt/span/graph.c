#include "hpcrun-lite/rt/span/graph.h"

#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/critical_path.h"

enum { TEAMS_FIRST = 64 };

struct pool graph_tasks, graph_groups;
struct table graph_teams;
atomic_flag graph_teams_lock = ATOMIC_FLAG_INIT;
struct join graph_program;

/* Sum and number of the means of all threads that have settled.  Each thread adds its own, relaxed; CTL reads them when
 * all have. */
static _Atomic uint64_t cost_sums[3], cost_threads[3];

void graph_start(void)
{
  pool_init(&graph_tasks, sizeof(struct task));
  pool_init(&graph_groups, sizeof(struct group));
  atomic_flag_clear(&graph_teams_lock);
  graph_program = (struct join){0};
  for (int i = 0; i < 3; i++)
    cost_sums[i] = cost_threads[i] = 0;
  table_init(&graph_teams, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct team), TEAMS_FIRST);
}

void graph_cost_add_sums(struct thread_state *t)
{
  for (int i = 0; i < 3; i++)
    if (span_of(t)->costs[i]) {
      atomic_fetch_add_explicit(&cost_sums[i], span_of(t)->costs[i], memory_order_relaxed);
      atomic_fetch_add_explicit(&cost_threads[i], 1, memory_order_relaxed);
    }
}

uint64_t graph_cost_mean(enum graph_cost cost)
{
  uint64_t threads = atomic_load(&cost_threads[cost]);
  return threads ? atomic_load(&cost_sums[cost]) / threads : 0;
}

void graph_attribute(struct thread_state *t, struct task *task, uint64_t work)
{
  struct span_thread *span = span_of(t);
  uint64_t weight = 0, left = work;
  for (unsigned i = 0; i < span->fragment_sample_count; i++)
    weight += span->fragment_samples[i].weight;
  for (unsigned i = 0; i < span->fragment_sample_count && weight; i++) {
    bool last = i + 1 == span->fragment_sample_count;
    uint64_t part = last ? left : rt_scale(work, span->fragment_samples[i].weight, weight);
    part = part > left ? left : part;
    left -= part;
    critical_path_add(t, &task->now.path, CRITICAL_PATH_KEY(task->scope.row, t->index, span->fragment_samples[i].node),
                      part);
  }
  if (!weight)
    critical_path_add(t, &task->now.path, CRITICAL_PATH_KEY(task->scope.row, 0, 0), work);
  span->fragment_sample_count = 0;
}

uint64_t graph_measured_work(const struct thread_state *t, uint64_t work, uint64_t moment)
{
  const struct span_thread *span = span_of(t);
  uint64_t since = span->work.since, before = span->work.done < work ? span->work.done : work;
  if (!work_clock_is_time() || moment <= since)
    return rt_paused() ? 0 : work;
  uint64_t measured = rt_measured(since, moment);
  return (measured ? before : 0) + rt_scale(work - before, measured, moment - since);
}

void graph_fragment_end_at(struct thread_state *t, uint64_t moment)
{
  graph_fragment_end_inline(t, moment);
}

void graph_flush_work(struct thread_state *t, struct task *task)
{
  if (!task->scope.instance || (task->flags & TASK_IMPLICIT && !task->scopes_open))
    return;
  directive_work(t, task->scope.instance, task->scope.pending, task->now.base);
  task->scope.pending = 0;
}

/* ---- device time ---- */

static uint32_t open_scopes(const struct task *task)
{
  return task->scopes_open < SCOPES_MAX ? task->scopes_open : SCOPES_MAX;
}

/* Is one of the task's scopes below that depth, or a construct around the task, of that row? */
static bool inside(const struct task *task, uint32_t depth, uint32_t row)
{
  uint32_t open = open_scopes(task);
  for (uint32_t i = 0; i < depth; i++)
    if ((i < open ? &task->around[i] : &task->scope)->row == row)
      return true;
  const struct team *team = task->flags & TASK_IMPLICIT ? graph_team(task->region) : NULL;
  if (!team)
    return directive_contains(task->outer_instance, row);
  if (team->row == row || !team->creator)
    return team->row == row;
  return graph_inside(graph_task(team->creator), row);
}

/* Adds to the rows of all constructs around what the task does, each once; row 0 has the sum of the process. */
static void count_device_time(struct thread_state *t, const struct task *task, uint64_t amount)
{
  const struct team *team = task->flags & TASK_IMPLICIT ? graph_open_team(task->region) : NULL;
  struct directive_total *total;
  for (uint32_t i = 0; i <= open_scopes(task); i++) {
    uint32_t row = (i < open_scopes(task) ? &task->around[i] : &task->scope)->row;
    if (row && !inside(task, i, row) && (total = directive_total(t, row)))
      total->device_time += amount;
  }
  if (!team) {
    directive_device_time(t, task->outer_instance, amount);
    return;
  }
  const struct task *creator = team->creator ? graph_task(team->creator) : NULL;
  if (!(creator && graph_inside(creator, team->row)) && (total = directive_total(t, team->row)))
    total->device_time += amount;
  if (creator)
    count_device_time(t, creator, amount);
}

void graph_add_device_time(struct thread_state *t, struct task *task, uint64_t amount)
{
  struct directive_total *program = directive_total(t, DIRECTIVE_PROGRAM);
  graph_note_contents(task); /* light regions cannot follow that */
  if (task->flags & TASK_LIGHT) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return;
  }
  graph_attribute(t, task, amount);
  task->now.base += amount;
  task->now.burdened += amount;
  task->scope.pending += amount;
  if (program)
    program->device_time += amount;
  count_device_time(t, task, amount);
}

/* ---- joins ---- */

void graph_offer(struct thread_state *t, const struct task *task, struct join *join)
{
  join_offer(t, join, &task->now);
  if (task->flags & TASK_IN_LOOP) {
    uint64_t within = task->now.base - task->loop_begin + 1;
    clock_lock(&join->lock);
    if (within > join->within)
      __atomic_store_n(&join->within, within, __ATOMIC_RELAXED);
    clock_unlock(&join->lock);
  }
  graph_log_offer(t, task->name, join);
}

/* After a join: the loop's own chain goes on from the task's, or from the longer one that was offered. */
static void continue_loop(struct task *task, uint64_t own, uint64_t within)
{
  if (!(task->flags & TASK_IN_LOOP) || !within)
    return;
  task->loop_begin = task->now.base - (within > own ? within - 1 : own);
  task->flags |= TASK_MOVED;
}

void graph_take(struct thread_state *t, struct task *task, struct join *join)
{
  uint64_t own = task->now.base - task->loop_begin, within = __atomic_load_n(&join->within, __ATOMIC_RELAXED);
  join_take(t, &task->now, join);
  continue_loop(task, own, within);
  graph_log_take(t, task->name, join);
}

void graph_take_final(struct thread_state *t, struct task *task, const struct join *join, uint64_t moved)
{
  uint64_t own = task->now.base - task->loop_begin, base = join->latest.base + moved,
           burdened = join->latest.burdened + moved;
  RT_ASSERT(clock_is_ordered(&task->now) && base <= burdened);
  if (base > task->now.base) {
    critical_path_set(t, &task->now.path, &join->latest.path);
    task->now.path.items[0].amount += moved;
    __atomic_store_n(&task->now.base, base, __ATOMIC_RELAXED);
  }
  if (burdened > task->now.burdened)
    __atomic_store_n(&task->now.burdened, burdened, __ATOMIC_RELAXED);
  continue_loop(task, own, join->within + moved);
  graph_log_take(t, task->name, join);
}

/* ---- scopes ---- */

bool graph_inside(const struct task *task, uint32_t row)
{
  return inside(task, open_scopes(task) + 1, row);
}

/* The team's instance; made if it is missing. */
static uint32_t team_instance(struct thread_state *t, struct team *team)
{
  clock_lock(&team->lock);
  if (!team->instance) { /* the region's creator waits for its end: no other thread uses its scopes */
    uint32_t outer = team->creator ? graph_instance(t, graph_task(team->creator)) : 0;
    team->instance = directive_enter(t, team->row, outer, team->start.base);
  }
  clock_unlock(&team->lock);
  return team->instance;
}

/* The thread's part of a shared construct.  The construct's own instance is in no other one: the parts are in whatever
 * each thread has around it. */
static uint32_t loop_instance(struct thread_state *t, struct shared_construct *loop, uint32_t outer, uint64_t start)
{
  if (directive_contains(outer, loop->row))
    return directive_share(t, outer);
  clock_lock(&loop->lock);
  if (!loop->instance)
    loop->instance = directive_enter(t, loop->row, 0, loop->begin);
  clock_unlock(&loop->lock);
  return directive_enter_part(t, loop->instance, outer, start);
}

uint32_t graph_instance(struct thread_state *t, struct task *task)
{
  if (!task->scopes_open && task->scope.instance)
    return task->scope.instance;
  uint32_t outer = task->outer_instance;
  struct team *team = task->flags & TASK_IMPLICIT ? graph_open_team(task->region) : NULL;
  for (uint32_t i = 0; i <= open_scopes(task); i++) {
    struct scope *scope = i < open_scopes(task) ? &task->around[i] : &task->scope;
    if (scope->instance)
      ;
    else if (i == 0 && team)
      scope->instance = team_instance(t, team); /* held by the team until its region ends */
    else if (i && i == task->loop_depth && task->loop_slot && team)
      scope->instance = loop_instance(t, &team->loops[task->loop_slot - 1], outer, scope->begin);
    else if (scope->row)
      scope->instance = directive_enter(t, scope->row, outer, scope->begin);
    outer = scope->instance ? scope->instance : outer;
  }
  return outer;
}

/* An execution of a construct in that task has ended. */
static void execution_ended(struct thread_state *t, const struct task *task, uint32_t row, uint64_t work, uint64_t span)
{
  directive_ended(t, row, 1, work, span);
  directive_region_stands_for(t, row, graph_stands_for(task), work, span);
}

/* Ends the innermost scope.  Without an instance, its execution is added to its row if it is the outermost of that row,
 * and its work to the scope around it. */
static void scope_close(struct thread_state *t, struct task *task)
{
  struct scope *scope = &task->scope;
  uint64_t pending = scope->pending;
  if (scope->instance) {
    directive_work(t, scope->instance, pending, task->now.base);
    directive_leave(t, scope->instance);
    scope->instance = 0;
    return;
  }
  if (scope->row && !inside(task, open_scopes(task), scope->row))
    execution_ended(t, task, scope->row, pending, graph_own_span(pending, scope->begin, task->now.base));
  task->around[open_scopes(task) - 1].pending += pending;
}

void graph_construct_begin(struct thread_state *t, struct task *task, uint32_t row)
{
  if (task->scopes_open++ >= SCOPES_MAX) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return;
  }
  task->around[task->scopes_open - 1] = task->scope;
  task->scope = (struct scope){.row = row, .begin = task->now.base};
}

void graph_construct_end(struct thread_state *t, struct task *task)
{
  if (!task->scopes_open)
    return;
  if (task->scopes_open <= SCOPES_MAX) {
    scope_close(t, task);
    task->scope = task->around[task->scopes_open - 1];
  }
  task->scopes_open--;
}

void graph_loop_leave(struct thread_state *t, struct task *task, struct shared_construct *loop, uint64_t work,
                      uint64_t span)
{
  const struct team *team = graph_team(task->region);
  clock_lock(&loop->lock);
  loop->work += work;
  loop->span = span > loop->span ? span : loop->span;
  bool last = ++loop->ended == __atomic_load_n(&team->size, __ATOMIC_RELAXED);
  clock_unlock(&loop->lock);
  if (last)
    graph_loop_end(t, task, loop);
}

void graph_loop_end(struct thread_state *t, const struct task *task, struct shared_construct *loop)
{
  uint32_t instance = loop->instance, row = loop->row;
  uint64_t work = loop->work, span = loop->span;
  doacross_clear(t, &loop->doacross);
  loop->instance = 0;
  __atomic_store_n(&loop->number, 0, __ATOMIC_RELEASE); /* makes room for another construct */
  if (!graph_inside(task, row)) {
    directive_span(instance, span);
    directive_work(t, instance, work, 0);
    if (!instance)
      execution_ended(t, task, row, work, graph_own_span(work, 0, span));
  }
  directive_leave(t, instance);
}
