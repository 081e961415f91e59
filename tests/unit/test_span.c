/* RT: pools of records, critical paths, joins, barriers, loops, dependences, instances of constructs. */
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/span/barrier.h"
#include "hpcrun-lite/rt/span/critical_path.h"
#include "hpcrun-lite/rt/span/depend.h"
#include "hpcrun-lite/rt/span/doacross.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/key_map.h"
#include "hpcrun-lite/rt/span/plain_task.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/worksharing.h"
#include "tests/unit/rt_threads.h"

#include <sys/resource.h>

static struct measured_thread states[2];
static struct thread_state *const one = (struct thread_state *)&states[0];
static struct thread_state *const two = (struct thread_state *)&states[1];
static struct format_thread records[2];

static void thread_reset(struct thread_state *t, uint32_t index)
{
  rt_thread_init(t, index, &records[index - 1]);
  span_start_thread(t);
}

static int setup(void **state)
{
  (void)state;
  arena_reset();
  sampling_process.metric_count = 6;
  span_process.online = true;
  span_process.work_unit = WORK_USER;
  memset(records, 0, sizeof records);
  modules_start("");
  region_start();
  span_start();
  thread_reset(one, 1);
  thread_reset(two, 2);
  return 0;
}

static void records_are_allocated_once(void **state)
{
  (void)state;
  enum { COUNT = 5000 };
  struct record {
    struct pool_item pool;
    uint64_t owner;
  };
  static struct pool pool;
  struct pool_cache hands[2] = {{0}};
  static uint32_t got[COUNT];
  pool_init(&pool, sizeof(struct record));
  for (uint32_t round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < COUNT; i++) {
      got[i] = pool_get(&pool, &hands[0]);
      assert_int_not_equal(got[i], 0);
      ((struct record *)pool_at(&pool, got[i]))->owner = i;
    }
    for (uint32_t i = 0; i < COUNT; i++)
      assert_int_equal(((struct record *)pool_at(&pool, got[i]))->owner, i);
    for (uint32_t i = 0; i < COUNT; i++) /* by another thread: batches are returned through the common list */
      pool_put(&pool, &hands[1], got[i]);
  }
  assert_true(pool.table.count < COUNT + 300);
  pool_flush(&pool, &hands[1]);
  assert_int_equal(hands[1].first, 0);
}

/* Returns the sum over a path, and its number of items. */
static uint64_t critical_path_sum(const struct critical_path *path, uint32_t *items)
{
  struct critical_path_cursor place = {.path = path};
  uint64_t sum = 0;
  const struct critical_path_item *item;
  for (*items = 0; (item = critical_path_next(&place)); ++*items)
    sum += item->amount;
  return sum;
}

static uint64_t critical_path_of_key(const struct critical_path *path, uint64_t key)
{
  struct critical_path_cursor place = {.path = path};
  uint64_t sum = 0;
  const struct critical_path_item *item;
  while ((item = critical_path_next(&place)))
    sum += item->key == key ? item->amount : 0;
  return sum;
}

/* A thread may end with more free items than a batch has: those that another thread takes then are counted. */
static void free_items_are_counted(void **state)
{
  enum { ITEMS = 100, KEPT = 10 };
  struct pool pool;
  struct pool_cache ended = {0}, next = {0};
  uint32_t got[ITEMS];
  (void)state;
  pool_init(&pool, sizeof(struct pool_item));
  for (unsigned i = 0; i < ITEMS; i++)
    got[i] = pool_get(&pool, &ended);
  for (unsigned i = KEPT; i < ITEMS; i++)
    pool_put(&pool, &ended, got[i]);
  pool_flush(&pool, &ended);
  assert_int_equal(ended.first, 0);
  for (unsigned i = 0; i < ITEMS; i++) {
    assert_true(pool_get(&pool, &next));
    assert_true(next.count < POOL_BATCH);
  }
}

static void a_path_keeps_its_sum(void **state)
{
  (void)state;
  struct critical_path path = {0};
  uint32_t items;
  for (uint64_t i = 0; i < 100000; i++)
    critical_path_add(one, &path, CRITICAL_PATH_KEY(1 + i % 40, 1, i % 7), i % 10);
  assert_int_equal(critical_path_sum(&path, &items), 450000);
  assert_true(items < 2 * (40 * 7 + 6 * 100)); /* folded repeatedly */
  critical_path_drop(one, &path);
}

/* Also where the path was compacted since, and has more keys than its own items. */
static void what_a_path_has_gained_is_repeated(void **state)
{
  (void)state;
  enum { BEFORE = 10, KEYS = 30, TIMES = 7 };
  uint32_t items;
  for (uint32_t gained = 1; gained <= 600; gained += 599) {
    struct critical_path path = {0};
    for (uint32_t i = 0; i < BEFORE; i++)
      critical_path_add(one, &path, CRITICAL_PATH_KEY(i, 0, 0), 100);
    struct critical_path from = critical_path_copy(one, &path);
    for (uint32_t i = 0; i < gained; i++)
      critical_path_add(one, &path, CRITICAL_PATH_KEY(i % KEYS, 0, 0), 3);
    assert_true(critical_path_repeat(one, &path, &from, TIMES));
    assert_int_equal(critical_path_sum(&path, &items), 100 * BEFORE + 3 * gained * (TIMES + 1));
    assert_int_equal(critical_path_of_key(&path, 0), 100 + 3 * ((gained + KEYS - 1) / KEYS) * (TIMES + 1));
    assert_int_equal(critical_path_sum(&from, &items), 100 * BEFORE);
    assert_false(critical_path_repeat(one, &from, &path, TIMES)); /* it does not go on from that one */
    assert_int_equal(critical_path_sum(&from, &items), 100 * BEFORE);
    critical_path_drop(one, &from);
    critical_path_drop(one, &path);
  }
}

