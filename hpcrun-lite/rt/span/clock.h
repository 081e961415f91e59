/* Logical clocks, and the joins that take the latest of several clocks.
 *
 * Context: RT, in callbacks.  A clock belongs to the task or other structure that contains it and is changed by the
 * thread that runs the task; a join may be used by any thread.  Critical paths take memory from pools; without memory a
 * path loses detail and the loss is counted; the clock stays right. */
#ifndef HPCRUN_LITE_RT_SPAN_CLOCK_H
#define HPCRUN_LITE_RT_SPAN_CLOCK_H

#include "hpcrun-lite/rt/span/critical_path.h"

/* The length of the longest chain of work that ends here: `base` counts work only, `burdened` also the costs of
 * scheduling.  `path` says which work makes up `base`. */
struct clock {
  uint64_t base, burdened;
  struct critical_path path;
};

/* The latest of the clocks that any thread has offered.  `latest` is written under the lock; `base` and `burdened`
 * never decrease while threads offer or take, and are also read relaxed without the lock.  That is safe: a thread whose
 * offer is not later has nothing to raise, and the OpenMP runtime's own synchronisation puts a take after all offers
 * that it depends on. */
struct join {
  uint32_t lock;
  uint64_t name;   /* in the graph log; 0: none yet */
  uint64_t within; /* the longest chain of a loop's own work that was offered from inside the loop, + 1; 0: none */
  struct clock latest;
};

/* A lock that callbacks hold for a few instructions; handlers never take it.  The wait for it is bounded: after that
 * the caller goes on as if it held the lock. */
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

/* Costs are added to one length only, so that it is never the shorter one.  The clock is the caller's, or under the
 * lock. */
static inline bool clock_is_ordered(const struct clock *clock)
{
  return clock->base <= clock->burdened;
}

/* A copy has its own reference to the path; clock_set() releases the old path first. */
static inline struct clock clock_copy(struct thread_state *t, const struct clock *clock)
{
  return (struct clock){clock->base, clock->burdened, critical_path_copy(t, &clock->path)};
}

void clock_set(struct thread_state *t, struct clock *clock, const struct clock *other);

/* Raises both lengths to those of the other clock; the path is that of the later base. */
void clock_raise(struct thread_state *t, struct clock *clock, const struct clock *other);

/* Is one of the clock's lengths later than the other's?  Other threads may write to either. */
static inline bool clock_is_later(const struct clock *clock, const struct clock *other)
{
  return __atomic_load_n(&clock->base, __ATOMIC_RELAXED) > __atomic_load_n(&other->base, __ATOMIC_RELAXED) ||
         __atomic_load_n(&clock->burdened, __ATOMIC_RELAXED) > __atomic_load_n(&other->burdened, __ATOMIC_RELAXED);
}

/* Has the clock moved only by work under the key that was added to last?  Then the distance alone describes it. */
static inline bool clock_moved_on(const struct clock *from, const struct clock *to)
{
  const struct critical_path_item *before = from->path.items, *now = to->path.items;
  return from->path.tail == to->path.tail && before[0].key == now[0].key && before[1].key == now[1].key &&
         before[1].amount == now[1].amount && to->base - now[0].amount == from->base - before[0].amount &&
         to->burdened - to->base == from->burdened - from->base && to->base >= from->base;
}

/* Releases the path and sets the clock to 0. */
static inline void clock_clear(struct thread_state *t, struct clock *clock)
{
  critical_path_drop(t, &clock->path);
  *clock = (struct clock){0};
}

/* Takes over the other path's items, where both go on from the same segment. */
static inline void clock_take_items(struct clock *clock, const struct clock *other)
{
  for (int i = 0; i < CRITICAL_PATH_ITEMS; i++)
    clock->path.items[i] = other->path.items[i];
}

/* The same where the other clock is no longer needed: its path is moved, or released.  The caller must not use it
 * afterwards. */
static inline void clock_raise_move(struct thread_state *t, struct clock *clock, const struct clock *other)
{
  struct critical_path dropped = other->path;
  if (other->base > clock->base) {
    if (other->path.tail == clock->path.tail) {
      clock_take_items(clock, other);
    } else {
      dropped = clock->path;
      clock->path = other->path;
    }
    clock->base = other->base;
  }
  if (other->burdened > clock->burdened)
    clock->burdened = other->burdened;
  critical_path_drop(t, &dropped);
}

/* Raises the join to a clock; raises a clock to the join; releases the join's path. */
void join_offer(struct thread_state *t, struct join *join, const struct clock *clock);
void join_take(struct thread_state *t, struct clock *clock, struct join *join);
static inline void join_clear(struct thread_state *t, struct join *join)
{
  clock_clear(t, &join->latest);
  join->name = join->within = 0;
}

#endif
