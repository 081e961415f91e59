#include "hpcrun-lite/rt/clock.h"

#include "hpcrun-lite/rt/path.h"
#include "hpcrun-lite/rt/sys.h"

enum { SPINS = 100, TRIES = 1000000 };

void clock_lock(uint32_t *lock)
{
  for (int i = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) && i < TRIES; i++) {
    __builtin_ia32_pause();
    if (i > SPINS)
      sys_yield();
  }
}

void clock_unlock(uint32_t *lock)
{
  __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

struct clock clock_copy(const struct clock *clock)
{
  return (struct clock){clock->base, clock->burdened, path_share(clock->path)};
}

void clock_set(struct thread_state *t, struct clock *clock, const struct clock *other)
{
  uint32_t old = clock->path;
  *clock = clock_copy(other);
  path_drop(t, old);
}

void clock_raise(struct thread_state *t, struct clock *clock, const struct clock *other)
{
  if (other->base > clock->base) {
    uint32_t old = clock->path;
    clock->base = other->base;
    clock->path = path_share(other->path);
    path_drop(t, old);
  }
  if (other->burdened > clock->burdened)
    clock->burdened = other->burdened;
}

void clock_clear(struct thread_state *t, struct clock *clock)
{
  path_drop(t, clock->path);
  *clock = (struct clock){0};
}

void join_offer(struct thread_state *t, struct join *join, const struct clock *clock)
{
  if (clock->base <= __atomic_load_n(&join->latest.base, __ATOMIC_RELAXED) &&
      clock->burdened <= __atomic_load_n(&join->latest.burdened, __ATOMIC_RELAXED))
    return;
  clock_lock(&join->lock);
  clock_raise(t, &join->latest, clock);
  clock_unlock(&join->lock);
}

void join_take(struct thread_state *t, struct clock *clock, struct join *join)
{
  clock_lock(&join->lock);
  clock_raise(t, clock, &join->latest);
  clock_unlock(&join->lock);
}

void join_clear(struct thread_state *t, struct join *join)
{
  clock_clear(t, &join->latest);
  join->name = 0;
}
