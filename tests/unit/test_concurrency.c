/* RT: shared structures, used by several threads at once.  It is also built with the thread sanitizer:
 * tests/fuzz/races.py. */
#include "hpcrun-lite/rt/core/budget.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/task_context.h"
#include "hpcrun-lite/rt/span/barrier.h"
#include "hpcrun-lite/rt/span/critical_path.h"
#include "hpcrun-lite/rt/span/depend.h"
#include "hpcrun-lite/rt/span/doacross.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/plain_task.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/worksharing.h"
#include "tests/unit/rt_threads.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, ROUNDS = 400 };
static struct measured_thread states[THREADS];

static struct thread_state *state_of(unsigned i)
{
  return (struct thread_state *)&states[i];
}
static struct format_thread records[THREADS];
static pthread_barrier_t all;

static int setup(void **state)
{
  (void)state;
  arena_reset();
  sampling_process.metric_count = 6;
  rt.epoch = 7;
  span_process.online = sampling_process.task_creation = true;
  span_process.work_unit = WORK_USER;
  memset(records, 0, sizeof records);
  modules_start("");
  region_start();
  live_threads_start();
  blame_start();
  task_context_start();
  span_start();
  for (uint32_t i = 0; i < THREADS; i++) {
    rt_thread_init(state_of(i), i + 1, &records[i]);
    assert_true(live_threads_add(state_of(i)));
    span_start_thread(state_of(i));
  }
  return 0;
}

/* Runs it in each thread, with the state of that thread. */
static void run(void *(*body)(void *))
{
  pthread_t thread[THREADS];
  pthread_barrier_init(&all, NULL, THREADS);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, body, state_of(i)), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  pthread_barrier_destroy(&all);
}

static unsigned number(const struct thread_state *t)
{
  return (unsigned)((const struct measured_thread *)t - states);
}

/* ---- memory ---- */

struct item {
  struct pool_item pool;
  uint64_t owner;
};

static struct pool pool;
static struct pool_cache hands[THREADS];
enum { HELD = 300 };
static uint32_t held[THREADS][HELD];
static atomic_int wrong;

static void *use_pool(void *state)
{
  unsigned self = number(state), other = (self + 1) % THREADS;
  for (int round = 0; round < ROUNDS / 10; round++) {
    for (int i = 0; i < HELD; i++) {
      held[self][i] = pool_get(&pool, &hands[self]);
      ((struct item *)pool_at(&pool, held[self][i]))->owner = self;
    }
    pthread_barrier_wait(&all);
    for (int i = 0; i < HELD; i++) { /* this thread frees what another one has allocated */
      wrong += ((struct item *)pool_at(&pool, held[other][i]))->owner != other;
      pool_put(&pool, &hands[self], held[other][i]);
    }
    pthread_barrier_wait(&all);
  }
  return NULL;
}

static void pools(void **state)
{
  (void)state;
  memset(hands, 0, sizeof hands);
  pool_init(&pool, sizeof(struct item));
  atomic_store(&wrong, 0);
  run(use_pool);
  assert_int_equal(wrong, 0);
}

static void *use_arena(void *state)
{
  const struct thread_state *t = state;
  for (int round = 0; round < ROUNDS; round++) {
    struct format_extent *extent[4];
    for (unsigned i = 0; i < 4; i++) {
      extent[i] = arena_new(ARENA_WALK, 0, FORMAT_FREE, t->index, 64, 16);
      memset(arena_data(extent[i]), (int)t->index, 1024);
    }
    for (unsigned i = 0; i < 4; i++) {
      const uint8_t *bytes = arena_data(extent[i]);
      wrong += bytes[0] != t->index || bytes[1023] != t->index;
      arena_free(ARENA_WALK, 0, extent[i]);
    }
  }
  return NULL;
}

static void extents(void **state)
{
  (void)state;
  atomic_store(&wrong, 0);
  run(use_arena);
  assert_int_equal(wrong, 0);
}

enum { BLOCK_ROUNDS = 200, LIMIT_BYTES = 2 << 20, EXTENT_BYTES = 1024 };

/* All threads find that there is no block, in each round. */
static void *begin_blocks(void *unused)
{
  (void)unused;
  pthread_barrier_wait(&all);
  wrong += !arena_new(ARENA_WALK, 0, FORMAT_FREE, 1, EXTENT_BYTES - sizeof(struct format_extent), 1);
  return NULL;
}

