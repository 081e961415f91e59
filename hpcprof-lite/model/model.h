/* Definitions that the whole data model shares: error codes, MODEL_NONE, rounding and addition.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_MODEL_MODEL_H
#define HPCPROF_LITE_MODEL_MODEL_H

#include "common/order.h"
#include "common/xalloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MODEL_NONE UINT32_MAX /* a number that refers to nothing */
#define MODEL_FEW_SAMPLES 20  /* figures with fewer samples are marked: relative error 1/sqrt(n) > 22 % */

/* Error codes of BATCH functions.  The reason is added to the caller's list of problems. */
enum err { ERR_INPUT = -1 };

/* Returns an array of so many MODEL_NONE, which the caller frees. */
static inline uint32_t *model_nones(size_t count)
{
  uint32_t *numbers = xmalloc(count * sizeof *numbers);
  memset(numbers, 0xff, count * sizeof *numbers);
  return numbers;
}

/* Rounds to the nearest whole number, limited to 0 … UINT64_MAX: amounts from a hostile log may have any size. */
static inline uint64_t model_rounded(double amount)
{
  if (amount >= 0x1p64)
    return UINT64_MAX;
  return amount > 0 ? (uint64_t)(amount + 0.5) : 0;
}

/* Returns a - b, or 0 if b is greater, as parts of limited sums can be. */
static inline uint64_t model_difference(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* How much of an amount belongs to the time from one moment to before another one, if it is evenly distributed from
 * begin to end; where these are the same, all or nothing.  Parts of adjacent times add up to the amount. */
static inline uint64_t model_part(uint64_t amount, uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
  if (begin >= end)
    return begin >= from && begin < to ? amount : 0;
  uint64_t low = MAX(from, begin), high = MIN(to, end);
  if (low >= high)
    return 0;
  double each = (double)amount / (double)(end - begin);
  uint64_t before = low == begin ? 0 : model_rounded(each * (double)(low - begin));
  uint64_t until = high == end ? amount : model_rounded(each * (double)(high - begin));
  until = MIN(until, amount);
  return model_difference(until, before);
}

/* Returns a + b, or UINT64_MAX on overflow. */
static inline uint64_t model_sum(uint64_t a, uint64_t b)
{
  return a + b < a ? UINT64_MAX : a + b;
}

/* Adds to a sum, which is UINT64_MAX after an overflow. */
static inline void model_add(uint64_t *sum, uint64_t amount)
{
  *sum = model_sum(*sum, amount);
}

#endif
