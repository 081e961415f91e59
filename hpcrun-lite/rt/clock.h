/* Logical clocks and where they meet.  Context: RT, in callbacks. */
#ifndef HPCRUN_LITE_RT_CLOCK_H
#define HPCRUN_LITE_RT_CLOCK_H

#include "hpcrun-lite/rt/rt.h"

/* The length of the longest chain of work that ends here, with its path; burdened: with the costs of scheduling. */
struct clock {
  uint64_t base, burdened;
  uint32_t path; /* owned: rt/path.h */
};

/* The latest of the clocks that were offered, by any thread. */
struct join {
  uint32_t lock;
  uint64_t name; /* in the log, 0 = none yet */
  struct clock latest;
};

/* A lock that callbacks hold for a few instructions; handlers never take it. */
void clock_lock(uint32_t *lock);
void clock_unlock(uint32_t *lock);

struct clock clock_copy(const struct clock *clock);
void clock_set(struct thread_state *t, struct clock *clock, const struct clock *other);

/* The later of the two, lane by lane; the path is that of the base lane. */
void clock_raise(struct thread_state *t, struct clock *clock, const struct clock *other);
void clock_clear(struct thread_state *t, struct clock *clock);

void join_offer(struct thread_state *t, struct join *join, const struct clock *clock);
void join_take(struct thread_state *t, struct clock *clock, struct join *join);
void join_clear(struct thread_state *t, struct join *join);

#endif
