#include "hpcrun-lite/rt/ospg.h"

#include "hpcrun-lite/rt/clock.h"
#include "hpcrun-lite/rt/depend.h"
#include "hpcrun-lite/rt/directive.h"
#include "hpcrun-lite/rt/path.h"
#include "hpcrun-lite/rt/pool.h"
#include "hpcrun-lite/rt/region.h"
#include "hpcrun-lite/rt/sys.h"
#include "hpcrun-lite/rt/work.h"

enum { SHARED_LOOPS = 8, ROWS_OPEN = 6, TEAMS_FIRST = 64 };

enum task_flag {
  TASK_SERIAL = 1, /* the creator waits for it                        */
  TASK_STARTED = 2,
  TASK_FINAL = 4,
  TASK_IMPLICIT = 8,
  TASK_DETACHED = 16, /* its body has ended                              */
  TASK_WAITING = 32,
  TASK_LOOP = 64,     /* in a worksharing loop or sections construct */
  TASK_BORROWS = 128, /* holds no instance around it */
};

/* A construct that is open in a task, or the task itself.  Most end without having created tasks or regions: they need
 * no instance of their own. */
struct scope {
  uint32_t row, instance;  /* 0: none yet                           */
  uint64_t begin, pending; /* base clock; work that nobody knows yet */
};

struct task {
  struct pool_record pool;
  uint32_t refs; /* itself until it ends, and children; of implicit tasks, only itself */
  uint32_t flags, parent, group, phase, created;
  uint32_t outer;  /* instance that the task was created in */
  uint64_t region; /* handle; teams stand at its index */
  struct clock now;
  struct join children; /* ends of its children; of an implicit task's phase: the team's  */
  struct scope scope;   /* the innermost */
  struct depend depend;
  uint32_t constructs; /* worksharing constructs met          */
  struct clock loop_entry, loop_end;
  uint32_t loop_slot, rows_open;
  struct scope around[ROWS_OPEN]; /* the outermost first */
};

/* A worksharing construct, shared by the team. */
struct loop {
  uint32_t lock, number, instance, ended;
  struct join ordered;
};

struct team {
  struct pool_record unused;
  uint32_t creator, instance, row, size;
  bool loops_met;
  struct clock start;
  struct join phases[2]; /* ends in a barrier phase: by parity, since a thread may be one phase ahead */
  struct loop loops[SHARED_LOOPS];
  uint32_t doacross_lock;
  struct depend doacross; /* of the team's loops: what their iterations have announced */
};

/* A taskgroup: the ends of all descendants. */
struct group {
  struct pool_record pool;
  uint32_t outer, unused;
  struct join ends;
};

static struct pool tasks, groups;
static struct table teams;
static struct join program; /* the longest clock of tasks that have ended outside of any region */

static struct task *at(uint32_t index)
{
  return pool_at(&tasks, index);
}

static struct team *team_of(uint64_t region)
{
  uint32_t index = (uint32_t)region;
  return region && index < __atomic_load_n(&teams.count, __ATOMIC_ACQUIRE) ? table_at(&teams, index) : NULL;
}

/* ---- fragments ---- */

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
static void fragment_end_at(struct thread_state *t, uint64_t moment)
{
  struct task *task = t->task ? at(t->task) : NULL;
  if (!task || task->flags & TASK_WAITING) {
    t->fragment_samples = 0;
    return;
  }
  uint64_t work = work_until(t, moment);
  if (!work)
    return;
  attribute(t, task, work);
  task->now.base += work;
  task->now.burdened += work;
  task->scope.pending += work;
  t->total_work += work;
}

static void fragment_end(struct thread_state *t)
{
  fragment_end_at(t, work_moment(t));
}

/* The moment to take, if the time-stamp counter has been read already (0: not). */
static uint64_t moment_of(const struct thread_state *t, uint64_t read)
{
  return read && rt.work_unit != WORK_USER ? read : work_moment(t);
}

