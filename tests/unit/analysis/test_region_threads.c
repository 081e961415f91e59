/* With how many threads a region would take least time: closed forms of the model, and what it is given. */
#include "hpcprof-lite/analysis/region_threads.h"
#include "tests/support/unit.h"

#include <math.h>

enum { REGION = 1, INNER, ENTRIES, THREADS = 2 };
static const uint64_t us = 1000;
static struct construct_entry entries[ENTRIES];
static struct construct_row lines[ENTRIES][THREADS];
static struct construct_thread members[THREADS];
static struct construct_tree tree;
static struct names_directive places[3];
static struct names names;
static struct profile_directive directives[3];
static struct profile_thread threads[THREADS];
static struct profile_process process;
static struct profile profile;
static struct region_threads_list list;
static struct region_threads_alone alone;

static void near(double value, double expected)
{
  assert_true(fabs(value - expected) < 1e-9);
}

/* ---- the model ---- */

/* 1000 executions of 10 us of work, which all threads share equally, and 2 us to start the second one. */
static struct region_threads_times small(double start_s)
{
  return (struct region_threads_times){.executions = 1000,
                                       .threads = 2,
                                       .work_s = 10e-3,
                                       .span_s = 5e-3,
                                       .elapsed_s = 5e-3 + 1000 * start_s,
                                       .further_s = start_s};
}

static void expect(const struct region_threads_times *times, uint32_t cores, uint32_t best, double gain_s)
{
  struct region_threads result;
  region_threads_choose(times, cores, &result);
  assert_int_equal(result.best, best);
  near(result.gain_s, gain_s);
}

static void test_start_and_work(void **state)
{
  (void)state;
  struct region_threads_times times = small(2e-6);
  near(region_threads_forecast(&times, 1), 10e-3);
  near(region_threads_forecast(&times, 2), 7e-3);
  expect(&times, 2, 2, 0);
  times = small(8e-6);
  near(region_threads_forecast(&times, 2), 13e-3);
  expect(&times, 2, 1, 3e-3);
  times = small(5e-6); /* as long with both: the fewest */
  expect(&times, 2, 1, 0);
}

/* A fixed part, and one for each further thread: n (a + b (p - 1)) + W / p is least at p = sqrt(W / (n b)). */
static void test_fewer_of_many(void **state)
{
  (void)state;
  struct region_threads_times times = {.executions = 1000,
                                       .threads = 16,
                                       .work_s = 160e-3,
                                       .span_s = 10e-3,
                                       .first_s = 5e-6,
                                       .further_s = 10e-6,
                                       .elapsed_s = 165e-3};
  near(region_threads_forecast(&times, 16), 5e-3 + 150e-3 + 10e-3);
  near(region_threads_forecast(&times, 4), 5e-3 + 30e-3 + 40e-3);
  expect(&times, 16, 4, 90e-3);
  near(region_threads_forecast(&times, 1), 160e-3);
}

/* Half of the work is one chain, and the rest is divided: what all greedy schedules reach at least, or at best. */
static void test_between_the_bounds(void **state)
{
  (void)state;
  struct region_threads_times times = {.executions = 1, .threads = 2, .work_s = 8, .span_s = 4, .elapsed_s = 6};
  near(region_threads_forecast(&times, 2), 6); /* S + (W - S) / 2 */
  near(region_threads_forecast(&times, 4), 5);
  times.elapsed_s = 4; /* S alone */
  near(region_threads_forecast(&times, 2), 4);
  near(region_threads_forecast(&times, 4), 4);
  times.elapsed_s = 5;
  near(region_threads_forecast(&times, 2), 5);
  near(region_threads_forecast(&times, 4), 4.5);
  near(region_threads_forecast(&times, 1), 8);
}

static void test_model_that_does_not_hold(void **state)
{
  (void)state;
  struct region_threads_times times = small(8e-6);
  times.elapsed_s = 14e-3 / 0.75; /* S + (W - S) / 2 + starts are 15.5 ms */
  expect(&times, 2, 1, 5.5e-3);
  times.elapsed_s = 15.5e-3 / 0.74;
  expect(&times, 2, 0, 0);
  times.elapsed_s = 13e-3 / 1.24;
  expect(&times, 2, 1, 3e-3);
  times.elapsed_s = 13e-3 / 1.26;
  expect(&times, 2, 0, 0);
  times = small(8e-6);
  times.threads = 1;
  expect(&times, 2, 0, 0);
}

/* With more threads, a loop can have more pieces; but not more than its starts allow. */
static void test_more_threads(void **state)
{
  (void)state;
  struct region_threads_times times = small(2e-6);
  expect(&times, 4, 2, 0); /* with 3, 7.333 us instead of 7 us at best */
  times = small(1e-6);
  expect(&times, 2, 2, 0);
  expect(&times, 4, 0, 0); /* with 3, 5.333 us instead of 6 us, if the span is shorter then */
  times.span_s = 1e-3;     /* there are enough pieces */
  expect(&times, 3, 3, 6e-3 - 16e-3 / 3);
  times.further_s = 0.1e-6;
  times.elapsed_s = 5.1e-3;
  expect(&times, 4, 4, 5.1e-3 - 2.8e-3);
  times.span_s = 5e-3;
  times.further_s = 4e-6; /* more cost more than they can save */
  times.elapsed_s = 9e-3;
  expect(&times, 4, 2, 0);
}

