/* Whether two figures differ by more than chance: tests of sample counts and of repeated runs.
 *
 * Context: BATCH.  Pure.  Every test is two-sided and returns the probability of a difference at least as large if
 * there was none: 0 to 1.  NAN means that the figures do not tell.
 */
#ifndef HPCPROF_LITE_ALGORITHMS_SIGNIFICANCE_H
#define HPCPROF_LITE_ALGORITHMS_SIGNIFICANCE_H

#include <stddef.h>
#include <stdint.h>

/* A difference is significant if its probability, after significance_correct(), is below this level. */
#define SIGNIFICANCE_LEVEL 0.01

/* Relative standard deviation of the work of equal runs of one program.  On a virtual machine of two cores under load
 * it was 0.9 % (46 pairs of runs) to 1.6 % (19 pairs of another program). */
#define SIGNIFICANCE_RUN_VARIATION 0.015

enum { SIGNIFICANCE_PARTS_MIN = 100 };

/* A figure over repeated runs; the variance is that of single runs, with the divisor runs - 1. */
struct significance_runs {
  double mean, variance;
  uint32_t runs;
};

/* Returns the probability that Student's t with that many degrees of freedom is at least |t| away from 0. */
double significance_of_t(double t, double freedom);

/* Welch's test.  If one side has a single run, the variance of the other one stands for both; NAN if both have. */
double significance_of_runs(const struct significance_runs *base, const struct significance_runs *now);

/* The exact test of two Poisson counts: given their sum, the first one is binomial with probability `share`, which is
 * the part of the first side if the rates are equal.  NAN if both are 0. */
double significance_of_counts(uint64_t base, uint64_t now, double share);

/* The same for two amounts with relative errors 1 / sqrt(samples), by the normal distribution. */
double significance_of_amounts(double base, uint64_t base_samples, double now, uint64_t now_samples);

/* A part of a run's samples. */
struct significance_part {
  double amount;         /* what the samples stand for */
  uint64_t samples, all; /* all: of the run; fewer than `samples`: not known */
};

/* The same for counts that are parts of all samples of their runs: as samples are taken at a fixed rate, their number
 * is known, and chance only divides it (binomial).  It also allows for SIGNIFICANCE_RUN_VARIATION, by which equal runs
 * differ for other reasons.  For SIGNIFICANCE_PARTS_MIN samples or more on each side. */
double significance_of_parts(const struct significance_part *base, const struct significance_part *now);

/* Returns the smallest change, as a part of the figure, that is significant in one direction. */
double significance_smallest_change(const struct significance_part *base, const struct significance_part *now);

/* Replaces each probability by the one that allows for the number of comparisons, so that all of them together are as
 * rarely wrong as a single one (Holm, 1979).  NAN stays, and is not a comparison.  Returns the number of comparisons.
 */
size_t significance_correct(double *probabilities, size_t count);

#endif