/* The fragment begins a little after that moment: a short callback does not read the counter again. */
static void fragment_begin_after(struct thread_state *t, uint64_t moment)
{
  enum { CALLBACK_TICKS = 60 };
  t->work.since = rt.work_unit == WORK_USER ? moment : moment + CALLBACK_TICKS;
}

/* The fragment begins here: what we have done in a callback is no work. */
static void fragment_begin(struct thread_state *t)
{
  t->work.since = work_moment(t);
}

/* Tells the innermost instance what the task has done. */
static void settle_instance(struct task *task)
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
static uint32_t make_instances(struct thread_state *t, struct task *task)
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
static void scope_close(struct thread_state *t, struct task *task)
{
  struct scope *scope = &task->scope;
  uint64_t pending = scope->pending;
  if (scope->instance) {
    settle_instance(task);
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
static void construct_begin(struct task *task, uint32_t row, uint32_t shared)
{
  if (task->rows_open++ >= ROWS_OPEN)
    return;
  task->around[task->rows_open - 1] = task->scope;
  task->scope = (struct scope){.row = row, .instance = shared, .begin = task->now.base};
}

static void construct_end(struct thread_state *t, struct task *task)
{
  if (!task->rows_open)
    return;
  if (task->rows_open <= ROWS_OPEN) {
    scope_close(t, task);
    uint64_t pending = task->around[task->rows_open - 1].pending;
    task->scope = task->around[task->rows_open - 1];
    task->scope.pending = pending;
  }
  task->rows_open--;
}

void ospg_sample(struct thread_state *t, uint32_t node, uint64_t weight)
{
  if (node > PATH_NODE_MAX || t->index > PATH_THREAD_MAX || !t->task || rt.work_unit == WORK_USER)
    return;
  for (unsigned i = 0; i < t->fragment_samples; i++)
    if (t->fragment[i].node == node) {
      t->fragment[i].weight += weight;
      return;
    }
  unsigned i = t->fragment_samples;
  if (i == RT_FRAGMENT_SAMPLES)
    i = (unsigned)(rt_ticks() % RT_FRAGMENT_SAMPLES); /* stands for another one */
  else
    t->fragment_samples++;
  t->fragment[i].node = node;
  t->fragment[i].weight = i == t->fragment_samples - 1 ? weight : t->fragment[i].weight + weight;
}

/* ---- tasks ---- */

static uint32_t task_new(struct thread_state *t)
{
  uint32_t index = pool_get(&tasks, &t->free_tasks);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return 0;
  }
  struct task *task = at(index);
  __builtin_memset((char *)task + sizeof task->pool, 0, sizeof *task - sizeof task->pool);
  task->refs = 1;
  return index;
}

static void task_release(struct thread_state *t, uint32_t index)
{
  while (index) {
    struct task *task = at(index);
    if (__atomic_sub_fetch(&task->refs, 1, __ATOMIC_ACQ_REL) > 0)
      return;
    uint32_t parent = task->parent;
    if (parent && at(parent)->flags & TASK_IMPLICIT)
      parent = 0;
    clock_clear(t, &task->now);
    join_clear(t, &task->children);
    clock_clear(t, &task->loop_entry);
    clock_clear(t, &task->loop_end);
    depend_end(t, &task->depend, NULL);
    depend_clear(t, &task->depend);
    pool_put(&tasks, &t->free_tasks, index);
    index = parent;
  }
}

/* Leaves all constructs that are open, and ends as a scope itself. */
static void leave_scopes(struct thread_state *t, struct task *task)
{
  while (task->rows_open)
    construct_end(t, task);
  bool implicit = task->flags & TASK_IMPLICIT;
  if (!implicit) {
    scope_close(t, task);
    directive_leave(t, task->flags & TASK_BORROWS ? 0 : task->outer);
  } else if (region_open(task->region)) {
    settle_instance(task); /* else a worker's end, which comes late, with the next region's begin */
  }
}

/* ---- threads of the program's ---- */

/* A join of its own serves as the record. */
static uint32_t keep_clock(struct thread_state *t, const struct clock *clock)
{
  uint32_t made = pool_get(&groups, &t->free_groups);
  if (!made)
    return 0;
  struct group *group = pool_at(&groups, made);
  group->ends = (struct join){0};
  join_offer(t, &group->ends, clock);
  return made;
}

void ospg_forget(struct thread_state *t, uint32_t handed)
{
  if (!handed)
    return;
  join_clear(t, &((struct group *)pool_at(&groups, handed))->ends);
  pool_put(&groups, &t->free_groups, handed);
}

static void take_kept(struct thread_state *t, struct clock *clock, uint32_t handed)
{
  if (handed)
    join_take(t, clock, &((struct group *)pool_at(&groups, handed))->ends);
  ospg_forget(t, handed);
}

uint32_t ospg_hand_over(struct thread_state *t)
{
  uint32_t made = t->begun_by;
  if (!t->task) { /* it has no task any more, or has never had one */
    t->begun_by = 0;
    return made;
  }
  fragment_end(t);
  made = keep_clock(t, &at(t->task)->now);
  fragment_begin(t);
  return made;
}

void ospg_take_over(struct thread_state *t, uint32_t handed)
{
  if (!t->task) { /* for the task that it may begin */
    ospg_forget(t, t->begun_by);
    t->begun_by = handed;
    return;
  }
  fragment_end(t);
  take_kept(t, &at(t->task)->now, handed);
  fragment_begin(t);
}

uint32_t ospg_implicit_begin(struct thread_state *t, uint64_t region)
{
  fragment_end(t);
  uint32_t index = task_new(t);
  if (!index)
    return 0;
  struct task *task = at(index);
  struct team *team = team_of(region);
  task->flags = TASK_IMPLICIT | TASK_STARTED;
  task->region = region;
  if (team) {
    task->now = clock_copy(&team->start);
    task->scope.row = team->row;
    task->scope.instance = team->instance; /* held by the team until its region ends */
  }
  bool first = !t->task && !region;
  if (first) {
    take_kept(t, &task->now, t->begun_by);
    t->begun_by = 0;
  }
  task->scope.begin = task->now.base;
  t->task = index;
  if (!first) /* else what the thread did until now is this task's */
    fragment_begin(t);
  return index;
}

void ospg_implicit_end(struct thread_state *t, uint32_t index)
{
  if (!index)
    return;
  if (t->task == index)
    fragment_end(t);
  struct task *task = at(index);
  struct team *team = task->region && region_open(task->region) ? team_of(task->region) : NULL;
  if (team)
    join_offer(t, &team->phases[task->phase & 1], &task->now);
  else if (!task->region)
    join_offer(t, &program, &task->now);
  if (!task->region) { /* for who joins the thread, or its next task */
    ospg_forget(t, t->begun_by);
    t->begun_by = keep_clock(t, &task->now);
  }
  leave_scopes(t, task);
  if (t->task == index)
    t->task = 0;
  task_release(t, index);
  fragment_begin(t);
}

void ospg_parallel_begin(struct thread_state *t, uint32_t creator, uint64_t region, int flags, const void *code)
{
  fragment_end(t);
  uint32_t none;
  while (teams.count <= (uint32_t)region) {
    static atomic_flag lock = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&lock)) {
      sys_yield();
      continue;
    }
    bool room = teams.count > (uint32_t)region || table_next(&teams, &none);
    if (room && teams.count <= (uint32_t)region)
      table_publish(&teams);
    atomic_flag_clear(&lock);
    if (!room) {
      rt_lost(t, FORMAT_LOST_GRAPH);
      return;
    }
  }
  struct team *team = team_of(region);
  struct task *task = creator ? at(creator) : NULL;
  uint64_t base = task ? task->now.base : 0;
  team->creator = creator; /* all else is as the end of the region before has left it: empty */
  team->size = 1;
  if (task)
    team->start = clock_copy(&task->now);
  team->row = directive_row(t, flags & ompt_parallel_league ? FORMAT_DIRECTIVE_TEAMS : FORMAT_DIRECTIVE_PARALLEL, code);
  team->instance = directive_enter(t, team->row, task ? make_instances(t, task) : 0, base);
  fragment_begin(t);
}