static void the_largest_rows_of_what_a_path_has_gained_are_kept(void **state)
{
  (void)state;
  enum { ROWS = 7, BESIDES = 7, CONTEXTS = 3 };
  struct critical_path path = {0};
  struct critical_path_item parts[CRITICAL_PATH_PARTS];
  critical_path_add(one, &path, CRITICAL_PATH_KEY(2, 0, 0), 1000); /* it has this before */
  struct critical_path from = critical_path_copy(one, &path);
  for (uint64_t context = 0; context < CONTEXTS; context++)
    for (uint64_t row = ROWS; row; row--) /* the smallest come first in the list */
      critical_path_add(one, &path, CRITICAL_PATH_KEY(row, 0, context), 10 * row);
  critical_path_parts(one, &path, &from, CRITICAL_PATH_KEY(BESIDES, 0, 0), parts);
  uint64_t found[ROWS + 1] = {0};
  for (int i = 0; i < CRITICAL_PATH_PARTS; i++)
    found[parts[i].key >> 48] += parts[i].amount;
  for (uint64_t row = 3; row < BESIDES; row++)
    assert_int_equal(found[row], CONTEXTS * 10 * row);
  critical_path_parts(one, &from, &path, 0, parts); /* it does not go on from that one */
  for (int i = 0; i < CRITICAL_PATH_PARTS; i++)
    assert_int_equal(parts[i].amount, 0);
  critical_path_drop(one, &from);
  critical_path_drop(one, &path);
}

static void shared_tails_do_not_change(void **state)
{
  (void)state;
  enum { COPIES = 2000 };
  static struct critical_path copies[COPIES];
  struct critical_path path = {0};
  uint32_t items;
  for (uint64_t i = 1; i <= 5; i++)
    critical_path_add(one, &path, CRITICAL_PATH_KEY(i, 0, 0), 5);
  for (int i = 0; i < COPIES; i++)
    copies[i] = critical_path_copy(one, &path);
  critical_path_add(one, &path, CRITICAL_PATH_KEY(1, 0, 0), 100);
  critical_path_add(two, &copies[0], CRITICAL_PATH_KEY(2, 0, 0), 7);
  assert_int_equal(critical_path_sum(&path, &items), 125);
  assert_int_equal(critical_path_sum(&copies[0], &items), 32);
  assert_int_equal(critical_path_sum(&copies[1], &items), 25);
  critical_path_drop(one, &path);
  for (int i = 1; i < COPIES; i++) /* by another thread: references are returned in bulk */
    critical_path_drop(two, &copies[i]);
  critical_path_stop_thread(one);
  assert_int_equal(critical_path_sum(&copies[0], &items), 32);
  assert_int_equal(critical_path_of_key(&copies[0], CRITICAL_PATH_KEY(1, 0, 0)), 5);
  critical_path_drop(two, &copies[0]);
  critical_path_stop_thread(two);
}

/* Dropped segments are reused: a path that is copied and dropped repeatedly takes no additional memory. */
static void dropped_segments_are_reused(void **state)
{
  (void)state;
  struct critical_path path = {0}, copy;
  uint32_t highest = 0;
  for (uint64_t i = 0; i < 200000; i++) {
    critical_path_add(one, &path, CRITICAL_PATH_KEY(1 + i % 5, 0, 0), 1);
    copy = critical_path_copy(one, &path);
    critical_path_add(two, &copy, CRITICAL_PATH_KEY(9, 0, i % 3), 1);
    highest = path.tail > highest ? path.tail : highest;
    critical_path_drop(two, &copy);
  }
  assert_true(highest < 2000);
  critical_path_drop(one, &path);
}

static void a_join_takes_the_latest_of_each_component(void **state)
{
  (void)state;
  struct join join = {0};
  struct clock a = {.base = 10, .burdened = 30}, b = {.base = 20, .burdened = 25}, c = {0};
  critical_path_add(one, &a.path, CRITICAL_PATH_KEY(1, 0, 0), 10);
  critical_path_add(one, &b.path, CRITICAL_PATH_KEY(2, 0, 0), 20);
  join_offer(one, &join, &a);
  join_offer(two, &join, &b);
  join_take(one, &c, &join);
  assert_int_equal(c.base, 20);
  assert_int_equal(c.burdened, 30);
  assert_int_equal(critical_path_of_key(&c.path, CRITICAL_PATH_KEY(2, 0, 0)), 20);
}

