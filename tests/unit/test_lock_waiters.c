/* Marks of waiting threads, what a release takes of them (lock_waiters), and the records of locks (lock_table). */
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/sampling/lock_counts.h"
#include "hpcrun-lite/rt/sampling/lock_table.h"
#include "hpcrun-lite/rt/sampling/lock_waiters.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "tests/unit/rt_threads.h"

enum { THREADS = 2 };
static struct measured_thread threads[THREADS];
static struct format_thread records[THREADS];
/* Ticks, some seconds: so long that those of the test itself do not matter, and much less than the machine has run. */
static const uint64_t unit = 10000000000;
enum { LOCK = 0x1000, HERE = 8 << 3 | FORMAT_WAIT_LOCK, THERE = 9 << 3 | FORMAT_WAIT_LOCK };

static struct thread_state *thread(unsigned i)
{
  return (struct thread_state *)&threads[i];
}

static int setup(void **state)
{
  (void)state;
  arena_reset();
  rt.epoch = 7;
  memset(records, 0, sizeof records);
  region_start();
  modules_start("");
  lock_waiters_start();
  for (uint32_t i = 0; i < THREADS; i++)
    rt_thread_init(thread(i), i + 1, &records[i]);
  return 0;
}

/* Rounded. */
static unsigned units(uint64_t ticks)
{
  return (unsigned)((ticks + unit / 2) / unit);
}

/* What is charged at a release now, at one site. */
static unsigned charged(uint64_t key)
{
  struct lock_release release;
  unsigned found = 0;
  lock_waiters_take(LOCK, &release);
  for (unsigned i = 0; i < release.count; i++)
    found += release.sites[i].key == key ? units(release.sites[i].ticks) : 0;
  return found;
}

static void a_release_has_what_was_waited_since_the_one_before(void **state)
{
  (void)state;
  uint64_t now = rt_ticks();
  assert_false(lock_waiters_any(LOCK));
  assert_true(lock_waiters_begin(LOCK, HERE, now - 5 * unit));
  assert_true(lock_waiters_begin(LOCK, HERE, now - 3 * unit));
  assert_true(lock_waiters_begin(LOCK, THERE, now - 2 * unit));
  assert_true(lock_waiters_any(LOCK));
  struct lock_release release;
  lock_waiters_take(LOCK, &release);
  assert_int_equal(release.count, 2);
  assert_int_equal(units(release.sites[0].ticks) + units(release.sites[1].ticks), 5 + 3 + 2);
  assert_int_equal(charged(HERE), 0); /* none of it twice */
  lock_waiters_ended(LOCK, HERE, now - 5 * unit);
  assert_int_equal(charged(THERE), 0);
  lock_waiters_ended(LOCK, THERE, now - 2 * unit);
  assert_true(lock_waiters_any(LOCK));
  assert_int_equal(charged(HERE), 0); /* what the other one had waited is not charged to it */
  lock_waiters_ended(LOCK, HERE, now - 3 * unit);
  assert_false(lock_waiters_any(LOCK));
  assert_int_equal(charged(HERE), 0);
}

static void a_wait_that_no_release_ended_is_forgotten(void **state)
{
  (void)state;
  uint64_t now = rt_ticks();
  assert_true(lock_waiters_begin(LOCK, HERE, now - 5 * unit));
  assert_true(lock_waiters_begin(LOCK, HERE, now - unit));
  lock_waiters_ended(LOCK, HERE, now - 5 * unit); /* its time ran out */
  assert_int_equal(charged(HERE), 1);
  lock_waiters_ended(LOCK, HERE, now - unit);
}

static void two_locks_do_not_mix(void **state)
{
  (void)state;
  uint64_t now = rt_ticks(), other = LOCK + 1;
  while (lock_waiters_of(other) != lock_waiters_of(LOCK))
    other++;
  assert_true(lock_waiters_begin(LOCK, HERE, now - unit));
  assert_false(lock_waiters_begin(other, HERE, now - 2 * unit));
  assert_false(lock_waiters_any(other));
  struct lock_release release;
  lock_waiters_take(other, &release);
  assert_int_equal(release.count, 0);
  assert_int_equal(charged(HERE), 1);
  lock_waiters_ended(LOCK, HERE, now - unit);
  assert_true(lock_waiters_begin(other, HERE, now));
  lock_waiters_ended(other, HERE, now);
}

