/* Logical clocks with many lanes: what the same chain of work takes as measured, and under other suppositions.
 *
 * Context: BATCH.  A clock is a vector with an element for each lane; joins take the later, lane by lane.  A clock is
 * named by its number; number 0 stands at 0 in all lanes and takes nothing in.  Where clocks take more memory than is
 * allowed, new ones are number 0: the caller counts that.  One lane may carry a trail: who contributed to it.
 */
#ifndef HPCPROF_LITE_REPLAY_VECTOR_CLOCK_H
#define HPCPROF_LITE_REPLAY_VECTOR_CLOCK_H

#include "hpcprof-lite/replay/contributions.h"

enum { VECTOR_CLOCK_ELEMENTS = 64, VECTOR_CLOCK_UNTRACED = VECTOR_CLOCK_ELEMENTS };

struct vector_clock_element {
  double at;      /* the length of the longest chain that ends here                              */
  double removed; /* what a scenario took off it by the word of samples,                         */
  double sampled; /* out of so much, as measured: where samples say what is selected             */
};

struct vector_clock {
  uint32_t contribution, unused;
  struct vector_clock_element element[];
};

struct vector_clocks {
  struct object_pool clocks;
  struct contributions *contributions; /* the caller's */
  uint32_t width, traced;
};

/* traced: the lane with a trail, or VECTOR_CLOCK_UNTRACED.  0, or ERR_NOMEM; vector_clock_release() in any case. */
int vector_clock_init(struct vector_clocks *clocks, uint32_t width, uint32_t traced,
                      struct contributions *contributions);
void vector_clock_release(struct vector_clocks *clocks);

static inline struct vector_clock *vector_clock_at(const struct vector_clocks *clocks, uint32_t clock)
{
  return object_pool_at(&clocks->clocks, clock);
}

/* A clock that stands at 0, or where another one does. */
uint32_t vector_clock_new(struct vector_clocks *clocks);
uint32_t vector_clock_copy(struct vector_clocks *clocks, uint32_t clock);
void vector_clock_free(struct vector_clocks *clocks, uint32_t *clock);

void vector_clock_set(struct vector_clocks *clocks, uint32_t clock, uint32_t other);

/* The later of the two, lane by lane. */
void vector_clock_raise(struct vector_clocks *clocks, uint32_t clock, uint32_t other);

#endif