/* Of a limited memory, blocks that several threads had mapped at once would be used by one thread only. */
static void threads_share_a_new_block(void **state)
{
  (void)state;
  atomic_store(&wrong, 0);
  budget_start(LIMIT_BYTES);
  for (int round = 0; round < BLOCK_ROUNDS; round++) {
    arena_reset();
    run(begin_blocks);
    unsigned extents = THREADS;
    while (arena_new(ARENA_WALK, 0, FORMAT_FREE, 1, EXTENT_BYTES - sizeof(struct format_extent), 1))
      extents++;
    assert_int_equal(extents, LIMIT_BYTES / EXTENT_BYTES);
  }
  budget_start(0);
  assert_int_equal(wrong, 0);
}

/* ---- clocks ---- */

static struct join meeting;

static uint64_t sum_of(const struct critical_path *path)
{
  struct critical_path_cursor place = {.path = path};
  uint64_t sum = 0;
  for (const struct critical_path_item *item; (item = critical_path_next(&place));)
    sum += item->amount;
  return sum;
}

static void *use_joins(void *state)
{
  struct thread_state *t = state;
  struct clock clock = {0};
  for (uint64_t round = 0; round < ROUNDS * 4; round++) {
    critical_path_add(t, &clock.path, CRITICAL_PATH_KEY(round * t->index % 50, t->index, 0), 3);
    clock.base += 3;
    clock.burdened += 3;
    join_offer(t, &meeting, &clock);
    if (round % 3 == 0)
      join_take(t, &clock, &meeting);
    wrong += sum_of(&clock.path) != clock.base;
  }
  clock_clear(t, &clock);
  return NULL;
}

static void joins(void **state)
{
  (void)state;
  atomic_store(&wrong, 0);
  run(use_joins);
  assert_int_equal(wrong, 0);
  assert_int_equal(sum_of(&meeting.latest.path), meeting.latest.base);
  join_clear(state_of(0), &meeting);
}

/* ---- directives ---- */

static uint32_t shared_instance;

static void *use_directives(void *state)
{
  struct thread_state *t = state;
  for (uint64_t round = 0; round < ROUNDS; round++) {
    uint32_t row = directive_row(t, FORMAT_DIRECTIVE_TASK, (const void *)(0x1000 + round % 40));
    directive_ended(t, row, 1, 5, 2);
    if (t == state_of(0))
      shared_instance = directive_enter(t, directive_row(t, FORMAT_DIRECTIVE_PARALLEL, (const void *)0x10), 0, 0);
    pthread_barrier_wait(&all);
    uint32_t own = directive_share(t, shared_instance);
    directive_work(t, own, 7, 7);
    directive_leave(t, own);
    pthread_barrier_wait(&all);
    if (t == state_of(0))
      directive_leave(t, shared_instance);
  }
  return NULL;
}

static void directives(void **state)
{
  (void)state;
  run(use_directives);
  uint64_t tasks = 0, regions = 0, work = 0;
  for (int i = 0; i < THREADS; i++)
    directive_add_sums(state_of(i));
  const struct table *rows = directive_table();
  for (uint32_t i = 1; i < rows->count; i++) {
    const struct format_directive *row = table_at(rows, i);
    tasks += row->kind == FORMAT_DIRECTIVE_TASK ? row->instances : 0;
    regions += row->kind == FORMAT_DIRECTIVE_PARALLEL ? row->instances : 0;
    work += row->work;
  }
  assert_int_equal(rows->count, 42);
  assert_int_equal(tasks, THREADS * ROUNDS);
  assert_int_equal(regions, ROUNDS);
  assert_int_equal(work, (uint64_t)ROUNDS * THREADS * (5 + 7));
}

/* ---- regions ---- */

static _Atomic uint64_t handle;

static void *use_regions(void *state)
{
  struct thread_state *t = state;
  bool master = t == state_of(0);
  for (int round = 0; round < ROUNDS; round++) {
    if (master)
      atomic_store(&handle, region_begin(t, 0x1000));
    pthread_barrier_wait(&all);
    uint64_t region = atomic_load(&handle);
    uint32_t filtered;
    if (master) {
      uint32_t node = cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_FRAME, 1, (uint32_t)round});
      if (round % 2) /* the region was sampled, or is asked for at its end */
        region_publish(t, region_innermost(t), node, 0);
      struct format_region *open = region_end(t);
      if (open) {
        region_publish(t, open, node, 0);
        region_close(t);
      }
      region_resolve(t);
    } else if (region_open(region) && region_base(t, region, &filtered) != CCT_NONE) {
      region_resolve(t);
    }
    pthread_barrier_wait(&all);
    region_resolve(t);
    wrong += sampling_of(t)->pending_count != 0;
  }
  return NULL;
}

