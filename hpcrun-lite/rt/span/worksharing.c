#include "hpcrun-lite/rt/span/worksharing.h"

#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/governor.h"
#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/core/sys.h"

/* The first thread of the team prepares the structure; the caller has the lock. */
static void loop_open(struct thread_state *t, const struct task *task, struct shared_construct *loop, uint32_t row,
                      uint64_t iterations)
{
  loop->row = row;
  loop->begin = task->now.base;
  loop->ended = 0;
  loop->work = loop->span = 0;
  join_clear(t, &loop->ordered);
  loop->ordered_begun = loop->ordered_ended = 0;
  loop->ordered_missed = false;
  if (iterations)
    directive_count(t, row, iterations); /* once for the team */
  __atomic_store_n(&loop->number, task->constructs, __ATOMIC_RELEASE);
}

/* The team's structure of the construct that the task enters; NULL if too many constructs are open.  Only the first
 * thread writes to it. */
static struct shared_construct *loop_enter(struct thread_state *t, struct task *task, struct team *team, uint32_t row,
                                           uint64_t iterations)
{
  uint32_t number = ++task->constructs;
  if (!team)
    return NULL;
  struct shared_construct *loop = &team->loops[number % SHARED_LOOPS];
  if (__atomic_load_n(&loop->number, __ATOMIC_ACQUIRE) == number)
    return loop;
  if (!__atomic_load_n(&team->loops_met, __ATOMIC_RELAXED))
    __atomic_store_n(&team->loops_met, true, __ATOMIC_RELAXED);
  clock_lock(&loop->lock);
  if (!__atomic_load_n(&loop->number, __ATOMIC_ACQUIRE))
    loop_open(t, task, loop, row, iterations);
  bool ours = __atomic_load_n(&loop->number, __ATOMIC_RELAXED) == number;
  clock_unlock(&loop->lock);
  return ours ? loop : NULL;
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

/* A construct that no other thread shares. */
static void scope_begin(struct thread_state *t, struct task *task, uint32_t row)
{
  graph_construct_begin(t, task, row);
  graph_log_op(t, GRAPHLOG_SCOPE, row);
}

static void scope_end(struct thread_state *t, struct task *task)
{
  graph_construct_end(t, task);
  graph_log_op(t, GRAPHLOG_SCOPE_END);
}

static void single_end(struct thread_state *t, struct task *task)
{
  if (!(task->flags & TASK_SINGLE))
    return;
  task->flags &= ~(uint32_t)TASK_SINGLE;
  scope_end(t, task);
}

/* A chunk of the loop ends. */
static void own_chain_ends(struct task *task)
{
  uint64_t own = task->now.base - task->loop_begin;
  task->loop_span = own > task->loop_span ? own : task->loop_span;
}

static void loop_end(struct thread_state *t, struct task *task)
{
  if (!(task->flags & TASK_IN_LOOP))
    return;
  struct team *team = graph_open_team(task->region);
  struct shared_construct *loop = task->loop_slot && team ? &team->loops[task->loop_slot - 1] : NULL;
  struct scope *scope = task->scopes_open <= SCOPES_MAX ? &task->scope : NULL;
  own_chain_ends(task);
  clock_raise(t, &task->now, &task->loop_end);
  explicit_task_chunk(t, task);
  task->flags &= ~(uint32_t)TASK_IN_LOOP;
  task->loop_slot = 0;
  graph_log_op(t, GRAPHLOG_LOOP_END);
  if (!loop || !scope) {
    graph_construct_end(t, task);
    return;
  }
  if (scope->instance) { /* the thread's part of the loop's instance */
    if (task->flags & TASK_MOVED)
      directive_part_moved(scope->instance);
    directive_work(t, scope->instance, scope->pending, task->now.base);
    directive_leave(t, scope->instance);
    scope->pending = 0;
  }
  uint64_t work = scope->pending;
  task->scope = task->around[--task->scopes_open];
  graph_loop_leave(t, task, loop, work, task->loop_span);
  task->scope.pending += work;
}

void worksharing_close(struct thread_state *t, struct task *task)
{
  single_end(t, task);
  loop_end(t, task);
}

/* All chunks begin with the path that the task has now.  Gives it room for the loop's own work, which otherwise would
 * add a segment to the list in each chunk. */
static void make_room_for_chunks(struct thread_state *t, struct task *task, uint32_t row)
{
  const struct critical_path_item *items = task->now.path.items;
  uint64_t key = CRITICAL_PATH_KEY(row, 0, 0);
  if (items[0].key != key && items[1].key != key)
    critical_path_make_room(t, &task->now.path);
}

/* Is the construct only counted?  A taskloop creates tasks. */
static inline bool is_light(const struct task *task, int kind)
{
  return task->flags & TASK_LIGHT && kind != ompt_work_taskloop;
}

/* A construct begins in a light region: the team's once, by the creator, whose call the runtime names. */
static uint32_t light_begin(struct thread_state *t, const struct task *task, int kind, uint64_t count, const void *code)
{
  const struct team *team = graph_open_team(task->region);
  bool shared = is_loop(kind), creator = span_of(t)->open_region == (uint32_t)task->region;
  if (!code && kind == ompt_work_single_other)
    return 0;
  if (!code && team)
    code = team->code;
  uint32_t row = directive_row(t, kind == ompt_work_single_other ? FORMAT_DIRECTIVE_SINGLE : work_kind(kind), code);
  if (kind == ompt_work_single_executor || (shared && creator))
    directive_light(t, row);
  if (shared && creator && count)
    directive_count(t, row, count);
  return row;
}

uint32_t worksharing_work_begin(struct thread_state *t, uint32_t index, int kind, uint64_t count, const void *code)
{
  if (!index || kind == ompt_work_scope)
    return 0;
  if (is_light(graph_task(index), kind))
    return light_begin(t, graph_task(index), kind, count, code);
  if (kind == ompt_work_single_other || kind == ompt_work_single_executor)
    graph_task(index)->singles++;
  if (kind == ompt_work_single_other)
    return code ? directive_row(t, FORMAT_DIRECTIVE_SINGLE, code) : 0;
  graph_fragment_end(t);
  struct task *task = graph_task(index);
  if (kind != ompt_work_taskloop)
    worksharing_close(t, task);
  struct team *team = task->flags & TASK_IMPLICIT ? graph_open_team(task->region) : NULL;
  if (!code && team)
    code = team->code; /* the runtime passes no address to workers */
  uint32_t row = directive_row(t, work_kind(kind), code);
  if (is_loop(kind)) {
    struct shared_construct *loop = loop_enter(t, task, team, row, count);
    explicit_task_chunk(t, task);
    row = loop ? loop->row : row;
    graph_construct_begin(t, task, row);
    graph_log_op(t, loop ? GRAPHLOG_LOOP : GRAPHLOG_LOOP_ALONE, row, count);
    task->loop_slot = loop ? (uint16_t)(loop - team->loops + 1) : 0;
    task->loop_depth = (uint16_t)(task->scopes_open < SCOPES_MAX ? task->scopes_open : SCOPES_MAX + 1);
    if (!(task->flags & TASK_HAD_LOOP))
      task->loop_entry = task->loop_end = (struct clock){0};
    task->flags = (task->flags & ~(uint32_t)TASK_MOVED) | TASK_IN_LOOP | TASK_HAD_LOOP;
    make_room_for_chunks(t, task, row);
    clock_set(t, &task->loop_entry, &task->now);
    clock_set(t, &task->loop_end, &task->now);
    task->doacross = (struct doacross_cursor){.loop = loop ? &loop->doacross : NULL};
    task->loop_begin = task->now.base;
    task->loop_span = 0;
  } else {
    scope_begin(t, task, row);
    if (kind == ompt_work_single_executor) {
      task->flags |= TASK_SINGLE;
      graph_log_op(t, GRAPHLOG_CHUNK, task->singles, 0);
    }
  }
  graph_fragment_begin(t);
  return row;
}

/* A chunk ends; the next one begins at the clock of the loop's start. */
static void chunk_end(struct thread_state *t, struct task *task)
{
  own_chain_ends(task);
  clock_raise(t, &task->loop_end, &task->now);
  clock_set(t, &task->now, &task->loop_entry);
  task->loop_begin = task->now.base;
  task->doacross.announced = 0;
}

uint64_t worksharing_chunk(struct thread_state *t, uint32_t index, int kind, uint64_t start, uint64_t iterations)
{
  if (kind == ompt_dispatch_taskloop_chunk) /* a task of its own, which begins now */
    graph_log_op(t, GRAPHLOG_CHUNK, start, iterations);
  if (!index || !(graph_task(index)->flags & TASK_IN_LOOP) || kind == ompt_dispatch_taskloop_chunk)
    return 0;
  uint64_t moment = work_clock_value(t);
  struct task *task = graph_task(index);
  bool cut = task == span_of(t)->running && graph_fragment_cut(t, task, moment);
  if (!cut)
    graph_fragment_end_at(t, moment);
  graph_flush_work(t, task);
  explicit_task_chunk(t, task);
  chunk_end(t, task);
  graph_log_op(t, GRAPHLOG_CHUNK, start, iterations);
  if (!cut)
    graph_fragment_begin_after(t, moment);
  return moment;
}

void worksharing_work_end(struct thread_state *t, uint32_t index, int kind)
{
  if (!index || kind == ompt_work_single_other || kind == ompt_work_scope || is_light(graph_task(index), kind))
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

uint32_t worksharing_masked(struct thread_state *t, uint32_t index, bool begin, const void *code)
{
  uint32_t row = begin ? directive_row(t, FORMAT_DIRECTIVE_MASKED, code) : 0;
  if (!index)
    return row;
  if (graph_task(index)->flags & TASK_LIGHT) {
    directive_light(t, row);
    return row;
  }
  graph_fragment_end(t);
  if (begin)
    scope_begin(t, graph_task(index), row);
  else
    scope_end(t, graph_task(index));
  graph_fragment_begin(t);
  return row;
}

void worksharing_block_in_wait(struct thread_state *t, uint32_t row)
{
  if (!span_of(t)->task)
    return;
  graph_note_contents(span_of(t)->running);
  scope_begin(t, span_of(t)->running, row);
}

void worksharing_block_end_in_wait(struct thread_state *t)
{
  if (span_of(t)->task)
    scope_end(t, span_of(t)->running);
}

void worksharing_block(struct thread_state *t, uint32_t row)
{
  explicit_task_settle(t);
  graph_fragment_end(t);
  worksharing_block_in_wait(t, row);
  graph_fragment_begin(t);
}

void worksharing_block_end(struct thread_state *t)
{
  explicit_task_settle(t);
  graph_fragment_end(t);
  worksharing_block_end_in_wait(t);
  graph_fragment_begin(t);
}

/* ---- mutual exclusion ---- */

/* The sequence of a lock's holders: earliest + held is a lower bound on the span.  Clocks are base clocks.  All fields
 * are used under `lock`, and lie on one cache line, which moves between processors as the lock does.  The rows get the
 * bound when another lock takes the place, and at the end: at each release, all threads would write to them; and before
 * the end, the bound depends on which holder came first. */
enum { LOCK_ROWS = 4, LOCK_LINE = 64 };

struct lock_chain {
  uint64_t id, earliest, held;
  uint32_t rows[LOCK_ROWS]; /* where it was acquired; further places get no bound */
  uint32_t lock;
} __attribute__((aligned(LOCK_LINE)));

_Static_assert(sizeof(struct lock_chain) == LOCK_LINE, "a chain is on one line");

enum { LOCKS = 4096 };
static struct lock_chain locks[LOCKS];
static bool locks_used; /* else `locks` is zero, and none of its pages is touched */

void worksharing_start(void)
{
  if (locks_used)
    __builtin_memset(locks, 0, sizeof locks);
}

static struct lock_chain *chain_of(uint64_t id)
{
  return &locks[(id * 0x9e3779b97f4a7c15ULL) >> 52];
}

static void chain_add_bound(const struct lock_chain *chain)
{
  for (unsigned i = 0; i < LOCK_ROWS && chain->held; i++)
    directive_lock_bound(chain->rows[i], chain->earliest + chain->held);
}

/* The chain is of another lock from now on; 0: of none. */
static void chain_begin(struct lock_chain *chain, uint64_t id, uint64_t now)
{
  if (!__atomic_load_n(&locks_used, __ATOMIC_RELAXED))
    __atomic_store_n(&locks_used, true, __ATOMIC_RELAXED);
  chain_add_bound(chain);
  chain->id = id;
  chain->earliest = now;
  chain->held = 0;
  __builtin_memset(chain->rows, 0, sizeof chain->rows);
}

static void chain_add_row(struct lock_chain *chain, uint32_t row)
{
  for (unsigned i = 0; i < LOCK_ROWS && chain->rows[i] != row; i++)
    if (!chain->rows[i]) {
      chain->rows[i] = row;
      return;
    }
}

void worksharing_add_lock_bounds(void)
{
  for (unsigned i = 0; i < LOCKS && locks_used; i++)
    chain_add_bound(&locks[i]);
}

void worksharing_lock_ends(uint64_t wait_id)
{
  struct lock_chain *chain = chain_of(wait_id);
  clock_lock(&chain->lock);
  if (chain->id == wait_id)
    chain_begin(chain, 0, 0);
  clock_unlock(&chain->lock);
}

static struct shared_construct *ordered_loop(const struct task *task)
{
  struct team *team = task->loop_slot ? graph_open_team(task->region) : NULL;
  return team ? &team->loops[task->loop_slot - 1] : NULL;
}

static void chain_hold(uint64_t id, uint32_t row, uint64_t acquired, uint64_t released, uint64_t times)
{
  struct lock_chain *chain = chain_of(id);
  clock_lock(&chain->lock);
  if (chain->id != id)
    chain_begin(chain, id, acquired);
  if (chain->rows[0] != row)
    chain_add_row(chain, row);
  chain->earliest = acquired < chain->earliest ? acquired : chain->earliest;
  chain->held += released >= acquired ? times * (released - acquired) : 0;
  clock_unlock(&chain->lock);
}

/* The thread remembers what it holds until it has released that, after which the next holder may have released it as
 * well.  What another thread releases, and more locks than there are places, do not count: the bound is then too low,
 * never too high. */
static void hold_begins(struct thread_state *t, uint64_t id, uint32_t row, uint64_t now)
{
  struct held_lock *held = span_of(t)->held_locks, *free = NULL;
  for (unsigned i = 0; i < HELD_LOCKS; i++) {
    if (!held[i].id || held[i].id == id)
      free = &held[i];
    if (held[i].id == id) /* its release was not seen */
      break;
  }
  if (free)
    *free = (struct held_lock){id, now, row};
}

static void hold_ends(struct thread_state *t, uint64_t id, uint64_t now, uint64_t times)
{
  struct held_lock *held = span_of(t)->held_locks;
  for (unsigned i = 0; i < HELD_LOCKS; i++)
    if (held[i].id == id) {
      held[i].id = 0;
      chain_hold(id, held[i].row, held[i].acquired, now, times);
    }
}

/* The runtime announces the end of an ordered region after it has let the next one begin, perhaps even after that has
 * been announced.  So the next region waits here for the clock that it follows.  That is short, unless the other thread
 * is switched out at this point.  If an end is never announced, the wait happens once in the loop. */
static void ordered_await(struct thread_state *t, struct shared_construct *loop, uint32_t before)
{
  enum { SPINS = 100, TRIES = 200000 };
  int i = 0, tries = __atomic_load_n(&loop->ordered_missed, __ATOMIC_RELAXED) ? SPINS : TRIES;
  for (; i < tries && (int32_t)(__atomic_load_n(&loop->ordered_ended, __ATOMIC_ACQUIRE) - before) < 0; i++)
    if (i < SPINS)
      machine_relax();
    else
      sys_yield();
  if (i < tries)
    return;
  __atomic_store_n(&loop->ordered_missed, true, __ATOMIC_RELAXED);
  rt_lost(t, FORMAT_LOST_GRAPH);
}

static void ordered_begin(struct thread_state *t, struct task *task, struct shared_construct *loop)
{
  task->ordered = __atomic_fetch_add(&loop->ordered_begun, 1, __ATOMIC_ACQ_REL);
  ordered_await(t, loop, task->ordered);
  graph_log_now(t);
  graph_take(t, task, &loop->ordered);
}

static void ordered_end(struct thread_state *t, struct task *task, struct shared_construct *loop)
{
  graph_offer(t, task, &loop->ordered);
  uint32_t ended = __atomic_load_n(&loop->ordered_ended, __ATOMIC_RELAXED);
  while ((int32_t)(task->ordered + 1 - ended) > 0 &&
         !__atomic_compare_exchange_n(&loop->ordered_ended, &ended, task->ordered + 1, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED))
    ;
}

uint32_t worksharing_mutex_row(struct thread_state *t, int kind, const void *code)
{
  bool lock = kind <= ompt_mutex_test_nest_lock;
  return directive_row(t, lock ? FORMAT_DIRECTIVE_LOCK : FORMAT_DIRECTIVE_CRITICAL, code);
}

/* The open critical construct stands for so many light ones, whose work is that of what is around it so far. */
static void critical_stands_for(struct thread_state *t, struct task *task, uint64_t light)
{
  const struct scope *scope = &task->scope;
  if (!task->scopes_open || task->scopes_open > SCOPES_MAX || scope->instance)
    return;
  directive_stands_for(t, scope->row, light, scope->pending);
  critical_path_move(&task->now.path, task->around[task->scopes_open - 1].row, scope->row, light * scope->pending);
}

void worksharing_mutex_light(struct thread_state *t, uint32_t row, uint64_t moment)
{
  directive_light(t, row);
  if (moment) /* what the thread did while it waited is no work */
    work_clock_go_on(t, graph_moment(t, moment));
}

uint32_t worksharing_mutex_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment,
                                    const void *code)
{
  struct task *task = span_of(t)->running;
  if (!task)
    return 0;
  bool waited = moment;
  moment = graph_moment(t, moment);
  graph_fragment_end_inline(t, waited ? span_of(t)->work.wait_since : moment);
  graph_log_time(t, moment);
  if (kind == ompt_mutex_ordered) {
    struct shared_construct *loop = ordered_loop(task);
    if (loop)
      ordered_begin(t, task, loop);
    uint32_t row = directive_row(t, FORMAT_DIRECTIVE_ORDERED, code);
    scope_begin(t, task, row);
    graph_fragment_begin(t);
    return row;
  }
  bool lock = kind <= ompt_mutex_test_nest_lock;
  uint32_t row = worksharing_mutex_row(t, kind, code);
  hold_begins(t, wait_id, row, task->now.base);
  if (!lock)
    graph_construct_begin(t, task, row);
  else
    directive_count(t, row, 0);
  graph_log_op(t, GRAPHLOG_ACQUIRE, row, wait_id, !lock);
  graph_fragment_begin_after(t, moment);
  return row;
}

void worksharing_mutex_released(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, bool later)
{
  struct task *task = span_of(t)->running;
  if (!task)
    return;
  graph_fragment_end_inline(t, moment);
  if (kind == ompt_mutex_ordered) {
    struct shared_construct *loop = ordered_loop(task);
    if (loop)
      ordered_end(t, task, loop);
    scope_end(t, task);
  } else {
    uint64_t light = governor_stands_for(t);
    hold_ends(t, wait_id, task->now.base, light + 1);
    graph_log_op(t, GRAPHLOG_RELEASE, wait_id, kind > ompt_mutex_test_nest_lock);
    if (light && kind > ompt_mutex_test_nest_lock)
      critical_stands_for(t, task, light);
    if (kind > ompt_mutex_test_nest_lock)
      graph_construct_end(t, task);
  }
  if (later)
    graph_fragment_begin(t);
  else
    graph_fragment_begin_after(t, moment);
}

void worksharing_held_on(struct thread_state *t, bool lock, uint64_t wait_id, uint32_t row, uint64_t work)
{
  struct task *task = span_of(t)->running;
  if (work)
    graph_add_work(t, task, work);
  hold_begins(t, wait_id, row, task->now.base);
  if (lock)
    directive_count(t, row, 0);
  else
    graph_construct_begin(t, task, row);
}

/* Is the task, which has room for another scope, outside all executions of the construct? */
static inline bool outside(const struct task *task, struct hold_site *site)
{
  if (site->outside != task->region + 1 || !(task->flags & TASK_IMPLICIT)) {
    if (graph_inside(task, site->row))
      return false;
    site->outside = task->flags & TASK_IMPLICIT ? task->region + 1 : 0;
    return true;
  }
  for (uint32_t i = 0; i < task->scopes_open; i++)
    if (task->around[i].row == site->row)
      return false;
  return task->scope.row != site->row;
}

bool worksharing_held(struct thread_state *t, bool lock, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  struct task *task = span->running;
  struct hold_site *site = span->hold.site;
  uint64_t before = span->hold.work, wait_id = span->hold.wait_id, row = site->row;
  if ((span->fragment_sample_count && !before) || task->scopes_open >= SCOPES_MAX || !site->total)
    return false;
  span->hold.site = NULL; /* first: if a signal handler of the program ends the process now, it is not recorded again */
  atomic_signal_fence(memory_order_seq_cst);
  if (before)
    graph_add_work(t, task, before);
  uint64_t acquired = task->now.base, work;
  if (__builtin_expect(!work_clock_cut(t, moment > span->work.since ? moment : span->work.since, moment, &work), 0)) {
    work = work_clock_until(t, moment);
    graph_fragment_begin_after(t, moment);
  }
  critical_path_add(t, &task->now.path, CRITICAL_PATH_KEY(lock ? task->scope.row : row, 0, 0), work);
  task->now.base += work;
  task->now.burdened += work;
  task->scope.pending += work;
  span->total_work += work;
  if (lock)
    directive_add(site->total, 0);
  else if (outside(task, site))
    directive_add(site->total, work);
  chain_hold(wait_id, site->row, acquired, task->now.base, 1);
  return true;
}

/* ---- dependences ---- */

/* Raises the clock of a task to that of an iteration. */
static void doacross_take(struct thread_state *t, struct task *task, struct doacross_clock source)
    __attribute__((noinline));
static void doacross_take(struct thread_state *t, struct task *task, struct doacross_clock source)
{
  uint64_t moment = work_clock_value(t);
  graph_fragment_end_at(t, moment);
  graph_take_final(t, task, source.join, source.moved);
  graph_fragment_begin_after(t, moment);
}

uint32_t worksharing_sink_waited(struct thread_state *t, uint64_t moment, const void *code)
{
  moment = graph_moment(t, moment);
  graph_fragment_end_at(t, span_of(t)->work.wait_since);
  graph_log_time(t, moment);
  graph_fragment_begin_after(t, moment);
  return directive_row(t, FORMAT_DIRECTIVE_ORDERED, code);
}

void worksharing_not_in_doacross(struct thread_state *t)
{
  const struct task *task = span_of(t)->running;
  if (task)
    graph_note_contents(task);
  if (!task || !(task->flags & TASK_LIGHT))
    rt_lost(t, FORMAT_LOST_GRAPH);
}

void worksharing_sink(struct thread_state *t, struct doacross_vector vector)
{
  struct task *task = span_of(t)->running;
  struct doacross_cursor *own = worksharing_doacross(t);
  if (!own) {
    worksharing_not_in_doacross(t);
    return;
  }
  struct doacross_clock source = own->found.join ? own->found : doacross_sink(own, vector);
  own->found.join = NULL;
  if (source.join && worksharing_changes(task, source))
    doacross_take(t, task, source);
}

void worksharing_dependences(struct thread_state *t, uint32_t index, const ompt_dependence_t *dependences, int count)
{
  struct task *task = index && count > 0 ? graph_task(index) : NULL;
  if (task && index == span_of(t)->task)
    task = span_of(t)->running;
  if (!task || !task->parent)
    return;
  struct task *parent = task->parent == span_of(t)->task ? span_of(t)->running : graph_task(task->parent);
  uint64_t moment = work_clock_value(t);
  graph_fragment_end_at(t, moment);
  depend_add(t, &parent->depend, &task->depend, &task->now, dependences, count);
  task->scope.begin = task->now.base;
  graph_fragment_begin(t);
}
