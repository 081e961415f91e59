/* Efficiencies, compared with their closed forms. */
#include "hpcprof-lite/analysis/efficiency.h"
#include "tests/support/unit.h"

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
                                  .command = "./app",
                                  .notes = "",
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

/* T = 4, R = 1 s, G = 0.7 s.  Thread 1 lives 1 s, the others 0.8 s each: for 0.6 s of T R a thread does not exist.
 * Idleness in all: 0.1 + 0.2 + 0.3 + 0.2 + 0.6 = 1.4 s, of which serial code explains 0.3 x 3 = 0.9 s. */
static void test_losses_add_up(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1000, 100, 700), openmp(800, 200, 0), openmp(800, 300, 0),
                                     openmp(800, 200, 0), openmp(900, 900, 900)};
  threads[1].lockwait_ns = 80 * ms;
  threads[2].overhead_ns = 120 * ms;
  threads[4].flags = 0; /* not a thread of OpenMP: it does not count */
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

/* At most two threads are in use in 1 s: the second two work for 1 s and 0.7 s, in regions, while the first one sleeps
 * until they have ended, and its worker waits for a region. */
static void test_threads_beyond_those_in_use_lose_nothing(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1000, 0, 0), openmp(1000, 1000, 0), openmp(1000, 0, 1000),
                                     openmp(1000, 300, 0)};
  threads[0].blocked_ns = 1000 * ms;
  threads[2].work_ns = 1000 * ms;
  threads[3].work_ns = 700 * ms;
  struct profile_process one = process(2, 1000, threads, 4);
  struct efficiency efficiency = compute(&one, 1, 1000);
  expect(&efficiency, EFFICIENCY_BALANCE, 0.3 / 2, 1);
  expect(&efficiency, EFFICIENCY_PARALLEL, 0.3 / 2, 1);
  one.notes = "event: wall, 200 samples a second";
  threads[0].work_ns = 1000 * ms; /* the time of its sleep */
  efficiency = compute(&one, 1, 1000);
  expect(&efficiency, EFFICIENCY_PARALLEL, 0.3 / 2, 1);
}

/* Two threads, 1 s.  One works for 0.7 s and has no core for 0.3 s; the other works for 0.6 s, is idle for 0.1 s, and
 * waits for 0.3 s for the first one, in all of which it has no core, either.  In the 1.4 s with cores, 1.3 s are used.
 */
static void test_the_time_with_cores(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1000, 0, 1000), openmp(1000, 100, 0)};
  threads[0].run_delay_ns = threads[0].core_wait_ns = 300 * ms;
  threads[1].run_delay_ns = threads[1].no_core_ns = 300 * ms;
  struct profile_process one = process(2, 1000, threads, 2);
  struct efficiency efficiency = compute(&one, 1, 1000);
  assert_true(fabs(efficiency.value[EFFICIENCY_PARALLEL] - 1.9 / 2) < 1e-12);
  assert_true(fabs(efficiency.with_cores - 1.3 / 1.4) < 1e-12);
  threads[0].core_wait_ns = threads[1].no_core_ns = 0;
  efficiency = compute(&one, 1, 1000);
  assert_true(efficiency.with_cores == efficiency.value[EFFICIENCY_PARALLEL]);
  threads[0].core_wait_ns = UINT64_MAX;
  efficiency = compute(&one, 1, 1000);
  assert_true(efficiency.with_cores == 0);
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

/* Regions of several masters at the same time may be longer in sum than the process. */
static void test_regions_are_bounded_by_elapsed_time(void **state)
{
  (void)state;
  struct profile_thread threads[] = {openmp(1000, 0, 1000), openmp(1000, 400, 900)};
  struct profile_process one = process(2, 1000, threads, 2);
  struct efficiency efficiency = compute(&one, 1, 1000);
  expect(&efficiency, EFFICIENCY_SERIAL, 0, 1);
  expect(&efficiency, EFFICIENCY_BALANCE, 0.4 / 2, 1);
}

/* T R = 2 and 2 thread-seconds, over 3 s of elapsed time; a third process does not use OpenMP. */
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

