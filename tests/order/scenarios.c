/* What threads share in RT (doc/concurrency.md), as scenarios for checker.cpp: the library's own functions, called by
 * two or three threads as the OpenMP runtime may call them.  Where that orders its calls, the scenario does so with
 * `turn`, released and acquired. */
#include "tests/order/checker.h"

#include <string.h>

#include "hpcrun-lite/quiesce.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/held_up.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/lock_waiters.h"
#include "hpcrun-lite/rt/sampling/pools.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/task_context.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/barrier.h"
#include "hpcrun-lite/rt/span/depend.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/doacross.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/key_map.h"
#include "hpcrun-lite/rt/span/plain_task.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/worksharing.h"

static struct measured_thread states[ORDER_THREADS];
static struct format_thread records[ORDER_THREADS];
static atomic_int turn, finished;
static bool waits; /* in every other execution */

static struct thread_state *state_of(int thread)
{
  return (struct thread_state *)&states[thread];
}

static void take_turn(int number)
{
  while (atomic_load_explicit(&turn, memory_order_acquire) < number)
    ;
}

static void next_turn(void)
{
  atomic_fetch_add_explicit(&turn, 1, memory_order_acq_rel);
}

/* Threads are often late for the others, but nothing orders them. */
static void be_late(int others)
{
  while (waits && atomic_load_explicit(&finished, memory_order_relaxed) < others)
    ;
}

static void finish(void)
{
  atomic_fetch_add_explicit(&finished, 1, memory_order_relaxed);
}

struct process process;

void threads_adopt(void)
{
}

/* ---- core ---- */

struct item {
  struct pool_item pool;
  int owner;
};
static struct pool pool;
static struct pool_cache hands[ORDER_THREADS];
static uint32_t made[ORDER_THREADS];

/* There is a batch of one item, and one of two. */
static void pool_setup(void)
{
  arena_reset();
  pool_init(&pool, sizeof(struct item));
  memset(hands, 0, sizeof hands);
  uint32_t items[3];
  for (int i = 0; i < 3; i++)
    items[i] = pool_get(&pool, &hands[0]);
  for (int i = 0; i < 2; i++) {
    hands[i] = (struct pool_cache){0};
    for (int k = i; k <= 2 * i; k++)
      pool_put(&pool, &hands[i], items[k]);
    pool_flush(&pool, &hands[i]);
  }
  memset(made, 0, sizeof made);
}

/* Each item has one owner at a time.  Of new ones, one is used. */
static void pool_run(int thread)
{
  for (int round = 0; round < 2; round++) {
    void *item;
    uint32_t index = pool_take(&pool, &hands[thread], &item);
    struct item *mine = item;
    mine->owner = thread;
    if (hands[thread].count == POOL_BATCH - 1 && mine->pool.next == index + 1) {
      made[thread]++;
      hands[thread] = (struct pool_cache){0};
    }
    pool_return(&pool, &hands[thread], index, item);
    MUST(mine->owner == thread);
    pool_flush(&pool, &hands[thread]);
  }
}

/* No item is lost, none is there twice. */
static void pool_check(void)
{
  uint32_t count = 0, wanted = 3;
  for (int i = 0; i < ORDER_THREADS; i++)
    wanted += made[i];
  for (uint32_t first = (uint32_t)pool.batches; first; first = ((struct pool_item *)pool_at(&pool, first))->batch)
    for (uint32_t item = first; item; item = ((struct pool_item *)pool_at(&pool, item))->next)
      MUST(++count <= wanted);
  MUST(count == wanted);
}

static void arena_setup(void)
{
  arena_reset();
}

static void arena_run(int thread)
{
  for (int round = 0; round < 2; round++) {
    struct format_extent *extent = arena_new(ARENA_WALK, 0, FORMAT_FREE, (uint32_t)thread, 8, 2);
    int *own = arena_data(extent);
    MUST(own[0] == 0);
    own[0] = thread + 1;
    MUST(extent->owner == (uint32_t)thread && own[0] == thread + 1);
    arena_free(ARENA_WALK, 0, extent);
  }
}

/* Two fit into a block: whoever needs another one maps it, or uses that of another thread. */
static void blocks_run(int thread)
{
  enum { BYTES = 400000 };
  struct format_extent *extent = arena_new(ARENA_WALK, 1, FORMAT_FREE, (uint32_t)thread, 1, BYTES);
  uint8_t *own = arena_data(extent);
  own[0] = own[BYTES - 1] = (uint8_t)thread;
  MUST(own[0] == thread);
}

static struct table table;
static atomic_flag table_lock;

static void table_setup(void)
{
  arena_reset();
  atomic_flag_clear(&table_lock);
  table_init(&table, FORMAT_FREE, ARENA_SHARED, 0, sizeof(uint64_t), 1);
}

