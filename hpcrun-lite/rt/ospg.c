#include "hpcrun-lite/rt/ospg.h"

#include "hpcrun-lite/rt/directive.h"
#include "hpcrun-lite/rt/graph.h"
#include "hpcrun-lite/rt/log.h"
#include "hpcrun-lite/rt/path.h"
#include "hpcrun-lite/rt/region.h"
#include "hpcrun-lite/rt/sharing.h"
#include "hpcrun-lite/rt/sys.h"

static struct join program; /* the longest clock of tasks that have ended outside of any region */

void ospg_sample(struct thread_state *t, uint32_t node, uint64_t weight)
{
  if (node > PATH_NODE_MAX || t->index > PATH_THREAD_MAX || !t->task || rt.work_unit == WORK_USER)
    return;
  for (unsigned i = 0; i < t->fragment_samples; i++)
    if (t->fragment[i].node == node) {
      t->fragment[i].weight += weight;
      return;
    }
  if (t->fragment_samples == RT_FRAGMENT_SAMPLES) { /* the fragment is long: it goes on as another one */
    graph_fragment_end(t);
    graph_fragment_begin(t);
  }
  if (t->fragment_samples == RT_FRAGMENT_SAMPLES)
    return; /* it counts for nothing: the thread waits, or measuring rests */
  t->fragment[t->fragment_samples].node = node;
  t->fragment[t->fragment_samples++].weight = weight;
}

/* ---- tasks ---- */

static uint32_t task_new(struct thread_state *t)
{
  uint32_t index = pool_get(&graph_tasks, &t->free_tasks);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return 0;
  }
  struct task *task = graph_task(index);
  __builtin_memset((char *)task + sizeof task->pool, 0, sizeof *task - sizeof task->pool);
  task->refs = 1;
  return index;
}

static void task_release(struct thread_state *t, uint32_t index)
{
  while (index) {
    struct task *task = graph_task(index);
    if (__atomic_sub_fetch(&task->refs, 1, __ATOMIC_ACQ_REL) > 0)
      return;
    uint32_t parent = task->parent;
    if (parent && graph_task(parent)->flags & TASK_IMPLICIT)
      parent = 0;
    clock_clear(t, &task->now);
    join_clear(t, &task->children);
    join_clear(t, &task->fulfilled);
    clock_clear(t, &task->loop_entry);
    clock_clear(t, &task->loop_end);
    depend_end(t, &task->depend, NULL, 0);
    depend_clear(t, &task->depend);
    pool_put(&graph_tasks, &t->free_tasks, index);
    index = parent;
  }
}

/* Leaves all constructs that are open, and ends as a scope itself. */
static void leave_scopes(struct thread_state *t, struct task *task)
{
  while (task->rows_open)
    graph_construct_end(t, task);
  bool implicit = task->flags & TASK_IMPLICIT;
  if (!implicit) {
    graph_scope_close(t, task);
    directive_leave(t, task->flags & TASK_BORROWS ? 0 : task->outer);
  } else if (region_open(task->region)) {
    graph_settle(task); /* else a worker's end, which comes late, with the next region's begin */
  }
}

/* ---- threads of the program's ---- */

/* A join of its own serves as the record. */
static uint32_t keep_clock(struct thread_state *t, const struct task *task)
{
  uint32_t made = pool_get(&graph_groups, &t->free_groups);
  if (!made)
    return 0;
  struct group *group = graph_group(made);
  group->ends = (struct join){0};
  join_offer(t, &group->ends, &task->now);
  log_offer(t, task->name, &group->ends);
  return made;
}

void ospg_forget(struct thread_state *t, uint32_t handed)
{
  if (!handed)
    return;
  join_clear(t, &graph_group(handed)->ends);
  pool_put(&graph_groups, &t->free_groups, handed);
}

static void take_kept(struct thread_state *t, struct task *task, uint32_t handed)
{
  if (handed) {
    join_take(t, &task->now, &graph_group(handed)->ends);
    log_take(t, task->name, &graph_group(handed)->ends);
  }
  ospg_forget(t, handed);
}

