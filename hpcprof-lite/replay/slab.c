#include "hpcprof-lite/replay/slab.h"

#include "hpcprof-lite/model/profile.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_FIRST = 64 };

static bool add_block(struct slab *slab)
{
  uint32_t count = slab->blocks_count;
  if (!(count & (count - 1))) {
    uint8_t **blocks = reallocarray(slab->blocks, count ? (size_t)count * 2 : 1, sizeof *blocks);
    if (!blocks)
      return false;
    slab->blocks = blocks;
  }
  slab->blocks[count] = calloc((size_t)1 << SLAB_SHIFT, slab->size);
  slab->blocks_count += slab->blocks[count] != NULL;
  return slab->blocks[count] != NULL;
}

int slab_init(struct slab *slab, size_t size, uint32_t max)
{
  *slab = (struct slab){.size = (size + 7) / 8 * 8, .used = 1, .max = max};
  return add_block(slab) ? 0 : ERR_NOMEM;
}

void slab_release(struct slab *slab)
{
  for (uint32_t i = 0; i < slab->blocks_count; i++)
    free(slab->blocks[i]);
  free(slab->blocks);
  *slab = (struct slab){0};
}

uint32_t slab_get(struct slab *slab)
{
  uint32_t index = slab->free;
  if (index) {
    memcpy(&slab->free, slab_at(slab, index), sizeof slab->free);
    memset(slab_at(slab, index), 0, slab->size);
    return index;
  }
  if (slab->used > slab->max)
    return 0;
  if (slab->used >> SLAB_SHIFT == slab->blocks_count && !add_block(slab)) {
    slab->starved = true;
    return 0;
  }
  return slab->used++;
}

void slab_put(struct slab *slab, uint32_t index)
{
  memcpy(slab_at(slab, index), &slab->free, sizeof slab->free);
  slab->free = index;
}

static uint32_t place(const struct slab_map *map, uint64_t key)
{
  return (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (map->room - 1);
}

void slab_map_release(struct slab_map *map)
{
  free(map->keys);
  free(map->values);
  *map = (struct slab_map){0};
}

uint32_t slab_map_find(const struct slab_map *map, uint64_t key)
{
  if (!map->room)
    return 0;
  uint32_t slot = place(map, key);
  while (map->keys[slot] && map->keys[slot] != key)
    slot = (slot + 1) & (map->room - 1);
  return map->keys[slot] ? map->values[slot] : 0;
}

static void put(struct slab_map *map, uint64_t key, uint32_t value)
{
  uint32_t slot = place(map, key);
  while (map->keys[slot])
    slot = (slot + 1) & (map->room - 1);
  map->keys[slot] = key;
  map->values[slot] = value;
}

bool slab_map_add(struct slab_map *map, uint64_t key, uint32_t value)
{
  if (map->count >= map->room / 2) {
    uint32_t room = map->room ? map->room * 2 : MAP_FIRST;
    struct slab_map grown = {.room = room, .count = map->count, .starved = map->starved};
    grown.keys = calloc(room, sizeof *grown.keys);
    grown.values = calloc(room, sizeof *grown.values);
    if (!grown.keys || !grown.values) {
      slab_map_release(&grown);
      map->starved = true;
      return false;
    }
    for (uint32_t i = 0; i < map->room; i++)
      if (map->keys[i])
        put(&grown, map->keys[i], map->values[i]);
    slab_map_release(map);
    *map = grown;
  }
  put(map, key, value);
  map->count++;
  return true;
}

/* What stands behind the gap moves up where its own place lies before it (Knuth, volume 3, 6.4, algorithm R). */
void slab_map_remove(struct slab_map *map, uint64_t key)
{
  if (!map->room)
    return;
  uint32_t mask = map->room - 1, gap = place(map, key);
  while (map->keys[gap] && map->keys[gap] != key)
    gap = (gap + 1) & mask;
  if (!map->keys[gap])
    return;
  for (uint32_t slot = (gap + 1) & mask; map->keys[slot]; slot = (slot + 1) & mask) {
    uint32_t home = place(map, map->keys[slot]);
    if (((slot - home) & mask) < ((slot - gap) & mask))
      continue;
    map->keys[gap] = map->keys[slot];
    map->values[gap] = map->values[slot];
    gap = slot;
  }
  map->keys[gap] = 0;
  map->count--;
}