static void regions(void **state)
{
  (void)state;
  atomic_store(&wrong, 0);
  run(use_regions);
  assert_int_equal(wrong, 0);
  assert_in_range(region_table()->count, 2, 20);
}

/* ---- blame ---- */

static _Atomic uint64_t left, lost, taken;

static void *use_blame(void *state)
{
  struct thread_state *t = state;
  const struct blame one = {1000, 500, 750, 1, {{0}}};
  blame_openmp_begin(t, false);
  for (uint64_t round = 0; round < ROUNDS * 4; round++) {
    uint64_t id = 0x1000 + 16 * (round % 3);
    rt_change_lockwait(t, true, rt_ticks());
    atomic_fetch_add(blame_wait(id, 8, &one) ? &left : &lost, 1);
    rt_change_lockwait(t, false, rt_ticks());
    if (blame_pending(id))
      atomic_fetch_add(&taken, blame_take(id).samples);
    rt_set_idle(t, true);
    struct blame share = blame_share(t, 1000);
    wrong += share.per_busy_ns > 1000 || share.in_use_ns < share.per_busy_ns;
    rt_set_idle(t, false);
    if (blame_blocked(t))
      blame_unblocked(t);
  }
  blame_openmp_end(t);
  return NULL;
}

static void blames(void **state)
{
  (void)state;
  atomic_store(&wrong, 0);
  sampling_process.time_event = -1; /* no contexts for the calls that block */
  run(use_blame);
  assert_int_equal(wrong, 0);
  assert_int_equal(left, taken + blame_left());
  assert_int_equal(left + lost, THREADS * ROUNDS * 4);
  assert_int_equal(atomic_load(&sampling_process.in_use), 0);
}

/* ---- doacross ---- */

enum { ROWS = 40, COLUMNS = 200 };
static struct doacross wavefront;
static atomic_int done[ROWS + 1];

/* Row i is the thread's of number i % THREADS; the counter of the row before stands for the OpenMP runtime. */
static void *use_doacross(void *state)
{
  struct thread_state *t = state;
  struct doacross_cursor own = {.loop = &wavefront};
  for (unsigned row = number(t); row < ROWS; row += THREADS) {
    uint64_t before = 0;
    for (int column = 0; column < COLUMNS; column++) {
      uint64_t values[] = {row - 1, 0, (uint64_t)column}, here[] = {row, (uint64_t)column};
      struct doacross_vector above = {values, 2, 2};
      bool announced = row && doacross_sink(&own, above).join;
      while (row && atomic_load(&done[row - 1]) <= column)
        sched_yield();
      struct doacross_clock source = doacross_sink(&own, above);
      wrong += announced && !source.join;
      uint64_t latest = source.join ? source.join->latest.base + source.moved : 0;
      wrong += !source.join != !row || latest != (row ? row + (uint64_t)column : 0);
      struct clock clock = {.base = latest > before ? latest + 1 : before + 1};
      clock.burdened = clock.base;
      critical_path_add(t, &clock.path, CRITICAL_PATH_KEY(1 + column / 3, 0, 0), clock.base);
      doacross_source(t, &own, (struct doacross_vector){here, 1, 2}, &clock, clock.base, 0);
      before = clock.base;
      atomic_store(&done[row], column + 1);
    }
  }
  return NULL;
}

static void doacross_loops(void **state)
{
  (void)state;
  atomic_store(&wrong, 0);
  for (int round = 0; round < 3; round++) {
    for (int row = 0; row < ROWS; row++)
      atomic_store(&done[row], 0);
    run(use_doacross);
    doacross_clear(state_of(round), &wavefront);
  }
  assert_int_equal(wrong, 0);
}

/* Each thread's child waits for those of all threads in the round before; ends come from other threads. */
static struct depend parent, children[THREADS];
static struct clock starts[THREADS];

static void *end_child(void *state)
{
  struct thread_state *t = state;
  unsigned self = number(t);
  depend_wait(t, &children[self], &starts[self], 0);
  starts[self].base += self + 1;
  starts[self].burdened += self + 1;
  depend_end(t, &children[self], &starts[self], 0);
  return NULL;
}

