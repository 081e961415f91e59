#include "hpcrun-lite/rt/span/span.h"

#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/span/barrier.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/governor.h"
#include "hpcrun-lite/rt/span/key_map.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/span/critical_path.h"
#include "hpcrun-lite/rt/span/light_region.h"
#include "hpcrun-lite/rt/span/worksharing.h"
#include "hpcrun-lite/rt/core/sys.h"

struct span_process span_process;

void span_sample(struct thread_state *t, uint32_t node, uint64_t weight)
{
  struct span_thread *span = span_of(t);
  explicit_task_settle_here(t);
  if (node > CRITICAL_PATH_NODE_MAX || t->index > CRITICAL_PATH_THREAD_MAX || !span->task ||
      span_process.work_unit == WORK_USER)
    return;
  for (unsigned i = 0; i < span->fragment_sample_count; i++)
    if (span->fragment_samples[i].node == node) {
      span->fragment_samples[i].weight += weight;
      return;
    }
  if (span->fragment_sample_count == RT_FRAGMENT_SAMPLES) { /* a long fragment: continue with a new one */
    graph_fragment_end(t);
    graph_fragment_begin(t);
  }
  if (span->fragment_sample_count == RT_FRAGMENT_SAMPLES)
    return; /* the fragment does not count: the thread waits, or measuring is paused */
  span->fragment_samples[span->fragment_sample_count].node = node;
  span->fragment_samples[span->fragment_sample_count++].weight = weight;
}

/* ---- tasks ---- */

static void close_scopes(struct thread_state *t, struct task *task)
{
  while (task->scopes_open)
    graph_construct_end(t, task);
}

/* What the task creates next belongs to another batch. */
static inline void close_batches(struct thread_state *t, struct task *task)
{
  if (task->open[0].at || task->open[1].at)
    explicit_task_close(t, task);
}

/* Frees an implicit task, whose clock and work have been offered. */
static void implicit_release(struct thread_state *t, uint32_t index)
{
  struct task *task = graph_task(index);
  close_scopes(t, task);
  close_batches(t, task);
  explicit_task_unref(t, index);
}

/* ---- threads of the program ---- */

/* Keeps the clock of a task for the thread that takes it over, in the join of a struct group: such structures have a
 * pool, and a join can be logged. */
static uint32_t keep_clock(struct thread_state *t, const struct task *task)
{
  uint32_t made = pool_get(&graph_groups, &span_of(t)->free_groups);
  if (!made)
    return 0;
  struct group *group = graph_group(made);
  group->ends = (struct lazy_join){0};
  graph_offer(t, task, &group->ends.join);
  return made;
}

void span_forget(struct thread_state *t, uint32_t handed)
{
  if (!handed)
    return;
  join_clear(t, &graph_group(handed)->ends.join);
  pool_put(&graph_groups, &span_of(t)->free_groups, handed);
}

/* The task whose clock is that of the program where this one is: the clocks of a light region are apart. */
static struct task *task_outside(struct task *task)
{
  struct team *team = task->flags & TASK_LIGHT ? graph_open_team(task->region) : NULL;
  return team ? graph_task(team->creator) : task;
}

/* Raises the task's clock to a kept one, and frees that. */
static void take_kept(struct thread_state *t, struct task *task, uint32_t handed)
{
  if (handed)
    graph_take(t, task, &graph_group(handed)->ends.join);
  span_forget(t, handed);
}

uint32_t span_hand_over(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  explicit_task_settle(t);
  uint32_t made = span->inherited_clock;
  if (!span->task) { /* it has no task any more, or never had one */
    span->inherited_clock = 0;
    return made;
  }
  graph_fragment_end(t);
  graph_note_contents(span->running);
  if (!span->running->region)
    light_region_settle(t, &span->running->now);
  made = keep_clock(t, task_outside(span->running));
  graph_fragment_begin(t);
  return made;
}

void span_take_over(struct thread_state *t, uint32_t handed)
{
  struct span_thread *span = span_of(t);
  explicit_task_settle(t);
  if (!span->task) { /* for the task that it may begin */
    span_forget(t, span->inherited_clock);
    span->inherited_clock = handed;
    return;
  }
  graph_fragment_end(t);
  graph_note_contents(span->running);
  if (!span->running->region)
    light_region_settle(t, &span->running->now);
  bool creator = span->open_region == (uint32_t)span->running->region; /* of others, that clock is only read */
  take_kept(t, creator ? task_outside(span->running) : span->running, handed);
  graph_fragment_begin(t);
}

