#include "hpcprof-lite/replay/vector_clock.h"

#include <assert.h>
#include <string.h>

static const size_t clocks_bytes_max = (size_t)1 << 30;

static size_t clock_size(uint32_t width)
{
  return sizeof(struct vector_clock) + width * sizeof(struct vector_clock_element);
}

void vector_clock_init(struct vector_clocks *clocks, uint32_t width, uint32_t traced,
                       struct contributions *contributions)
{
  assert(width && width <= VECTOR_CLOCK_ELEMENTS && (contributions || traced == VECTOR_CLOCK_UNTRACED));
  *clocks = (struct vector_clocks){.width = width, .traced = traced, .contributions = contributions};
  object_pool_init(&clocks->clocks, clock_size(width), (uint32_t)(clocks_bytes_max / clock_size(width)));
}

void vector_clock_release(struct vector_clocks *clocks)
{
  object_pool_release(&clocks->clocks);
}

static void tell(const struct vector_clocks *clocks, enum vector_clock_change change, uint32_t clock, uint32_t other)
{
  if (clocks->observer)
    clocks->observer->changed(clocks->observer->context, change, clock, other);
}

uint32_t vector_clock_new(struct vector_clocks *clocks)
{
  return object_pool_get(&clocks->clocks);
}

uint32_t vector_clock_copy(struct vector_clocks *clocks, uint32_t clock)
{
  uint32_t copy = vector_clock_new(clocks);
  vector_clock_set(clocks, copy, clock);
  return copy;
}

void vector_clock_free(struct vector_clocks *clocks, uint32_t *clock)
{
  if (!*clock)
    return;
  if (clocks->traced != VECTOR_CLOCK_UNTRACED)
    contributions_drop(clocks->contributions, vector_clock_at(clocks, *clock)->contributions);
  tell(clocks, VECTOR_CLOCK_FREE, *clock, 0);
  object_pool_put(&clocks->clocks, *clock);
  *clock = 0;
}

static void take_contributions(struct vector_clocks *clocks, struct vector_clock *into, const struct vector_clock *from)
{
  uint32_t old = into->contributions;
  into->contributions = contributions_share(clocks->contributions, from->contributions);
  contributions_drop(clocks->contributions, old);
}

void vector_clock_set(struct vector_clocks *clocks, uint32_t clock, uint32_t other)
{
  assert(clock < clocks->clocks.used && other < clocks->clocks.used);
  if (!clock || clock == other)
    return;
  tell(clocks, VECTOR_CLOCK_SET, clock, other);
  struct vector_clock *into = vector_clock_at(clocks, clock), *from = vector_clock_at(clocks, other);
  memcpy(into->element, from->element, clocks->width * sizeof *into->element);
  if (clocks->traced != VECTOR_CLOCK_UNTRACED)
    take_contributions(clocks, into, from);
}

void vector_clock_raise(struct vector_clocks *clocks, uint32_t clock, uint32_t other)
{
  assert(clock < clocks->clocks.used && other < clocks->clocks.used);
  if (!clock || !other || clock == other)
    return;
  tell(clocks, VECTOR_CLOCK_RAISE, clock, other);
  struct vector_clock *into = vector_clock_at(clocks, clock), *from = vector_clock_at(clocks, other);
  if (clocks->traced != VECTOR_CLOCK_UNTRACED &&
      from->element[clocks->traced].time > into->element[clocks->traced].time)
    take_contributions(clocks, into, from);
  for (uint32_t i = 0; i < clocks->width; i++)
    if (from->element[i].time > into->element[i].time)
      into->element[i] = from->element[i];
}