uint32_t ospg_hand_over(struct thread_state *t)
{
  uint32_t made = t->begun_by;
  if (!t->task) { /* it has no task any more, or has never had one */
    t->begun_by = 0;
    return made;
  }
  graph_fragment_end(t);
  made = keep_clock(t, graph_task(t->task));
  graph_fragment_begin(t);
  return made;
}

void ospg_take_over(struct thread_state *t, uint32_t handed)
{
  if (!t->task) { /* for the task that it may begin */
    ospg_forget(t, t->begun_by);
    t->begun_by = handed;
    return;
  }
  graph_fragment_end(t);
  take_kept(t, graph_task(t->task), handed);
  graph_fragment_begin(t);
}

void ospg_begin_early(struct thread_state *t)
{
  if (t->task)
    return;
  uint32_t task = ospg_implicit_begin(t, 0);
  if (task)
    graph_task(task)->flags |= TASK_EARLY;
}

uint32_t ospg_implicit_begin(struct thread_state *t, uint64_t region)
{
  if (!region && t->task && graph_task(t->task)->flags & TASK_EARLY) {
    graph_task(t->task)->flags &= ~(uint32_t)TASK_EARLY;
    return t->task;
  }
  graph_fragment_end(t);
  uint32_t index = task_new(t);
  if (!index)
    return 0;
  struct task *task = graph_task(index);
  struct team *team = graph_team(region);
  task->flags = TASK_IMPLICIT | TASK_STARTED;
  task->region = region;
  if (team) {
    task->now = clock_copy(&team->start);
    task->scope.row = team->row;
    task->scope.instance = team->instance; /* held by the team until its region ends */
    if (t->open_region == (uint32_t)region)
      graph_cost(&graph_costs.fork, rt_ticks() - team->forked);
    task->now.burdened += graph_costs.fork;
  }
  bool first = !t->task && !region;
  if (!first)
    log_now(t);
  log_implicit(t, task, team);
  if (first) {
    take_kept(t, task, t->begun_by);
    t->begun_by = 0;
  }
  task->scope.begin = task->now.base;
  t->task = index;
  if (!first) /* else what the thread did until now is this task's */
    graph_fragment_begin(t);
  return index;
}

void ospg_implicit_end(struct thread_state *t, uint32_t index)
{
  if (!index)
    return;
  if (t->task == index)
    graph_fragment_end(t);
  struct task *task = graph_task(index);
  if (region_open(task->region))
    sharing_close(t, task);
  struct team *team = task->region && region_open(task->region) ? graph_team(task->region) : NULL;
  if (team)
    join_offer(t, &team->phases[task->phase & 1], &task->now);
  else if (!task->region)
    join_offer(t, &program, &task->now);
  if (!task->region) { /* for who joins the thread, or its next task */
    ospg_forget(t, t->begun_by);
    t->begun_by = keep_clock(t, task);
  }
  log_task_op(t, GRAPHLOG_IMPLICIT_END, task->name);
  leave_scopes(t, task);
  if (t->task == index)
    t->task = 0;
  task_release(t, index);
  graph_fragment_begin(t);
}

void ospg_parallel_begin(struct thread_state *t, uint32_t creator, uint64_t region, int flags, const void *code)
{
  graph_fragment_end(t);
  uint32_t none;
  while (graph_teams.count <= (uint32_t)region) {
    static atomic_flag lock = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&lock)) {
      sys_yield();
      continue;
    }
    bool room = graph_teams.count > (uint32_t)region || table_next(&graph_teams, &none);
    if (room && graph_teams.count <= (uint32_t)region)
      table_publish(&graph_teams);
    atomic_flag_clear(&lock);
    if (!room) {
      rt_lost(t, FORMAT_LOST_GRAPH);
      return;
    }
  }
  struct team *team = graph_team(region);
  struct task *task = creator ? graph_task(creator) : NULL;
  uint64_t base = task ? task->now.base : 0;
  team->creator = creator; /* all else is as the end of the region before has left it: empty */
  team->size = 1;
  if (task)
    team->start = clock_copy(&task->now);
  team->row = directive_row(t, flags & ompt_parallel_league ? FORMAT_DIRECTIVE_TEAMS : FORMAT_DIRECTIVE_PARALLEL, code);
  team->instance = directive_enter(t, team->row, task ? graph_make_instances(t, task) : 0, base);
  team->code = code;
  team->forked = rt_ticks();
  log_region(t, team);
  graph_fragment_begin(t);
}