static void expect_part(const struct efficiency *efficiency, enum efficiency_part part, double seconds,
                        double elapsed_s)
{
  const struct efficiency_split *split = &efficiency->split;
  if (fabs(split->part_s[part] - seconds) > 1e-12 ||
      fabs(split->gain_s[part] - seconds / split->part_s[EFFICIENCY_WHOLE] * elapsed_s) > 1e-9)
    fail_msg("%s: %g s, gain %g s; expected %g s", efficiency_part_name(part), split->part_s[part], split->gain_s[part],
             seconds);
}

static struct profile_thread working(uint64_t wall_ms, uint64_t work_ms, uint64_t overhead_ms)
{
  struct profile_thread thread = openmp(wall_ms, 0, wall_ms);
  thread.work_ns = work_ms * ms;
  thread.overhead_ns = overhead_ms * ms;
  return thread;
}

/* T R = 2 s: 0.9 + 0.5 s of work and 0.1 s of overhead; the rest is idleness, 0.2 s of it for locks. */
static void test_time_of_all_threads_is_split(void **state)
{
  (void)state;
  struct profile_thread threads[] = {working(1000, 900, 100), working(1000, 500, 0), {.work_ns = 700 * ms}};
  threads[1].lockwait_ns = 200 * ms;
  struct profile_process one = process(2, 1000, threads, 3);
  struct efficiency efficiency = compute(&one, 1, 1000);
  assert_true(efficiency.split.known && !efficiency.split.compared && *efficiency.split.note);
  expect_part(&efficiency, EFFICIENCY_WHOLE, 2, 1);
  expect_part(&efficiency, EFFICIENCY_WORK, 1.4, 1);
  expect_part(&efficiency, EFFICIENCY_OVERHEAD, 0.1, 1);
  expect_part(&efficiency, EFFICIENCY_IDLENESS, 0.5, 1);
  expect_part(&efficiency, EFFICIENCY_LOCKWAIT, 0.2, 1);
  expect_part(&efficiency, EFFICIENCY_INFLATION, 0, 1);
}

/* Two runs on two threads, 1 s each, with 1.4 and 1.6 s of work, and two of the same command on one thread, with 1.0
 * and 1.2 s: twice their mean is 2.2 s, so 0.8 s is inflation.  2.2 + 0.8 + 0.1 + 0.9 = 4 s = T R of both. */
static void test_a_run_on_one_thread_is_compared_with(void **state)
{
  (void)state;
  struct profile_thread threads[] = {working(1000, 900, 100), working(1000, 500, 0),  working(1000, 800, 0),
                                     working(1000, 800, 0),   working(1000, 1000, 0), working(1500, 1200, 300)};
  struct profile_process four[] = {process(2, 1000, threads, 2), process(2, 1000, threads + 2, 2),
                                   process(1, 1000, threads + 4, 1), process(1, 1500, threads + 5, 1)};
  static char *const paths[] = {"two/1.hpcl", "other/1.hpcl", "one/1.hpcl", "again/1.hpcl"};
  for (int i = 0; i < 4; i++) {
    four[i].path = paths[i];
    four[i].command = "./solve 7";
    four[i].start_ns = (uint64_t)i * 5000 * ms;
  }
  struct efficiency efficiency = compute(four, 4, 16500);
  assert_true(efficiency.split.compared && !*efficiency.split.note);
  assert_int_equal(efficiency.processes, 2);
  assert_int_equal(efficiency.split.alone, 2);
  assert_int_equal(efficiency.split.runs, 2);
  expect_part(&efficiency, EFFICIENCY_WHOLE, 4, 2);
  expect_part(&efficiency, EFFICIENCY_WORK, 3, 2);
  expect_part(&efficiency, EFFICIENCY_WORK_ONE, 2.2, 2);
  expect_part(&efficiency, EFFICIENCY_INFLATION, 0.8, 2);
  expect_part(&efficiency, EFFICIENCY_OVERHEAD, 0.1, 2);
  expect_part(&efficiency, EFFICIENCY_IDLENESS, 0.9, 2);

  four[1].command = "./solve 8"; /* for which no run on one thread exists */
  efficiency = compute(four, 4, 16500);
  assert_true(!efficiency.split.compared && *efficiency.split.note);
  assert_int_equal(efficiency.processes, 2);
  expect_part(&efficiency, EFFICIENCY_WHOLE, 4, 2);

  for (int i = 0; i < 4; i++)
    four[i].path = paths[0]; /* processes of one run */
  efficiency = compute(four, 4, 16500);
  assert_true(!efficiency.split.compared);
  assert_int_equal(efficiency.processes, 4);
}