void ospg_team_size(uint64_t region, uint32_t threads)
{
  struct team *team = team_of(region);
  if (team)
    team->size = threads;
}

void ospg_parallel_end(struct thread_state *t, uint64_t region)
{
  fragment_end(t);
  struct team *team = team_of(region);
  if (!team)
    return;
  struct task *creator = team->creator ? at(team->creator) : NULL;
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
  if (creator)
    directive_work(team->instance, 0, creator->now.base);
  directive_leave(t, team->instance);
  depend_clear(t, &team->doacross);
  clock_clear(t, &team->start);
  team->instance = 0;
  team->loops_met = false;
  t->task = team->creator;
  fragment_begin(t);
}

uint32_t ospg_task_create(struct thread_state *t, uint32_t creator, int flags, bool serial, const void *code)
{
  fragment_end(t);
  uint32_t index = task_new(t);
  struct task *parent = creator ? at(creator) : NULL;
  if (!index || !parent) {
    fragment_begin(t);
    return index;
  }
  struct task *task = at(index);
  const struct team *team = team_of(parent->region);
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
  task->scope = (struct scope){.row = directive_row(t, FORMAT_DIRECTIVE_TASK, code), .begin = task->now.base};
  task->outer = make_instances(t, parent);
  if (implicit && !parent->rows_open)
    task->flags |= TASK_BORROWS; /* the team's instance: it is there until the region ends */
  else
    directive_share(task->outer);
  fragment_begin(t);
  return index;
}