/* Work that takes twice as long with two threads, and three times with three, is done in the same time: 1 + p - 1. */
static void test_inflation(void **state)
{
  (void)state;
  struct region_threads_times times = {
      .executions = 1, .threads = 2, .work_s = 20, .span_s = 1, .elapsed_s = 10, .inflation = 1};
  near(region_threads_forecast(&times, 1), 10);
  near(region_threads_forecast(&times, 2), 10);
  near(region_threads_forecast(&times, 4), 10);
  expect(&times, 4, 1, 0);
  times.inflation = 3; /* 4 times */
  near(region_threads_forecast(&times, 1), 5);
  near(region_threads_forecast(&times, 3), 5.0 / 3 * 7);
  expect(&times, 4, 1, 5);
  times.inflation = -0.5; /* it takes half as long with two, and with more */
  near(region_threads_forecast(&times, 1), 40);
  near(region_threads_forecast(&times, 4), 5);
  expect(&times, 4, 4, 5);
}

/* ---- what is measured ---- */

/* Two threads execute the region 100 times: 20 us each time, of which thread 1 starts for 2 us and works for 16 us,
 * and thread 2 starts for 12 us and works for 4 us. */
static int begin(void **state)
{
  (void)state;
  static const uint64_t enter[THREADS] = {1, 12}, body[THREADS] = {16, 4}, wait[THREADS] = {2, 3}, own[] = {1, 0},
                        left[THREADS] = {1, 1};
  memset(lines, 0, sizeof lines);
  for (uint32_t i = 0; i < ENTRIES; i++)
    entries[i] = (struct construct_entry){.parent = i ? i - 1 : 0,
                                          .end = ENTRIES,
                                          .depth = i,
                                          .region = i,
                                          .kind = i == REGION ? DIRECTIVE_PARALLEL : DIRECTIVE_FOR,
                                          .directive = i,
                                          .lines = lines[i]};
  entries[0].kind = DIRECTIVE_PROGRAM;
  entries[REGION].lines_count = THREADS;
  for (uint32_t i = 0; i < THREADS; i++) {
    lines[REGION][i] = (struct construct_row){.thread = i,
                                              .figures = {.count = 100,
                                                          .executions = i ? 0 : 100,
                                                          .enter = enter[i] * 100 * us,
                                                          .own_body = body[i] * 100 * us,
                                                          .body = body[i] * 100 * us,
                                                          .wait = wait[i] * 100 * us,
                                                          .wait_own = own[i] * 100 * us,
                                                          .exit = left[i] * 100 * us}};
    construct_figures_add(&entries[REGION].sum, &lines[REGION][i].figures);
    members[i] = (struct construct_thread){0, i, i};
    threads[i] = (struct profile_thread){0};
    places[i + 1].first = i + 1;
  }
  tree = (struct construct_tree){.entries = entries, .count = ENTRIES, .threads = members, .threads_count = THREADS};
  directives[REGION] = (struct profile_directive){.counted = 1, .work = 2000 * us, .span = 1600 * us};
  directives[INNER] = (struct profile_directive){.counted = 1, .work = 500 * us, .span = 500 * us};
  names.directives = places;
  process = (struct profile_process){.usable = true, .cpus = 2, .threads = threads, .threads_count = THREADS};
  profile = (struct profile){.processes = &process, .processes_count = 1};
  profile.workspan =
      (struct profile_workspan){.known = true, .is_time = true, .directives = directives, .directives_count = ENTRIES};
  return 0;
}

static int end(void **state)
{
  (void)state;
  region_threads_release(&list);
  region_threads_release_alone(&alone);
  return 0;
}

static const struct region_threads *compute(void)
{
  region_threads_release(&list);
  region_threads_compute(&profile, &names, &tree, &alone, &list);
  return region_threads_of(&list, entries[REGION].region);
}

/* Starting takes 3 us in one thread, and 13 us in the other: S + 13 us are 29 us, and much more than the 20 us of an
 * execution.  With 11 us of span and 20 us of work, it fits. */
static void test_measured_times(void **state)
{
  (void)state;
  assert_null(compute());
  directives[REGION].span = 1100 * us;
  directives[REGION].work = 1500 * us;
  const struct region_threads *found = compute();
  assert_non_null(found);
  near(found->times.executions, 100);
  near(found->times.threads, 2);
  near(found->times.elapsed_s, 2e-3);
  near(found->times.first_s, 3e-6);
  near(found->times.further_s, 10e-6);
  near(found->times.work_s, 1.5e-3);
  near(found->times.span_s, 1.1e-3);
  assert_int_equal(found->best, 1);
  near(found->gain_s, 1.3e-3 + 1.1e-3 - 1.5e-3);
}

