#include "hpcrun-lite/rt/span/clock.h"

#include "hpcrun-lite/rt/span/critical_path.h"
#include "hpcrun-lite/rt/core/assertion.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { SPINS = 100, TRIES = 1000000 };

void clock_lock_slowly(uint32_t *lock)
{
  for (int i = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) && i < TRIES; i++) {
    machine_relax();
    if (i > SPINS)
      sys_yield();
  }
}

void clock_set(struct thread_state *t, struct clock *clock, const struct clock *other)
{
  critical_path_set(t, &clock->path, &other->path);
  __atomic_store_n(&clock->base, other->base, __ATOMIC_RELAXED);
  __atomic_store_n(&clock->burdened, other->burdened, __ATOMIC_RELAXED);
}

void clock_raise(struct thread_state *t, struct clock *clock, const struct clock *other)
{
  RT_ASSERT(clock_is_ordered(clock) && clock_is_ordered(other));
  if (other->base > clock->base) {
    critical_path_set(t, &clock->path, &other->path);
    __atomic_store_n(&clock->base, other->base, __ATOMIC_RELAXED);
  }
  if (other->burdened > clock->burdened)
    __atomic_store_n(&clock->burdened, other->burdened, __ATOMIC_RELAXED);
}

void join_offer(struct thread_state *t, struct join *join, const struct clock *clock)
{
  if (!clock_is_later(clock, &join->latest))
    return;
  clock_lock(&join->lock);
  clock_raise(t, &join->latest, clock);
  clock_unlock(&join->lock);
}

void join_take(struct thread_state *t, struct clock *clock, struct join *join)
{
  uint64_t base = __atomic_load_n(&join->latest.base, __ATOMIC_RELAXED),
           burdened = __atomic_load_n(&join->latest.burdened, __ATOMIC_RELAXED);
  if (base <= clock->base && burdened <= clock->burdened)
    return;
  clock_lock(&join->lock);
  clock_raise(t, clock, &join->latest);
  clock_unlock(&join->lock);
}
