/* What settings gain: intervals against tables and sums by hand, verdicts, and the record from which they come. */
#include "common/pairs.h"
#include "hpcprof-lite/analysis/trial_figures.h"
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(double value, double wanted, double tolerance)
{
  if (!(fabs(value - wanted) <= tolerance))
    fail_msg("%.12g is not %.12g", value, wanted);
}

/* Tables of Student's t. */
static void test_quantiles(void **state)
{
  (void)state;
  static const struct {
    size_t freedom;
    double t;
  } table[] = {{1, 12.7062}, {2, 4.3027},  {10, 2.2281}, {11, 2.2010},
               {12, 2.1788}, {20, 2.0860}, {60, 2.0003}, {1000, 1.9623}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    expect(pairs_quantile(table[i].freedom), table[i].t, 0.0001);
}

/* 1, 2, 6: mean 3, variance 7. */
static void test_interval(void **state)
{
  (void)state;
  struct pairs pairs = pairs_compute((const double[]){1, 2, 6}, 3);
  expect(pairs.mean, 3, 1e-12);
  expect(pairs.half, 4.302653 * sqrt(7.0 / 3), 1e-6);
  expect(pairs.t, 3 / sqrt(7.0 / 3), 1e-9);
  assert_true(isinf(pairs_compute((const double[]){2, 2}, 2).t));
}

/* Reads a record, which must be sound but for the line; 0: all of it. */
static void read_record(const char *lines, unsigned wrong, struct trial *trial)
{
  char text[4096];
  snprintf(text, sizeof text, TRIAL_TITLE "%s", lines);
  assert_int_equal(trial_read(text, trial), wrong);
}

/* Four settings in three rounds of about 1 s: the first halves it, the second changes nothing, the third fails in the
 * second round and the fourth prints other lines. */
static const char rounds[] = "measured 1000000000\n"
                             "limit 3000000000\n"
                             "setting spinning 300000000 400000000 600000000 A=1\n"
                             "setting - - - - B=1 C=2\n"
                             "setting x -1 0 5 D=1\n"
                             "setting - - - - nice -n 3\n"
                             "run 1 1 500000000 20000000 exited 0 0 2\n"
                             "run 1 0 1000000000 10000000 exited 0 0 0\n"
                             "run 1 2 1010000000 - exited 0 0 0\n"
                             "run 1 3 900000000 - exited 0 0 0\n"
                             "run 1 4 900000000 - exited 0 3 1\n"
                             "run 2 2 1010000000 - exited 0 0 1\n"
                             "run 2 3 100000000 - killed 11 0 0\n"
                             "run 2 0 1020000000 - exited 0 0 1\n"
                             "run 2 4 900000000 - exited 0 2 0\n"
                             "run 2 1 510000000 - exited 0 0 2\n"
                             "run 3 0 1010000000 - exited 0 0 1\n"
                             "run 3 1 500000000 - exited 0 0 2\n"
                             "run 3 4 900000000 - exited 0 0 0\n"
                             "run 3 2 1000000000 - exited 0 0 1\n"
                             "stop spent\n";

static void test_verdicts(void **state)
{
  (void)state;
  struct trial trial;
  struct trial_figures figures;
  read_record(rounds, 0, &trial);
  trial_figures_compute(&trial, &figures);
  const struct trial_row *row = figures.rows;
  assert_int_equal(figures.count, 4);
  assert_int_equal(figures.runs, 3);
  expect(figures.base_s, 1.01, 1e-9);
  expect(figures.others, 0.03 / 1.5, 1e-9);
  assert_int_equal(row[0].verdict, VERDICT_GAINS);
  assert_int_equal(row[0].pairs, 3);
  expect(row[0].gain_s, (0.5 + 0.51 + 0.51) / 3, 1e-9);
  expect(row[0].high_s - row[0].gain_s, 4.302653 * 0.01 / 3, 1e-6);
  assert_int_equal(row[0].number_lines, 2);
  assert_true(row[0].setting->forecast);
  expect(row[0].setting->low_s, 0.3, 1e-9);
  assert_int_equal(row[1].verdict, VERDICT_NO_DIFFERENCE);
  assert_false(row[1].setting->forecast);
  assert_string_equal(row[1].setting->text, "B=1 C=2");
  assert_int_equal(row[2].verdict, VERDICT_FAILS);
  assert_int_equal(row[2].pairs, 1);
  assert_int_equal(row[2].ended->code, 11);
  expect(row[2].setting->low_s, -1e-9, 1e-15);
  assert_int_equal(row[3].verdict, VERDICT_PRINTS);
  assert_int_equal(row[3].other_lines, 3);
  trial_release(&trial);
}

/* The verdict of three differences from 1 s, each in ms, among so many settings. */
static enum trial_verdict verdict_of(int a, int b, int c, int settings)
{
  const int gains[] = {a, b, c};
  struct trial trial = {.settings_count = (uint32_t)settings, .stop = TRIAL_SPENT};
  struct trial_run runs[3 * (TRIAL_SETTINGS_MAX + 1)];
  struct trial_figures figures;
  for (uint32_t round = 0; round < 3; round++)
    for (uint32_t setting = 0; setting <= trial.settings_count; setting++)
      runs[trial.runs_count++] =
          (struct trial_run){.round = round + 1,
                             .setting = setting,
                             .elapsed_ns = (uint64_t)(1000 - (setting == 1 ? gains[round] : 0)) * 1000000,
                             .others_ns = TRIAL_UNKNOWN};
  trial.runs = runs;
  trial_figures_compute(&trial, &figures);
  assert_true(figures.others < 0);
  return figures.rows[0].verdict;
}

/* Of 99 to 101, t is 173: p = 0.000033; of 90 to 110, t is 17.3: p = 0.0033, 0.02 among six; of 60 to 140, t is 4.33:
 * p = 0.049. */
static void test_significance(void **state)
{
  (void)state;
  assert_int_equal(verdict_of(99, 100, 101, 6), VERDICT_GAINS);
  assert_int_equal(verdict_of(-99, -100, -101, 6), VERDICT_COSTS);
  assert_int_equal(verdict_of(90, 100, 110, 1), VERDICT_GAINS);
  assert_int_equal(verdict_of(60, 100, 140, 1), VERDICT_PERHAPS_GAINS);
  assert_int_equal(verdict_of(-60, -100, -140, 1), VERDICT_PERHAPS_COSTS);
  assert_int_equal(verdict_of(59, 100, 141, 1), VERDICT_UNKNOWN);
  assert_int_equal(verdict_of(-20, 0, 20, 1), VERDICT_NO_DIFFERENCE); /* the interval is 49.7 ms to either side */
  assert_int_equal(verdict_of(-21, 0, 21, 1), VERDICT_UNKNOWN);
  assert_int_equal(verdict_of(-24, -3, 18, 1), VERDICT_UNKNOWN);
  assert_int_equal(verdict_of(0, 0, 0, 1), VERDICT_NO_DIFFERENCE);
  assert_int_equal(verdict_of(7, 7, 7, 6), VERDICT_GAINS);
}

static void test_few_runs(void **state)
{
  (void)state;
  struct trial trial;
  struct trial_figures figures;
  read_record("setting - - - - A=1\n", 0, &trial);
  trial_figures_compute(&trial, &figures);
  assert_int_equal(figures.rows[0].verdict, VERDICT_NOT_TRIED);
  trial_release(&trial);
  read_record("setting - - - - A=1\nrun 1 0 5 - exited 0 0 0\nrun 1 1 5 - exited 0 0 0\nrun 2 0 5 - exited 0 0 0\n", 0,
              &trial);
  trial_figures_compute(&trial, &figures);
  assert_int_equal(figures.rows[0].verdict, VERDICT_UNKNOWN);
  trial_release(&trial);
  read_record("setting - - - - A=1\nrun 1 0 9 - timed-out 0 0 0\nstop baseline\n", 0, &trial);
  trial_figures_compute(&trial, &figures);
  assert_int_equal(figures.runs, 0);
  assert_int_equal(figures.rows[0].verdict, VERDICT_UNKNOWN);
  trial_release(&trial);
}

/* What is written is read as it was, also with numbers at their limits. */
static void test_written_record(void **state)
{
  (void)state;
  struct trial first, again;
  char *text = NULL;
  size_t size;
  read_record(rounds, 0, &first);
  first.runs[0].elapsed_ns = 999999999999999999;
  first.runs[0].code = UINT32_MAX;
  first.settings[0].high_s = 999999999;
  FILE *stream = open_memstream(&text, &size);
  trial_write(&first, stream);
  fclose(stream);
  assert_int_equal(trial_read(text, &again), 0);
  assert_int_equal(again.runs_count, first.runs_count);
  assert_memory_equal(again.runs, first.runs, first.runs_count * sizeof *first.runs);
  assert_memory_equal(again.settings, first.settings, sizeof first.settings);
  assert_int_equal(again.measured_ns, 1000000000);
  assert_int_equal(again.limit_ns, first.limit_ns);
  assert_int_equal(again.stop, TRIAL_SPENT);
  trial_release(&again);
  trial_release(&first);
  free(text);
}

/* What is sound before a damaged line counts. */
static void test_damaged_record(void **state)
{
  (void)state;
  struct trial trial;
  read_record("setting - - - - A=1\nrun 1 1 5 - exited 0 0 0\nrun 1 2 5 - exited 0 0 0\nstop known\n", 4, &trial);
  assert_int_equal(trial.runs_count, 1);
  assert_int_equal(trial.stop, TRIAL_RUNS_ON);
  trial_release(&trial);
  assert_int_equal(trial_read("hpcrun-lite try", &trial), 1);
  assert_int_equal(trial.settings_count, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantiles),      cmocka_unit_test(test_interval), cmocka_unit_test(test_verdicts),
      cmocka_unit_test(test_significance),   cmocka_unit_test(test_few_runs), cmocka_unit_test(test_written_record),
      cmocka_unit_test(test_damaged_record),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