/* One thread adds records, others read those that are published. */
static void table_run(int thread)
{
  for (uint32_t i = 0; thread == 0 && i < 3; i++) {
    uint32_t index;
    *(uint64_t *)table_next(&table, &index) = i + 1;
    table_publish(&table);
  }
  for (uint32_t count = 0; thread && count < 3;) {
    count = __atomic_load_n(&table.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
      MUST(*(uint64_t *)table_at(&table, i) == i + 1);
  }
}

/* Each thread needs a record of its own. */
static void reach_run(int thread)
{
  MUST(table_reach(&table, &table_lock, (uint32_t)thread));
  *(uint64_t *)table_at(&table, (uint32_t)thread) = 1;
}

/* ---- CTL ---- */

static int read_by_ctl;

static void ctl_setup(void)
{
  memset(states, 0, sizeof states);
  memset(&rt, 0, sizeof rt);
  process.threads = state_of(0);
  state_of(0)->next = state_of(1);
  read_by_ctl = 0;
}

static void use_tables(int thread)
{
  order_switch();
  state_of(thread)->changes++;
}

static void read_tables(void)
{
  for (int i = 0; i < 2; i++)
    read_by_ctl += (int)state_of(i)->changes;
}

/* Threads that record what the program reports, while another one stops measuring, or forks. */
static void record(int thread)
{
  struct thread_state *t = state_of(thread);
  for (int round = 0; round < 2; round++) {
    rt_inside_inc(t);
    if (!rt_stopped())
      use_tables(thread);
    rt_inside_dec(t);
  }
}

static void sample(int thread)
{
  struct thread_state *t = state_of(thread);
  if (rt_enter(t)) {
    if (!rt_stopped())
      use_tables(thread);
    rt_leave(t);
  }
}

static void closed_run(int thread)
{
  if (thread == 0) {
    record(0);
  } else if (thread == 1) {
    sample(1);
  } else {
    quiesce_close(false);
    read_tables();
    quiesce_reopen(true);
  }
}

static void forking_run(int thread)
{
  if (thread == 0) {
    record(0);
  } else if (thread == 1) {
    sample(1);
  } else {
    atomic_store(&rt.forking, true);
    quiesce_wait();
    read_tables();
    atomic_store(&rt.forking, false);
  }
}

/* Callbacks use the graph without a fence: CTL has one in all threads. */
static void suspended_run(int thread)
{
  struct thread_state *t = state_of(thread);
  if (thread < 2) {
    for (int round = 0; round < 2; round++) {
      rt_inside_inc(t);
      if (!rt_graph_suspended())
        use_tables(thread);
      rt_inside_dec(t);
    }
  } else {
    quiesce_close(false);
    read_tables();
    quiesce_reopen(true);
  }
}

static void pauses_setup(void)
{
  memset(&rt, 0, sizeof rt);
}

/* Measuring is paused at 100 and goes on at 200. */
static void pauses_run(int thread)
{
  if (thread == 0) {
    rt_pause_at(RT_PAUSED_PROGRAM, true, 100);
    rt_pause_at(RT_PAUSED_PROGRAM, false, 200);
    return;
  }
  uint64_t measured = rt_measured(50, 300);
  MUST(measured == 250 || measured == 50 || measured == 150);
  uint64_t clock = rt_measured_clock(300);
  MUST(clock == 300 || clock == 100 || clock == 200);
}

static void live_setup(void)
{
  arena_reset();
  memset(states, 0, sizeof states);
  live_threads_start();
}

/* Threads begin and end, while others look at those that live. */
static void live_run(int thread)
{
  if (thread == 0) {
    for (int i = 0; i < ORDER_THREADS; i++) {
      state_of(i)->index = (uint32_t)i + 1;
      MUST(live_threads_add(state_of(i)));
      if (i == 1)
        live_threads_remove(state_of(0));
    }
    return;
  }
  for (bool all = false; !all;)
    for (uint32_t i = 0; i < live_threads(); i++) {
      const struct thread_state *t = live_thread(i);
      MUST(!t || t->index == i + 1 || t->index == ORDER_THREADS);
      all |= t == state_of(2);
    }
}

/* ---- the graph ---- */

static void begin_thread(int thread)
{
  struct thread_state *t = state_of(thread);
  t->index = (uint32_t)thread + 1;
  t->record = &records[thread];
  live_threads_add(t);
  waiting_init(t);
  cct_init(t);
  span_start_thread(t);
}

static void graph_setup_of(int threads)
{
  arena_reset();
  memset(&rt, 0, sizeof rt);
  memset(states, 0, sizeof states);
  memset(records, 0, sizeof records);
  sampling_process.metric_count = 6;
  rt.epoch = 7;
  span_process.online = true;
  span_process.work_unit = WORK_USER;
  atomic_store(&turn, 0);
  atomic_store(&finished, 0);
  waits = !waits;
  region_start();
  live_threads_start();
  span_start();
  for (int i = 0; i < threads; i++)
    begin_thread(i);
}

static void graph_setup(void)
{
  graph_setup_of(ORDER_THREADS);
}

static uint64_t sum_of(const struct critical_path *path)
{
  struct critical_path_cursor place = {.path = path};
  uint64_t sum = 0;
  for (const struct critical_path_item *item; (item = critical_path_next(&place));)
    sum += item->amount;
  return sum;
}

/* Adds work under so many keys, so that a path needs segments. */
static void work(struct thread_state *t, struct clock *clock, uint64_t keys)
{
  for (uint64_t key = 1; key <= keys; key++) {
    critical_path_add(t, &clock->path, CRITICAL_PATH_KEY(key, t->index, 0), 1);
    clock->base++;
    clock->burdened++;
  }
}

static struct join meeting;

static void join_setup(void)
{
  graph_setup();
  meeting = (struct join){0};
}

/* The runtime orders a take after the offers that it needs. */
static void join_run(int thread)
{
  struct thread_state *t = state_of(thread);
  struct clock clock = {0};
  if (thread < 2) {
    work(t, &clock, 3 + (uint64_t)thread);
    join_offer(t, &meeting, &clock);
    next_turn();
  } else {
    join_take(t, &clock, &meeting);
    MUST(sum_of(&clock.path) == clock.base);
    take_turn(2);
    join_take(t, &clock, &meeting);
    MUST(clock.base == 4 && sum_of(&clock.path) == 4);
  }
  clock_clear(t, &clock);
}

static struct clock copied[ORDER_THREADS];

static void segments_setup(void)
{
  graph_setup();
  struct clock clock = {0};
  work(state_of(0), &clock, 4);
  for (int i = 0; i < ORDER_THREADS; i++)
    copied[i] = clock_copy(state_of(0), &clock);
  clock_clear(state_of(0), &clock);
  critical_path_stop_thread(state_of(0));
}

/* Threads release a path; the last one frees it, and others use its memory. */
static void segments_run(int thread)
{
  struct thread_state *t = state_of(thread);
  struct clock other = {0};
  MUST(sum_of(&copied[thread].path) == 4);
  clock_clear(t, &copied[thread]);
  critical_path_stop_thread(t);
  work(t, &other, 4);
  MUST(sum_of(&other.path) == 4);
  clock_clear(t, &other);
}

struct keyed {
  struct key_item item;
  uint64_t value;
};
static uint32_t map;

static void keys_setup(void)
{
  graph_setup();
  pool_init(&pool, sizeof(struct keyed));
  memset(hands, 0, sizeof hands);
  map = 0;
}

static void find_keys(void)
{
  for (uint64_t key = 1; key < 4; key++) {
    uint32_t index = key_map_find(&pool, &map, key);
    MUST(!index || ((struct keyed *)pool_at(&pool, index))->value == 10 * key);
  }
}

/* Two threads add the keys 1 and 2, 2 and 3; all look for them. */
static void keys_run(int thread)
{
  for (uint64_t key = (uint64_t)thread + 1; thread < 2 && key < (uint64_t)thread + 3; key++) {
    uint32_t index = pool_get(&pool, &hands[thread]);
    struct keyed *keyed = pool_at(&pool, index);
    keyed->item.key = key;
    keyed->value = 10 * key;
    uint32_t found = key_map_add(state_of(thread), &pool, &map, index);
    MUST(found && ((struct keyed *)pool_at(&pool, found))->value == 10 * key);
  }
  find_keys();
}

static void keys_check(void)
{
  for (uint64_t key = 1; key < 4; key++)
    MUST(key_map_find(&pool, &map, key));
}

static struct doacross wavefront;

static void doacross_setup(void)
{
  graph_setup();
  memset(&wavefront, 0, sizeof wavefront);
}

static void announce(struct thread_state *t, struct doacross_cursor *own, uint64_t row)
{
  struct clock clock = {0};
  work(t, &clock, 3 + row);
  doacross_source(t, own, (struct doacross_vector){&row, 1, 1}, &clock, clock.base, 0);
  clock_clear(t, &clock);
}

static uint64_t found_row(struct doacross_cursor *own, uint64_t row)
{
  struct doacross_clock source = doacross_sink(own, (struct doacross_vector){&row, 1, 1});
  if (!source.join)
    return 0;
  MUST(sum_of(&source.join->latest.path) == source.join->latest.base);
  return source.join->latest.base + source.moved;
}

/* Two threads announce iterations; the third looks for them, and ends the loop. */
static void doacross_run(int thread)
{
  struct doacross_cursor own = {.loop = &wavefront};
  if (thread < 2) {
    announce(state_of(thread), &own, (uint64_t)thread);
    next_turn();
    return;
  }
  for (uint64_t row = 0; row < 2; row++) {
    uint64_t base = 0;
    while (!base)
      base = found_row(&own, row);
    MUST(base == 3 + row);
  }
  take_turn(2);
  doacross_clear(state_of(2), &wavefront);
}

static struct depend parent, children[3];
static struct clock starts[3];

static void name_address(struct thread_state *t, int child, bool writes)
{
  ompt_dependence_t named = {{.value = 64}, writes ? ompt_dependence_type_inout : ompt_dependence_type_in};
  depend_add(t, &parent, &children[child], &starts[child], &named, 1);
}

static void depend_setup(void)
{
  graph_setup();
  parent = (struct depend){0};
  memset(children, 0, sizeof children);
  memset(starts, 0, sizeof starts);
  name_address(state_of(0), 0, true);
}

/* A task that writes ends, while its parent's thread creates two that read after it. */
static void depend_run(int thread)
{
  struct thread_state *t = state_of(thread);
  if (thread == 0) {
    work(t, &starts[0], 3);
    depend_end(t, &children[0], &starts[0], 0);
    next_turn();
  } else if (thread == 1) {
    name_address(t, 1, false);
    name_address(t, 2, false);
    next_turn();
    take_turn(2);
    depend_wait(t, &children[1], &starts[1], 0);
    MUST(starts[1].base == 3 && sum_of(&starts[1].path) == 3);
    depend_end(t, &children[1], &starts[1], 0);
    depend_clear(t, &parent);
  } else {
    take_turn(2);
    depend_wait(t, &children[2], &starts[2], 0);
    MUST(starts[2].base == 3 && sum_of(&starts[2].path) == 3);
    depend_end(t, &children[2], &starts[2], 0);
  }
}

static uint32_t shared_instance;

static void rows_setup(void)
{
  graph_setup();
  shared_instance =
      directive_enter(state_of(0), directive_row(state_of(0), FORMAT_DIRECTIVE_USER_REGION, (const void *)1), 0, 0);
  uint32_t one = shared_instance;
  for (int i = 1; i < ORDER_THREADS; i++)
    directive_share(state_of(0), one);
}

/* Each thread finds or makes a row, adds to an instance and leaves it; the last one adds that to the row. */
static void rows_run(int thread)
{
  struct thread_state *t = state_of(thread);
  uint32_t row = directive_row(t, FORMAT_DIRECTIVE_USER_REGION, (const void *)(uint64_t)(2 + thread / 2));
  const struct format_directive *found = table_at(directive_table(), row);
  MUST(found->kind == FORMAT_DIRECTIVE_USER_REGION && found->offset == 2 + (uint64_t)thread / 2);
  directive_work(t, shared_instance, 5, 5);
  directive_leave(t, shared_instance);
  directive_stop_thread(t);
}

static void rows_check(void)
{
  const struct table *rows = directive_table();
  MUST(rows->count == 4);
  const struct format_directive *row = table_at(rows, 1);
  MUST(row->instances == 1 && row->work == 15);
}

static uint32_t entered[ORDER_THREADS];

static void contexts_setup(void)
{
  arena_reset();
  memset(&rt, 0, sizeof rt);
  sampling_process.task_creation = true;
  task_context_start();
}

/* All threads find or make the same two contexts. */
static void contexts_run(int thread)
{
  uint32_t created = task_context_create(1, 5, 0, 3);
  entered[thread] = task_context_enter(created, 0x100);
  MUST(created && entered[thread] && task_context_filtered(entered[thread]) == 3);
}

static void contexts_check(void)
{
  MUST(entered[0] == entered[1] && entered[0] == entered[2]);
}

enum { TEAM = 2 };
static uint64_t team_region;
static uint32_t implicit[TEAM], alone;

static uint32_t implicit_task(struct thread_state *t, uint64_t region)
{
  uint32_t index = explicit_task_new(t);
  graph_task(index)->flags = TASK_IMPLICIT | TASK_STARTED;
  graph_task(index)->region = region;
  return index;
}

/* A region of two threads, which have begun their implicit tasks.  The second one has another region of its own. */
static void team_setup(void)
{
  graph_setup_of(TEAM);
  struct thread_state *t = state_of(0);
  team_region = region_begin(t, 0);
  span_parallel_begin(t, 0, team_region, 0, NULL, 0, 0);
  span_team_size(team_region, TEAM);
  uint64_t own_region = region_begin(state_of(1), 0);
  span_parallel_begin(state_of(1), 0, own_region, 0, NULL, 0, 0);
  alone = implicit_task(state_of(1), own_region);
  for (int i = 0; i < TEAM; i++) {
    implicit[i] = implicit_task(state_of(i), team_region);
    graph_run(state_of(i), implicit[i]);
  }
}

static void arrive(struct thread_state *t, uint32_t index, uint64_t keys)
{
  struct task *task = graph_task(index);
  work(t, &task->now, keys);
  task->scope.pending = 1;
  barrier_arrive(t, task, graph_team(task->region));
}

/* Two barriers.  After each one a thread arrives in its own region, which replaces its arrival at the barrier.
 * Meanwhile another thread begins. */
static void barrier_run(int thread)
{
  struct thread_state *t = state_of(thread);
  if (thread == TEAM) {
    begin_thread(thread);
    return;
  }
  struct task *task = graph_task(implicit[thread]);
  for (int round = 0; round < 2; round++) {
    arrive(t, implicit[thread], 3 + (uint64_t)thread);
    next_turn();
    take_turn(2 * round + 2);
    if (thread == 1) {
      graph_task(alone)->interval = task->interval;
      arrive(t, alone, 1);
    }
    barrier_join(t, &task->now, graph_team(team_region), team_region, task->interval++);
    MUST(task->now.base == 4 * ((uint64_t)round + 1) && sum_of(&task->now.path) == task->now.base);
  }
}

static void barrier_check(void)
{
  struct clock end = {0};
  MUST(barrier_close(state_of(0), &end, graph_team(team_region), team_region) == 4 && end.base == 8);
}

/* The creator ends the region, while the other thread, which has left it, arrives in another one. */
static void ends_run(int thread)
{
  struct thread_state *t = state_of(thread);
  arrive(t, implicit[thread], 3 + (uint64_t)thread);
  next_turn();
  take_turn(2);
  if (thread == 0) {
    struct clock end = {0};
    MUST(barrier_close(t, &end, graph_team(team_region), team_region) == 2 && end.base == 4);
    span_parallel_end(t, team_region, 0);
    finish();
    return;
  }
  be_late(1);
  arrive(t, alone, 1);
}

/* Loops that all threads enter and leave, without a barrier between them: more than there are places. */
static void loops_run(int thread)
{
  struct thread_state *t = state_of(thread);
  for (int round = 0; round <= SHARED_LOOPS; round++) {
    worksharing_work_begin(t, implicit[thread], ompt_work_loop, 1, NULL);
    work(t, &graph_task(implicit[thread])->now, 1);
    worksharing_work_end(t, implicit[thread], ompt_work_loop);
  }
}

static void ordered_setup(void)
{
  team_setup();
  for (int i = 0; i < 2; i++)
    worksharing_work_begin(state_of(i), implicit[i], ompt_work_loop, 1, NULL);
}

/* The runtime lets the next ordered region begin before it announces the end of the one before. */
static void ordered_run(int thread)
{
  struct thread_state *t = state_of(thread);
  struct task *task = graph_task(implicit[thread]);
  take_turn(thread);
  worksharing_mutex_acquired(t, ompt_mutex_ordered, 1, 0, NULL);
  if (thread == 0)
    work(t, &task->now, 3);
  else
    MUST(task->now.base == 3 && sum_of(&task->now.path) == 3);
  next_turn();
  worksharing_mutex_released(t, ompt_mutex_ordered, 1, 0, false);
}

/* A lock passes from thread to thread: what its holders did is added up. */
static void chain_run(int thread)
{
  struct thread_state *t = state_of(thread);
  worksharing_mutex_acquired(t, ompt_mutex_lock, 64, 0, NULL);
  span_add_work(t, CCT_NONE, 2);
  worksharing_mutex_released(t, ompt_mutex_lock, 64, 0, false);
}

static void chain_check(void)
{
  worksharing_add_lock_bounds();
  const struct table *rows = directive_table();
  uint64_t bound = 0;
  for (uint32_t i = 1; i < rows->count; i++)
    bound += ((const struct format_directive *)table_at(rows, i))->lock_bound;
  MUST(bound == 4);
}

enum { TASKS = 2 };
static ompt_data_t tasks[ORDER_THREADS][TASKS];
static uint32_t parent_task;

/* The first thread's task has children, of one batch or of two. */
static void create_tasks(bool two)
{
  uint32_t row;
  struct thread_state *t = state_of(0);
  for (uint32_t i = 0; i < TASKS; i++)
    for (int k = 1; k < ORDER_THREADS; k++) {
      tasks[k][i].value = explicit_task_create(t, parent_task, ompt_task_explicit, false, NULL, two ? i : 0, &row);
      span_add_work(t, CCT_NONE, 1);
    }
}

static void tasks_setup(void)
{
  graph_setup();
  parent_task = span_implicit_begin(state_of(0), 0, 0, 0);
  create_tasks(false);
}

static void run_tasks(int thread)
{
  struct thread_state *t = state_of(thread);
  ompt_data_t outer = {.value = rt_task_word(span_implicit_begin(t, 0, 0, 0))};
  for (int i = 0; i < TASKS; i++) {
    MUST(plain_task_begin(t, &outer, &tasks[thread][i], span_of(t)->work.units));
    span_of(t)->work.units += 2;
    MUST(plain_task_end(t, &tasks[thread][i], &outer, span_of(t)->work.units));
  }
}

static uint64_t children_end(struct thread_state *t)
{
  struct clock clock = {0};
  explicit_task_join_children(t, &clock, parent_task);
  MUST(sum_of(&clock.path) == clock.base);
  uint64_t base = clock.base;
  clock_clear(t, &clock);
  return base;
}

/* Threads run tasks, while the parent's thread looks at their ends again and again. */
static void tasks_run(int thread)
{
  if (thread == 0) {
    while (children_end(state_of(0)) < 5)
      ;
  } else {
    run_tasks(thread);
  }
}

static void batches_setup(void)
{
  team_setup();
  begin_thread(2);
  parent_task = implicit[0];
  create_tasks(true);
}

/* Threads run tasks of two batches, and report their ends when the barrier that waits for them ends.  The last one that
 * holds the parent frees it; others then use its memory. */
static void batches_run(int thread)
{
  struct thread_state *t = state_of(thread);
  if (thread == 0) {
    struct clock clock = {0};
    work(t, &clock, 4); /* only the last child is later */
    take_turn(2);
    be_late(2);
    explicit_task_join_interval(t, &clock, team_region, 0);
    MUST(clock.base == 5 && sum_of(&clock.path) == 5);
    clock_clear(t, &clock);
    explicit_task_close(t, graph_task(parent_task));
    explicit_task_unref(t, parent_task);
  } else {
    run_tasks(thread);
    next_turn();
    explicit_task_report(t);
    finish();
  }
  pool_flush(&graph_tasks, &span_of(t)->free_tasks);
  pool_flush(&task_batches, &span_of(t)->free_batches);
  explicit_task_new(t);
}

static uint32_t named[ORDER_THREADS];

static void name_setup(void)
{
  tasks_setup();
  memset(named, 0, sizeof named);
}

/* A detached task begins while another thread fulfils it: both make its structure. */
static void name_run(int thread)
{
  struct thread_state *t = state_of(thread);
  named[thread] = explicit_task_index(t, &tasks[1][0]);
  MUST(named[thread] && graph_task(named[thread])->parent == parent_task);
}

static void name_check(void)
{
  MUST(named[0] == named[1] && named[0] == named[2]);
}

/* ---- regions ---- */

static _Atomic uint64_t handle, latest;

static void region_setup(void)
{
  graph_setup();
  atomic_store(&handle, 0);
}

/* A master begins and ends regions.  A worker takes part in each, and is sampled there; samples of the third thread
 * look whether a region is open, which may have ended. */
static void region_run(int thread)
{
  struct thread_state *t = state_of(thread);
  for (int round = 0; round < 2; round++) {
    uint32_t filtered;
    if (thread == 0) {
      uint64_t begun = region_begin(t, 0x1000);
      region_innermost(t)->team = 2;
      atomic_store_explicit(&handle, begun, memory_order_release);
      uint32_t node = cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_FRAME, 1, (uint32_t)round});
      next_turn();
      if (round == 0)
        region_publish(t, region_innermost(t), node, 0);
      take_turn(2 * round + 2);
      struct format_region *open = region_end(t);
      if (open) {
        region_publish(t, open, node, 0);
        region_close(t);
      }
    } else if (thread == 1) {
      take_turn(2 * round + 1);
      uint64_t region = atomic_load_explicit(&handle, memory_order_acquire);
      MUST(region_base(t, region, &filtered) != CCT_NONE);
      region_resolve(t);
      next_turn();
      while (sampling_of(t)->pending_count)
        region_resolve(t);
    } else {
      uint64_t region = atomic_load_explicit(&handle, memory_order_acquire);
      region_open(region);
    }
  }
}