static void a_lock_has_a_limited_number_of_sites(void **state)
{
  (void)state;
  uint64_t now = rt_ticks();
  for (uint64_t i = 0; i < LOCK_WAITERS_SITES; i++)
    assert_true(lock_waiters_begin(LOCK, HERE + (i << 3), now - (i + 1) * unit));
  assert_false(lock_waiters_begin(LOCK, THERE + (LOCK_WAITERS_SITES << 3), now));
  lock_waiters_ended(LOCK, HERE + (1 << 3), now - 2 * unit);
  assert_true(lock_waiters_begin(LOCK, THERE + (LOCK_WAITERS_SITES << 3), now - 7 * unit));
  assert_int_equal(charged(THERE + (LOCK_WAITERS_SITES << 3)), 7);
}

static struct format_lock *record(unsigned i)
{
  return table_at(&sampling_of(thread(0))->locks.records, i);
}

static void wait_for_lock(uint64_t id, enum format_lock_kind kind, uint64_t ticks)
{
  static struct format_wait site = {.node = 6};
  site.node++;
  sampling_of(thread(0))->locks.waited_at = &site;
  sampling_of(thread(0))->locks.waited_id = id;
  sampling_of(thread(0))->locks.waited_kind = (uint8_t)kind;
  sampling_of(thread(0))->locks.waited = ticks;
  lock_table_settle(thread(0));
}

static void waits_are_added_up_for_each_lock(void **state)
{
  (void)state;
  wait_for_lock(LOCK, FORMAT_LOCK_LOCK, 0);
  assert_int_equal(sampling_of(thread(0))->locks.records.count, 0);
  wait_for_lock(LOCK, FORMAT_LOCK_LOCK, 5);
  wait_for_lock(LOCK, FORMAT_LOCK_CRITICAL, 7);
  wait_for_lock(LOCK, FORMAT_LOCK_LOCK, 3);
  assert_int_equal(sampling_of(thread(0))->locks.records.count, 3);
  assert_int_equal(record(0)->waits, 0);
  assert_true(record(1)->id == LOCK && record(1)->kind == FORMAT_LOCK_LOCK && record(1)->waits == 2);
  assert_true(record(1)->ticks == 8 && record(1)->longest == 5 && record(2)->ticks == 7);
  assert_int_equal(record(2)->node, record(1)->node + 1); /* of the first wait for each */
  lock_table_settle(thread(0));                           /* nothing twice */
  assert_int_equal(record(2)->waits, 1);
}

static void too_many_locks_share_a_record(void **state)
{
  (void)state;
  enum { MANY = 5000 };
  for (uint64_t i = 1; i <= MANY; i++)
    wait_for_lock(i << 6, FORMAT_LOCK_MUTEX, 2);
  uint32_t count = sampling_of(thread(0))->locks.records.count;
  uint64_t waits = 0;
  assert_true(count > 1000 && count < MANY);
  for (uint32_t i = 0; i < count; i++)
    waits += record(i)->waits;
  assert_int_equal(waits, MANY);
  assert_int_equal(record(0)->waits, MANY - (count - 1));
  wait_for_lock(1 << 6, FORMAT_LOCK_MUTEX, 2);
  assert_int_equal(record(1)->waits, 2);
}

/* Each lock's own, whatever others the thread holds; a hold whose end was not seen is forgotten. */
static void holds_are_timed_for_each_lock(void **state)
{
  (void)state;
  enum { OTHER = 0x2000, THIRD = 0x3000 };
  struct thread_state *t = thread(0);
  uint64_t now = rt_ticks();
  lock_table_hold(t, LOCK, now - 5 * unit);
  lock_table_hold(t, OTHER, now - 2 * unit);
  lock_table_hold(t, THIRD, now - 9 * unit);
  assert_true(waiting_lock_noted(t));
  lock_counts_acquired(t, THIRD, FORMAT_LOCK_MUTEX, false); /* it was released by another thread, say */
  assert_int_equal(lock_table_hold_end(t, THIRD), 0);
  assert_int_equal(units(lock_table_hold_end(t, OTHER)), 2);
  assert_int_equal(lock_table_hold_end(t, OTHER), 0);
  lock_table_unnote(t);
  assert_true(waiting_lock_noted(t));
  assert_int_equal(units(lock_table_hold_end(t, LOCK)), 5);
  lock_table_unnote(t);
  assert_false(waiting_lock_noted(t));
  lock_table_held(t, LOCK, FORMAT_LOCK_MUTEX, 7);
  lock_table_held(t, LOCK, FORMAT_LOCK_MUTEX, 4);
  assert_true(record(1)->id == LOCK && record(1)->held == 11 && record(1)->acquisitions == 0);
  for (uint64_t i = 1; i <= LOCK_HOLDS + 1; i++)
    lock_table_hold(t, i << 6, now - unit);
  assert_int_equal(units(lock_table_hold_end(t, LOCK_HOLDS << 6)), 1);
  assert_int_equal(lock_table_hold_end(t, (LOCK_HOLDS + 1) << 6), 0); /* there was no room */
}