void ospg_team_size(uint64_t region, uint32_t threads)
{
  struct team *team = graph_team(region);
  if (team)
    team->size = threads;
}

void ospg_parallel_end(struct thread_state *t, uint64_t region)
{
  graph_fragment_end(t);
  struct team *team = graph_team(region);
  if (!team)
    return;
  struct task *creator = team->creator ? graph_task(team->creator) : NULL;
  for (int i = 0; i < 2; i++) {
    if (creator)
      join_take(t, &creator->now, &team->phases[i]);
    join_clear(t, &team->phases[i]);
  }
  for (int i = 0; team->loops_met && i < SHARED_LOOPS; i++) {
    directive_leave(t, team->loops[i].instance);
    join_clear(t, &team->loops[i].ordered);
    team->loops[i] = (struct loop){0};
  }
  log_op(t, GRAPHLOG_REGION_END, team->row);
  if (t->waited_until)
    graph_cost(&graph_costs.join, rt_ticks() - t->waited_until);
  if (creator) {
    creator->now.burdened += graph_costs.join;
    directive_work(team->instance, 0, creator->now.base);
  }
  directive_leave(t, team->instance);
  depend_clear(t, &team->doacross);
  clock_clear(t, &team->start);
  team->instance = 0;
  team->loops_met = false;
  t->task = team->creator;
  graph_fragment_begin(t);
}

uint32_t ospg_task_create(struct thread_state *t, uint32_t creator, int flags, bool serial, const void *code)
{
  graph_fragment_end(t);
  uint32_t index = task_new(t);
  struct task *parent = creator ? graph_task(creator) : NULL;
  if (!index || !parent) {
    graph_fragment_begin(t);
    return index;
  }
  struct task *task = graph_task(index);
  const struct team *team = graph_team(parent->region);
  serial |= flags & ompt_task_undeferred && team && team->size > 1; /* a team of one thread flags every task */
  bool implicit = parent->flags & TASK_IMPLICIT;                    /* it outlives its children */
  if (!implicit)
    __atomic_fetch_add(&parent->refs, 1, __ATOMIC_RELAXED);
  task->parent = creator;
  task->flags = (serial || parent->flags & TASK_FINAL ? TASK_SERIAL : 0) | (flags & ompt_task_final ? TASK_FINAL : 0);
  if (parent->flags & TASK_FINAL)
    task->flags |= TASK_FINAL;
  task->group = parent->group;
  task->phase = parent->phase;
  task->region = parent->region;
  task->now = clock_copy(&parent->now);
  task->now.burdened += task->flags & TASK_SERIAL ? 0 : graph_costs.task;
  task->scope = (struct scope){.row = directive_row(t, FORMAT_DIRECTIVE_TASK, code), .begin = task->now.base};
  task->outer = graph_make_instances(t, parent);
  if (implicit && !parent->rows_open)
    task->flags |= TASK_BORROWS; /* the team's instance: it is there until the region ends */
  else
    directive_share(task->outer);
  log_task(t, task, parent, flags);
  graph_fragment_begin(t);
  return index;
}

/* The task has ended, and with it all that its end is offered to. */
static void task_end(struct thread_state *t, uint32_t index)
{
  struct task *task = graph_task(index), *parent = task->parent ? graph_task(task->parent) : NULL;
  struct team *team = task->region && region_open(task->region) ? graph_team(task->region) : NULL;
  join_take(t, &task->now, &task->fulfilled);
  log_take(t, task->name, &task->fulfilled);
  if (parent && task->flags & TASK_SERIAL)
    clock_set(t, &parent->now, &task->now);
  else if (parent)
    join_offer(t, &parent->children, &task->now);
  if (task->group)
    join_offer(t, &graph_group(task->group)->ends, &task->now);
  else if (team)
    join_offer(t, &team->phases[task->phase & 1], &task->now);
  depend_end(t, &task->depend, &task->now, task->name);
  log_task_op(t, GRAPHLOG_TASK_END, task->name);
  leave_scopes(t, task);
  task_release(t, index);
}

