#include "common/pairs.h"

#include <assert.h>
#include <math.h>

double pairs_quantile(size_t freedom)
{
  static const double exact[] = {12.706205, 4.302653, 3.182446, 2.776445, 2.570582,
                                 2.446912,  2.364624, 2.306004, 2.262157, 2.228139};
  static const double normal = 1.959964;
  assert(freedom >= 1);
  if (freedom <= sizeof exact / sizeof *exact)
    return exact[freedom - 1];
  /* Abramowitz and Stegun 26.7.5, with an error below 0.0001 from here on. */
  double f = (double)freedom, x = normal, x2 = x * x;
  double first = (x2 + 1) / 4, second = ((5 * x2 + 16) * x2 + 3) / 96;
  double third = (((3 * x2 + 19) * x2 + 17) * x2 - 15) / 384;
  double fourth = ((((79 * x2 + 776) * x2 + 1482) * x2 - 1920) * x2 - 945) / 92160;
  return x * (1 + (first + (second + (third + fourth / f) / f) / f) / f);
}

struct pairs pairs_compute(const double *differences, size_t count)
{
  assert(differences && count >= PAIRS_LEAST);
  double n = (double)count, sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++)
    sum += differences[i];
  struct pairs pairs = {.mean = sum / n};
  for (size_t i = 0; i < count; i++)
    squares += (differences[i] - pairs.mean) * (differences[i] - pairs.mean);
  double error = sqrt(squares / (n - 1) / n);
  pairs.half = pairs_quantile(count - 1) * error;
  pairs.t = pairs.mean / error;
  return pairs;
}