/* Also if the thread acquires the lock again meanwhile; if it never releases it, it is forgotten in the end. */
static void holds_end_with_the_last_release(void **state)
{
  (void)state;
  enum { OTHER = 0x2000, MANY = 20000 };
  struct thread_state *t = thread(0);
  lock_table_hold(t, LOCK, rt_ticks() - 5 * unit);
  lock_counts_acquired(t, LOCK, FORMAT_LOCK_MUTEX, true);
  assert_int_equal(units(lock_table_hold_end(t, LOCK)), 5);
  lock_table_hold(t, LOCK, rt_ticks() - 5 * unit);
  for (int i = 0; i < MANY; i++)
    assert_int_equal(lock_table_hold_end(t, OTHER), 0);
  lock_table_unnote(t);
  assert_false(waiting_lock_noted(t));
}

/* Each in the record of its lock, and in that of the others where there are too many. */
static void acquisitions_are_counted_for_each_lock(void **state)
{
  (void)state;
  enum { MANY = 5000, ROUNDS = 3 };
  struct thread_state *t = thread(0);
  sampling_of(t)->locks.attends = LOCKS_COUNTED;
  lock_table_find(t, 1 << 6, FORMAT_LOCK_RWLOCK);
  for (uint64_t i = 1; i <= MANY; i++) /* a new record would need the stack of a program */
    lock_table_find(t, i << 6, FORMAT_LOCK_MUTEX);
  lock_counts_acquired(t, 1 << 6, FORMAT_LOCK_RWLOCK, false);
  for (uint64_t i = 1; i <= ROUNDS * MANY; i++)
    lock_counts_acquired(t, (i % MANY + 1) << 6, FORMAT_LOCK_MUTEX, false);
  uint32_t count = sampling_of(t)->locks.records.count;
  assert_int_equal(count, 4096);
  assert_true(record(1)->kind == FORMAT_LOCK_RWLOCK && record(1)->acquisitions == 1);
  for (uint32_t i = 2; i < count; i++)
    assert_int_equal(record(i)->acquisitions, ROUNDS);
  assert_int_equal(record(0)->acquisitions, ROUNDS * (MANY - (count - 2)));
}

/* Of more contexts than a record has room for, those with most stay; the last place has all others. */
static void releases_are_divided_by_context(void **state)
{
  (void)state;
  enum { OTHERS = FORMAT_LOCK_HOLDERS - 1 };
  const struct format_lock *lock;
  lock_table_released(thread(0), LOCK, FORMAT_LOCK_MUTEX, 1000, 0); /* not known where */
  for (uint32_t node = 11; node < 11 + OTHERS; node++)
    lock_table_released(thread(0), LOCK, FORMAT_LOCK_MUTEX, node, node);
  lock = record(1);
  for (unsigned i = 0; i < OTHERS; i++)
    assert_true(lock->holder[i] == 11 + i && lock->holder_ns[i] == 11 + i);
  assert_true(lock->holder[OTHERS] == 0 && lock->holder_ns[OTHERS] == 1000);
  lock_table_released(thread(0), LOCK, FORMAT_LOCK_MUTEX, 5, 12);
  lock_table_released(thread(0), LOCK, FORMAT_LOCK_MUTEX, 2, 99); /* less than any */
  assert_true(lock->holder[1] == 12 && lock->holder_ns[1] == 17 && lock->holder_ns[OTHERS] == 1002);
  lock_table_released(thread(0), LOCK, FORMAT_LOCK_MUTEX, 100, 98); /* more than the first */
  assert_true(lock->holder[0] == 98 && lock->holder_ns[0] == 100 && lock->holder_ns[OTHERS] == 1013);
  lock_table_follow_merge(thread(0), 12, 21);
  assert_true(lock->holder[1] == 21 && lock->holder[0] == 98);
  uint64_t sum = 0;
  for (unsigned i = 0; i <= OTHERS; i++)
    sum += lock->holder_ns[i];
  assert_int_equal(sum, lock->released);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_release_has_what_was_waited_since_the_one_before, setup),
      cmocka_unit_test_setup(a_wait_that_no_release_ended_is_forgotten, setup),
      cmocka_unit_test_setup(two_locks_do_not_mix, setup),
      cmocka_unit_test_setup(a_lock_has_a_limited_number_of_sites, setup),
      cmocka_unit_test_setup(waits_are_added_up_for_each_lock, setup),
      cmocka_unit_test_setup(too_many_locks_share_a_record, setup),
      cmocka_unit_test_setup(holds_are_timed_for_each_lock, setup),
      cmocka_unit_test_setup(holds_end_with_the_last_release, setup),
      cmocka_unit_test_setup(acquisitions_are_counted_for_each_lock, setup),
      cmocka_unit_test_setup(releases_are_divided_by_context, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