/* More work than T R, because of sampling errors: the whole is what was sampled. */
static void test_more_work_than_time(void **state)
{
  (void)state;
  struct profile_thread threads[] = {working(1000, 1000, 50), working(1000, 1000, 0)};
  threads[0].lockwait_ns = 10 * ms;
  struct profile_process one = process(2, 1000, threads, 2);
  struct efficiency efficiency = compute(&one, 1, 1000);
  expect_part(&efficiency, EFFICIENCY_WHOLE, 2.05, 1);
  expect_part(&efficiency, EFFICIENCY_IDLENESS, 0, 1);
  expect_part(&efficiency, EFFICIENCY_LOCKWAIT, 0, 1);
}

/* A thread that is in MPI for so long, of which so long outside regions. */
static struct profile_thread calling(struct profile_thread thread, uint64_t mpi_ms, uint64_t outside_ms)
{
  thread.mpi_ns = mpi_ms * ms;
  thread.mpi_outside_ns = outside_ms * ms;
  thread.mpi_calls = 1;
  return thread;
}

static void expect_job(const struct efficiency_job *job, enum efficiency_job_metric metric, double value, double gain_s)
{
  if (fabs(job->value[metric] - value) > 1e-12 || fabs(job->gain_s[metric] - gain_s) > 1e-9)
    fail_msg("%s: %g, gain %g s", efficiency_job_name(metric), job->value[metric], job->gain_s[metric]);
}

/* Two ranks of two threads, R = 1 s.  The first thread of one is in MPI for 0.6 s, in which the other one is idle. That
 * of the other is for 0.1 s; its second thread is idle then, and for 0.2 s in regions. */
static void test_efficiencies_of_a_job_multiply(void **state)
{
  (void)state;
  struct profile_thread waits[] = {calling(openmp(1000, 0, 400), 600, 600), openmp(1000, 600, 0)};
  struct profile_thread late[] = {calling(openmp(1000, 0, 900), 100, 100), openmp(1000, 300, 0)};
  struct profile_process ranks[] = {process(2, 1000, waits, 2), process(2, 1000, late, 2)};
  ranks[1].rank = 1;
  struct efficiency efficiency = compute(ranks, 2, 1000);
  const struct efficiency_job *job = &efficiency.job;
  assert_true(job->known);
  assert_int_equal(job->ranks, 2);
  expect_job(job, JOB_GLOBAL, 2.4 / 4, 0.4);
  expect_job(job, JOB_MPI, 0.65, 0.35);
  expect_job(job, JOB_MPI_BALANCE, 0.65 / 0.9, 0.25);
  expect_job(job, JOB_MPI_COMMUNICATION, 0.9, 0.1);
  expect_job(job, JOB_OPENMP, 2.4 / 2.6, 0.05);
  assert_true(isnan(job->value[JOB_MPI_SERIALISATION]) && isnan(job->gain_s[JOB_MPI_TRANSFER]));
  efficiency_divide_communication(&efficiency.job, 0, 0.9);    /* not known */
  efficiency_divide_communication(&efficiency.job, 1.03, 0.9); /* the run was shorter */
  assert_true(isnan(job->value[JOB_MPI_SERIALISATION]));
  efficiency_divide_communication(&efficiency.job, 0.96, 0.9); /* 0.9 s of 0.96 s of 1 s */
  expect_job(job, JOB_MPI_SERIALISATION, 0.9 / 0.96, 0.06);
  expect_job(job, JOB_MPI_TRANSFER, 0.96, 0.04);
  efficiency_divide_communication(&efficiency.job, 1.01, 0.9); /* longer than the run was, by the error of the clocks */
  expect_job(job, JOB_MPI_SERIALISATION, 0.9, 0.1);
  expect_job(job, JOB_MPI_TRANSFER, 1, 0);
  assert_true(fabs(job->of_process[0].mpi - 0.4) < 1e-12 && fabs(job->of_process[0].openmp - 1) < 1e-12);
  assert_true(fabs(job->of_process[1].mpi - 0.9) < 1e-12 && fabs(job->of_process[1].openmp - 1.6 / 1.8) < 1e-12);
  assert_true(fabs(job->of_process[1].global - 0.8) < 1e-12);
  expect(&efficiency, EFFICIENCY_PARALLEL, 0.2 / 2.6, 0.65); /* that of the threads, outside MPI */
  expect(&efficiency, EFFICIENCY_BALANCE, 0.2 / 2.6, 0.65);
  expect(&efficiency, EFFICIENCY_SERIAL, 0, 0.65);
  efficiency_release(&efficiency);
}