/* A sample of a thread that has left the region still has its handle. */
static void late_run(int thread)
{
  struct thread_state *t = state_of(thread);
  uint32_t filtered;
  if (thread == 0) {
    for (int round = 0; round < 2; round++) {
      atomic_store_explicit(&handle, region_begin(t, 0x1000), memory_order_release);
      struct format_region *open = region_end(t);
      if (open) {
        region_publish(t, open, cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_FRAME, 1, (uint32_t)round}), 0);
        region_close(t);
      }
    }
  } else {
    uint64_t region = atomic_load_explicit(&handle, memory_order_acquire);
    if (region && region_base(t, region, &filtered) != CCT_NONE)
      while (sampling_of(t)->pending_count)
        region_resolve(t);
  }
}

static void recycled_setup(void)
{
  graph_setup();
  struct thread_state *t = state_of(0);
  region_begin(t, 0);
  region_begin(t, 0);
  region_end(t);
  region_end(t);
  region_unregister(t);
}

/* Threads begin and end regions, whose records they take from the shared list and give back. */
static void recycled_run(int thread)
{
  struct thread_state *t = state_of(thread);
  for (int round = 0; round < 2; round++) {
    uint64_t begun = region_begin(t, (uint64_t)thread);
    MUST(region_open(begun) && region_innermost(t)->owner == t->index);
    MUST(!region_end(t) && !region_open(begun));
    region_unregister(t);
  }
}