/* The task has ended, and with it all that its end is offered to. */
static void task_end(struct thread_state *t, uint32_t index)
{
  struct task *task = at(index), *parent = task->parent ? at(task->parent) : NULL;
  struct team *team = task->region && region_open(task->region) ? team_of(task->region) : NULL;
  if (parent && task->flags & TASK_SERIAL)
    clock_set(t, &parent->now, &task->now);
  else if (parent)
    join_offer(t, &parent->children, &task->now);
  if (task->group)
    join_offer(t, &((struct group *)pool_at(&groups, task->group))->ends, &task->now);
  else if (team)
    join_offer(t, &team->phases[task->phase & 1], &task->now);
  depend_end(t, &task->depend, &task->now);
  leave_scopes(t, task);
  task_release(t, index);
}

static void task_begin(struct thread_state *t, struct task *task)
{
  if (task->flags & TASK_STARTED)
    return;
  task->flags |= TASK_STARTED;
  depend_wait(t, &task->depend, &task->now);
  task->scope.begin = task->now.base;
}

void ospg_task_schedule(struct thread_state *t, uint32_t prior, int status, uint32_t next, uint64_t moment)
{
  moment = moment_of(t, moment);
  fragment_end_at(t, moment);
  struct task *task = prior ? at(prior) : NULL;
  switch (status) {
  case ompt_task_complete:
  case ompt_task_cancel:
    if (task && !(task->flags & TASK_IMPLICIT))
      task_end(t, prior);
    break;
  case ompt_task_detach:
    if (task)
      task->flags |= TASK_DETACHED;
    break;
  case ompt_task_early_fulfill:
  case ompt_task_late_fulfill:
    if (task && t->task)
      join_offer(t, &task->children, &at(t->task)->now);
    if (task && status == ompt_task_late_fulfill) {
      clock_raise(t, &task->now, &task->children.latest);
      task_end(t, prior);
    }
    next = t->task;
    break;
  case ompt_taskwait_complete:
    if (task && next) {
      at(next)->flags &= ~(uint32_t)TASK_WAITING;
      depend_wait(t, &task->depend, &at(next)->now);
      depend_end(t, &task->depend, NULL);
      leave_scopes(t, task);
      task_release(t, prior);
    }
    break;
  default:
    break;
  }
  if (next) {
    task_begin(t, at(next));
    t->task = next;
  }
  fragment_begin_after(t, moment);
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
  fragment_end_at(t, moment_of(t, moment));
  struct task *task = at(index);
  struct team *team = team_of(task->region);
  settle_instance(task);
  if (is_barrier(kind) && team && region_open(task->region))
    join_offer(t, &team->phases[task->phase & 1], &task->now);
  if (kind == ompt_sync_region_taskwait)
    directive_count(t, directive_row(t, FORMAT_DIRECTIVE_TASKWAIT, code), 0);
  else if (kind == ompt_sync_region_barrier_explicit)
    directive_count(t, directive_row(t, FORMAT_DIRECTIVE_BARRIER, code), 0);
  task->flags |= TASK_WAITING;
}

