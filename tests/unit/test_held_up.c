/* RT: which part of a wait nobody could have ended, and what that does to waits, from records of switches that the test
 * writes.  Times are in ms before now. */
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/sampling/held_up.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "tests/unit/rt_threads.h"

enum { THREADS = 3, PAGE = 4096, WAITS = 0, OTHER = 1, THIRD = 2, WAIT_MS = 100 };
static const uint64_t ms = 1000000;
static uint64_t ms_ticks;

static struct measured_thread threads[THREADS];
static struct format_thread records[THREADS];
static struct {
  struct perf_event_mmap_page page;
  char rest[PAGE - sizeof(struct perf_event_mmap_page)];
  struct {
    struct perf_event_header header;
    uint64_t time_ns;
  } records[PAGE / 16];
} rings[THREADS] __attribute__((aligned(4096)));
static struct sys_moment now;

static struct thread_state *thread(unsigned i)
{
  return (struct thread_state *)&threads[i];
}

static int setup(void **state)
{
  (void)state;
  arena_reset();
  rt.epoch = 7;
  atomic_store(&rt.closed, true); /* no unwinds: the contexts of waits are not sought */
  memset(records, 0, sizeof records);
  region_start();
  modules_start("");
  memset(rings, 0, sizeof rings);
  live_threads_start();
  now = sys_moment();
  for (uint32_t i = 0; i < THREADS; i++) {
    rt_thread_init(thread(i), i + 1, &records[i]);
    sampling_of(thread(i))->switches.ring = &rings[i];
    sampling_of(thread(i))->switches.opened = (struct sys_moment){now.ns - 10000 * ms, now.ticks - 10000 * ms_ticks};
    thread(i)->activity.openmp = true;
  }
  assert_true(live_threads_add(thread(WAITS)) && live_threads_add(thread(OTHER)));
  return 0;
}

static void put(unsigned i, double before_ms, uint16_t misc)
{
  uint64_t at = rings[i].page.data_head / sizeof *rings[i].records;
  rings[i].records[at % (PAGE / 16)].header.misc = misc;
  rings[i].records[at % (PAGE / 16)].time_ns = now.ns - (uint64_t)(before_ms * (double)ms);
  rings[i].page.data_head += sizeof *rings[i].records;
}