/* Each record is in the list once. */
static void recycled_check(void)
{
  uint32_t records = region_table()->count, found = 0;
  for (; region_table()->count == records; found++)
    MUST(region_begin(state_of(0), 0));
  MUST(found == records); /* without the first, which is none, and with the new one */
}

/* One more region than there are places for their ends. */
static void end_setup(void)
{
  graph_setup();
  atomic_store(&latest, 0);
  struct thread_state *t = state_of(0);
  for (unsigned i = 0; i < REGION_ENDS; i++) {
    uint64_t begun = region_begin(t, 0);
    region_innermost(t)->team = 2;
    region_note_end(t, 10, 10, 10);
    region_end(t);
    if (i == 0)
      atomic_store(&handle, begun);
  }
}

/* A thread looks for the end of a region, while its master ends another one, and then for that. */
static void end_run(int thread)
{
  struct thread_state *t = state_of(thread);
  if (thread == 0) {
    uint64_t begun = region_begin(t, 0);
    atomic_store(&latest, begun);
    region_note_begin(begun, (struct region_beginning){20, 20});
    region_innermost(t)->team = 2;
    region_note_end(t, 20, 20, 20);
    region_end(t);
    return;
  }
  struct region_end end;
  uint64_t region = atomic_load(&handle), next = 0;
  if (region_find_end(region, region_team((uint32_t)region), &end))
    MUST(end.left == 10 && end.end == 10 && end.late == 10);
  while (!next)
    next = atomic_load(&latest);
  while (!region_find_end(next, region_team((uint32_t)next), &end))
    order_switch();
  MUST(end.left == 20 && end.end == 20 && end.late == 20);
}