void ospg_wait_end(struct thread_state *t, uint32_t index, int kind, bool known, uint64_t moment)
{
  if (!index)
    return;
  struct task *task = at(index);
  task->flags &= ~(uint32_t)TASK_WAITING;
  struct team *team = known && task->region && region_open(task->region) ? team_of(task->region) : NULL;
  if (kind == ompt_sync_region_taskwait)
    join_take(t, &task->now, &task->children);
  else if (kind == ompt_sync_region_taskgroup && task->group)
    join_take(t, &task->now, &((struct group *)pool_at(&groups, task->group))->ends);
  else if (is_barrier(kind) && team) {
    join_take(t, &task->now, &team->phases[task->phase & 1]);
    task->phase++;
  }
  fragment_begin_after(t, moment_of(t, moment));
}

void ospg_taskgroup_begin(struct thread_state *t, uint32_t index, const void *code)
{
  if (!index)
    return;
  fragment_end(t);
  struct task *task = at(index);
  construct_begin(task, directive_row(t, FORMAT_DIRECTIVE_TASKGROUP, code), 0);
  uint32_t made = pool_get(&groups, &t->free_groups);
  if (made) {
    struct group *group = pool_at(&groups, made);
    group->outer = task->group;
    group->ends = (struct join){0};
    task->group = made;
  } else {
    rt_lost(t, FORMAT_LOST_GRAPH);
  }
  fragment_begin(t);
}

void ospg_taskgroup_end(struct thread_state *t, uint32_t index)
{
  if (!index || !at(index)->group)
    return;
  fragment_end(t);
  struct task *task = at(index);
  struct group *group = pool_at(&groups, task->group);
  uint32_t ended = task->group;
  join_take(t, &task->now, &group->ends);
  join_clear(t, &group->ends);
  task->group = group->outer;
  pool_put(&groups, &t->free_groups, ended);
  construct_end(t, task);
  fragment_begin(t);
}

/* ---- worksharing ---- */