/* Runs a child of `parent` with these dependences: it begins at `clock` or after the tasks that it depends on, and
 * takes `work`. */
static uint64_t run_child(struct depend *parent, uint64_t clock, uint64_t work, const ompt_dependence_t *named,
                          int count)
{
  struct depend child = {0};
  struct clock now = {.base = clock, .burdened = clock};
  depend_add(one, parent, &child, &now, named, count);
  depend_wait(one, &child, &now, 0);
  now.base += work;
  now.burdened += work;
  depend_end(one, &child, &now, 0);
  return now.base;
}

/* Begins a region without a creator's task; returns its handle. */
static uint64_t open_region(struct thread_state *t)
{
  uint64_t region = region_begin(t, 0);
  span_parallel_begin(t, 0, region, 0, &states, 0, 0);
  return region;
}

/* The number of an implicit task in that region. */
static uint32_t implicit_number(struct thread_state *t, uint64_t region)
{
  uint32_t number = explicit_task_new(t);
  graph_task(number)->flags = TASK_IMPLICIT | TASK_STARTED;
  graph_task(number)->region = region;
  return number;
}

/* The same by address; its clock is at `base`, and `work` of it is its own. */
static struct task *implicit_task(struct thread_state *t, uint64_t region, uint64_t base, uint64_t work)
{
  struct task *task = graph_task(implicit_number(t, region));
  task->now = (struct clock){.base = base, .burdened = base, .path.items[0] = {1, base}};
  task->scope.pending = work;
  return task;
}

static void arrivals_are_written_to_lines_of_the_thread(void **state)
{
  (void)state;
  uint64_t region = open_region(one);
  struct team *team = graph_team(region), before;
  struct task *tasks[] = {implicit_task(one, region, 10, 10), implicit_task(two, region, 30, 25)};
  struct clock clock = {0}, end = {0};
  barrier_arrive(one, tasks[0], team); /* from now on the team knows its threads */
  barrier_arrive(two, tasks[1], team);
  memcpy(&before, team, sizeof before);
  for (int i = 0; i < 2; i++) {
    barrier_join(i ? two : one, &tasks[i]->now, team, region, 0);
    assert_int_equal(tasks[i]->now.base, 30);
    tasks[i]->interval++;
    tasks[i]->now.base = tasks[i]->now.burdened = tasks[i]->now.path.items[0].amount = i ? 40 : 50;
    tasks[i]->scope.pending = i ? 10 : 20;
    barrier_arrive(i ? two : one, tasks[i], team);
  }
  barrier_join(one, &clock, team, region, 0);
  assert_int_equal(clock.base, 30);
  barrier_join(two, &clock, team, region, 1);
  assert_int_equal(clock.base, 50);
  assert_int_equal(clock.path.items[0].amount, 50);
  assert_memory_equal(&before, team, sizeof before);
  struct arrivals slots[] = {*span_of(one)->arrivals, *span_of(two)->arrivals};
  assert_int_equal(barrier_close(one, &end, team, region), 10 + 25 + 10 + 20);
  assert_int_equal(end.base, 50);
  assert_memory_equal(&slots[0], span_of(one)->arrivals, sizeof slots[0]);
  assert_memory_equal(&slots[1], span_of(two)->arrivals, sizeof slots[1]);
}

/* The creator has taken the arrivals, but the region is still open when a thread goes on to another one. */
static void an_arrival_is_taken_once(void **state)
{
  (void)state;
  uint64_t ended = open_region(one), other = open_region(two);
  struct team *team = graph_team(ended);
  struct clock end = {0};
  barrier_arrive(two, implicit_task(two, ended, 70, 60), team);
  assert_int_equal(barrier_close(one, &end, team, ended), 60);
  barrier_arrive(two, implicit_task(two, other, 90, 5), graph_team(other));
  assert_int_equal(team->intervals[0].work, 0);
  assert_int_equal(team->intervals[0].ends.join.latest.base, 0);
  assert_int_equal(barrier_close(two, &end, graph_team(other), other), 5);
}

static void an_arrival_is_left_behind_in_an_open_region(void **state)
{
  (void)state;
  uint64_t outer = open_region(one), inner = open_region(two);
  struct team *team = graph_team(outer);
  struct clock clock = {0}, end = {0};
  barrier_arrive(two, implicit_task(two, outer, 70, 60), team);
  barrier_arrive(two, implicit_task(two, inner, 90, 5), graph_team(inner));
  barrier_join(one, &clock, team, outer, 0);
  assert_int_equal(clock.base, 70);
  assert_int_equal(barrier_close(one, &end, team, outer), 60);
  assert_int_equal(end.base, 70);
  assert_int_equal(barrier_close(two, &end, graph_team(inner), inner), 5);
  assert_int_equal(end.base, 90);

  barrier_arrive(two, implicit_task(two, outer, 80, 1), team); /* late: the region has ended */
  team->handle = 0;
  barrier_arrive(two, implicit_task(two, inner, 95, 1), graph_team(inner));
  assert_int_equal(team->intervals[0].work, 0);
  assert_int_equal(team->intervals[0].ends.join.latest.base, 0);
}