static void ends_of_dependent_tasks(void **state)
{
  (void)state;
  enum { OUT = 2 };
  uint64_t expected = 0;
  for (uint64_t round = 0; round < 20; round++) {
    for (unsigned i = 0; i < THREADS; i++) {
      ompt_dependence_t named[THREADS + 1];
      for (unsigned k = 0; k < THREADS; k++)
        named[k] = (ompt_dependence_t){{.value = 64 * k + round % 2 * 8}, ompt_dependence_type_in};
      named[THREADS] = (ompt_dependence_t){{.value = 64 * i + (round + 1) % 2 * 8}, OUT};
      starts[i] = (struct clock){0};
      depend_add(state_of(0), &parent, &children[i], &starts[i], named, THREADS + 1);
    }
    run(end_child);
    expected += THREADS; /* the longest child of each round */
  }
  struct clock last = {0};
  struct depend child = {0};
  depend_add(state_of(0), &parent, &child, &last,
             &(ompt_dependence_t){.dependence_type = ompt_dependence_type_out_all_memory}, 1);
  assert_int_equal(last.base, expected);
  depend_end(state_of(0), &child, NULL, 0);
  depend_clear(state_of(0), &parent);
}

/* ---- interning ---- */

static uint32_t strings[THREADS][50], entered[THREADS][50];

static void *use_interned(void *state)
{
  struct thread_state *t = state;
  unsigned self = number(t);
  for (unsigned round = 0; round < ROUNDS; round++) {
    uint32_t index;
    const struct format_module *module =
        modules_find(t, (uint64_t)(round % 2 ? (void *)malloc : (void *)use_interned), &index);
    wrong += !module || module->start >= module->end;
    entered[self][round % 50] = task_context_enter(0, 0x100 + round % 50);
    strings[self][round % 50] = modules_string("text");
  }
  return NULL;
}

static void interned(void **state)
{
  (void)state;
  atomic_store(&wrong, 0);
  run(use_interned);
  assert_int_equal(wrong, 0);
  for (int i = 1; i < THREADS; i++)
    assert_memory_equal(entered[i], entered[0], sizeof entered[0]);
}

/* ---- barriers ---- */

static uint64_t team_region;

static uint32_t implicit_task(struct thread_state *t, uint64_t region)
{
  uint32_t made = explicit_task_new(t);
  graph_task(made)->flags = TASK_IMPLICIT | TASK_STARTED;
  graph_task(made)->region = region;
  return made;
}

static void arrive_at(struct thread_state *t, uint32_t made, uint64_t base)
{
  struct task *task = graph_task(made);
  task->now.base = task->now.burdened = base;
  task->now.path.items[0] = (struct critical_path_item){1, base};
  task->scope.pending = 1;
  barrier_arrive(t, task, graph_team(task->region));
}

/* Each thread works differently long in each round; between its barriers it is in a loop of the team, and every other
 * one is alone in a region of its own, whose arrival replaces that at the barrier. */
static void *use_barriers(void *state)
{
  struct thread_state *t = state;
  unsigned self = number(t);
  uint64_t own_region = region_begin(t, 0);
  span_parallel_begin(t, 0, own_region, 0, &states, 0, 0);
  uint32_t made = implicit_task(t, team_region), own = implicit_task(t, own_region);
  struct task *task = graph_task(made), *alone = graph_task(own);
  for (unsigned round = 0; round < ROUNDS; round++) {
    worksharing_work_begin(t, made, ompt_work_loop, 1, &states);
    worksharing_work_end(t, made, ompt_work_loop);
    arrive_at(t, made, 10 * round + (self + round) % THREADS);
    pthread_barrier_wait(&all);
    if ((self + round) % 2) {
      alone->interval = task->interval;
      arrive_at(t, own, 10 * round);
    }
    barrier_join(t, &task->now, graph_team(team_region), team_region, task->interval++);
    wrong += task->now.base != 10 * round + THREADS - 1 || task->now.path.items[0].amount != task->now.base;
  }
  wrong += barrier_close(t, NULL, graph_team(own_region), own_region) != ROUNDS / 2;
  return NULL;
}

