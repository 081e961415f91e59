/* Probabilities of differences, compared with tables and with sums that were computed exactly. */
#include "hpcprof-lite/algorithms/significance.h"
#include "tests/support/unit.h"

#include <math.h>

static void expect(double value, double wanted, double tolerance)
{
  if (!(fabs(value - wanted) <= tolerance))
    fail_msg("%.12g is not %.12g", value, wanted);
}

/* Tables of Student's t, and numerical integration. */
static void test_tail_of_t(void **state)
{
  (void)state;
  expect(significance_of_t(0, 5), 1, 1e-12);
  expect(significance_of_t(1, 1), 0.5, 1e-9);
  expect(significance_of_t(12.706, 1), 0.0500008, 1e-6);
  expect(significance_of_t(-4.604, 4), 0.0100007, 1e-6);
  expect(significance_of_t(2.228, 10), 0.0500118, 1e-6);
  expect(significance_of_t(1.5, 3.7), 0.2135982, 1e-6);
  expect(significance_of_t(2.576, 1000), 0.0101378, 1e-6);
  expect(significance_of_t(INFINITY, 3), 0, 0);
  assert_true(isnan(significance_of_t(1, 0)));
}

/* Two samples of 15; the probability by numerical integration, t = 2.85295 with 27.8873 degrees of freedom. */
static void test_repeated_runs(void **state)
{
  (void)state;
  struct significance_runs a = {20.82, 7.867428571, 15}, b = {23.65333333, 6.926952381, 15};
  double wanted = 0.008071938;
  expect(significance_of_runs(&a, &b), wanted, 1e-7);
  expect(significance_of_runs(&b, &a), wanted, 1e-7);
  struct significance_runs same = {5, 0, 3}, more = {6, 0, 3};
  expect(significance_of_runs(&same, &same), 1, 0);
  expect(significance_of_runs(&same, &more), 0, 0);
}

/* A single run has the variance of the others: t = 3 / sqrt(1 + 1 / 4) with 3 degrees of freedom. */
static void test_a_single_run_against_several(void **state)
{
  (void)state;
  struct significance_runs several = {10, 1, 4}, one = {13, 0, 1};
  expect(significance_of_runs(&several, &one), significance_of_t(3 / sqrt(1.25), 3), 1e-12);
  expect(significance_of_runs(&one, &several), significance_of_t(3 / sqrt(1.25), 3), 1e-12);
  assert_true(isnan(significance_of_runs(&one, &one)));
}

/* Sums of the binomial distribution in exact fractions. */
static void test_counts(void **state)
{
  (void)state;
  expect(significance_of_counts(10, 20, 0.5), 0.09873714670538902, 1e-9);
  expect(significance_of_counts(0, 8, 0.5), 0.0078125, 1e-12);
  expect(significance_of_counts(8, 0, 0.5), 0.0078125, 1e-12);
  expect(significance_of_counts(100, 150, 0.5), 0.001883300935076157, 1e-9);
  expect(significance_of_counts(500, 560, 0.5), 0.06990955946026933, 1e-9);
  expect(significance_of_counts(30, 15, 2.0 / 3), 1, 0);
  expect(significance_of_counts(7, 7, 0.5), 1, 0);
  assert_true(isnan(significance_of_counts(0, 0, 0.5)));
  double exact = significance_of_counts(498500, 500500, 0.5), normal = significance_of_counts(500500, 502502, 0.5);
  expect(exact, 0.045, 0.002);
  expect(normal, 0.0456, 0.002);
}

static void test_distributed_amounts(void **state)
{
  (void)state;
  expect(significance_of_amounts(1, 100, 1, 100), 1, 1e-12);
  expect(significance_of_amounts(1, 10000, 1.1, 10000), erfc(0.1 / sqrt(2.21 / 10000) / sqrt(2)), 1e-12);
  assert_true(significance_of_amounts(0, 0, 1e9, 0) > 0.3); /* without samples nothing is certain */
  assert_true(isnan(significance_of_amounts(0, 10, 0, 10)));
}