void span_begin_early(struct thread_state *t)
{
  if (span_of(t)->task || !span_of(t)->end_slot)
    return;
  uint32_t task = span_implicit_begin(t, 0, 0, 0);
  if (task)
    graph_task(task)->flags |= TASK_EARLY;
}

/* Out of line, since most runs have no log. */
static void log_implicit(struct thread_state *t, struct task *task, const struct team *team) __attribute__((noinline));
static void log_implicit(struct thread_state *t, struct task *task, const struct team *team)
{
  if (team)
    task->name = graph_log_put_implicit(t, team->name, __atomic_load_n(&team->size, __ATOMIC_RELAXED));
  else
    task->name = graph_log_put_implicit(t, 0, 1);
}

/* The thread begins its task in a light region.  Mostly it has one from the last such region. */
static uint32_t light_begin(struct thread_state *t, uint64_t region, const struct team *team, uint32_t outer,
                            uint64_t moment)
{
  struct span_thread *span = span_of(t);
  uint32_t index = span->light_task;
  span->light_task = 0;
  if (!index && !(index = explicit_task_new(t)))
    return 0;
  struct task *task = graph_task(index);
  task->flags = TASK_IMPLICIT | TASK_STARTED | TASK_LIGHT;
  task->parent = outer;
  task->region = region;
  task->interval = 0;
  if (task->now.burdened)
    clock_clear(t, &task->now);
  task->scope = (struct scope){.row = team->row};
  span->light = directive_total(t, team->row);
  graph_run(t, index);
  graph_fragment_begin_after(t, moment);
  return index;
}

/* It ends, with nothing open: the thread keeps it, unless others refer to it or it has been used as others are. */
static void light_task_end(struct thread_state *t, struct task *task, uint32_t index)
{
  struct span_thread *span = span_of(t);
  bool waits = task->flags & TASK_WAITING || (span->since_barrier && span->work.since == span->since_barrier);
  if (!waits)
    light_region_wait(t, 0);
  span->since_barrier = 0;
  span->fragment_sample_count = 0;
  graph_run(t, 0);
  bool created_none = !task->scope.instance && task->refs == task->own_refs && !depend_used(&task->depend);
  if (created_none && !span->light_task && !(task->flags & TASK_HAD_LOOP))
    span->light_task = index;
  else
    implicit_release(t, index);
}

uint32_t span_implicit_begin(struct thread_state *t, uint64_t region, uint32_t outer, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  const struct team *open = graph_open_team(region);
  bool light = open && open->light;
  if (light && !span->running)
    return light_begin(t, region, open, outer, graph_moment(t, moment));
  if (!region && span->task && span->running->flags & TASK_EARLY) {
    span->running->flags &= ~(uint32_t)TASK_EARLY;
    return span->task;
  }
  moment = graph_moment(t, moment);
  graph_fragment_end_at(t, moment);
  uint32_t index = explicit_task_new(t);
  if (!index)
    return 0;
  struct task *task = graph_task(index);
  struct team *team = graph_team(region);
  task->flags = TASK_IMPLICIT | TASK_STARTED;
  task->parent = outer;
  task->region = region;
  if (team) {
    task->now = clock_copy(t, &team->start);
    if (light) { /* in another one's task */
      task->flags |= TASK_LIGHT;
      span->light = directive_total(t, team->row);
    }
    task->scope.row = team->row;
    if (span->open_region == (uint32_t)region)
      graph_cost(t, GRAPH_FORK, moment - span->forked);
  }
  bool first = !span->task && !region;
  if (!first)
    graph_log_time(t, moment);
  if (graph_log_on())
    log_implicit(t, task, team);
  if (first) {
    take_kept(t, task, span->inherited_clock);
    span->inherited_clock = 0;
  }
  task->scope.begin = task->now.base;
  graph_run(t, index);
  if (!first) /* otherwise what the thread has done so far belongs to this task */
    graph_fragment_begin_after(t, moment);
  return index;
}

/* Ends the fragment of an implicit task that ends, which the thread runs.  Returns whether it has done nothing since
 * the region's last barrier: then only the runtime has, and the clock need not be read.  LLVM's runtime announces no
 * barrier at the end of a region of one thread: what follows its last one is the program's. */