static uint64_t teams[2];

static void idle_setup(void)
{
  graph_setup();
  for (int i = 0; i < 2; i++)
    teams[i] = region_begin(state_of(0), 0);
}

/* A thread turns idle at a barrier of one team, and then at one of another, while a thread of the first team asks when
 * the last one was idle. */
static void idle_run(int thread)
{
  struct thread_state *t = state_of(thread);
  struct region_team *team = region_team((uint32_t)teams[0]);
  if (thread == 0) {
    region_note_idle(t, team, (uint32_t)teams[0], 0, 10);
    next_turn();
    region_note_idle(t, region_team((uint32_t)teams[1]), (uint32_t)teams[1], 0, 20);
    return;
  }
  take_turn(1);
  struct barrier_members all = {.left = __atomic_load_n(&team->members, __ATOMIC_RELAXED)};
  uint64_t last = region_last_idle(team, all, (uint32_t)teams[0], 0);
  MUST(last == 10);
}

/* ---- locks and blame ---- */

static struct blame taken[ORDER_THREADS];

static void blame_setup(void)
{
  blame_start();
  memset(taken, 0, sizeof taken);
}

/* Two threads wait for a lock, the third one releases it. */
static void blame_run(int thread)
{
  const struct blame one = {1000, 500, 750, 1, {{0}}};
  if (thread < 2)
    blame_wait(0x1000, 8, &one);
  else if (__atomic_load_n(&blame_entry(0x1000)->id, __ATOMIC_RELAXED) == 0x1000)
    taken[0] = blame_take(0x1000);
}

