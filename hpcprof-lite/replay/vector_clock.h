/* Vector clocks: logical clocks with one element for each scenario and schedule of a replay.
 *
 * Context: BATCH.  The value of an element is the length of the longest chain of work that ends at the clock, as
 * measured or in a scenario (replay.h lists the elements).  Joins take the maximum of each element.  A clock is named
 * by its number.  Clock 0 is constant: it has the value 0 in all elements, and operations that would change it do
 * nothing.
 *
 * All clocks belong to struct vector_clocks.  If they take more memory than is allowed, new clocks have number 0: the
 * caller counts that.  For one element, the contributions to its value can be kept (contributions.h).
 */
#ifndef HPCPROF_LITE_REPLAY_VECTOR_CLOCK_H
#define HPCPROF_LITE_REPLAY_VECTOR_CLOCK_H

#include "hpcprof-lite/replay/contributions.h"

enum { VECTOR_CLOCK_ELEMENTS = 64, VECTOR_CLOCK_UNTRACED = VECTOR_CLOCK_ELEMENTS };

struct vector_clock_element {
  double time;    /* length of the longest chain that ends here */
  double removed; /* how much shorter than measured the chain is because of samples */
  double sampled; /* length, as measured, of the parts of it in which samples decide what is selected */
};

struct vector_clock {
  uint32_t contributions; /* list of the traced element */
  uint32_t unused;
  struct vector_clock_element element[];
};

enum vector_clock_change { VECTOR_CLOCK_SET, VECTOR_CLOCK_RAISE, VECTOR_CLOCK_FREE };

/* Is called when another clock changes a clock, and when a clock is freed (other: 0). */
struct vector_clock_observer {
  void (*changed)(void *context, enum vector_clock_change change, uint32_t clock, uint32_t other);
  void *context;
};

struct vector_clocks {
  struct object_pool clocks;
  struct contributions *contributions;          /* the caller's */
  uint32_t width;                               /* number of elements */
  uint32_t traced;                              /* the element whose contributions are kept, or VECTOR_CLOCK_UNTRACED */
  const struct vector_clock_observer *observer; /* the caller's, or NULL */
};

void vector_clock_init(struct vector_clocks *clocks, uint32_t width, uint32_t traced,
                       struct contributions *contributions);
void vector_clock_release(struct vector_clocks *clocks);

static inline struct vector_clock *vector_clock_at(const struct vector_clocks *clocks, uint32_t clock)
{
  return object_pool_at(&clocks->clocks, clock);
}

/* Return a new clock at 0, or with the value of another one. */
uint32_t vector_clock_new(struct vector_clocks *clocks);
uint32_t vector_clock_copy(struct vector_clocks *clocks, uint32_t clock);

/* Frees a clock and sets *clock to 0. */
void vector_clock_free(struct vector_clocks *clocks, uint32_t *clock);

/* Sets a clock to the value of another one. */
void vector_clock_set(struct vector_clocks *clocks, uint32_t clock, uint32_t other);

/* Raises each element of a clock to that of another one, if that is larger. */
void vector_clock_raise(struct vector_clocks *clocks, uint32_t clock, uint32_t other);

#endif