static bool last_fragment_end(struct thread_state *t, const struct task *task)
{
  struct span_thread *span = span_of(t);
  const struct team *team = graph_team(task->region);
  bool nothing = team && __atomic_load_n(&team->size, __ATOMIC_RELAXED) > 1 && span->since_barrier &&
                 span->work.since == span->since_barrier;
  if ((nothing || task->flags & TASK_WAITING) && !graph_log_on()) {
    span->fragment_sample_count = 0;
    return nothing;
  }
  uint64_t moment = work_clock_value(t);
  if (nothing)
    work_clock_begin(t, moment);
  graph_fragment_end_at(t, moment);
  return nothing;
}

uint32_t span_implicit_end(struct thread_state *t, uint32_t index)
{
  struct span_thread *span = span_of(t);
  if (!index)
    return 0;
  struct task *task = graph_task(index);
  uint32_t outer = task->parent;
  if (span->task == index && light_region_is_plain(t)) {
    light_task_end(t, task, index);
    return outer;
  }
  bool nothing = span->task == index && last_fragment_end(t, task);
  struct team *team = graph_open_team(task->region);
  if (team) { /* otherwise a worker's end, announced only at its next region */
    worksharing_close(t, task);
    close_scopes(t, task);
    if (!nothing || task->scope.pending) /* otherwise offered at the barrier */
      barrier_arrive(t, task, team);
    bool own = team->creator && span->open_region == (uint32_t)task->region;
    if (own && !team->light) /* which spares most slots of other threads */
      clock_raise(t, &graph_task(team->creator)->now, &task->now);
  }
  if (!task->region) {
    light_region_settle(t, &task->now);
    join_offer(t, &graph_program, &task->now);
  }
  if (!task->region) { /* for the thread that joins this one, or for its next task */
    span_forget(t, span->inherited_clock);
    span->inherited_clock = keep_clock(t, task);
  }
  graph_log_task_op(t, GRAPHLOG_IMPLICIT_END, task->name);
  if (span->task == index)
    graph_run(t, 0);
  implicit_release(t, index);
  graph_fragment_begin(t);
  return outer;
}

void span_parallel_begin(struct thread_state *t, uint32_t creator, uint64_t region, int flags, const void *code,
                         uint64_t moment, uint64_t forked)
{
  graph_fragment_end_at(t, moment);
  struct team *team = graph_team(region);
  if (!team && !table_reach(&graph_teams, &graph_teams_lock, (uint32_t)region)) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return;
  }
  team = team ? team : graph_team(region);
  barrier_clear(t, team);
  bool league = flags & ompt_parallel_league;
  uint32_t row = directive_row(t, league ? FORMAT_DIRECTIVE_TEAMS : FORMAT_DIRECTIVE_PARALLEL, code), stands_for;
  struct task *from = creator ? graph_task(creator) : NULL;
  bool light = light_region_begin(t, from, row, league, &stands_for);
  if (team->creator != creator || team->row != row || team->code != code) {
    team->creator = creator;
    team->row = row;
    team->code = code;
  }
  if (team->light != light)
    team->light = light;
  if (team->stands_for != stands_for)
    team->stands_for = stands_for;
  if (from)
    graph_note_contents(from);
  if (from && !light) /* all other fields are empty since the previous region has ended */
    team->start = clock_copy(t, &from->now);
  if (!light)
    team->start.burdened += span_of(t)->costs[GRAPH_FORK];
  span_of(t)->forked = graph_moment(t, forked);
  if (graph_log_on())
    team->name = graph_log_put_region(t, team->row);
  __atomic_store_n(&team->handle, region, __ATOMIC_RELEASE);
  graph_run(t, 0); /* the thread works for the runtime until its implicit task begins */
}

uint32_t span_region_row(uint64_t region)
{
  const struct team *team = graph_open_team(region);
  return team ? team->row : 0;
}

void span_set_entry(uint64_t region, struct span_entry entry)
{
  struct team *team = graph_open_team(region);
  if (!team)
    return;
  if (team->construct_owner != entry.owner || team->construct_record != entry.record ||
      team->construct_kind != entry.kind || team->construct_row != entry.row) {
    team->construct_owner = entry.owner;
    team->construct_record = entry.record;
    team->construct_kind = entry.kind;
    team->construct_row = entry.row;
  }
}