static void a_thread_enters_a_loop_without_writing_to_it(void **state)
{
  (void)state;
  uint64_t region = open_region(one);
  uint32_t tasks[] = {implicit_number(one, region), implicit_number(two, region)};
  struct team *team = graph_team(region), before;
  span_team_size(region, 2);
  for (uint32_t number = 1; number < 3; number++) {
    const struct shared_construct *loop = &team->loops[number];
    uint32_t row = worksharing_work_begin(one, tasks[0], ompt_work_loop, 4, &states);
    assert_int_equal(loop->number, number);
    memcpy(&before, team, sizeof before);
    assert_int_equal(worksharing_work_begin(two, tasks[1], ompt_work_loop, 4, NULL), row);
    assert_memory_equal(&before, team, sizeof before);
    worksharing_work_end(two, tasks[1], ompt_work_loop);
    assert_int_equal(loop->number, number);
    if (number < 2) /* the region ends before all have left the other one */
      worksharing_work_end(one, tasks[0], ompt_work_loop);
    assert_int_equal(loop->number, number < 2 ? 0 : number);
  }
  span_parallel_end(one, region, 0);
  for (int i = 0; i < SHARED_LOOPS; i++)
    assert_int_equal(team->loops[i].number, 0);
}

static void count_item(struct thread_state *t, uint32_t item, void *context)
{
  (void)t, (void)item;
  ++*(uint64_t *)context;
}

static ompt_dependence_t on(uint64_t where, int kind)
{
  return (ompt_dependence_t){.variable.value = where, .dependence_type = kind};
}

static void dependences_of_all_kinds(void **state)
{
  (void)state;
  enum { IN = 1, OUT = 2, INOUT = 3, MUTEX = 4, SET = 7, ALL = 34 };
  struct depend parent = {0};
  const ompt_dependence_t out = on(8, OUT), in = on(8, IN), mutex = on(8, MUTEX), set = on(8, SET), all = on(0, ALL),
                          elsewhere = on(16, IN), both[] = {on(8, IN), on(24, OUT)};
  assert_int_equal(run_child(&parent, 0, 10, &out, 1), 10);
  assert_int_equal(run_child(&parent, 1, 3, &in, 1), 13); /* readers in parallel */
  assert_int_equal(run_child(&parent, 2, 7, &in, 1), 17);
  assert_int_equal(run_child(&parent, 3, 1, &elsewhere, 1), 4);
  assert_int_equal(run_child(&parent, 3, 4, &out, 1), 21); /* after all readers */
  assert_int_equal(run_child(&parent, 3, 5, &mutex, 1), 26);
  assert_int_equal(run_child(&parent, 3, 2, &mutex, 1), 23); /* of the same set */
  assert_int_equal(run_child(&parent, 3, 2, &set, 1), 28);   /* of another set */
  assert_int_equal(run_child(&parent, 3, 1, both, 2), 29);
  assert_int_equal(run_child(&parent, 3, 1, &all, 1), 30);
  assert_int_equal(run_child(&parent, 3, 1, &elsewhere, 1), 31);
  const ompt_dependence_t fresh = on(4096, IN);
  assert_int_equal(run_child(&parent, 3, 1, &fresh, 1), 31); /* never named before, but after everything */
  depend_clear(one, &parent);
  assert_int_equal(run_child(&parent, 3, 1, &in, 1), 4);
}

static void a_map_finds_every_key(void **state)
{
  (void)state;
  enum { KEYS = 20000 };
  static const uint64_t factors[] = {1, 8, 32768, 0x9e3779b97f4a7c15ULL, 1ull << 49};
  static struct pool items;
  struct pool_cache cache = {0};
  uint32_t map = 0;
  pool_init(&items, sizeof(struct key_item));
  for (size_t pattern = 0; pattern < sizeof factors / sizeof *factors; pattern++) {
    static uint32_t made[1 << 15];
    uint32_t keys = pattern == 4 ? 1 << 15 : KEYS; /* no key twice */
    for (uint32_t i = 0; i < keys; i++) {
      made[i] = pool_get(&items, &cache);
      ((struct key_item *)pool_at(&items, made[i]))->key = i * factors[pattern];
      assert_int_equal(key_map_find(&items, &map, i * factors[pattern]), 0);
      assert_int_equal(key_map_add(one, &items, &map, made[i]), made[i]);
    }
    for (uint32_t i = 0; i < keys; i++)
      assert_int_equal(key_map_find(&items, &map, i * factors[pattern]), made[i]);
    uint32_t twice = pool_get(&items, &cache);
    ((struct key_item *)pool_at(&items, twice))->key = 7 * factors[pattern];
    assert_int_equal(key_map_add(two, &items, &map, twice), made[7]);
    assert_int_equal(key_map_find(&items, &map, keys * factors[pattern] + 1), 0);
    uint64_t released = 0;
    key_map_clear(one, &map, count_item, &released);
    assert_int_equal(released, keys);
    assert_int_equal(map, 0);
  }
}

