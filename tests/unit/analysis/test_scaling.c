/* Speedups, losses and their extrapolation, on runs whose answers are known. */
#include "hpcprof-lite/analysis/scaling.h"
#include "tests/support/unit.h"

#include <math.h>

enum { RUNS_MAX = 8 };

static struct tree tree;
static struct scaling scaling;
static struct scaling_run runs[RUNS_MAX];

static void near(double value, double expected)
{
  if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
    fail_msg("%.12g is not %.12g", value, expected);
}

static int setup(void **state)
{
  (void)state;
  for (int i = 0; i < RUNS_MAX; i++) {
    runs[i] = (struct scaling_run){.work_s = NAN, .forecast_base = NAN, .forecast = NAN};
    for (int factor = 0; factor < SCALING_FACTORS; factor++)
      runs[i].factors[factor] = NAN;
  }
  tree_init(&tree, RUNS_MAX * SCALING_COLUMNS, "program");
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  scaling_release(&scaling);
  tree_release(&tree);
  return 0;
}

static uint32_t context(const char *name)
{
  struct tree_row row = {.kind = ROW_LINE, .function = MODEL_NONE, .module = MODEL_NONE, .name = name, .file = name};
  return tree_add(&tree, &row, NULL);
}

static void run(uint32_t number, uint32_t threads, double elapsed_s)
{
  runs[number].threads = runs[number].used = threads;
  runs[number].elapsed_s = elapsed_s;
}

static void charge(uint32_t row, uint32_t number, enum scaling_part part, double seconds)
{
  tree_value(&tree, row, number * SCALING_COLUMNS + part, model_rounded(seconds * 1e9));
  tree_value(&tree, row, number * SCALING_COLUMNS + SCALING_SAMPLES, model_rounded(seconds * 1000));
}

static const struct scaling_lost *loss(uint32_t row, uint32_t point)
{
  return &scaling.lost[row * scaling.points_count + point];
}

/* 2 s of serial and 8 s of parallel code: Amdahl's law, measured without error. */
static void amdahl(const uint32_t *threads, uint32_t count, uint32_t *serial, uint32_t *parallel)
{
  *serial = context("serial");
  *parallel = context("parallel");
  for (uint32_t i = 0; i < count; i++) {
    run(i, threads[i], 2 + 8.0 / threads[i]);
    runs[i].work_s = 10;
    charge(*serial, i, SCALING_INFLATION, 2);
    charge(*serial, i, SCALING_IDLENESS, 2 * (threads[i] - 1.0));
    charge(*parallel, i, SCALING_INFLATION, 8);
  }
}

static void amdahl_is_exact(void **state)
{
  static const uint32_t threads[] = {1, 2, 5};
  uint32_t serial, parallel;
  (void)state;
  amdahl(threads, 3, &serial, &parallel);
  scaling_compute(runs, 3, false, true, &tree, &scaling);
  assert_int_equal(scaling.points_count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    const struct scaling_point *point = &scaling.points[i];
    near(point->speedup, 1 / (0.2 + 0.8 / threads[i]));
    near(point->efficiency, point->speedup / threads[i]);
    near(point->work_scaling, 1);
    if (i)
      near(point->serial_fraction, 0.2);
    near(loss(serial, i)->lost_s, 2 * (threads[i] - 1.0));
    near(loss(parallel, i)->lost_s, 0);
    near(loss(0, i)->lost_s, threads[i] * point->elapsed_s - 10);
    near(loss(0, i)->other_s, 0);
  }
  assert_true(isnan(scaling.points[0].serial_fraction));
  for (int i = 0; i < SCALING_LATER; i++) { /* beyond what was measured, too */
    double later = 5.0 * scaling_later_factors[i];
    assert_int_equal(scaling.later[i].threads, (int)later);
    near(scaling.later[i].speedup, 1 / (0.2 + 0.8 / later));
    near(scaling_share(&scaling, serial, i), 2 * (later - 1) / (2 * later + 8));
  }
  assert_int_equal(scaling.contexts, 2);
  assert_int_equal(scaling.order[0], serial);
}