struct span_entry span_entry(uint64_t region)
{
  const struct team *team = graph_open_team(region);
  if (!team)
    return (struct span_entry){0};
  return (struct span_entry){team->construct_owner, team->construct_record,
                             team->construct_kind,  team->construct_row ? team->construct_row : team->row,
                             team->light,           team->stands_for};
}

void span_team_size(uint64_t region, uint32_t threads)
{
  struct team *team = graph_team(region);
  if (team && __atomic_load_n(&team->size, __ATOMIC_RELAXED) != threads) /* all threads of the team store the same */
    __atomic_store_n(&team->size, threads, __ATOMIC_RELAXED);
}

/* Adds the region's work and span to its row, or to its instance. */
static void region_count(struct thread_state *t, struct team *team, uint64_t work)
{
  struct task *creator = graph_task(team->creator);
  uint64_t ended = creator->now.base;
  light_region_stand(t, team, &creator->now, work);
  if (team->instance) {
    directive_work(t, team->instance, work, ended);
    directive_leave(t, team->instance);
    return;
  }
  if (!graph_inside(creator, team->row))
    directive_ended(t, team->row, 1, work, graph_own_span(work, team->start.base, ended));
  creator->scope.pending += work;
}

/* Ends the constructs that not all threads have left.  The others are empty, and stay in the caches of the threads. */
static void end_loops(struct thread_state *t, const struct task *creator, struct team *team)
{
  for (int i = 0; i < SHARED_LOOPS; i++) {
    struct shared_construct *loop = &team->loops[i];
    if (!loop->number)
      continue;
    if (creator)
      graph_loop_end(t, creator, loop);
    join_clear(t, &loop->ordered);
    *loop = (struct shared_construct){0};
  }
}

/* A light region ends, whose creator's clock stays. */
static void light_end(struct thread_state *t, struct team *team, uint64_t region)
{
  if (team->contents || team->instance) {
    struct clock own = {0};
    barrier_close(t, &own, team, region);
    clock_clear(t, &own);
  }
  light_region_end(t, team);
  directive_leave(t, team->instance);
}

/* One that was followed ends. */
static void followed_end(struct thread_state *t, struct team *team, uint64_t region, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  struct task *creator = team->creator ? graph_task(team->creator) : NULL;
  uint64_t work = barrier_close(t, creator ? &creator->now : NULL, team, region);
  if (team->loops_met)
    end_loops(t, creator, team);
  graph_log_op(t, GRAPHLOG_REGION_END, team->row);
  if (span->wait_ended)
    graph_cost(t, GRAPH_JOIN, moment - span->wait_ended);
  if (creator) {
    creator->now.burdened += span->costs[GRAPH_JOIN];
    region_count(t, team, work);
  } else {
    directive_leave(t, team->instance);
  }
  clock_clear(t, &team->start);
}

void span_parallel_end(struct thread_state *t, uint64_t region, uint64_t moment)
{
  moment = graph_moment(t, moment);
  graph_fragment_end_at(t, moment);
  struct team *team = graph_open_team(region);
  if (!team) { /* there was no memory at its start */
    graph_fragment_begin_after(t, moment);
    return;
  }
  if (team->light)
    light_end(t, team, region);
  else
    followed_end(t, team, region, moment);
  if (team->instance)
    team->instance = 0;
  if (team->contents)
    team->contents = false;
  __atomic_store_n(&team->handle, 0, __ATOMIC_RELEASE); /* then threads use their slots for other regions */
  graph_run(t, team->creator);
  graph_fragment_begin_after(t, moment);
}

/* The running task fulfils a detached one. */
static void fulfil(struct thread_state *t, struct task *task)
{
  join_offer(t, &task->fulfilled, &span_of(t)->running->now);
  graph_log_offer(t, span_of(t)->running->name, &task->fulfilled);
}

/* Fulfilment, and the end of a taskwait with dependences.  Returns the task that runs next. */
static uint32_t other_schedule(struct thread_state *t, uint32_t prior, int status, uint32_t next)
{
  struct task *task = graph_task(prior);
  if (status == ompt_task_early_fulfill || status == ompt_task_late_fulfill) {
    if (span_of(t)->running)
      fulfil(t, task);
    if (status == ompt_task_late_fulfill)
      explicit_task_end(t, prior, 0);
    return span_of(t)->task;
  }
  if (status == ompt_taskwait_complete && next) {
    graph_task(next)->dependent_wait = 0;
    graph_task(next)->flags &= ~(uint32_t)TASK_WAITING;
    clock_raise(t, &graph_task(next)->now, &task->now);
    depend_wait(t, &task->depend, &graph_task(next)->now, graph_task(next)->name);
    explicit_task_drop(t, prior);
  }
  return next;
}