static void task_begin(struct thread_state *t, struct task *task)
{
  if (task->flags & TASK_STARTED)
    return;
  task->flags |= TASK_STARTED;
  depend_wait(t, &task->depend, &task->now, task->name);
  task->scope.begin = task->now.base;
}

void ospg_task_schedule(struct thread_state *t, uint32_t prior, int status, uint32_t next, uint64_t moment)
{
  moment = graph_moment(t, moment);
  graph_fragment_end_at(t, moment);
  if (status == ompt_task_complete)
    t->task_ended = moment;
  else if (t->task_ended && next && !(graph_task(next)->flags & TASK_STARTED))
    graph_cost(&graph_costs.task, moment - t->task_ended);
  struct task *task = prior ? graph_task(prior) : NULL;
  switch (status) {
  case ompt_task_complete:
  case ompt_task_cancel:
    if (task && !(task->flags & TASK_IMPLICIT))
      task_end(t, prior);
    break;
  case ompt_task_early_fulfill:
  case ompt_task_late_fulfill:
    if (task && t->task) {
      join_offer(t, &task->fulfilled, &graph_task(t->task)->now);
      log_offer(t, graph_task(t->task)->name, &task->fulfilled);
    }
    if (task && status == ompt_task_late_fulfill)
      task_end(t, prior);
    next = t->task;
    break;
  case ompt_taskwait_complete:
    if (task && next) {
      graph_task(next)->flags &= ~(uint32_t)TASK_WAITING;
      depend_wait(t, &task->depend, &graph_task(next)->now, graph_task(next)->name);
      depend_end(t, &task->depend, NULL, 0);
      log_task_op(t, GRAPHLOG_TASK_DROP, task->name);
      leave_scopes(t, task);
      task_release(t, prior);
    }
    break;
  default:
    break;
  }
  if (next) {
    task_begin(t, graph_task(next));
    t->task = next;
    log_task_op(t, GRAPHLOG_SWITCH, graph_task(next)->name);
  }
  graph_fragment_begin_after(t, moment);
}

/* ---- waits ---- */

static bool is_barrier(int kind)
{
  return kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup;
}

void ospg_wait_begin(struct thread_state *t, uint32_t index, int kind, uint64_t moment, const void *code)
{
  if (!index)
    return;
  graph_fragment_end_at(t, graph_moment(t, moment));
  struct task *task = graph_task(index);
  struct team *team = graph_team(task->region);
  if (is_barrier(kind))
    sharing_close(t, task);
  graph_settle(task);
  if (is_barrier(kind) && team && region_open(task->region))
    join_offer(t, &team->phases[task->phase & 1], &task->now);
  uint32_t row = 0;
  if (kind == ompt_sync_region_taskwait)
    directive_count(t, row = directive_row(t, FORMAT_DIRECTIVE_TASKWAIT, code), 0);
  else if (kind == ompt_sync_region_barrier_explicit && t->open_region == (uint32_t)task->region)
    directive_count(t, row = directive_row(t, FORMAT_DIRECTIVE_BARRIER, code), 0);
  log_wait(t, GRAPHLOG_WAIT, task->name, kind, row);
  task->flags |= TASK_WAITING;
}

