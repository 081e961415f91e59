/* Waits without the time in which threads had no processor: by records of switches, and estimated where there are none.
 * A tick is 2 ns. */
#include "hpcprof-lite/input/exact_waits.h"

#include "tests/support/unit.h"

static const double TICK_NS = 2;

/* 400 ns of waiting and 100 ns of the runtime's work, with 20 and 10 ns in which the thread was preempted.  Another
 * thread had no processor for 80 ns of the waiting. */
static const struct format_wait barrier = {.kind = FORMAT_WAIT_BARRIER,
                                           .idle = 200,
                                           .runtime = 50,
                                           .preempted = 10,
                                           .preempted_in_runtime = 5,
                                           .woken = 15,
                                           .wakes = 2,
                                           .no_core = 40};

/* Of 100 ns without a processor, the records show 40; waking took 30 ns at the barrier, and 6 wakes the rest. */
static const struct profile_thread recorded = {
    .wall_ns = 1000, .switched_seen = 500, .switched_preempted = 20, .run_delay_ns = 100, .switched_wakes = 6};

static void test_records_and_latency_of_waking(void **state)
{
  (void)state;
  struct format_wait wait = barrier;
  struct exact_waits_delay delay = exact_waits_delay(&recorded, &wait, 1, TICK_NS);
  assert_true(delay.woken_part == 1 && delay.each_wake_ns == 5 && delay.waiting_part == 0);
  struct exact_waits_ready ready = exact_waits_leave_ready(&wait, &delay, TICK_NS, NULL);
  assert_true(ready.of_waiting == 20 + 2 * 5 && ready.of_runtime == 10 + 30 && ready.no_core == 80);
  assert_int_equal(wait.idle, 200 - (30 + 80) / 2);
  assert_int_equal(wait.runtime, 50 - 40 / 2);
}

static void test_parked_threads_are_woken_from_waiting(void **state)
{
  (void)state;
  struct format_wait wait = barrier;
  wait.kind = FORMAT_WAIT_PARKED;
  struct exact_waits_delay delay = exact_waits_delay(&recorded, &wait, 1, TICK_NS);
  struct exact_waits_ready ready = exact_waits_leave_ready(&wait, &delay, TICK_NS, NULL);
  assert_true(ready.of_waiting == 20 + 2 * 5 + 30 && ready.of_runtime == 10);
}

/* Waking cannot have taken longer than what the records leave of the kernel's total. */
static void test_waking_is_no_more_than_the_kernels_total(void **state)
{
  (void)state;
  struct format_wait wait = barrier;
  struct profile_thread thread = recorded;
  thread.run_delay_ns = 40 + 15;
  struct exact_waits_delay delay = exact_waits_delay(&thread, &wait, 1, TICK_NS);
  assert_true(delay.woken_part == 15.0 / 30 && delay.each_wake_ns == 0);
  thread.run_delay_ns = 40; /* the records show all of it */
  delay = exact_waits_delay(&thread, &wait, 1, TICK_NS);
  assert_true(delay.woken_part == 0 && delay.each_wake_ns == 0 && delay.waiting_part == 0);
}

/* Time belongs to one part only, whatever a file says: first to the thread's own time without a processor. */
static void test_parts_are_no_more_than_the_wait(void **state)
{
  (void)state;
  struct format_wait wait = {.idle = 20, .runtime = 2, .preempted = 15, .preempted_in_runtime = 9, .no_core = 50};
  struct exact_waits_ready ready = exact_waits_leave_ready(&wait, &(struct exact_waits_delay){0}, TICK_NS, NULL);
  assert_true(ready.of_waiting == 30 && ready.of_runtime == 4 && ready.no_core == 10);
  assert_true(wait.idle == 0 && wait.runtime == 0);
  wait = (struct format_wait){.kind = FORMAT_WAIT_BARRIER, .idle = 20, .runtime = 20, .preempted = 25};
  ready = exact_waits_leave_ready(&wait, &(struct exact_waits_delay){0}, TICK_NS, NULL);
  assert_true(ready.of_waiting == 40 && ready.of_runtime == 10); /* a sample has read what followed the idle part */
}

/* Without records, the thread was ready for 100 of the 400 ns in which it did not run: a quarter of the 400 ns of its
 * waits in which it did not run, 100 of 500. */
static void test_without_records_waits_have_their_share(void **state)
{
  (void)state;
  struct format_wait wait = {.kind = FORMAT_WAIT_BARRIER, .idle = 200, .runtime = 50};
  struct profile_thread thread = {
      .wall_ns = 1000, .cpu_ns = 600, .run_delay_ns = 100, .samples = 1, .idle_sampled_ns = 100};
  struct exact_waits_delay delay = exact_waits_delay(&thread, &wait, 1, TICK_NS);
  assert_true(delay.waiting_part == 0.2);
  struct exact_waits_ready ready = exact_waits_leave_ready(&wait, &delay, TICK_NS, NULL);
  assert_true(ready.of_waiting == 80 && ready.of_runtime == 20 && ready.no_core == 0);
  assert_true(wait.idle == 160 && wait.runtime == 40);
}

/* Three waits, of which each took as long to wake from: 20 ns, of 10, 100 and 10 ns.  In all they are what one record
 * of the three has. */
static void test_what_is_left_of_a_wait_is_in_the_next_one(void **state)
{
  (void)state;
  const struct exact_waits_delay delay = {.each_wake_ns = 20};
  const uint64_t idle[] = {5, 50, 5};
  const double missed[] = {10, 30, 10}, left_of_it[] = {10, 0, 10};
  double left = 0;
  for (int i = 0; i < 3; i++) {
    struct format_wait wait = {.kind = FORMAT_WAIT_BARRIER, .idle = idle[i], .wakes = 1};
    struct exact_waits_ready ready = exact_waits_leave_ready(&wait, &delay, TICK_NS, &left);
    assert_true(ready.of_waiting == missed[i] && left == left_of_it[i]);
    assert_int_equal(wait.idle, idle[i] - (uint64_t)missed[i] / 2);
  }
  struct format_wait wait = {.kind = FORMAT_WAIT_BARRIER, .idle = 5, .preempted = 1, .no_core = 3}; /* are recorded */
  struct exact_waits_ready ready = exact_waits_leave_ready(&wait, &delay, TICK_NS, &left);
  assert_true(ready.of_waiting == 2 + 2 && ready.no_core == 6 && left == 8);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_records_and_latency_of_waking),
                                     cmocka_unit_test(test_parked_threads_are_woken_from_waiting),
                                     cmocka_unit_test(test_waking_is_no_more_than_the_kernels_total),
                                     cmocka_unit_test(test_parts_are_no_more_than_the_wait),
                                     cmocka_unit_test(test_without_records_waits_have_their_share),
                                     cmocka_unit_test(test_what_is_left_of_a_wait_is_in_the_next_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