void span_task_schedule(struct thread_state *t, uint32_t prior, int status, uint32_t next, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  moment = graph_moment(t, moment);
  graph_fragment_end_at(t, moment);
  if (status == ompt_task_complete || status == ompt_task_cancel) {
    span->task_ended = moment;
    if (prior && !(graph_task(prior)->flags & TASK_IMPLICIT))
      explicit_task_end(t, prior, next);
  } else if (status != ompt_task_switch && prior) {
    next = other_schedule(t, prior, status, next);
  }
  if (next) {
    graph_run(t, next);
    if (!(span->running->flags & TASK_STARTED))
      explicit_task_started(t, span->running, moment);
    graph_log_task_op(t, GRAPHLOG_SWITCH, span->running->name);
  }
  graph_fragment_begin_after(t, moment);
}

/* ---- waits ---- */

static bool is_barrier(int kind)
{
  return kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup;
}

void span_wait_begin(struct thread_state *t, uint32_t index, int kind, bool dependent, uint64_t moment,
                     const void *code)
{
  if (!index)
    return;
  graph_fragment_end_at(t, graph_moment(t, moment));
  struct task *task = graph_task(index);
  struct team *team = graph_open_team(task->region);
  if (is_barrier(kind))
    worksharing_close(t, task);
  graph_flush_work(t, task);
  if (is_barrier(kind)) {
    close_batches(t, task); /* what it creates next belongs to another interval */
    explicit_task_report(t);
    if (team)
      barrier_arrive(t, task, team);
  }
  uint32_t row = 0;
  if (kind == ompt_sync_region_taskwait && !task->undeferred_code)
    directive_count(t, row = directive_row(t, FORMAT_DIRECTIVE_TASKWAIT, code), 0);
  else if (kind == ompt_sync_region_barrier_explicit && span_of(t)->open_region == (uint32_t)task->region)
    directive_count(t, row = directive_row(t, FORMAT_DIRECTIVE_BARRIER, code), 0);
  graph_log_wait(t, GRAPHLOG_WAIT, task->name, kind, row);
  bool joins = kind == ompt_sync_region_taskwait && !dependent && !(task->flags & TASK_IN_LOOP);
  task->flags |= joins ? TASK_WAITING | TASK_JOINS : TASK_WAITING;
}

void span_wait_end(struct thread_state *t, uint32_t index, int kind, bool known, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  if (!index)
    return;
  struct task *task = graph_task(index);
  struct team *team = graph_open_team(task->region);
  if (!known && !team && task->region && is_barrier(kind) && !graph_log_on())
    return; /* what follows is the task's end: it goes on waiting until then */
  team = known ? team : NULL;
  task->flags &= ~(uint32_t)(TASK_WAITING | TASK_JOINS);
  moment = graph_moment(t, moment);
  graph_log_time(t, moment);
  if (__builtin_expect(span->task != index && (team || !is_barrier(kind)), 0)) {
    /* Of tasks that it has run one within the other, libomp announces as the next one a task that has ended.  It does
     * not announce that the thread leaves an untied one that another thread completes. */
    graph_run(t, index);
    graph_log_task_op(t, GRAPHLOG_SWITCH, task->name);
  }
  if (team ||
      !is_barrier(kind)) /* otherwise a worker leaves the barrier after its region has ended, and takes nothing */
    graph_log_wait(t, GRAPHLOG_WAIT_END, task->name, kind, 0);
  if (kind == ompt_sync_region_taskwait)
    explicit_task_join_children(t, &task->now, index);
  else if (kind == ompt_sync_region_taskgroup && task->group)
    explicit_task_join_group(t, &task->now, task->group);
  else if (is_barrier(kind) && team) {
    barrier_join(t, &task->now, team, task->region, task->interval);
    task->interval++;
  }
  if ((kind == ompt_sync_region_taskwait && !(task->flags & TASK_IN_LOOP)) || (is_barrier(kind) && team))
    depend_settled(t, &task->depend);
  span->wait_ended = span_process.work_unit == WORK_USER ? 0 : moment;
  graph_fragment_begin_after(t, moment);
  span->since_barrier = is_barrier(kind) ? span->work.since : 0;
}

