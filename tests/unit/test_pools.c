/* When threads that wait at a condition variable or semaphore are idle (pools). */
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/pools.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "tests/unit/rt_threads.h"

enum { THREADS = 3 };
static struct measured_thread threads[THREADS];
static struct format_thread records[THREADS];
static char objects[POOLS_KNOWN + 1];
static const void *const code = &objects; /* in no module */

static struct thread_state *thread(unsigned i)
{
  return (struct thread_state *)&threads[i];
}

static int setup(void **state)
{
  (void)state;
  arena_reset();
  rt.epoch = 7;
  memset(threads, 0, sizeof threads);
  memset(records, 0, sizeof records);
  region_start();
  modules_start("");
  blame_start();
  pools_start();
  for (uint32_t i = 0; i < THREADS; i++)
    rt_thread_init(thread(i), i + 1, &records[i]);
  atomic_store(&rt.closed, true); /* no unwinds: the contexts of waits are not sought */
  for (unsigned i = 0; i < THREADS; i++)
    waiting_pool_site(thread(i), code);
  atomic_store(&rt.closed, false);
  return 0;
}

static void begin(unsigned i, const void *object)
{
  assert_true(pools_begin(thread(i), object, FORMAT_LOCK_CONDITION, code, true));
}

static void end(unsigned i)
{
  pools_end(thread(i), false);
  assert_false(thread(i)->activity.idle || thread(i)->activity.call);
}

static bool is_idle(unsigned i)
{
  assert_true(thread(i)->activity.idle != thread(i)->activity.call);
  return thread(i)->activity.idle;
}

static void two_threads_at_one_object_are_idle(void **state)
{
  (void)state;
  begin(0, &objects[0]);
  assert_false(is_idle(0));
  begin(1, &objects[1]);
  assert_false(is_idle(0) || is_idle(1));
  begin(2, &objects[0]);
  assert_true(is_idle(0) && is_idle(2) && !is_idle(1));
  for (unsigned i = 0; i < THREADS; i++)
    end(i);
  assert_int_equal(thread(1)->idle_ticks, 0);
  assert_true(thread(0)->idle_ticks && thread(2)->idle_ticks);
}

static void each_part_of_a_wait_counts_once(void **state)
{
  (void)state;
  uint64_t before = rt_ticks();
  begin(0, &objects[0]);
  begin(1, &objects[0]);
  end(1);
  end(0);
  uint64_t after = rt_ticks(), blocked = sampling_of(thread(0))->blocked_ticks, idle = thread(0)->idle_ticks;
  assert_true(blocked && idle && blocked + idle <= after - before);
  const struct format_wait *site = table_at(&sampling_of(thread(0))->waits, 1);
  assert_int_equal(site->kind, FORMAT_WAIT_POOL);
  assert_int_equal(site->idle, idle);
  assert_int_equal(site->since, 0);
  const struct format_lock *lock = table_at(&sampling_of(thread(0))->locks.records, 1);
  assert_int_equal(lock->ticks, idle);
  assert_int_equal(lock->waits, 1);
}

static void a_thread_remembers_where_it_was_idle(void **state)
{
  (void)state;
  for (unsigned k = 0; k < POOLS_KNOWN + 1; k++) {
    begin(0, &objects[k]);
    begin(1, &objects[k]);
    end(0);
    end(1);
  }
  for (unsigned k = 0; k < POOLS_KNOWN + 1; k++) { /* the last ones */
    begin(0, &objects[k]);
    assert_int_equal(is_idle(0), k > 0);
    end(0);
  }
  begin(2, &objects[1]);
  assert_false(is_idle(2));
  end(2);
}

static void a_thread_that_has_left_is_not_there(void **state)
{
  (void)state;
  for (unsigned i = 0; i < THREADS; i++)
    begin(i, &objects[i]);
  end(1);
  end(2);
  end(0);
  begin(0, &objects[1]);
  begin(1, &objects[2]);
  begin(2, &objects[0]);
  assert_false(is_idle(0) || is_idle(1) || is_idle(2));
  for (unsigned i = 0; i < THREADS; i++)
    end(i);
}

static void beside_openmp_all_are_blocked(void **state)
{
  (void)state;
  blame_openmp_begin(thread(2), false);
  begin(0, &objects[0]);
  begin(1, &objects[0]);
  assert_false(is_idle(0) || is_idle(1));
  end(0);
  end(1);
  blame_openmp_end(thread(2));
}

static void calls_of_the_runtime_are_blocked(void **state)
{
  (void)state;
  begin(0, &objects[0]);
  assert_true(pools_begin(thread(1), &objects[0], FORMAT_LOCK_CONDITION, NULL, true));
  assert_false(is_idle(0) || is_idle(1));
  end(0);
  end(1);
}

static void a_wait_inside_another_one_is_part_of_it(void **state)
{
  (void)state;
  begin(0, &objects[0]);
  assert_false(pools_begin(thread(0), &objects[1], FORMAT_LOCK_SEMAPHORE, code, true));
  begin(1, &objects[0]);
  assert_false(pools_begin(thread(0), &objects[1], FORMAT_LOCK_SEMAPHORE, code, true));
  end(0);
  end(1);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(two_threads_at_one_object_are_idle, setup),
      cmocka_unit_test_setup(each_part_of_a_wait_counts_once, setup),
      cmocka_unit_test_setup(a_thread_remembers_where_it_was_idle, setup),
      cmocka_unit_test_setup(a_thread_that_has_left_is_not_there, setup),
      cmocka_unit_test_setup(beside_openmp_all_are_blocked, setup),
      cmocka_unit_test_setup(calls_of_the_runtime_are_blocked, setup),
      cmocka_unit_test_setup(a_wait_inside_another_one_is_part_of_it, setup),
  };
  return UNIT_RUN(argc, argv, "pools", tests, NULL, NULL);
}
