/* How much of the time threads had no core: by the kernel's totals, wherever that time is counted; the part that the
 * host of a virtual machine took. */
#include "hpcprof-lite/analysis/totals.h"

#include "tests/support/unit.h"

static void test_missing_cores_within_waits_count(void **state)
{
  (void)state;
  struct profile_thread threads[] = {{.cpu_ns = 700, .run_delay_ns = 300}, /* within its waits: core_wait_ns 0 */
                                     {.cpu_ns = 900, .run_delay_ns = 100, .core_wait_ns = 100}};
  struct profile_process processes[] = {
      {.usable = true, .threads = threads, .threads_count = 2, .steal_ns = 30, .machine_ns = 100},
      {.usable = true, .steal_ns = 10, .machine_ns = 300},
      {.usable = false, .steal_ns = 1000, .machine_ns = 1000}};
  struct profile profile = {.processes = processes, .processes_count = 3};
  struct tree_columns columns = {.work = MODEL_NONE, .overhead = MODEL_NONE};
  struct totals totals;
  for (unsigned i = 0; i < 3; i++)
    processes[i].command = processes[i].host = processes[i].notes = "";
  totals_compute(&profile, &columns, BASELINE_THREAD, &totals);
  assert_true(totals_without_core(&totals) == 400.0 / 2000);
  assert_true(totals_stolen(&totals) == 40.0 / 400);
  totals_release(&totals);
  threads[0].run_delay_ns = threads[1].run_delay_ns = UINT64_MAX; /* hostile */
  processes[0].machine_ns = processes[1].machine_ns = 0;
  totals_compute(&profile, &columns, BASELINE_THREAD, &totals);
  assert_true(totals_without_core(&totals) == 1 && totals_stolen(&totals) == 0);
  totals_release(&totals);
}

static void test_threads_that_hardly_run_do_not_lack_cores(void **state)
{
  (void)state;
  struct totals totals = {.delay_ns = 10, .runnable_ns = 100, .lived_ns = 1000};
  assert_true(totals_missing_cores(&totals).without_core == 0.1);
  totals.lived_ns = 1100; /* the delay is less than a hundredth */
  assert_false(totals_miss_cores(&totals));
  totals = (struct totals){.delay_ns = 5, .runnable_ns = 100};
  assert_false(totals_miss_cores(&totals));
}

static void test_more_than_a_twentieth_is_missing(void **state)
{
  (void)state;
  struct totals totals = {.steal_ns = 6, .machine_ns = 100, .delay_ns = 5, .runnable_ns = 100};
  assert_true(totals_missing_cores(&totals).stolen == 0.06 && totals_missing_cores(&totals).without_core == 0);
  assert_true(totals_miss_cores(&totals));
  totals.steal_ns = 5;
  assert_false(totals_miss_cores(&totals));
}

/* A quota of 1.5 CPUs for 2 s and 1 CPU for 1 s are 4 s, of which 3.5 s were used; the others may use all of their
 * cores. */
static void test_a_quota_below_the_cores_is_what_can_be_used(void **state)
{
  (void)state;
  struct profile_process processes[] = {
      {.usable = true, .cpus = 4, .quota_milli = 1500, .wall_ns = 2000000000, .cpu_ns = 2700000000},
      {.usable = true, .cpus = 2, .quota_milli = 1000, .wall_ns = 1000000000, .cpu_ns = 800000000},
      {.usable = true, .cpus = 2, .quota_milli = 2000, .wall_ns = 1000000000, .cpu_ns = 100000000},
      {.usable = true, .cpus = 2, .wall_ns = 1000000000, .cpu_ns = 100000000}};
  struct profile profile = {.processes = processes, .processes_count = 4};
  struct tree_columns columns = {.work = MODEL_NONE, .overhead = MODEL_NONE};
  struct totals totals;
  for (unsigned i = 0; i < 4; i++)
    processes[i].command = processes[i].host = processes[i].notes = "";
  totals_compute(&profile, &columns, BASELINE_THREAD, &totals);
  assert_true(totals.quota_ns == 4000000000 && totals.in_quota_ns == 3500000000);
  totals_release(&totals);
}

static void expect_with_cores(const struct profile *profile, uint64_t expected_ns)
{
  struct tree_columns columns = {.work = MODEL_NONE, .overhead = MODEL_NONE};
  struct totals totals;
  totals_compute(profile, &columns, BASELINE_THREAD, &totals);
  assert_int_equal(totals.with_cores_ns, expected_ns);
  totals_release(&totals);
}

/* A process of 1000 ns, whose initial thread was held up for 300 ns; the next one begins 100 ns later, takes 650 ns,
 * and was held up for 10 ns. */
