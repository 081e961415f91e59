#include "hpcprof-lite/replay/attribution.h"

#include <stdlib.h>

enum { ROW_BITS = 16, THREAD_BITS = 20, NODE_BITS = 28, ROOM_FIRST = 64 };

static bool grow(struct attribution *attribution)
{
  uint32_t room = attribution->room ? attribution->room * 2 : ROOM_FIRST;
  struct attribution_entry *grown = reallocarray(attribution->attribution, room, sizeof *grown);
  if (!grown)
    return false;
  attribution->attribution = grown;
  attribution->room = room;
  if (!attribution->count) {
    grown[0] = (struct attribution_entry){0};
    attribution->count = 1;
  }
  return true;
}

/* 0 where no measurement has such threads or nodes. */
static uint64_t key_of(uint32_t row, uint64_t thread, uint64_t node)
{
  if (row >> ROW_BITS || thread >> THREAD_BITS || node >> NODE_BITS)
    return 0;
  return ((uint64_t)row << (THREAD_BITS + NODE_BITS) | thread << NODE_BITS | node) + 1; /* 0: the last of all */
}

uint32_t attribution_find(const struct attribution *attribution, uint32_t row, uint64_t thread, uint64_t node)
{
  uint64_t key = key_of(row, thread, node);
  return key ? index_find(&attribution->map, key) : 0;
}

uint32_t attribution_add(struct attribution *attribution, uint32_t row, uint64_t thread, uint64_t node)
{
  uint64_t key = key_of(row, thread, node);
  uint32_t index = key ? index_find(&attribution->map, key) : 0;
  if (index || !key || attribution->count > ATTRIBUTION_MAX)
    return index;
  if ((attribution->count == attribution->room && !grow(attribution)) ||
      !index_add(&attribution->map, key, attribution->count)) {
    attribution->overflow = true;
    return 0;
  }
  index = attribution->count;
  attribution->attribution[attribution->count++] =
      (struct attribution_entry){.row = row, .thread = (uint32_t)thread, .node = (uint32_t)node};
  return index;
}

void attribution_release(struct attribution *attribution)
{
  index_release(&attribution->map);
  free(attribution->attribution);
  *attribution = (struct attribution){0};
}
