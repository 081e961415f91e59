/* Logical clocks and where they meet.  Context: RT, in callbacks. */
#ifndef HPCRUN_LITE_RT_SPAN_CLOCK_H
#define HPCRUN_LITE_RT_SPAN_CLOCK_H

#include "hpcrun-lite/rt/span/critical_path.h"

/* The length of the longest chain of work that ends here, with its path; burdened: with the costs of scheduling. */
struct clock {
  uint64_t base, burdened;
  struct path path;
};

/* The latest of the clocks that were offered, by any thread: written under the lock.  `base` and `burdened` only grow
 * while somebody may offer or take, and are read before, relaxed: who offers finds out that there is nothing to raise,
 * or takes the lock; who takes comes after all offers that concern him, by the runtime's own synchronisation. */
struct join {
  uint32_t lock;
  uint64_t name; /* in the log, 0 = none yet */
  struct clock latest;
};

/* A lock that callbacks hold for a few instructions; handlers never take it. */
void clock_lock_slowly(uint32_t *lock);

static inline void clock_lock(uint32_t *lock)
{
  if (__builtin_expect(__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE), 0))
    clock_lock_slowly(lock);
}

static inline void clock_unlock(uint32_t *lock)
{
  __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

struct clock clock_copy(struct thread_state *t, const struct clock *clock);
void clock_set(struct thread_state *t, struct clock *clock, const struct clock *other);

/* The later of the two, lane by lane; the path is that of the base lane. */
void clock_raise(struct thread_state *t, struct clock *clock, const struct clock *other);
void clock_clear(struct thread_state *t, struct clock *clock);

/* The same where the other one is no longer needed: what it holds is moved or dropped. */
static inline void clock_raise_move(struct thread_state *t, struct clock *clock, const struct clock *other)
{
  struct path dropped = other->path;
  if (other->base > clock->base) {
    dropped = clock->path;
    clock->path = other->path;
    clock->base = other->base;
  }
  if (other->burdened > clock->burdened)
    clock->burdened = other->burdened;
  critical_path_drop(t, &dropped);
}

void join_offer(struct thread_state *t, struct join *join, const struct clock *clock);
void join_take(struct thread_state *t, struct clock *clock, struct join *join);
void join_clear(struct thread_state *t, struct join *join);

#endif