static long peak_kib(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* What a task's children and a loop's iterations have named is used again when the task or the loop has ended. */
static void names_are_forgotten(void **state)
{
  (void)state;
  enum { NAMES = 100000, ROUNDS = 4, SLACK_KIB = 1024 };
  long first = 0;
  for (int round = 0; round < ROUNDS; round++) {
    struct depend parent = {0};
    struct doacross loop = {0};
    struct doacross_cursor own = {.loop = &loop};
    for (uint64_t i = 0; i < NAMES; i++) {
      ompt_dependence_t out = on(8 * i, 3);
      uint64_t vector[] = {i / 300, i % 300};
      assert_int_equal(run_child(&parent, i, 1, &out, 1), i + 1);
      struct clock clock = {i, i, {.items[0] = {.key = i / 7, .amount = i}}}; /* the last one moved on, or another */
      doacross_source(one, &own, (struct doacross_vector){vector, 1, 2}, &clock, i, 0);
      if (i >= 300) {
        vector[0]--;
        struct doacross_clock source = doacross_sink(&own, (struct doacross_vector){vector, 1, 2});
        assert_int_equal(source.moved, (i - 300) % 7);
        assert_int_equal(source.join->latest.base + source.moved, i - 300);
      }
    }
    depend_clear(one, &parent);
    doacross_clear(one, &loop);
    first = round ? first : peak_kib();
  }
  assert_in_range(peak_kib() - first, 0, SLACK_KIB);
  assert_int_equal(records[0].lost[FORMAT_LOST_GRAPH], 0);
}

static const struct format_directive *row_at(uint32_t row)
{
  return table_at(directive_table(), row);
}

static void instances_nest_and_recursion_counts_once(void **state)
{
  (void)state;
  uint32_t outer_row = directive_row(one, FORMAT_DIRECTIVE_PARALLEL, (void *)0x1000);
  uint32_t task_row = directive_row(one, FORMAT_DIRECTIVE_TASK, (void *)0x1000);
  assert_int_not_equal(outer_row, task_row);
  assert_int_equal(task_row, directive_row(two, FORMAT_DIRECTIVE_TASK, (void *)0x1000));
  uint32_t outer = directive_enter(one, outer_row, 0, 100), task = directive_enter(one, task_row, outer, 110);
  uint32_t inner = directive_enter(two, task_row, task, 115);
  assert_int_equal(inner, task); /* a recursive task is part of the outermost one */
  directive_work(two, inner, 5, 120);
  directive_leave(two, inner);
  directive_work(one, task, 10, 130);
  directive_leave(one, task);
  directive_work(one, outer, 40, 101);
  directive_leave(one, outer);
  directive_add_sums(one);
  directive_add_sums(two);
  assert_int_equal(row_at(task_row)->instances, 1);
  assert_int_equal(row_at(task_row)->work, 15);
  assert_int_equal(row_at(task_row)->span, 15); /* the clock moved by 20, but not all of that by this work */
  assert_int_equal(row_at(outer_row)->work, 55);
  assert_int_equal(row_at(outer_row)->span, 30);
}

/* u(2); task { u(10) } u(3); taskwait; u(1): work 16, span 13. */
static void a_task_beside_its_parent(void **state)
{
  (void)state;
  uint32_t root = span_implicit_begin(one, 0, 0, 0);
  span_add_work(one, CCT_NONE, 2);
  uint32_t row;
  ompt_data_t data = {.value = explicit_task_create(one, root, ompt_task_explicit, false, (void *)0x2000, 0, &row)};
  span_add_work(one, CCT_NONE, 3);
  span_wait_begin(one, root, ompt_sync_region_taskwait, false, 0, NULL);
  uint32_t task = explicit_task_index(two, &data);
  span_task_schedule(two, 0, ompt_task_switch, task, 0); /* another thread runs it */
  span_add_work(two, CCT_NONE, 10);
  span_task_schedule(two, task, ompt_task_complete, 0, 0);
  span_wait_end(one, root, ompt_sync_region_taskwait, true, 0);
  span_add_work(one, CCT_NONE, 1);
  span_implicit_end(one, root);
  uint32_t items;
  assert_int_equal(span_program()->base, 13);
  assert_int_equal(critical_path_sum(&span_program()->path, &items), 13);
  assert_int_equal(span_of(one)->total_work + span_of(two)->total_work, 16);
}

static void work(uint64_t units)
{
  span_of(one)->work.units += units;
}

/* LLVM's runtime announces no barrier at the end of such a region. */
static void work_after_the_last_barrier_of_one_thread_counts(void **state)
{
  (void)state;
  uint64_t region = open_region(one);
  span_team_size(region, 1);
  uint32_t task = span_implicit_begin(one, region, 0, 0);
  work(2);
  span_wait_begin(one, task, ompt_sync_region_barrier_implicit_workshare, false, 0, NULL);
  span_wait_end(one, task, ompt_sync_region_barrier_implicit_workshare, true, 0);
  work(5);
  span_implicit_end(one, task);
  assert_int_equal(span_of(one)->total_work, 7);
}

/* LLVM's runtime does not announce that a thread leaves an untied task which another one completes: behind the barrier
 * in which it has run a part of that, it runs its own task. */
static void an_untied_task_is_left_without_an_event(void **state)
{
  (void)state;
  uint64_t region = open_region(one);
  span_team_size(region, 2);
  uint32_t creator = span_implicit_begin(one, region, 0, 0), other = span_implicit_begin(two, region, 0, 0), row;
  ompt_data_t untied = {.value =
                            explicit_task_create(one, creator, ompt_task_explicit, false, (void *)0x2000, 0, &row)};
  uint32_t task = explicit_task_index(two, &untied);
  span_wait_begin(one, creator, ompt_sync_region_barrier_explicit, false, 0, NULL);
  span_wait_begin(two, other, ompt_sync_region_barrier_explicit, false, 0, NULL);
  span_task_schedule(two, other, ompt_task_switch, task, 0);
  span_task_schedule(one, task, ompt_task_complete, creator, 0);
  span_wait_end(two, other, ompt_sync_region_barrier_explicit, true, 0);
  assert_int_equal(span_of(two)->task, other);
  ompt_data_t next = {.value = explicit_task_create(two, other, ompt_task_explicit, false, (void *)0x3000, 0, &row)};
  assert_int_equal(row, directive_row(two, FORMAT_DIRECTIVE_TASK, (void *)0x3000));
  span_task_schedule(two, other, ompt_task_switch, explicit_task_index(two, &next), 0);
  assert_int_equal(graph_task(span_of(two)->task)->parent, other);
}

static ompt_data_t child_of(uint32_t root)
{
  uint32_t row;
  return (ompt_data_t){.value = explicit_task_create(one, root, ompt_task_explicit, false, (void *)0x2000, 0, &row)};
}

/* The same at the same place, where nothing that matters has happened since the last one (repeats) or something has. */
static ompt_data_t next_child_of(uint32_t root, const ompt_data_t *creator, bool repeats)
{
  uint32_t row;
  span_of(one)->repeated.creator = creator;
  uint64_t word = plain_task_repeat(one, creator, ompt_task_explicit, (void *)0x2000, &row);
  assert_int_equal(word != 0, repeats);
  return word ? (ompt_data_t){.value = word} : child_of(root);
}

/* u(2); task { u(10) } u(3); task { u(20) } taskwait; u(1), all by one thread: a task of which nothing else is seen
 * needs no structure, in the taskwait (waits) or before it. */
static void plain_tasks(bool waits)
{
  uint32_t root = span_implicit_begin(one, 0, 0, 0);
  ompt_data_t outer = {.value = rt_task_word(root)}, children[2];
  const struct task *running = span_of(one)->running;
  work(2);
  children[0] = child_of(root);
  work(3);
  children[1] = next_child_of(root, &outer, true);
  if (waits)
    span_wait_begin(one, root, ompt_sync_region_taskwait, false, 0, NULL);
  for (int i = 0; i < 2; i++) {
    assert_true(plain_task_begin(one, &outer, &children[i], span_of(one)->work.units));
    assert_ptr_equal(span_of(one)->running, running);
    work(10 + 10 * (uint64_t)i);
    assert_true(plain_task_end(one, &children[i], &outer, span_of(one)->work.units));
  }
  if (!waits)
    span_wait_begin(one, root, ompt_sync_region_taskwait, false, 0, NULL);
  span_wait_end(one, root, ompt_sync_region_taskwait, true, 0);
  work(1);
  span_implicit_end(one, root);
  explicit_task_report(one);
  directive_add_sums(one);
  uint32_t items, row = directive_row(one, FORMAT_DIRECTIVE_TASK, (void *)0x2000);
  assert_int_equal(span_program()->base, 26);
  assert_int_equal(critical_path_sum(&span_program()->path, &items), 26);
  assert_int_equal(span_of(one)->total_work, 36);
  assert_int_equal(row_at(row)->instances, 2);
  assert_int_equal(row_at(row)->work, 30);
  assert_int_equal(row_at(row)->span, 30);
}

static void plain_tasks_end_before_a_wait(void **state)
{
  (void)state;
  plain_tasks(false);
}

static void plain_tasks_end_in_a_wait(void **state)
{
  (void)state;
  plain_tasks(true);
}

static void run_plain(const ompt_data_t *outer, ompt_data_t *data, uint64_t units)
{
  assert_true(plain_task_begin(one, outer, data, span_of(one)->work.units));
  work(units);
  assert_true(plain_task_end(one, data, outer, span_of(one)->work.units));
}

/* u(2); task { u(10) } u(3); task { u(4) } u(5); task { u(20) } u(6), each task at once; then a taskwait: the parent's
 * clock stands still while a task runs, and goes on with what it has done before. */
static void creations_go_on_around_plain_tasks(void **state)
{
  (void)state;
  uint32_t root = span_implicit_begin(one, 0, 0, 0), items;
  ompt_data_t outer = {.value = rt_task_word(root)}, children[3];
  work(2);
  children[0] = child_of(root);
  run_plain(&outer, &children[0], 10);
  work(3);
  children[1] = next_child_of(root, &outer, true);
  run_plain(&outer, &children[1], 4);
  work(5);
  children[2] = next_child_of(root, &outer, true);
  run_plain(&outer, &children[2], 20);
  work(6);
  span_wait_begin(one, root, ompt_sync_region_taskwait, false, 0, NULL);
  span_wait_end(one, root, ompt_sync_region_taskwait, true, 0);
  span_implicit_end(one, root);
  assert_int_equal(span_program()->base, 2 + 3 + 5 + 20);
  assert_int_equal(critical_path_sum(&span_program()->path, &items), 30);
  assert_int_equal(span_of(one)->total_work, 50);
}

/* The parent waits for no task whose end its thread is just writing. */
static void an_end_that_is_being_written_is_left_out(void **state)
{
  (void)state;
  uint32_t root = span_implicit_begin(one, 0, 0, 0);
  ompt_data_t outer = {.value = rt_task_word(root)}, child = child_of(root);
  struct end_slot *slot = span_of(one)->end_slot;
  struct clock clock = {0};
  run_plain(&outer, &child, 10);
  uint32_t version = slot->version;
  slot->version++;
  slot->plain.base = 1000;
  explicit_task_join_children(two, &clock, root);
  assert_int_equal(clock.base, 0);
  slot->version = version + 2;
  slot->plain.base = 10;
  explicit_task_join_children(two, &clock, root);
  assert_int_equal(clock.base, 10);
  clock_clear(two, &clock);
}

/* A creation is repeated only by the same code of the same task, and not after other events. */
static void other_creations_are_not_repeated(void **state)
{
  (void)state;
  uint32_t root = span_implicit_begin(one, 0, 0, 0), row;
  ompt_data_t outer = {.value = rt_task_word(root)}, other = outer;
  child_of(root);
  next_child_of(root, &outer, true);
  assert_int_equal(plain_task_repeat(one, &other, ompt_task_explicit, (void *)0x2000, &row), 0);
  assert_int_equal(plain_task_repeat(one, &outer, ompt_task_explicit, (void *)0x3000, &row), 0);
  assert_int_equal(plain_task_repeat(one, &outer, ompt_task_untied, (void *)0x2000, &row), 0);
  next_child_of(root, &outer, true);
  span_sample(one, 1, 1);
  next_child_of(root, &outer, false);
  next_child_of(root, &outer, true);
  explicit_task_settle(one);
  next_child_of(root, &outer, false);
  next_child_of(root, NULL, false);
}

static void look_by_user_region(void)
{
  worksharing_block(one, directive_row(one, FORMAT_DIRECTIVE_USER_REGION, (void *)0x4000));
}

static void look_by_sample(void)
{
  span_sample(one, 1, 1);
}

static void look_by_cut(void)
{
  span_cut(one);
}

static void look_by_window(void)
{
  span_window(one);
}

static void look_from_a_handler(void)
{
  explicit_task_called(one);
}

static void look_at_the_end(void)
{
  span_report(one);
}

static void look_by_hand_over(void)
{
  span_forget(one, span_hand_over(one));
}

static void look_by_take_over(void)
{
  span_take_over(one, 0);
}

static void look_by_publishing(void)
{
  explicit_task_publish(one);
}

/* Whatever looks at what the thread runs finds the task. */
static void a_plain_task_gets_a_structure_where_it_is_seen(void **state)
{
  (void)state;
  void (*const looks[])(void) = {look_by_user_region, look_by_sample,      look_by_cut,
                                 look_by_window,      look_from_a_handler, look_at_the_end,
                                 look_by_hand_over,   look_by_take_over,   look_by_publishing};
  uint32_t root = span_implicit_begin(one, 0, 0, 0);
  ompt_data_t outer = {.value = rt_task_word(root)};
  for (unsigned i = 0; i < sizeof looks / sizeof *looks; i++) {
    ompt_data_t data = child_of(root);
    work(1);
    assert_true(plain_task_begin(one, &outer, &data, span_of(one)->work.units));
    work(10);
    looks[i]();
    assert_int_not_equal(span_of(one)->task, root);
    assert_int_equal(span_of(one)->running->parent, root);
    assert_false(plain_task_end(one, &data, &outer, span_of(one)->work.units));
    explicit_task_publish(one);
    span_task_schedule(one, explicit_task_index(one, &data), ompt_task_complete, root, 0);
    assert_int_equal(span_of(one)->total_work, 11 * (i + 1));
  }
}

/* A handler looks through so many tasks and no more. */
static void direct_tasks_are_left_in_bounded_steps(void **state)
{
  (void)state;
  uint32_t root = span_implicit_begin(one, 0, 0, 0), running = root, first = 0, row;
  assert_int_equal(explicit_task_called(one), root);
  for (int level = 1; level <= DIRECT_LEVELS + 2; level++) {
    ompt_data_t data = {.value = explicit_task_create(one, running, ompt_task_explicit, true, (void *)0x2000, 0, &row)};
    running = explicit_task_index(one, &data);
    graph_task(running)->flags |= TASK_DIRECT;
    first = level == 1 ? running : first;
    span_task_schedule(one, graph_task(running)->parent, ompt_task_switch, running, 0);
    if (level <= DIRECT_LEVELS)
      assert_int_equal(explicit_task_called(one), root);
  }
  uint32_t stopped = explicit_task_called(one);
  assert_int_equal(graph_task(stopped)->parent, first);
  assert_true(graph_task(stopped)->flags & TASK_DIRECT);
}

/* Each holder's release is announced after the next acquisition; then one never is, and its thread acquires again. */
static void a_late_release_ends_its_own_hold(void **state)
{
  (void)state;
  enum { LOCK = 8, KIND = ompt_mutex_test_lock };
  void *code = (void *)0x3000;
  struct thread_state *threads[] = {one, two};
  uint32_t roots[] = {span_implicit_begin(one, 0, 0, 0), span_implicit_begin(two, 0, 0, 0)};
  for (uint64_t i = 0; i < 5; i++) {
    struct thread_state *t = threads[i % 2], *before = threads[(i + 1) % 2];
    worksharing_mutex_acquired(t, KIND, LOCK, 0, code);
    span_add_work(t, CCT_NONE, 7);
    if (i)
      worksharing_mutex_released(before, KIND, LOCK, 0, false);
  }
  worksharing_mutex_acquired(one, KIND, LOCK, 0, code);
  span_add_work(one, CCT_NONE, 7);
  worksharing_mutex_released(two, KIND, LOCK, 0, false); /* not the holder */
  worksharing_mutex_released(one, KIND, LOCK, 0, false);
  span_implicit_end(one, roots[0]);
  span_implicit_end(two, roots[1]);
  worksharing_add_lock_bounds();
  assert_int_equal(row_at(directive_row(one, FORMAT_DIRECTIVE_LOCK, code))->lock_bound, 35);
}

/* A release that is not seen leaves nothing behind that would count with the next one. */
static void an_unseen_release_ends_with_the_next_acquisition(void **state)
{
  (void)state;
  enum { LOCK = 8, OTHER = 16, KIND = ompt_mutex_test_lock };
  void *code = (void *)0x3000, *of_other = (void *)0x3100;
  uint32_t root = span_implicit_begin(one, 0, 0, 0);
  worksharing_mutex_acquired(one, KIND, OTHER, 0, of_other);
  worksharing_mutex_acquired(one, KIND, LOCK, 0, code);
  span_add_work(one, CCT_NONE, 100);
  worksharing_mutex_released(one, KIND, OTHER, 0, false);
  worksharing_mutex_acquired(one, KIND, LOCK, 0, code);
  span_add_work(one, CCT_NONE, 7);
  worksharing_mutex_released(one, KIND, LOCK, 0, false);
  span_implicit_end(one, root);
  worksharing_add_lock_bounds();
  assert_int_equal(row_at(directive_row(one, FORMAT_DIRECTIVE_LOCK, code))->lock_bound, 107);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(records_are_allocated_once, setup),
      cmocka_unit_test_setup(free_items_are_counted, setup),
      cmocka_unit_test_setup(a_path_keeps_its_sum, setup),
      cmocka_unit_test_setup(what_a_path_has_gained_is_repeated, setup),
      cmocka_unit_test_setup(the_largest_rows_of_what_a_path_has_gained_are_kept, setup),
      cmocka_unit_test_setup(shared_tails_do_not_change, setup),
      cmocka_unit_test_setup(dropped_segments_are_reused, setup),
      cmocka_unit_test_setup(a_join_takes_the_latest_of_each_component, setup),
      cmocka_unit_test_setup(arrivals_are_written_to_lines_of_the_thread, setup),
      cmocka_unit_test_setup(an_arrival_is_taken_once, setup),
      cmocka_unit_test_setup(an_arrival_is_left_behind_in_an_open_region, setup),
      cmocka_unit_test_setup(a_thread_enters_a_loop_without_writing_to_it, setup),
      cmocka_unit_test_setup(dependences_of_all_kinds, setup),
      cmocka_unit_test_setup(a_map_finds_every_key, setup),
      cmocka_unit_test_setup(names_are_forgotten, setup),
      cmocka_unit_test_setup(instances_nest_and_recursion_counts_once, setup),
      cmocka_unit_test_setup(work_after_the_last_barrier_of_one_thread_counts, setup),
      cmocka_unit_test_setup(a_task_beside_its_parent, setup),
      cmocka_unit_test_setup(an_untied_task_is_left_without_an_event, setup),
      cmocka_unit_test_setup(plain_tasks_end_before_a_wait, setup),
      cmocka_unit_test_setup(plain_tasks_end_in_a_wait, setup),
      cmocka_unit_test_setup(creations_go_on_around_plain_tasks, setup),
      cmocka_unit_test_setup(an_end_that_is_being_written_is_left_out, setup),
      cmocka_unit_test_setup(other_creations_are_not_repeated, setup),
      cmocka_unit_test_setup(a_plain_task_gets_a_structure_where_it_is_seen, setup),
      cmocka_unit_test_setup(direct_tasks_are_left_in_bounded_steps, setup),
      cmocka_unit_test_setup(a_late_release_ends_its_own_hold, setup),
      cmocka_unit_test_setup(an_unseen_release_ends_with_the_next_acquisition, setup),
  };
  return UNIT_RUN(argc, argv, "span", tests, NULL, NULL);
}