static void barriers(void **state)
{
  (void)state;
  struct thread_state *t = state_of(0);
  struct clock end = {0};
  atomic_store(&wrong, 0);
  team_region = region_begin(t, 0);
  span_parallel_begin(t, 0, team_region, 0, &states, 0, 0);
  span_team_size(team_region, THREADS);
  run(use_barriers);
  assert_int_equal(wrong, 0);
  assert_int_equal(barrier_close(t, &end, graph_team(team_region), team_region), THREADS * ROUNDS);
  assert_int_equal(end.base, 10 * (ROUNDS - 1) + THREADS - 1);
  for (int i = 0; i < SHARED_LOOPS; i++)
    assert_int_equal(graph_team(team_region)->loops[i].number, 0);
}

/* ---- plain tasks ---- */

enum { CHILDREN = 20000 };
static ompt_data_t plain_children[THREADS][CHILDREN];
static uint32_t parent_of_plain;
static _Atomic unsigned threads_running;

static uint64_t path_sum(const struct critical_path *path)
{
  struct critical_path_cursor place = {.path = path};
  uint64_t sum = 0;
  const struct critical_path_item *item;
  while ((item = critical_path_next(&place)))
    sum += item->amount;
  return sum;
}

/* The parent's thread looks at the latest end again and again, while others end children.  Where a thread has lost its
 * processor while it wrote an end, this one is left out for the moment. */
static void watch_ends(struct thread_state *t)
{
  enum { AGAIN_MAX = 1000000 };
  uint64_t last = 0;
  int again = 0;
  do {
    struct clock clock = {0};
    explicit_task_join_children(t, &clock, parent_of_plain);
    again = clock.base < last ? again + 1 : 0;
    if (path_sum(&clock.path) != clock.base || again > AGAIN_MAX)
      atomic_fetch_add(&wrong, 1);
    last = again ? last : clock.base;
    clock_clear(t, &clock);
    if (again)
      sched_yield();
  } while (atomic_load(&threads_running) > 0);
}

static void *use_plain_tasks(void *state)
{
  struct thread_state *t = state;
  pthread_barrier_wait(&all);
  if (t == state_of(0)) {
    watch_ends(t);
    return NULL;
  }
  ompt_data_t outer = {.value = rt_task_word(span_implicit_begin(t, 0, 0, 0))};
  for (unsigned i = 0; i < CHILDREN; i++) {
    ompt_data_t *child = &plain_children[number(t)][i];
    bool begun = plain_task_begin(t, &outer, child, span_of(t)->work.units);
    span_of(t)->work.units += 1 + i % 7;
    if (!begun || !plain_task_end(t, child, &outer, span_of(t)->work.units))
      atomic_fetch_add(&wrong, 1);
  }
  atomic_fetch_sub(&threads_running, 1);
  return NULL;
}

/* Child i of a thread begins when the parent has done THREADS * i or a little more. */
static void ends_of_plain_tasks(void **state)
{
  (void)state;
  struct thread_state *t = state_of(0);
  uint32_t row;
  parent_of_plain = span_implicit_begin(t, 0, 0, 0);
  for (unsigned i = 0; i < CHILDREN; i++)
    for (unsigned k = 1; k < THREADS; k++) {
      plain_children[k][i].value = explicit_task_create(t, parent_of_plain, ompt_task_explicit, false, &row, 0, &row);
      span_add_work(t, CCT_NONE, 1);
    }
  atomic_store(&wrong, 0);
  atomic_store(&threads_running, THREADS - 1);
  run(use_plain_tasks);
  assert_int_equal(wrong, 0);
  struct clock clock = {0};
  uint64_t begun = (uint64_t)(THREADS - 1) * CHILDREN - 1;
  explicit_task_join_children(t, &clock, parent_of_plain);
  assert_true(clock.base >= begun && clock.base <= begun + 7 && path_sum(&clock.path) == clock.base);
  clock_clear(t, &clock);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(pools, setup),
      cmocka_unit_test_setup(extents, setup),
      cmocka_unit_test_setup(threads_share_a_new_block, setup),
      cmocka_unit_test_setup(joins, setup),
      cmocka_unit_test_setup(directives, setup),
      cmocka_unit_test_setup(regions, setup),
      cmocka_unit_test_setup(blames, setup),
      cmocka_unit_test_setup(interned, setup),
      cmocka_unit_test_setup(doacross_loops, setup),
      cmocka_unit_test_setup(ends_of_dependent_tasks, setup),
      cmocka_unit_test_setup(barriers, setup),
      cmocka_unit_test_setup(ends_of_plain_tasks, setup),
  };
  return UNIT_RUN(argc, argv, "concurrency", tests, NULL, NULL);
}
