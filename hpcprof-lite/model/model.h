/* What all of the data model shares: failures, and the number that stands for none.  Context: BATCH. */
#ifndef HPCPROF_LITE_MODEL_MODEL_H
#define HPCPROF_LITE_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX
#define PROFILE_FEW_SAMPLES 20 /* figures that rest on fewer are marked: relative error 1/sqrt(n) > 22 % */

/* Failures of BATCH functions; the reason stands in the caller's list of problems. */
enum err { ERR_INPUT = -1, ERR_NOMEM = -2, ERR_OUTPUT = -3 };

/* The whole number nearest to an amount that a log or scenario makes: hostile ones may have any size. */
static inline uint64_t profile_rounded(double amount)
{
  if (amount >= 0x1p64)
    return UINT64_MAX;
  return amount > 0 ? (uint64_t)(amount + 0.5) : 0;
}

/* a + b, UINT64_MAX where that overflows. */
static inline uint64_t profile_sum(uint64_t a, uint64_t b)
{
  return a + b < a ? UINT64_MAX : a + b;
}

#endif