/* The smallest change that counts is just significant. */
static void test_smallest_change(void **state)
{
  (void)state;
  struct significance_part base = {10000, 10000, 25000}, now = base;
  now.amount = 10000 * (1 + significance_smallest_change(&base, &now));
  expect(significance_of_parts(&base, &now) / 2, SIGNIFICANCE_LEVEL, 0.002);
}

/* Where the number of all samples is known, chance only divides it; equal runs differ by a percent for other reasons. */
static void test_parts_of_all_samples(void **state)
{
  (void)state;
  struct significance_part few = {1, 900, 0}, whole = {1, 900, 900}, most = {1, 900, 1000};
  struct significance_part few_more = {1.1, 900, 0}, whole_more = {1.1, 900, 900}, most_more = {1.1, 900, 1000};
  double run = SIGNIFICANCE_RUN_VARIATION * SIGNIFICANCE_RUN_VARIATION, sides = 1 + 1.1 * 1.1;
  expect(significance_of_parts(&few, &few_more), erfc(0.1 / sqrt(sides * (1 / 900.0 + run)) / sqrt(2)), 1e-12);
  expect(significance_of_parts(&most, &most_more), erfc(0.1 / sqrt(sides * (0.1 / 900 + run)) / sqrt(2)), 1e-12);
  expect(significance_of_parts(&whole, &whole_more), erfc(0.1 / sqrt(sides * run) / sqrt(2)), 1e-12);
  expect(significance_of_parts(&most, &most), 1, 1e-12);
  assert_true(isnan(significance_of_parts(&(struct significance_part){0}, &(struct significance_part){0})));
}

static void test_correction(void **state)
{
  (void)state;
  double all[] = {0.01, NAN, 0.04, 0.03, 0.005};
  assert_int_equal(significance_correct(all, 5), 4);
  expect(all[0], 0.03, 1e-12);
  assert_true(isnan(all[1]));
  expect(all[2], 0.06, 1e-12);
  expect(all[3], 0.06, 1e-12);
  expect(all[4], 0.02, 1e-12);
  assert_int_equal(significance_correct(all, 0), 0);
  double high[] = {0.7, 0.8};
  significance_correct(high, 2);
  expect(high[0], 1, 0);
  expect(high[1], 1, 0);
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

/* Among pairs of equal programs with 12 functions each, at most one in a hundred may differ: the limit below is exceeded
 * with a probability of 0.0003 if that is just so. */
static void test_equal_programs_seldom_differ(void **state)
{
  (void)state;
  enum { PAIRS = 500, FUNCTIONS = 12, MEAN = 400, STEPS = 16 };
  uint64_t random = 1;
  int differing = 0;
  for (int pair = 0; pair < PAIRS; pair++) {
    double probabilities[FUNCTIONS], least = 1;
    for (int function = 0; function < FUNCTIONS; function++) {
      uint64_t counts[2] = {0};
      for (int side = 0; side < 2; side++)
        for (int i = 0; i < MEAN * STEPS; i++)
          counts[side] += draw(&random) % STEPS == 0;
      probabilities[function] = significance_of_counts(counts[0], counts[1], 0.5);
    }
    significance_correct(probabilities, FUNCTIONS);
    for (int function = 0; function < FUNCTIONS; function++)
      least = fmin(least, probabilities[function]);
    differing += least < SIGNIFICANCE_LEVEL;
  }
  assert_in_range(differing, 0, 14);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tail_of_t),
      cmocka_unit_test(test_repeated_runs),
      cmocka_unit_test(test_a_single_run_against_several),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_distributed_amounts),
      cmocka_unit_test(test_smallest_change),
      cmocka_unit_test(test_parts_of_all_samples),
      cmocka_unit_test(test_correction),
      cmocka_unit_test(test_equal_programs_seldom_differ),
  };
  return UNIT_RUN(argc, argv, "significance", tests, NULL, NULL);
}