static void blame_check_sums(void)
{
  MUST(taken[0].samples + blame_left() == 2 && taken[0].time_ns == 1000 * taken[0].samples);
}

static void sampled_setup(void)
{
  graph_setup();
  blame_start();
}

/* A thread begins and ends a region, and waits; another one ends; samples of a third one look at both. */
static void sampled_run(int thread)
{
  struct thread_state *t = state_of(thread);
  if (thread == 0) {
    t->helper = true;
    blame_openmp_begin(t, false);
    region_begin(t, 0);
    rt_set_idle(t, true);
    rt_set_idle(t, false);
    rt_change_lockwait(t, true, rt_ticks());
    rt_change_lockwait(t, false, rt_ticks());
    region_end(t);
    blame_openmp_end(t);
  } else if (thread == 1) {
    rt_set_idle(t, true);
    live_threads_remove(t);
  } else {
    struct blame share = blame_slept(t, 1000);
    MUST(share.per_busy_ns <= 1000 && share.in_use_ns >= share.per_busy_ns);
    held_up_wait(t, 1, rt_ticks(), true);
  }
}

static void waiters_setup(void)
{
  memset(&rt, 0, sizeof rt);
  lock_waiters_start();
}

static void waiters_run(int thread)
{
  struct lock_release release;
  if (thread == 2) {
    if (lock_waiters_any(0x1000))
      lock_waiters_take(0x1000, &release);
  } else {
    MUST(lock_waiters_begin(0x1000, 8, 100));
    MUST(lock_waiters_ended(0x1000, 8, 100));
  }
}