static void test_a_run_with_cores_ends_with_its_last_process(void **state)
{
  (void)state;
  struct profile_thread first[] = {{.flags = THREAD_OPENMP, .recorded = true, .wall_ns = 1000, .held_up_ns = 300},
                                   {.flags = THREAD_OPENMP, .recorded = true, .held_up_ns = 900},
                                   {.recorded = false}}; /* no thread of OpenMP */
  struct profile_thread second[] = {{.flags = THREAD_OPENMP, .recorded = true, .wall_ns = 650, .held_up_ns = 10}};
  struct profile_process processes[] = {
      {.usable = true, .start_ns = 5000, .wall_ns = 1000, .threads = first, .threads_count = 3},
      {.usable = true, .start_ns = 5100, .wall_ns = 650, .threads = second, .threads_count = 1}};
  struct profile profile = {.processes = processes, .processes_count = 1};
  for (unsigned i = 0; i < 2; i++)
    processes[i].command = processes[i].host = processes[i].notes = "";
  expect_with_cores(&profile, 700);
  profile.processes_count = 2;
  expect_with_cores(&profile, 740);
  second[0].recorded = false; /* then how long it was held up is not known */
  expect_with_cores(&profile, 0);
  profile.processes_count = 1;
  first[0].held_up_ns = UINT64_MAX; /* hostile */
  expect_with_cores(&profile, 0);
  first[0].held_up_ns = 300;
  processes[0].paused_ns = 1;
  expect_with_cores(&profile, 0);
  processes[0].paused_ns = 0;
  processes[0].in_part = true;
  expect_with_cores(&profile, 0);
  processes[0].in_part = false;
  processes[0].unfinished = true;
  expect_with_cores(&profile, 0);
  processes[0].unfinished = false;
  expect_with_cores(&profile, 700);
  first[0].wall_ns = 890; /* then other threads have begun regions after it, perhaps */
  expect_with_cores(&profile, 0);
  first[0].wall_ns = 900;
  expect_with_cores(&profile, 700);
  processes[0].steal_ns = 6;
  processes[0].machine_ns = 100;
  expect_with_cores(&profile, 0);
}

/* Two threads of OpenMP in 1000 ns, and threads beside them: one lives for 800 ns, the tool's pause left out, the other
 * one is a helper of the runtime, of which only what it has run is known. */
static void test_all_other_threads_live_outside_openmp(void **state)
{
  (void)state;
  struct profile_thread threads[] = {{.flags = THREAD_OPENMP, .wall_ns = 1000, .caused_idle_ns = 70},
                                     {.flags = THREAD_OPENMP, .wall_ns = 700},
                                     {.wall_ns = 900, .paused_ns = 100, .caused_idle_ns = 30},
                                     {.flags = THREAD_HELPER, .wall_ns = 1000, .work_ns = 50}};
  struct profile_process process = {.usable = true,
                                    .flags = PROCESS_OMPT,
                                    .wall_ns = 1000,
                                    .threads_max = 2,
                                    .threads = threads,
                                    .threads_count = 4,
                                    .unblamed_idle_ns = 200};
  struct profile profile = {.processes = &process, .processes_count = 1};
  struct tree_columns columns = {.work = MODEL_NONE, .overhead = MODEL_NONE};
  struct totals totals;
  process.command = process.host = process.notes = "";
  totals_compute(&profile, &columns, BASELINE_THREAD, &totals);
  assert_int_equal(totals.baseline_ns, 2000);
  assert_int_equal(totals.openmp_wall_ns, 1700);
  assert_int_equal(totals.others_ns, 850);
  assert_int_equal(totals.caused_idle_ns, 300);
  assert_int_equal(totals.beyond_ns, 0);
  totals_release(&totals);
  process.threads_max = 1; /* while one was in use, the other one waited for a region of its own */
  totals_compute(&profile, &columns, BASELINE_THREAD, &totals);
  assert_int_equal(totals.baseline_ns, 1000);
  assert_int_equal(totals.beyond_ns, 700);
  totals_release(&totals);
  process.threads_max = 2;
  process.flags = 0; /* without OpenMP, all are others */
  totals_compute(&profile, &columns, BASELINE_THREAD, &totals);
  assert_int_equal(totals.baseline_ns, 0);
  assert_int_equal(totals.others_ns, 2550);
  totals_release(&totals);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_missing_cores_within_waits_count),
                                     cmocka_unit_test(test_threads_that_hardly_run_do_not_lack_cores),
                                     cmocka_unit_test(test_more_than_a_twentieth_is_missing),
                                     cmocka_unit_test(test_a_quota_below_the_cores_is_what_can_be_used),
                                     cmocka_unit_test(test_a_run_with_cores_ends_with_its_last_process),
                                     cmocka_unit_test(test_all_other_threads_live_outside_openmp)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