/* A thread has no processor from then to then; it could have run. */
static void preempt(unsigned i, double from_ms, double to_ms)
{
  put(i, from_ms, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
  put(i, to_ms, 0);
}

static void put_to_sleep(unsigned i, double from_ms, double to_ms)
{
  put(i, from_ms, PERF_RECORD_MISC_SWITCH_OUT);
  put(i, to_ms, 0);
}

static void expect(double all_ms, double no_core_ms)
{
  struct held_up found = held_up_wait(thread(WAITS), now.ticks - WAIT_MS * ms_ticks, now.ticks, false);
  assert_float_equal((double)found.ticks / (double)ms_ticks, all_ms, 0.1);
  assert_float_equal((double)found.no_core / (double)ms_ticks, no_core_ms, 0.1);
  assert_int_equal(sampling_process.ring_readers, 0);
}

static void test_while_another_thread_runs_or_sleeps_it_can_end_the_wait(void **state)
{
  (void)state;
  expect(0, 0);
  preempt(OTHER, 300, 200); /* before the wait */
  put_to_sleep(OTHER, 90, 10);
  expect(0, 0);
}

static void test_while_the_other_thread_has_no_processor_nobody_can(void **state)
{
  (void)state;
  preempt(OTHER, 120, 95);
  preempt(OTHER, 80, 30);
  expect(55, 55);
  preempt(WAITS, 60, 50); /* this one has none either */
  expect(55, 45);
}

static void test_where_the_other_one_waits_the_thread_itself_is_late(void **state)
{
  (void)state;
  preempt(OTHER, 80, 30);
  thread(OTHER)->activity.lockwait = true;
  thread(OTHER)->lock_since = now.ticks - 20 * ms_ticks;
  expect(50, 50); /* it runs, and finds out at once */
  put_to_sleep(WAITS, 90, 5);
  expect(50 + 15, 50);
  thread(OTHER)->lock_since = now.ticks - 500 * ms_ticks; /* all the time */
  expect(85, 0);
}

static void test_all_other_threads_must_wait_or_be_ready(void **state)
{
  (void)state;
  assert_true(live_threads_add(thread(THIRD)));
  preempt(OTHER, 80, 30);
  expect(0, 0); /* the third one runs */
  preempt(THIRD, 60, 10);
  expect(30, 30);
  thread(THIRD)->activity.idle = true;
  thread(THIRD)->idle_since = now.ticks - 25 * ms_ticks;
  expect(30, 30); /* it waits only after that */
  thread(THIRD)->idle_since = now.ticks - 70 * ms_ticks;
  expect(40, 40);
  thread(THIRD)->activity = (struct activity){.openmp = false}; /* it works for nobody */
  expect(50, 50);
}

static void test_records_that_are_lost_or_have_no_room_count_less(void **state)
{
  (void)state;
  for (unsigned i = 0; i < 40; i++)
    preempt(OTHER, 90 - 2 * i, 89 - 2 * i);
  struct held_up found = held_up_wait(thread(WAITS), now.ticks - WAIT_MS * ms_ticks, now.ticks, false);
  assert_true(found.ticks >= 5 * ms_ticks && found.ticks <= 40 * ms_ticks);
  for (unsigned i = 0; i < PAGE / 16; i++)
    preempt(OTHER, 5, 4); /* overwrites them */
  found = held_up_wait(thread(WAITS), now.ticks - WAIT_MS * ms_ticks, now.ticks, false);
  assert_true(found.ticks <= WAIT_MS * ms_ticks);
  sampling_of(thread(OTHER))->switches.ring = NULL; /* it has none: then it may have run */
  expect(0, 0);
}

/* ---- waits ---- */

static struct format_wait *site(unsigned i, enum format_wait_kind kind)
{
  const struct table *waits = &sampling_of(thread(i))->waits;
  for (uint32_t j = 0; j < waits->count; j++) {
    struct format_wait *wait = table_at(waits, j);
    if (wait->kind == kind)
      return wait;
  }
  fail();
  return NULL;
}

static double in_ms(uint64_t ticks)
{
  return (double)ticks / (double)ms_ticks;
}

static void wait_for_lock(double since_ms)
{
  waiting_lock_begin(thread(WAITS), (const void *)0x1500);
  thread(WAITS)->lock_since = now.ticks - (uint64_t)(since_ms * (double)ms_ticks);
  waiting_lock_end(thread(WAITS));
}

/* The holder has no processor for 50 of 100 ms; what is known is added when the lock is released. */
static void test_a_lock_is_waited_for_while_its_holder_has_no_processor(void **state)
{
  (void)state;
  preempt(OTHER, 80, 30);
  wait_for_lock(WAIT_MS);
  struct format_wait *lock = site(WAITS, FORMAT_WAIT_LOCK);
  assert_int_equal(lock->no_core, 0);
  switches_outside(thread(WAITS)); /* a sample reads meanwhile */
  waiting_lock_released(thread(WAITS));
  assert_float_equal(in_ms(lock->no_core), 50, 0.5);
  assert_float_equal(in_ms(sampling_of(thread(WAITS))->switches.since_join), 50, 0.5);
  waiting_lock_released(thread(WAITS)); /* once only */
  assert_float_equal(in_ms(lock->no_core), 50, 0.5);
}

static void test_what_a_thread_misses_in_a_wait_is_not_what_holds_it_up(void **state)
{
  (void)state;
  preempt(WAITS, 90, 40);
  wait_for_lock(WAIT_MS); /* the holder works all the time */
  waiting_lock_released(thread(WAITS));
  assert_float_equal(in_ms(site(WAITS, FORMAT_WAIT_LOCK)->preempted), 50, 0.5);
  assert_int_equal(site(WAITS, FORMAT_WAIT_LOCK)->no_core, 0);
  assert_int_equal(sampling_of(thread(WAITS))->switches.since_join, 0);
}

/* The creator misses 20 ms, and begins a region: its worker has waited for that, and the run is so much longer. */
static void test_a_parked_worker_waits_for_the_creator(void **state)
{
  (void)state;
  thread(OTHER)->worker = true;
  waiting_park(thread(OTHER));
  thread(OTHER)->idle_since = now.ticks - WAIT_MS * ms_ticks;
  preempt(WAITS, 60, 40);
  uint64_t delay = waiting_region_begin(thread(WAITS)), handle = region_begin(thread(WAITS), 0);
  assert_float_equal(in_ms(delay), 20, 0.5);
  assert_float_equal(in_ms(sampling_of(thread(WAITS))->switches.held_up), 20, 0.5);
  region_note_begin(handle, (struct region_beginning){rt_ticks(), delay});
  sampling_of(thread(OTHER))->base_region = handle;
  waiting_unpark(thread(OTHER));
  assert_float_equal(in_ms(site(OTHER, FORMAT_WAIT_PARKED)->no_core), 20, 0.5);
  assert_int_equal(waiting_region_begin(thread(WAITS)), 0); /* it has missed nothing since */
}

/* What an outer region has missed is kept while the thread is in an inner one. */
static void test_an_inner_region_keeps_what_was_missed_before(void **state)
{
  (void)state;
  struct sampling_thread *sampling = sampling_of(thread(WAITS));
  sampling->region_depth = 1;
  preempt(WAITS, 60, 40);
  assert_int_equal(waiting_region_begin(thread(WAITS)), 0);
  assert_int_equal(sampling->switches.since_join, 0);
  sampling->region_depth = 2;
  preempt(WAITS, 30, 20);
  switches_outside(thread(WAITS));
  sampling->region_depth = 1;
  assert_int_equal(waiting_region_end(thread(WAITS)), 0);
  assert_float_equal(in_ms(sampling->switches.since_join), 30, 0.5);
  sampling->region_depth = 0;
  assert_float_equal(in_ms(waiting_region_end(thread(WAITS))), 30, 0.5);
  assert_float_equal(in_ms(sampling->switches.held_up), 30, 0.5);
}

/* Time goes on while a case runs: its invented past must have the rate of this machine. */
static int measure_ticks(void **state)
{
  enum { LONG_MS = 20 };
  struct sys_moment from = sys_moment(), to = from;
  (void)state;
  while (to.ns - from.ns < LONG_MS * ms)
    to = sys_moment();
  ms_ticks = (to.ticks - from.ticks) * ms / (to.ns - from.ns);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_while_another_thread_runs_or_sleeps_it_can_end_the_wait, setup),
      cmocka_unit_test_setup(test_while_the_other_thread_has_no_processor_nobody_can, setup),
      cmocka_unit_test_setup(test_where_the_other_one_waits_the_thread_itself_is_late, setup),
      cmocka_unit_test_setup(test_all_other_threads_must_wait_or_be_ready, setup),
      cmocka_unit_test_setup(test_records_that_are_lost_or_have_no_room_count_less, setup),
      cmocka_unit_test_setup(test_a_lock_is_waited_for_while_its_holder_has_no_processor, setup),
      cmocka_unit_test_setup(test_what_a_thread_misses_in_a_wait_is_not_what_holds_it_up, setup),
      cmocka_unit_test_setup(test_a_parked_worker_waits_for_the_creator, setup),
      cmocka_unit_test_setup(test_an_inner_region_keeps_what_was_missed_before, setup)};
  return cmocka_run_group_tests(tests, measure_ticks, NULL);
}
