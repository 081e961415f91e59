#include "hpcprof-lite/replay/parts.h"

#include <stdlib.h>

enum { ROW_BITS = 16, THREAD_BITS = 20, NODE_BITS = 28, ROOM_FIRST = 64 };

static bool grow(struct parts *parts)
{
  uint32_t room = parts->room ? parts->room * 2 : ROOM_FIRST;
  struct part *grown = reallocarray(parts->parts, room, sizeof *grown);
  if (!grown)
    return false;
  parts->parts = grown;
  parts->room = room;
  if (!parts->count) {
    grown[0] = (struct part){0};
    parts->count = 1;
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

uint32_t parts_find(const struct parts *parts, uint32_t row, uint64_t thread, uint64_t node)
{
  uint64_t key = key_of(row, thread, node);
  return key ? slab_map_find(&parts->map, key) : 0;
}

uint32_t parts_add(struct parts *parts, uint32_t row, uint64_t thread, uint64_t node)
{
  uint64_t key = key_of(row, thread, node);
  uint32_t index = key ? slab_map_find(&parts->map, key) : 0;
  if (index || !key || parts->count > PARTS_MAX)
    return index;
  if ((parts->count == parts->room && !grow(parts)) || !slab_map_add(&parts->map, key, parts->count)) {
    parts->starved = true;
    return 0;
  }
  index = parts->count;
  parts->parts[parts->count++] = (struct part){.row = row, .thread = (uint32_t)thread, .node = (uint32_t)node};
  return index;
}

void parts_release(struct parts *parts)
{
  slab_map_release(&parts->map);
  free(parts->parts);
  *parts = (struct parts){0};
}