/* Threads in use must grow with every number that was asked for: 1, 2 and 2 do not.  Where they are not known, or are
 * more, there is a forecast. */
static void no_forecast_without_more_threads(void **state)
{
  static const uint32_t threads[] = {1, 2, 5}, used[][3] = {{1, 2, 2}, {4, 4, 4}, {2, 4, 10}, {0, 0, 0}};
  uint32_t serial, parallel;
  (void)state;
  amdahl(threads, 3, &serial, &parallel);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 3; j++) {
      runs[j].used = used[i][j];
      runs[j].forecast = runs[j].forecast_base = 1;
    }
    scaling_compute(runs, 3, false, true, &tree, &scaling);
    assert_int_equal(scaling.forecast, i >= 2);
    assert_int_equal(isnan(scaling.points[2].forecast) != 0, i < 2);
    assert_int_equal(isnan(scaling.points[2].forecast_base) != 0, i < 2);
    assert_int_equal(isnan(scaling.points[2].serial_fraction) != 0, i < 2);
    near(scaling.points[2].speedup, 10 / (2 + 8.0 / 5));
    assert_int_equal(scaling.order[0], serial); /* the greater loss, in either case */
    scaling_release(&scaling);
  }
}

static void another_base_than_one_thread(void **state)
{
  static const uint32_t threads[] = {2, 4};
  uint32_t serial, parallel;
  (void)state;
  amdahl(threads, 2, &serial, &parallel);
  scaling_compute(runs, 2, false, true, &tree, &scaling);
  near(scaling.points[1].speedup, 6.0 / 4);
  near(scaling.points[1].efficiency, 0.75);
  near(scaling.points[1].serial_fraction, (4.0 / 6 - 0.5) / 0.5);
  near(loss(0, 1)->lost_s, 4 * 4.0 - 2 * 6.0);
}

/* Every part is a loss of its own; what no context is charged with is `other`; losses of contexts add up. */
static void losses_add_up(void **state)
{
  uint32_t first, second;
  (void)state;
  run(0, 1, 10);
  run(1, 4, 5);
  first = context("first");
  second = context("second");
  charge(first, 0, SCALING_INFLATION, 6);
  charge(second, 0, SCALING_INFLATION, 4);
  charge(first, 1, SCALING_INFLATION, 7);
  charge(first, 1, SCALING_OVERHEAD, 0.5);
  charge(first, 1, SCALING_IDLENESS, 2);
  charge(second, 1, SCALING_INFLATION, 3.5);
  charge(second, 1, SCALING_LOCKWAIT, 3);
  charge(second, 1, SCALING_IDLENESS, 1);
  scaling_compute(runs, 2, false, true, &tree, &scaling);
  near(loss(first, 1)->part_s[SCALING_INFLATION], 1);
  near(loss(first, 1)->part_s[SCALING_OVERHEAD], 0.5);
  near(loss(first, 1)->part_s[SCALING_IDLENESS], 2);
  near(loss(first, 1)->lost_s, 3.5);
  near(loss(second, 1)->part_s[SCALING_INFLATION], -0.5);
  near(loss(second, 1)->part_s[SCALING_LOCKWAIT], 3);
  near(loss(second, 1)->lost_s, 3.5);
  near(loss(0, 1)->lost_s, 10);
  near(loss(0, 1)->other_s, 3);
  double sum = loss(0, 1)->other_s;
  for (int part = 0; part < SCALING_PARTS; part++)
    sum += loss(0, 1)->part_s[part];
  near(sum, loss(0, 1)->lost_s);
  near(loss(first, 1)->lost_s + loss(second, 1)->lost_s + loss(0, 1)->other_s, loss(0, 1)->lost_s);
  for (int i = 0; i < SCALING_LATER; i++) {
    double whole = scaling.later_s[first * SCALING_LATER + i] + scaling.later_s[second * SCALING_LATER + i];
    near(whole, 7 * (4.0 * scaling_later_factors[i] - 1) / 3);
  }
}