/* The construct that the task enters, as the team shares it; NULL where so many are open that it has no place. */
static struct loop *loop_enter(struct thread_state *t, struct task *task, uint32_t row)
{
  struct team *team = task->flags & TASK_IMPLICIT && region_open(task->region) ? team_of(task->region) : NULL;
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
    loop->instance = directive_enter(t, row, team->instance, task->now.base);
    join_clear(t, &loop->ordered);
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

void ospg_work_begin(struct thread_state *t, uint32_t index, int kind, uint64_t count, const void *code)
{
  if (!index || kind == ompt_work_single_other || kind == ompt_work_scope)
    return;
  fragment_end(t);
  struct task *task = at(index);
  uint32_t row = directive_row(t, work_kind(kind), code);
  if (is_loop(kind)) {
    struct loop *loop = loop_enter(t, task, row);
    construct_begin(task, row, loop ? directive_share(loop->instance) : 0);
    struct team *team = team_of(task->region);
    task->loop_slot = loop && team ? (uint32_t)(loop - team->loops) + 1 : 0;
    task->flags |= TASK_LOOP;
    clock_set(t, &task->loop_entry, &task->now);
    clock_set(t, &task->loop_end, &task->now);
    directive_count(t, row, count);
  } else {
    construct_begin(task, row, 0);
  }
  fragment_begin(t);
}

/* Ends a chunk: the next one begins where the loop did. */
static void chunk_end(struct thread_state *t, struct task *task)
{
  clock_raise(t, &task->loop_end, &task->now);
  clock_set(t, &task->now, &task->loop_entry);
}

void ospg_chunk(struct thread_state *t, uint32_t index, int kind)
{
  if (!index || !(at(index)->flags & TASK_LOOP) || kind == ompt_dispatch_taskloop_chunk)
    return;
  uint64_t moment = work_moment(t);
  fragment_end_at(t, moment);
  struct task *task = at(index);
  settle_instance(task);
  chunk_end(t, task);
  fragment_begin_after(t, moment);
}

void ospg_work_end(struct thread_state *t, uint32_t index, int kind)
{
  if (!index || kind == ompt_work_single_other || kind == ompt_work_scope)
    return;
  fragment_end(t);
  struct task *task = at(index);
  if (is_loop(kind) && task->flags & TASK_LOOP) {
    settle_instance(task);
    clock_raise(t, &task->now, &task->loop_end);
    struct team *team = team_of(task->region);
    directive_span(task->scope.instance, task->now.base - task->loop_entry.base);
    task->flags &= ~(uint32_t)TASK_LOOP;
    construct_end(t, task);
    if (task->loop_slot && team && region_open(task->region))
      loop_leave(t, team, &team->loops[task->loop_slot - 1]);
    task->loop_slot = 0;
  } else if (!is_loop(kind)) {
    construct_end(t, task);
  }
  fragment_begin(t);
}

void ospg_masked(struct thread_state *t, uint32_t index, bool begin, const void *code)
{
  if (!index)
    return;
  fragment_end(t);
  if (begin)
    construct_begin(at(index), directive_row(t, FORMAT_DIRECTIVE_MASKED, code), 0);
  else
    construct_end(t, at(index));
  fragment_begin(t);
}

/* ---- mutual exclusion ---- */

/* A lock's holders, one after the other: a lower bound of the span. */
struct lock_chain {
  uint64_t id, earliest, acquired, held;
  uint32_t row;
};

enum { LOCKS = 4096 };
static struct lock_chain locks[LOCKS];

static struct lock_chain *chain_of(uint64_t id)
{
  return &locks[(id * 0x9e3779b97f4a7c15ULL) >> 52];
}

static struct loop *ordered_loop(const struct task *task)
{
  struct team *team = task->loop_slot && region_open(task->region) ? team_of(task->region) : NULL;
  return team ? &team->loops[task->loop_slot - 1] : NULL;
}

void ospg_mutex_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, const void *code)
{
  struct task *task = t->task ? at(t->task) : NULL;
  if (!task)
    return;
  bool waited = moment && rt.work_unit != WORK_USER;
  moment = moment_of(t, moment);
  fragment_end_at(t, waited ? t->lock_since : moment);
  if (kind == ompt_mutex_ordered) {
    struct loop *loop = ordered_loop(task);
    construct_begin(task, directive_row(t, FORMAT_DIRECTIVE_ORDERED, code), 0);
    if (loop)
      join_take(t, &task->now, &loop->ordered);
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
      construct_begin(task, row, 0);
    else
      directive_count(t, row, 0);
    chain->acquired = task->now.base;
  }
  fragment_begin_after(t, moment);
}

