#include "hpcprof-lite/replay/lanes.h"

#include <string.h>

static const size_t clocks_bytes_max = (size_t)1 << 30;

static size_t clock_size(uint32_t width)
{
  return sizeof(struct lanes_clock) + width * sizeof(struct lane);
}

int lanes_init(struct lanes *lanes, uint32_t width, uint32_t traced, struct trails *trails)
{
  *lanes = (struct lanes){.width = width, .traced = traced, .trails = trails};
  return slab_init(&lanes->clocks, clock_size(width), (uint32_t)(clocks_bytes_max / clock_size(width)));
}

void lanes_release(struct lanes *lanes)
{
  slab_release(&lanes->clocks);
}

uint32_t lanes_new(struct lanes *lanes)
{
  return slab_get(&lanes->clocks);
}

uint32_t lanes_copy(struct lanes *lanes, uint32_t clock)
{
  uint32_t made = lanes_new(lanes);
  lanes_set(lanes, made, clock);
  return made;
}

void lanes_free(struct lanes *lanes, uint32_t *clock)
{
  if (!*clock)
    return;
  if (lanes->traced != LANES_UNTRACED)
    trail_drop(lanes->trails, lanes_at(lanes, *clock)->trail);
  slab_put(&lanes->clocks, *clock);
  *clock = 0;
}

static void take_trail(struct lanes *lanes, struct lanes_clock *into, const struct lanes_clock *from)
{
  uint32_t old = into->trail;
  into->trail = trail_share(lanes->trails, from->trail);
  trail_drop(lanes->trails, old);
}

void lanes_set(struct lanes *lanes, uint32_t clock, uint32_t other)
{
  if (!clock)
    return;
  struct lanes_clock *into = lanes_at(lanes, clock), *from = lanes_at(lanes, other);
  memcpy(into->lane, from->lane, lanes->width * sizeof *into->lane);
  if (lanes->traced != LANES_UNTRACED)
    take_trail(lanes, into, from);
}

void lanes_raise(struct lanes *lanes, uint32_t clock, uint32_t other)
{
  if (!clock || !other)
    return;
  struct lanes_clock *into = lanes_at(lanes, clock), *from = lanes_at(lanes, other);
  if (lanes->traced != LANES_UNTRACED && from->lane[lanes->traced].at > into->lane[lanes->traced].at)
    take_trail(lanes, into, from);
  for (uint32_t i = 0; i < lanes->width; i++)
    if (from->lane[i].at > into->lane[i].at)
      into->lane[i] = from->lane[i];
}