static void waiters_check(void)
{
  MUST(!lock_waiters_of(0x1000)->id && !lock_waiters_of(0x1000)->count);
}

static void pools_setup(void)
{
  graph_setup();
  modules_start("");
  pools_start();
  sampling_process.openmp = false;
  atomic_store(&rt.closed, true); /* so that the contexts of waits are not sought */
  for (int i = 0; i < ORDER_THREADS; i++)
    waiting_pool_site(state_of(i), &pool);
  atomic_store(&rt.closed, false);
}

/* Threads wait at one object: the second one turns the first one idle. */
static void pools_run(int thread)
{
  struct thread_state *t = state_of(thread);
  MUST(pools_begin(t, &pool, FORMAT_LOCK_CONDITION, &pool, true));
  pools_end(t, false);
  MUST(!t->activity.idle && !t->activity.call);
}

/* ---- filters ---- */

static struct filter filters[2];

static void filter_setup(void)
{
  memset(filters, 0, sizeof filters);
  atomic_store(&filter_current, &filters[0]);
}

static void filter_run(int thread)
{
  if (thread == 0) {
    filters[1].needs = 1;
    filter_publish(&filters[1], 5);
    return;
  }
  const struct filter *now = filter_now();
  MUST(!now->needs == (now == &filters[0]) && !now->since_ns == !now->needs);
}