uint32_t span_taskgroup_begin(struct thread_state *t, uint32_t index, enum format_directive_kind kind, const void *code)
{
  if (!index)
    return 0;
  graph_fragment_end(t);
  struct task *task = graph_task(index);
  uint32_t row = directive_row(t, kind, code);
  graph_note_contents(task);
  explicit_task_close(t, task); /* what it creates next belongs to another group */
  graph_construct_begin(t, task, row);
  graph_log_op(t, GRAPHLOG_GROUP, row);
  uint32_t made = pool_get(&graph_groups, &span_of(t)->free_groups);
  if (made) {
    struct group *group = graph_group(made);
    group->outer = task->group;
    group->task = index;
    group->row = row;
    group->ends = (struct lazy_join){0};
    task->group = made;
  } else {
    rt_lost(t, FORMAT_LOST_GRAPH);
  }
  graph_fragment_begin(t);
  return row;
}

void span_taskgroup_end(struct thread_state *t, uint32_t index)
{
  if (!index || !graph_task(index)->group)
    return;
  graph_fragment_end(t);
  struct task *task = graph_task(index);
  struct group *group = graph_group(task->group);
  uint32_t ended = task->group;
  explicit_task_close(t, task);
  explicit_task_join_group(t, &task->now, ended);
  join_clear(t, &group->ends.join);
  task->group = group->outer;
  pool_put(&graph_groups, &span_of(t)->free_groups, ended);
  graph_construct_end(t, task);
  graph_log_op(t, GRAPHLOG_GROUP_END);
  graph_fragment_begin(t);
}

void span_pause(struct thread_state *t, bool pause)
{
  explicit_task_settle(t);
  if (pause)
    graph_fragment_end(t);
  rt_pause(pause);
  graph_fragment_begin(t);
}

void span_device_begin(struct thread_state *t, uint64_t ticks)
{
  rt_inside_inc(t); /* a sample may begin another fragment */
  explicit_task_settle(t);
  uint64_t moment = graph_moment(t, ticks);
  graph_fragment_end_at(t, moment);
  work_clock_begin(t, moment);
  graph_log_time(t, ticks);
  work_clock_stand_still(t, ticks);
  span_of(t)->work.device_waits = true;
  rt_inside_dec(t);
}

/* The running task has waited for a device from one tick to another, in the context of a node. */
static void add_device_time(struct thread_state *t, uint64_t since, uint64_t ticks, uint64_t amount, uint32_t node)
{
  struct span_thread *span = span_of(t);
  struct task *task = span->running;
  if (!amount || !task || task->flags & TASK_WAITING)
    return;
  span->fragment_samples[0].node = node;
  span->fragment_samples[0].weight = amount;
  span->fragment_sample_count = node && node <= CRITICAL_PATH_NODE_MAX && t->index <= CRITICAL_PATH_THREAD_MAX;
  if (graph_log_on())
    graph_log_put_device(t, since, ticks, amount);
  graph_add_device_time(t, task, amount);
  span->fragment_sample_count = 0;
}

void span_device_end(struct thread_state *t, uint64_t since, uint64_t ticks, uint32_t node)
{
  struct span_thread *span = span_of(t);
  if (!span->work.device_waits)
    return;
  rt_inside_inc(t);
  span->work.device_waits = false;
  if (work_clock_is_time())
    add_device_time(t, since, ticks, rt_measured_between(since, ticks), node);
  graph_log_time(t, ticks);
  work_clock_go_on(t, work_clock_is_time() ? ticks : work_clock_value(t));
  rt_inside_dec(t);
}

void span_device_cut(struct thread_state *t, uint64_t since, uint64_t ticks, uint32_t node)
{
  rt_inside_inc(t);
  if (work_clock_is_time())
    add_device_time(t, since, ticks, rt_measured_between(since, ticks), node);
  graph_log_time(t, ticks);
  rt_inside_dec(t);
}

void span_window(struct thread_state *t)
{
  explicit_task_settle(t);
  if (!rt_paused())
    graph_fragment_end(t);
  time_filter_pass();
  graph_fragment_begin(t);
}

void span_cut(struct thread_state *t)
{
  explicit_task_settle(t);
  graph_fragment_end(t);
  graph_fragment_begin(t);
}

void span_begin_anew(struct thread_state *t)
{
  graph_fragment_begin(t);
}

/* ---- start and end ---- */

