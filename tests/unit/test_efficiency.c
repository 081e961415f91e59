/* Efficiencies against their closed forms. */
#include "hpcprof-lite/analysis/efficiency.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <math.h>

static const uint64_t ms = 1000000;

static struct profile_thread openmp(uint64_t wall_ms, uint64_t idle_ms, uint64_t region_ms)
{
  return (struct profile_thread){
      .flags = THREAD_OPENMP, .wall_ns = wall_ms * ms, .idle_ns = idle_ms * ms, .region_ns = region_ms * ms};
}

static struct profile_process process(uint32_t threads_max, uint64_t wall_ms, struct profile_thread *threads,
                                      uint32_t count)
{
  return (struct profile_process){.usable = true,
                                  .flags = PROCESS_OMPT,
                                  .threads_max = threads_max,
                                  .wall_ns = wall_ms * ms,
                                  .regions = 1,
                                  .threads = threads,
                                  .threads_count = count};
}

static struct efficiency compute(struct profile_process *processes, uint32_t count, uint64_t elapsed_ms)
{
  struct profile profile = {.processes = processes, .processes_count = count};
  struct efficiency efficiency;
  efficiency_compute(&profile, elapsed_ms * ms, &efficiency);
  return efficiency;
}

static void expect(const struct efficiency *efficiency, enum efficiency_metric metric, double loss, double elapsed_s)
{
  if (fabs(efficiency->value[metric] - (1 - loss)) > 1e-12 ||
      fabs(efficiency->gain_s[metric] - loss * elapsed_s) > 1e-9)
    fail_msg("%s: %g, gain %g s; expected loss %g", efficiency_name(metric), efficiency->value[metric],
             efficiency->gain_s[metric], loss);
}

/* T = 4, R = 1 s, G = 0.7 s.  Thread 1 lives 1 s; the others 0.8 s each: 0.6 s of T R nobody was there.  Idle in all:
 * 0.1 + 0.2 + 0.3 + 0.2 + 0.6 = 1.4 s, of which serial code explains 0.3 x 3 = 0.9 s. */
static void test_losses_add_up(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1000, 100, 700), openmp(800, 200, 0), openmp(800, 300, 0),
                                     openmp(800, 200, 0), openmp(900, 900, 900)};
  threads[1].lockwait_ns = 80 * ms;
  threads[2].overhead_ns = 120 * ms;
  threads[4].flags = 0; /* not OpenMP's: counts nowhere */
  struct profile_process one = process(4, 1000, threads, 5);
  struct efficiency efficiency = compute(&one, 1, 1000);
  assert_true(efficiency.known);
  assert_int_equal(efficiency.threads, 4);
  assert_true(fabs(efficiency.thread_s - 4) < 1e-12);
  expect(&efficiency, EFFICIENCY_SERIAL, 0.9 / 4, 1);
  expect(&efficiency, EFFICIENCY_BALANCE, 0.5 / 4, 1);
  expect(&efficiency, EFFICIENCY_LOCK, 0.08 / 4, 1);
  expect(&efficiency, EFFICIENCY_RUNTIME, 0.12 / 4, 1);
  expect(&efficiency, EFFICIENCY_PARALLEL, (0.9 + 0.5 + 0.08 + 0.12) / 4, 1);
}

/* Serial code cannot explain more idleness than there is. */
static void test_serial_loss_is_bounded_by_idleness(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1000, 0, 100), openmp(1000, 300, 0)};
  struct profile_process one = process(2, 1000, threads, 2);
  struct efficiency efficiency = compute(&one, 1, 1000);
  expect(&efficiency, EFFICIENCY_SERIAL, 0.3 / 2, 1);
  expect(&efficiency, EFFICIENCY_BALANCE, 0, 1);
}

/* Regions of several masters at once may be longer in sum than the process lived. */
static void test_regions_are_bounded_by_elapsed_time(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1000, 0, 1000), openmp(1000, 400, 900)};
  struct profile_process one = process(2, 1000, threads, 2);
  struct efficiency efficiency = compute(&one, 1, 1000);
  expect(&efficiency, EFFICIENCY_SERIAL, 0, 1);
  expect(&efficiency, EFFICIENCY_BALANCE, 0.4 / 2, 1);
}

/* T R = 2 and 2 thread-seconds, over 3 s of elapsed time; a third process has no OpenMP. */
static void test_processes_are_added_up(void **state)
{
  (void)state;
  struct profile_thread first[] = {openmp(1000, 0, 1000), openmp(1000, 600, 0)};
  struct profile_thread second[] = {openmp(500, 0, 500), openmp(500, 0, 0), openmp(500, 200, 0), openmp(500, 0, 0)};
  struct profile_thread other[] = {{.wall_ns = 5000 * ms}};
  struct profile_process three[] = {process(2, 1000, first, 2), process(4, 500, second, 4), process(1, 5000, other, 1)};
  three[2].flags = 0;
  struct efficiency efficiency = compute(three, 3, 3000);
  assert_int_equal(efficiency.processes, 2);
  assert_int_equal(efficiency.threads, 0);
  expect(&efficiency, EFFICIENCY_BALANCE, 0.8 / 4, 3);
  expect(&efficiency, EFFICIENCY_PARALLEL, 0.8 / 4, 3);
}

static void test_unknown_without_openmp_or_its_times(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1000, 0, 0)};
  struct profile_process one = process(1, 1000, threads, 1);
  assert_false(compute(&one, 1, 1000).known); /* a region began, none ended */
  one.regions = 0;
  assert_true(compute(&one, 1, 1000).known);
  one.flags = 0;
  assert_false(compute(&one, 1, 1000).known);
  one.flags = PROCESS_OMPT;
  threads[0].flags = 0;
  assert_false(compute(&one, 1, 1000).known);
  assert_false(compute(NULL, 0, 0).known);
}

static void test_hostile_values_stay_in_range(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1, 0, 0)};
  threads[0].idle_ns = threads[0].lockwait_ns = threads[0].overhead_ns = threads[0].region_ns = UINT64_MAX;
  struct profile_process one = process(UINT32_MAX, 1, threads, 1);
  one.wall_ns = UINT64_MAX;
  for (int i = 0; i < 2; i++, one.wall_ns = 1) {
    struct efficiency efficiency = compute(&one, 1, 1000);
    for (int metric = 0; metric < EFFICIENCY_COUNT; metric++)
      assert_true(efficiency.value[metric] >= 0 && efficiency.value[metric] <= 1);
  }
  assert_true(compute(&one, 1, 1000).value[EFFICIENCY_PARALLEL] == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_losses_add_up),
      cmocka_unit_test(test_serial_loss_is_bounded_by_idleness),
      cmocka_unit_test(test_regions_are_bounded_by_elapsed_time),
      cmocka_unit_test(test_processes_are_added_up),
      cmocka_unit_test(test_unknown_without_openmp_or_its_times),
      cmocka_unit_test(test_hostile_values_stay_in_range),
  };
  return cmocka_run_group_tests_name("efficiency", tests, NULL, NULL);
}
