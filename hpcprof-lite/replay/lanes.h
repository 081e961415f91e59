/* Logical clocks with many lanes: what the same chain of work takes as measured, and under other suppositions.
 *
 * Context: BATCH.  A clock is a vector with an element for each lane; joins take the later, lane by lane.  A clock is
 * named by its number; number 0 stands at 0 in all lanes and takes nothing in.  Where clocks take more memory than is
 * allowed, new ones are number 0: the caller counts that.  One lane may carry a trail: who contributed to it.
 */
#ifndef HPCPROF_LANES_H
#define HPCPROF_LANES_H

#include "hpcprof-lite/replay/trail.h"

enum { LANES_MAX = 64, LANES_UNTRACED = LANES_MAX };

struct lane {
  double at;   /* the length of the longest chain that ends here                              */
  double gone; /* what a scenario took off it by the word of samples,                         */
  double told; /* out of so much, as measured: where samples say what is selected             */
};

struct lanes_clock {
  uint32_t trail, unused;
  struct lane lane[];
};

struct lanes {
  struct slab clocks;
  struct trails *trails; /* the caller's */
  uint32_t width, traced;
};

/* traced: the lane with a trail, or LANES_UNTRACED.  0, or ERR_NOMEM; lanes_release() in any case. */
int lanes_init(struct lanes *lanes, uint32_t width, uint32_t traced, struct trails *trails);
void lanes_release(struct lanes *lanes);

static inline struct lanes_clock *lanes_at(const struct lanes *lanes, uint32_t clock)
{
  return slab_at(&lanes->clocks, clock);
}

/* A clock that stands at 0, or where another one does. */
uint32_t lanes_new(struct lanes *lanes);
uint32_t lanes_copy(struct lanes *lanes, uint32_t clock);
void lanes_free(struct lanes *lanes, uint32_t *clock);

void lanes_set(struct lanes *lanes, uint32_t clock, uint32_t other);

/* The later of the two, lane by lane. */
void lanes_raise(struct lanes *lanes, uint32_t clock, uint32_t other);

#endif
