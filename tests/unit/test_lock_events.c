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

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(nothing_is_recorded_twice, setup),
  };
  return UNIT_RUN(argc, argv, "lock_events", tests, NULL, NULL);
}