/* Calls in regions hold up the threads that make them; those of threads outside OpenMP hold up nobody. */
static void test_calls_in_regions_count_by_thread(void **state)
{
  (void)state;
  struct profile_thread inside[] = {calling(openmp(1000, 0, 1000), 300, 0), calling(openmp(1000, 0, 0), 100, 0),
                                    calling(openmp(1000, 0, 0), 500, 500)};
  struct profile_thread alone[] = {calling(openmp(1000, 0, 0), 250, 250)};
  inside[2].flags = alone[0].flags = 0;
  struct profile_process ranks[] = {process(2, 1000, inside, 3), process(1, 1000, alone, 1)};
  ranks[1].flags = 0; /* without OpenMP: all time outside MPI is useful */
  ranks[1].rank = 1;
  struct efficiency efficiency = compute(ranks, 2, 1000);
  const struct efficiency_job *job = &efficiency.job;
  assert_true(fabs(job->of_process[0].mpi - 0.8) < 1e-12 && fabs(job->of_process[1].mpi - 0.75) < 1e-12);
  assert_true(fabs(job->of_process[1].global - 0.75) < 1e-12 && isnan(job->of_process[1].openmp));
  expect_job(job, JOB_MPI, (1.6 + 0.75) / 3, 1 - (1.6 + 0.75) / 3);
  efficiency_release(&efficiency);
}

static void test_one_rank_is_no_job(void **state)
{
  (void)state;
  struct profile_thread threads[] = {calling(openmp(1000, 0, 400), 600, 600), openmp(1000, 600, 0)};
  struct profile_process one = process(2, 1000, threads, 2);
  struct efficiency efficiency = compute(&one, 1, 1000);
  assert_true(!efficiency.job.known && !efficiency.job.of_process);
  expect(&efficiency, EFFICIENCY_PARALLEL, 0, 0.4);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_losses_add_up),
      cmocka_unit_test(test_threads_beyond_those_in_use_lose_nothing),
      cmocka_unit_test(test_the_time_with_cores),
      cmocka_unit_test(test_serial_loss_is_bounded_by_idleness),
      cmocka_unit_test(test_regions_are_bounded_by_elapsed_time),
      cmocka_unit_test(test_processes_are_added_up),
      cmocka_unit_test(test_unknown_without_openmp_or_its_times),
      cmocka_unit_test(test_time_of_all_threads_is_split),
      cmocka_unit_test(test_a_run_on_one_thread_is_compared_with),
      cmocka_unit_test(test_more_work_than_time),
      cmocka_unit_test(test_hostile_values_stay_in_range),
      cmocka_unit_test(test_efficiencies_of_a_job_multiply),
      cmocka_unit_test(test_calls_in_regions_count_by_thread),
      cmocka_unit_test(test_one_rank_is_no_job),
  };
  return UNIT_RUN(argc, argv, "efficiency", tests, NULL, NULL);
}