/* This tool's time is taken out; of copies of the code, the work is added up. */
static void test_own_time_and_copies(void **state)
{
  (void)state;
  directives[REGION].span = 400 * us;
  directives[REGION].work = 500 * us;
  places[INNER].first = REGION;
  threads[0].tool_ns = 400 * us;
  const struct region_threads *found = compute();
  assert_non_null(found);
  near(found->times.elapsed_s, 1.8e-3);
  near(found->times.first_s, 2.7e-6);
  near(found->times.further_s, 9e-6);
  near(found->times.work_s, 1.0e-3);
  near(found->times.span_s, 0.9e-3);
}

static void test_unknown(void **state)
{
  (void)state;
  directives[REGION].span = 1100 * us;
  directives[REGION].work = 1500 * us;
  assert_non_null(compute());
  lines[REGION][1].figures.count--; /* of two threads, or of one */
  assert_null(compute());
  lines[REGION][1].figures.count++;
  entries[0].kind = DIRECTIVE_TEAMS; /* in another region */
  assert_null(compute());
  entries[0].kind = DIRECTIVE_PROGRAM;
  tree.several = true;
  assert_null(compute());
  tree.several = false;
  profile.workspan.is_time = false;
  assert_null(compute());
  profile.workspan.is_time = true;
  profile.range.limited = true;
  assert_null(compute());
  profile.range.limited = false;
  directives[REGION].counted = 0;
  assert_null(compute());
  directives[REGION].counted = 1;
  entries[REGION].directive = 0; /* it stands for all regions whose place is not known */
  assert_null(compute());
}

/* Two runs with one thread, whose modules are numbered otherwise, and which have other regions, too. */
static void test_runs_with_one_thread(void **state)
{
  (void)state;
  static char path[] = "/bin/app", library[] = "/lib/library.so";
  struct catalog_module own[2] = {{.path = library}, {.path = path}}, others[2] = {{.path = path}, {.path = library}};
  struct profile_directive same[4] = {{.counted = 1}};
  struct profile one = profile;
  profile.catalog.modules = own;
  one.catalog.modules = others;
  profile.catalog.modules_count = one.catalog.modules_count = 2;
  one.workspan.directives = same;
  one.workspan.directives_count = 4;
  directives[REGION] = (struct profile_directive){.kind = DIRECTIVE_PARALLEL,
                                                  .module = 1,
                                                  .offset = 8,
                                                  .counted = 1,
                                                  .instances = 100,
                                                  .work = 2200 * us,
                                                  .span = 1100 * us};
  same[1] = (struct profile_directive){
      .kind = DIRECTIVE_PARALLEL, .module = 1, .offset = 8, .counted = 1, .instances = 100, .work = 7000 * us};
  same[2] = same[1]; /* in the same module */
  same[2].module = 0;
  same[2].offset = 16;
  same[3] = (struct profile_directive){
      .kind = DIRECTIVE_PARALLEL, .module = 0, .offset = 8, .counted = 1, .instances = 100, .work = 600 * us};
  region_threads_add_alone(&profile, &names, &one, &alone);
  same[3].work = 500 * us;
  region_threads_add_alone(&profile, &names, &one, &alone);
  const struct region_threads *found = compute();
  assert_non_null(found);
  near(found->times.inflation, 2200.0 / 550 - 1);
  assert_int_equal(found->best, 1);
  near(found->gain_s, 2.4e-3 - 0.55e-3);
  region_threads_add_alone(&profile, &names, &one, &alone);
  same[3].instances = 99; /* another program, or another input */
  region_threads_add_alone(&profile, &names, &one, &alone);
  near(compute()->times.inflation, 0);
}

/* More threads than the mask or the quota of the process allows are not considered. */
static void test_cores(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < THREADS; i++)
    lines[REGION][i].figures =
        (struct construct_figures){.count = 100, .executions = i ? 0 : 100, .own_body = 1000 * us, .body = 1000 * us};
  entries[REGION].sum =
      (struct construct_figures){.count = 200, .executions = 100, .own_body = 2000 * us, .body = 2000 * us};
  directives[REGION].span = 100 * us;
  process.cpus = 8;
  assert_int_equal(compute()->best, 8);
  process.quota_milli = 4000;
  assert_int_equal(compute()->best, 4);
  process.quota_milli = 3900; /* three whole CPUs */
  assert_int_equal(compute()->best, 3);
  process.quota_milli = 500; /* the two that were measured still count */
  assert_int_equal(compute()->best, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_start_and_work),
      cmocka_unit_test(test_fewer_of_many),
      cmocka_unit_test(test_between_the_bounds),
      cmocka_unit_test(test_model_that_does_not_hold),
      cmocka_unit_test(test_more_threads),
      cmocka_unit_test(test_inflation),
      cmocka_unit_test_setup_teardown(test_measured_times, begin, end),
      cmocka_unit_test_setup_teardown(test_own_time_and_copies, begin, end),
      cmocka_unit_test_setup_teardown(test_unknown, begin, end),
      cmocka_unit_test_setup_teardown(test_runs_with_one_thread, begin, end),
      cmocka_unit_test_setup_teardown(test_cores, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
