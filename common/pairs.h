/* Paired differences of repeated runs: their mean, and how well it is known.
 *
 * Context: BATCH.  Pure; asserts its preconditions.
 */
#ifndef COMMON_PAIRS_H
#define COMMON_PAIRS_H

#include <stddef.h>

enum { PAIRS_LEAST = 2 }; /* fewer differences have no interval */

/* The mean of differences, and half of its 95 % interval by Student's t distribution; both in the unit of the
 * differences. */
struct pairs {
  double mean, half;
  double t; /* of the mean, with count - 1 degrees of freedom; INFINITY: the differences are equal, NAN: all are 0 */
};

/* Returns these of at least PAIRS_LEAST differences. */
struct pairs pairs_compute(const double *differences, size_t count);

/* Returns the value that Student's t exceeds in absolute value with a probability of 5 %, for at least one degree of
 * freedom. */
double pairs_quantile(size_t freedom);

#endif