void ospg_wait_end(struct thread_state *t, uint32_t index, int kind, bool known, uint64_t moment)
{
  if (!index)
    return;
  struct task *task = graph_task(index);
  task->flags &= ~(uint32_t)TASK_WAITING;
  struct team *team = known && task->region && region_open(task->region) ? graph_team(task->region) : NULL;
  log_time(t, graph_moment(t, moment));
  if (team || !is_barrier(kind)) /* else a worker has left it after its region's end, and takes nothing */
    log_wait(t, GRAPHLOG_WAIT_END, task->name, kind, 0);
  if (kind == ompt_sync_region_taskwait)
    join_take(t, &task->now, &task->children);
  else if (kind == ompt_sync_region_taskgroup && task->group)
    join_take(t, &task->now, &graph_group(task->group)->ends);
  else if (is_barrier(kind) && team) {
    join_take(t, &task->now, &team->phases[task->phase & 1]);
    task->phase++;
  }
  moment = graph_moment(t, moment);
  t->waited_until = rt.work_unit == WORK_USER ? 0 : moment;
  graph_fragment_begin_after(t, moment);
}

void ospg_taskgroup_begin(struct thread_state *t, uint32_t index, const void *code)
{
  if (!index)
    return;
  graph_fragment_end(t);
  struct task *task = graph_task(index);
  uint32_t row = directive_row(t, FORMAT_DIRECTIVE_TASKGROUP, code);
  graph_construct_begin(task, row, 0);
  log_op(t, GRAPHLOG_GROUP, row);
  uint32_t made = pool_get(&graph_groups, &t->free_groups);
  if (made) {
    struct group *group = graph_group(made);
    group->outer = task->group;
    group->ends = (struct join){0};
    task->group = made;
  } else {
    rt_lost(t, FORMAT_LOST_GRAPH);
  }
  graph_fragment_begin(t);
}

void ospg_taskgroup_end(struct thread_state *t, uint32_t index)
{
  if (!index || !graph_task(index)->group)
    return;
  graph_fragment_end(t);
  struct task *task = graph_task(index);
  struct group *group = graph_group(task->group);
  uint32_t ended = task->group;
  join_take(t, &task->now, &group->ends);
  join_clear(t, &group->ends);
  task->group = group->outer;
  pool_put(&graph_groups, &t->free_groups, ended);
  graph_construct_end(t, task);
  log_op(t, GRAPHLOG_GROUP_END);
  graph_fragment_begin(t);
}

void ospg_pause(struct thread_state *t, bool pause)
{
  if (pause)
    graph_fragment_end(t);
  atomic_store(&rt.paused, pause);
  graph_fragment_begin(t);
}

/* ---- the end ---- */

uint32_t ospg_created(uint32_t index)
{
  return index ? graph_task(index)->created : 0;
}

void ospg_set_created(uint32_t index, uint32_t created)
{
  if (index)
    graph_task(index)->created = created;
}

void ospg_start(void)
{
  graph_start();
  sharing_start();
  program = (struct join){0};
  path_start();
  directive_start();
  depend_start();
}

void ospg_start_thread(struct thread_state *t)
{
  directive_start_thread(t);
  work_start(t);
  log_start_thread(t);
}

void ospg_add_work(struct thread_state *t, uint32_t node, uint64_t units)
{
  if (rt.work_unit != WORK_USER)
    return;
  ospg_begin_early(t);
  t->work.units += units;
  if (node <= PATH_NODE_MAX && t->index <= PATH_THREAD_MAX) {
    t->fragment[0].node = node;
    t->fragment[0].weight = units;
    t->fragment_samples = 1;
  }
  graph_fragment_end(t);
  graph_fragment_begin(t);
}

void ospg_settle(struct thread_state *t)
{
  directive_settle(t);
}

void ospg_stop_thread(struct thread_state *t)
{
  if (t->task)
    graph_fragment_end(t);
  if (t->task)
    join_offer(t, &program, &graph_task(t->task)->now);
  log_stop_thread(t);
  ospg_settle(t);
  directive_stop_thread(t);
  depend_stop_thread(t);
  path_stop_thread(t);
  pool_give(&graph_tasks, &t->free_tasks);
  pool_give(&graph_groups, &t->free_groups);
}

/* What an open task of a living thread has reached counts as the end of a chain. */
void ospg_reach(struct thread_state *self, struct thread_state *t)
{
  if (t == self)
    graph_fragment_end(t);
  if (t->task)
    join_offer(self, &program, &graph_task(t->task)->now);
}

const struct clock *ospg_program(void)
{
  return &program.latest;
}