void span_start(void)
{
  graph_start();
  worksharing_start();
  critical_path_start();
  directive_start();
  key_map_start();
  depend_start();
  doacross_start();
  barrier_start();
  explicit_task_start();
}

void span_start_thread(struct thread_state *t)
{
  if (!barrier_start_thread(t) || !explicit_task_start_thread(t)) { /* the thread has no part in the graph */
    rt_lost(t, FORMAT_LOST_GRAPH);
    return;
  }
  directive_start_thread(t);
  governor_start(t);
  work_clock_start(t);
  graph_log_start_thread(t);
}

void span_add_work(struct thread_state *t, uint32_t node, uint64_t units)
{
  struct span_thread *span = span_of(t);
  if (span_process.work_unit != WORK_USER)
    return;
  span_begin_early(t);
  explicit_task_settle_here(t);
  span->work.units += units;
  if (span->work.device_waits) {
    add_device_time(t, span->log.moment, rt_ticks(), rt_paused() ? 0 : units, node);
    return;
  }
  if (node <= CRITICAL_PATH_NODE_MAX && t->index <= CRITICAL_PATH_THREAD_MAX) {
    span->fragment_samples[0].node = node;
    span->fragment_samples[0].weight = units;
    span->fragment_sample_count = 1;
  }
  graph_fragment_end(t);
  graph_fragment_begin(t);
}

void span_add_sums(struct thread_state *t)
{
  if (span_of(t)->running)
    explicit_task_close(t, span_of(t)->running);
  explicit_task_report(t);
  graph_cost_add_sums(t);
  directive_add_sums(t);
}

void span_add_lock_bounds(void)
{
  worksharing_add_lock_bounds();
}

void span_stop_thread(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  explicit_task_settle(t);
  if (span->task) {
    graph_fragment_end(t);
    if (!span->running->region)
      light_region_settle(t, &span->running->now);
    join_offer(t, &graph_program, &span->running->now);
  }
  graph_log_stop_thread(t);
  if (span->task && span->running->flags & TASK_IMPLICIT && !span->running->region)
    implicit_release(t, span->task); /* the OpenMP runtime does not see this thread end */
  graph_run(t, 0);
  if (span->light_task)
    implicit_release(t, span->light_task);
  span->light_task = 0;
  explicit_task_stop_thread(t);
  graph_cost_add_sums(t);
  directive_stop_thread(t);
  depend_stop_thread(t);
  doacross_stop_thread(t);
  key_map_stop_thread(t);
  critical_path_stop_thread(t);
  pool_flush(&graph_tasks, &span->free_tasks);
  pool_flush(&graph_groups, &span->free_groups);
}

/* Offers a task's clock to the program's longest chain, and the ends that were reported to the task and its groups and
 * not joined yet.  t: the thread whose task it is, if it is outside any region. */
static void reach_offered(struct thread_state *self, const struct thread_state *t, const struct task *task)
{
  struct clock now = clock_copy(self, &task->now);
  if (!task->region && task->flags & TASK_IMPLICIT)
    light_region_add_waiting(self, t, &now);
  join_offer(self, &graph_program, &now);
  clock_clear(self, &now);
  join_offer(self, &graph_program, &task->children.join.latest);
  join_offer(self, &graph_program, &task->earlier);
  if (task->flags & TASK_IN_LOOP)
    join_offer(self, &graph_program, &task->loop_end);
  for (uint32_t group = task->group; group; group = graph_group(group)->outer)
    join_offer(self, &graph_program, &graph_group(group)->ends.join.latest);
}

void span_report(struct thread_state *t)
{
  explicit_task_report(t);
}

/* From the running task of the thread outwards: parents, and the creators of regions. */
void span_offer_open_tasks(struct thread_state *self, struct thread_state *t)
{
  enum { DEEPEST = 100000 };
  if (t == self) {
    graph_fragment_end(t);
    graph_fragment_begin(t);
  }
  uint32_t index = span_of(t)->task;
  for (int i = 0; index && i < DEEPEST; i++) {
    const struct task *task = graph_task(index);
    struct team *team = task->flags & TASK_IMPLICIT ? graph_open_team(task->region) : NULL;
    reach_offered(self, t, task);
    if (team)
      barrier_reach(self, team, task->region);
    index = team ? team->creator : task->parent;
  }
}

const struct clock *span_program(void)
{
  return &graph_program.latest;
}
