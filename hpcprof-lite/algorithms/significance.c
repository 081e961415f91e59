#include "hpcprof-lite/algorithms/significance.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { ITERATIONS_MAX = 20000 };

/* Counts beyond this are normally distributed, and the continued fraction would converge slowly. */
static const double COUNTS_EXACT = 1e6;

/* Returns a number that is not 0, for the continued fraction's denominators. */
static double not_zero(double value)
{
  return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= ITERATIONS_MAX; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    value *= c * d;
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    value *= c * d;
    if (fabs(c * d - 1) < 1e-14)
      break;
  }
  return value;
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta(double a, double b, double x)
{
  assert(a > 0 && b > 0);
  if (x <= 0)
    return 0;
  if (x >= 1)
    return 1;
  double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  if (x < (a + 1) / (a + b + 2)) /* where the fraction converges fast */
    return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double significance_of_t(double t, double freedom)
{
  if (!(freedom > 0) || isnan(t))
    return NAN;
  return isinf(t) ? 0 : beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* Whether a difference without any variance is one. */
static double without_variance(double base, double now)
{
  return base == now ? 1 : 0;
}

double significance_of_runs(const struct significance_runs *base, const struct significance_runs *now)
{
  double difference = now->mean - base->mean;
  if (base->runs < 2 && now->runs < 2)
    return NAN;
  if (base->runs < 2 || now->runs < 2) {
    const struct significance_runs *known = base->runs < 2 ? now : base;
    double error = sqrt(known->variance * (1 + 1.0 / known->runs));
    if (!(error > 0))
      return without_variance(base->mean, now->mean);
    return significance_of_t(difference / error, known->runs - 1.0);
  }
  double a = base->variance / base->runs, b = now->variance / now->runs;
  if (!(a + b > 0))
    return without_variance(base->mean, now->mean);
  double freedom = (a + b) * (a + b) / (a * a / (base->runs - 1.0) + b * b / (now->runs - 1.0));
  return significance_of_t(difference / sqrt(a + b), freedom);
}

static double of_normal(double deviations)
{
  return erfc(fabs(deviations) / sqrt(2));
}

double significance_of_counts(uint64_t base, uint64_t now, double share)
{
  double a = (double)base, b = (double)now, all = a + b;
  if (!(all > 0) || !(share > 0 && share < 1))
    return NAN;
  if (all > COUNTS_EXACT)
    return of_normal((a - all * share) / sqrt(all * share * (1 - share)));
  double least = base ? beta(a, b + 1, share) : 1; /* at least that many in the first */
  double most = now ? beta(b, a + 1, 1 - share) : 1;
  return MIN(2 * MIN(least, most), 1);
}

double significance_of_amounts(double base, uint64_t base_samples, double now, uint64_t now_samples)
{
  double a = base * base / (double)(base_samples ? base_samples : 1);
  double b = now * now / (double)(now_samples ? now_samples : 1);
  return a + b > 0 ? of_normal((now - base) / sqrt(a + b)) : NAN;
}

/* The relative variance of a part. */
static double part_variance(const struct significance_part *part)
{
  double samples = part->samples ? (double)part->samples : 1;
  double others = part->all >= part->samples && part->all ? 1 - samples / (double)part->all : 1;
  return (others > 0 ? others : 0) / samples + SIGNIFICANCE_RUN_VARIATION * SIGNIFICANCE_RUN_VARIATION;
}

double significance_of_parts(const struct significance_part *base, const struct significance_part *now)
{
  double a = base->amount * base->amount * part_variance(base), b = now->amount * now->amount * part_variance(now);
  return a + b > 0 ? of_normal((now->amount - base->amount) / sqrt(a + b)) : NAN;
}

double significance_smallest_change(const struct significance_part *base, const struct significance_part *now)
{
  static const double quantile = 2.3263479; /* of the normal distribution, one-sided, at SIGNIFICANCE_LEVEL */
  return quantile * sqrt(part_variance(base) + part_variance(now));
}

static int by_probability(const void *a, const void *b, void *argument)
{
  const double *probabilities = argument;
  return COMPARE(probabilities[*(const size_t *)a], probabilities[*(const size_t *)b]);
}

size_t significance_correct(double *probabilities, size_t count)
{
  assert(probabilities || !count);
  size_t *order = xmalloc(count * sizeof *order), compared = 0;
  for (size_t i = 0; i < count; i++)
    if (!isnan(probabilities[i]))
      order[compared++] = i;
  qsort_r(order, compared, sizeof *order, by_probability, probabilities);
  double largest = 0;
  for (size_t i = 0; i < compared; i++) {
    double corrected = probabilities[order[i]] * (double)(compared - i);
    largest = MAX(MIN(corrected, 1), largest);
    probabilities[order[i]] = largest;
  }
  free(order);
  return compared;
}