void ospg_mutex_released(struct thread_state *t, int kind, uint64_t wait_id)
{
  struct task *task = t->task ? at(t->task) : NULL;
  if (!task)
    return;
  uint64_t moment = work_moment(t);
  fragment_end_at(t, moment);
  if (kind == ompt_mutex_ordered) {
    struct loop *loop = ordered_loop(task);
    if (loop)
      join_offer(t, &loop->ordered, &task->now);
    construct_end(t, task);
  } else {
    struct lock_chain *chain = chain_of(wait_id);
    if (chain->id == wait_id) {
      chain->held += task->now.base - chain->acquired;
      directive_lock_bound(chain->row, chain->earliest + chain->held);
    }
    if (kind > ompt_mutex_test_nest_lock)
      construct_end(t, task);
  }
  fragment_begin_after(t, moment);
}

/* ---- dependences ---- */

/* An iteration announces what others wait for (source), or waits for another one (sink). */
static void doacross(struct thread_state *t, struct task *task, const ompt_dependence_t *vector, int count)
{
  struct team *team = team_of(task->region);
  uint64_t where = task->constructs;
  for (int i = 0; i < count; i++)
    where = (where ^ vector[i].variable.value) * 0x9e3779b97f4a7c15ULL + 1;
  if (!team)
    return;
  clock_lock(&team->doacross_lock);
  struct join *join = depend_place(t, &team->doacross, where);
  clock_unlock(&team->doacross_lock);
  if (join && vector[0].dependence_type == ompt_dependence_type_source)
    join_offer(t, join, &task->now);
  else if (join)
    join_take(t, &task->now, join);
}

void ospg_dependences(struct thread_state *t, uint32_t index, const ompt_dependence_t *dependences, int count)
{
  if (!index || count <= 0)
    return;
  fragment_end(t);
  struct task *task = at(index);
  int kind = dependences[0].dependence_type;
  if (kind == ompt_dependence_type_source || kind == ompt_dependence_type_sink)
    doacross(t, task, dependences, count);
  else if (task->parent)
    depend_add(t, &at(task->parent)->depend, &task->depend, dependences, count);
  fragment_begin(t);
}

/* ---- the end ---- */

uint32_t ospg_created(uint32_t index)
{
  return index ? at(index)->created : 0;
}

void ospg_set_created(uint32_t index, uint32_t created)
{
  if (index)
    at(index)->created = created;
}

void ospg_start(void)
{
  pool_init(&tasks, sizeof(struct task));
  pool_init(&groups, sizeof(struct group));
  table_init(&teams, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct team), TEAMS_FIRST);
  program = (struct join){0};
  __builtin_memset(locks, 0, sizeof locks);
  path_start();
  directive_start();
  depend_start();
}

void ospg_start_thread(struct thread_state *t)
{
  directive_start_thread(t);
  work_start(t);
}

void ospg_add_work(struct thread_state *t, uint32_t node, uint64_t units)
{
  if (rt.work_unit != WORK_USER)
    return;
  t->work.units += units;
  if (node <= PATH_NODE_MAX && t->index <= PATH_THREAD_MAX) {
    t->fragment[0].node = node;
    t->fragment[0].weight = units;
    t->fragment_samples = 1;
  }
  fragment_end(t);
  fragment_begin(t);
}

void ospg_settle(struct thread_state *t)
{
  directive_settle(t);
}

void ospg_stop_thread(struct thread_state *t)
{
  if (t->task)
    fragment_end(t);
  if (t->task)
    join_offer(t, &program, &at(t->task)->now);
  ospg_settle(t);
  directive_stop_thread(t);
  depend_stop_thread(t);
  path_stop_thread(t);
  pool_give(&tasks, &t->free_tasks);
  pool_give(&groups, &t->free_groups);
}

/* What an open task of a living thread has reached counts as the end of a chain. */
void ospg_reach(struct thread_state *self, struct thread_state *t)
{
  if (t == self)
    fragment_end(t);
  if (t->task)
    join_offer(self, &program, &at(t->task)->now);
}

const struct clock *ospg_program(void)
{
  return &program.latest;
}
