/* What the release of a lock does where its acquisition was recorded in between: parts of rt/lock_events.c that no
 * program reaches at will. */
#include "hpcrun-lite/rt/lock_events.c"
#include "tests/unit/rt_threads.h"

enum { LOCK = 8 };

static struct measured_thread state_of_one;
static struct thread_state *const one = (struct thread_state *)&state_of_one;
static struct format_thread record;

static int setup(void **state)
{
  (void)state;
  arena_reset();
  sampling_process.metric_count = 6;
  memset(&record, 0, sizeof record);
  rt_thread_init(one, 1, &record);
  return 0;
}

/* A sample or a flush leaves the lock's name. */
static void nothing_is_recorded_twice(void **state)
{
  (void)state;
  span_of(one)->hold = (struct lock_hold){.site = NULL, .wait_id = LOCK};
  assert_false(record_hold(one, true, LOCK, 1));
  assert_false(lock_events_unrecorded(one));
}

static const char code[1];
static struct format_construct critical;
static struct directive_total total;

/* The thread has met a critical construct so often that most executions are only counted. */
static void meet_critical(void)
{
  static struct task task;
  static struct construct_known known;
  static const uint64_t unswitched;
  assert_true(construct_started(one));
  critical = (struct format_construct){.kind = FORMAT_DIRECTIVE_CRITICAL, .count = 9, .light = 8, .skip = 5};
  total = (struct directive_total){.instances = 9, .light = 8};
  known = (struct construct_known){.key = key_at(construct_of(one)->top, ompt_mutex_critical, 2), .at = &critical};
  *site_at(one, code) = (struct hold_site){
      .code = code, .key = known.key, .known = &known, .total = &total, .row = 2, .kind = ompt_mutex_critical};
  span_of(one)->running = &task;
  span_of(one)->work.switch_indicator = &unswitched;
  span_of(one)->governor = (struct governor){.due = 100, .interval = 100, .period = 2};
}

/* It was prepared before the lock was tested, which another thread has taken meanwhile. */
static void what_has_not_begun_is_not_counted(void **state)
{
  (void)state;
  meet_critical();
  assert_int_equal(lock_events_prepare_graph(one, ompt_mutex_critical, LOCK, code), LOCK_BEGUN);
  assert_true(construct_is_light(one, LOCK));
  assert_int_equal(critical.count + critical.light + critical.skip, 10 + 9 + 4);
  assert_int_equal(total.instances + total.light, 10 + 9);
  assert_int_equal(governor_events(one), 1);
  lock_events_withdraw(one, code);
  assert_false(construct_is_light(one, LOCK));
  assert_int_equal(critical.count, 9);
  assert_int_equal(critical.light, 8);
  assert_int_equal(critical.skip, 5);
  assert_int_equal(total.instances + total.light, 9 + 8);
  assert_int_equal(governor_events(one), 0);
}

/* Where the runtime announces free locks like others, the time until it has a free one is no wait. */
static void what_is_only_counted_takes_only_waiting(void **state)
{
  (void)state;
  for (uint64_t runtime = 50; runtime; runtime -= 25) {
    meet_critical();
    record.construct_since = 100;
    one->lock_since = 200;
    construct_of(one)->lock_runtime = runtime;
    lock_events_graph_acquired(one, ompt_mutex_critical, LOCK, 250, code);
    assert_true(construct_is_light(one, LOCK));
    assert_int_equal(critical.count + critical.light, 10 + 9);
    assert_int_equal(critical.ticks[FORMAT_TIME_ENTER], runtime < 50 ? 50 : 0);
    assert_int_equal(record.construct_since, runtime < 50 ? 250 : 100);
    assert_int_equal(construct_of(one)->acquiring, 0);
    construct_light_ends_only(one);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(nothing_is_recorded_twice, setup),
      cmocka_unit_test_setup(what_has_not_begun_is_not_counted, setup),
      cmocka_unit_test_setup(what_is_only_counted_takes_only_waiting, setup),
  };
  return UNIT_RUN(argc, argv, "lock_events", tests, NULL, NULL);
}