/* ---- records of switches ---- */

static uint64_t ring[1024];

static void ring_setup(void)
{
  memset(&rt, 0, sizeof rt);
  memset(states, 0, sizeof states);
  memset(records, 0, sizeof records);
  memset(ring, 0, sizeof ring);
  atomic_store(&sampling_process.ring_readers, 0);
  struct thread_state *t = state_of(0);
  t->tid = sys_tid();
  t->record = &records[0];
  sampling_of(t)->switches.ring = ring;
}

/* A thread gives its ring back, which is then unmapped, while samples of others look into it. */
static void ring_run(int thread)
{
  struct thread_state *t = state_of(0);
  if (thread == 0) {
    switches_stop(t);
    return;
  }
  switches_readers(1);
  switches_state(t);
  switches_readers(-1);
}

const struct scenario order_scenarios[] = {
    {"pool", 3, pool_setup, pool_run, pool_check},
    {"arena", 3, arena_setup, arena_run, NULL},
    {"blocks", 3, arena_setup, blocks_run, NULL},
    {"table", 2, table_setup, table_run, NULL},
    {"reach", 3, table_setup, reach_run, NULL},
    {"closed", 3, ctl_setup, closed_run, NULL},
    {"forking", 3, ctl_setup, forking_run, NULL},
    {"suspended", 3, ctl_setup, suspended_run, NULL},
    {"pauses", 2, pauses_setup, pauses_run, NULL},
    {"live", 2, live_setup, live_run, NULL},
    {"join", 3, join_setup, join_run, NULL},
    {"segments", 3, segments_setup, segments_run, NULL},
    {"keys", 3, keys_setup, keys_run, keys_check},
    {"doacross", 3, doacross_setup, doacross_run, NULL},
    {"depend", 3, depend_setup, depend_run, NULL},
    {"contexts", 3, contexts_setup, contexts_run, contexts_check},
    {"rows", 3, rows_setup, rows_run, rows_check},
    {"barrier", 3, team_setup, barrier_run, barrier_check},
    {"ends", 2, team_setup, ends_run, NULL},
    {"loops", 2, team_setup, loops_run, NULL},
    {"ordered", 2, ordered_setup, ordered_run, NULL},
    {"chain", 2, team_setup, chain_run, chain_check},
    {"tasks", 3, tasks_setup, tasks_run, NULL},
    {"batches", 3, batches_setup, batches_run, NULL},
    {"name", 3, name_setup, name_run, name_check},
    {"region", 3, region_setup, region_run, NULL},
    {"late", 2, region_setup, late_run, NULL},
    {"recycled", 3, recycled_setup, recycled_run, recycled_check},
    {"end", 2, end_setup, end_run, NULL},
    {"idle", 2, idle_setup, idle_run, NULL},
    {"blame", 3, blame_setup, blame_run, blame_check_sums},
    {"sampled", 3, sampled_setup, sampled_run, NULL},
    {"waiters", 3, waiters_setup, waiters_run, waiters_check},
    {"pools", 3, pools_setup, pools_run, NULL},
    {"filter", 2, filter_setup, filter_run, NULL},
    {"ring", 2, ring_setup, ring_run, NULL},
    {NULL, 0, NULL, NULL, NULL},
};