/* Weak scaling: each thread has as much to do as the one of the base. */
static void weak_scaling(void **state)
{
  uint32_t row;
  (void)state;
  run(0, 1, 10);
  run(1, 4, 12);
  runs[0].work_s = 10;
  runs[1].work_s = 44;
  row = context("row");
  charge(row, 0, SCALING_INFLATION, 10);
  charge(row, 1, SCALING_INFLATION, 44);
  charge(row, 1, SCALING_IDLENESS, 4);
  scaling_compute(runs, 2, true, true, &tree, &scaling);
  near(scaling.points[1].speedup, 4 * 10.0 / 12);
  near(scaling.points[1].efficiency, 10.0 / 12);
  near(scaling.points[1].work_scaling, 40.0 / 44);
  assert_true(isnan(scaling.points[1].serial_fraction));
  near(loss(row, 1)->part_s[SCALING_INFLATION], 1);
  near(loss(row, 1)->part_s[SCALING_IDLENESS], 1);
  near(loss(0, 1)->lost_s, 2);
  near(loss(0, 1)->other_s, 0);
  near(scaling.later[0].whole_s, 10 + 2 * 7.0 / 3);
  near(scaling.later[0].speedup, 8 * 10 / (10 + 2 * 7.0 / 3));
}

/* Repeated runs have medians, their spread, and tests by their variance. */
static void repeated_runs(void **state)
{
  static const double elapsed_s[] = {10, 10.2, 9.9, 6, 6.4, 6.1};
  uint32_t noisy, same;
  (void)state;
  noisy = context("grows");
  same = context("stays");
  for (uint32_t i = 0; i < 6; i++) {
    run(i, i < 3 ? 1 : 2, elapsed_s[i]);
    charge(noisy, i, SCALING_INFLATION, (i < 3 ? 5 : 8) + 0.01 * (i % 3));
    charge(same, i, SCALING_INFLATION, 3 + 0.1 * (i % 3));
  }
  scaling_compute(runs, 6, false, true, &tree, &scaling);
  assert_int_equal(scaling.points_count, 2);
  assert_int_equal(scaling.points[1].runs, 3);
  near(scaling.points[0].elapsed_s, 10);
  near(scaling.points[1].elapsed_s, 6.1);
  near(scaling.points[1].least_s, 6);
  near(scaling.points[1].most_s, 6.4);
  near(scaling.points[1].speedup, 10 / 6.1);
  near(loss(noisy, 1)->lost_s, 3);
  assert_true(compare_is_significant(&loss(noisy, 1)->figure));
  assert_false(compare_is_significant(&loss(same, 1)->figure));
  assert_true(isnan(loss(noisy, 0)->figure.probability));
  assert_int_equal(scaling.compared, 3);
}

/* Without samples of time, the runs alone are known. */
static void runs_without_contexts(void **state)
{
  (void)state;
  run(0, 1, 4);
  run(1, 2, 2);
  scaling_compute(runs, 2, false, false, &tree, &scaling);
  near(scaling.points[1].speedup, 2);
  near(scaling.points[1].serial_fraction, 0);
  near(loss(0, 1)->lost_s, 0);
  assert_int_equal(scaling.contexts, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(amdahl_is_exact, setup, teardown),
      cmocka_unit_test_setup_teardown(no_forecast_without_more_threads, setup, teardown),
      cmocka_unit_test_setup_teardown(another_base_than_one_thread, setup, teardown),
      cmocka_unit_test_setup_teardown(losses_add_up, setup, teardown),
      cmocka_unit_test_setup_teardown(weak_scaling, setup, teardown),
      cmocka_unit_test_setup_teardown(repeated_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(runs_without_contexts, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
