#include "hpcrun-lite/rt/core/budget.h"

#include <stdatomic.h>

static size_t limit;
static atomic_size_t in_use;

void budget_start(size_t limit_bytes)
{
  limit = limit_bytes;
}

void budget_reset(void)
{
  atomic_store(&in_use, 0);
}

bool budget_take(size_t size_bytes)
{
  if (!limit)
    return true;
  size_t used = atomic_load_explicit(&in_use, memory_order_relaxed);
  do {
    if (size_bytes > limit - used)
      return false;
  } while (!atomic_compare_exchange_weak(&in_use, &used, used + size_bytes));
  return true;
}

void budget_give(size_t size_bytes)
{
  if (limit)
    atomic_fetch_sub(&in_use, size_bytes);
}

size_t budget_limit(void)
{
  return limit;
}
