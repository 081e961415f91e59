#include "hpcprof-lite/replay/object_pool.h"

#include "hpcprof-lite/model/profile.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_FIRST = 64 };

static bool add_block(struct object_pool *pool)
{
  uint32_t count = pool->blocks_count;
  if (!(count & (count - 1))) {
    uint8_t **blocks = reallocarray(pool->blocks, count ? (size_t)count * 2 : 1, sizeof *blocks);
    if (!blocks)
      return false;
    pool->blocks = blocks;
  }
  pool->blocks[count] = calloc((size_t)1 << OBJECT_POOL_SHIFT, pool->size);
  pool->blocks_count += pool->blocks[count] != NULL;
  return pool->blocks[count] != NULL;
}

int object_pool_init(struct object_pool *pool, size_t size, uint32_t max)
{
  *pool = (struct object_pool){.size = (size + 7) / 8 * 8, .used = 1, .max = max};
  return add_block(pool) ? 0 : ERR_NOMEM;
}

void object_pool_release(struct object_pool *pool)
{
  for (uint32_t i = 0; i < pool->blocks_count; i++)
    free(pool->blocks[i]);
  free(pool->blocks);
  *pool = (struct object_pool){0};
}

uint32_t object_pool_get(struct object_pool *pool)
{
  uint32_t index = pool->free;
  if (index) {
    memcpy(&pool->free, object_pool_at(pool, index), sizeof pool->free);
    memset(object_pool_at(pool, index), 0, pool->size);
    return index;
  }
  if (pool->used > pool->max)
    return 0;
  if (pool->used >> OBJECT_POOL_SHIFT == pool->blocks_count && !add_block(pool)) {
    pool->overflow = true;
    return 0;
  }
  return pool->used++;
}

void object_pool_put(struct object_pool *pool, uint32_t index)
{
  memcpy(object_pool_at(pool, index), &pool->free, sizeof pool->free);
  pool->free = index;
}

static uint32_t place(const struct index *map, uint64_t key)
{
  return (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (map->room - 1);
}

void index_release(struct index *map)
{
  free(map->keys);
  free(map->values);
  *map = (struct index){0};
}

uint32_t index_find(const struct index *map, uint64_t key)
{
  if (!map->room)
    return 0;
  uint32_t slot = place(map, key);
  while (map->keys[slot] && map->keys[slot] != key)
    slot = (slot + 1) & (map->room - 1);
  return map->keys[slot] ? map->values[slot] : 0;
}

static void put(struct index *map, uint64_t key, uint32_t value)
{
  uint32_t slot = place(map, key);
  while (map->keys[slot])
    slot = (slot + 1) & (map->room - 1);
  map->keys[slot] = key;
  map->values[slot] = value;
}

bool index_add(struct index *map, uint64_t key, uint32_t value)
{
  if (map->count >= map->room / 2) {
    uint32_t room = map->room ? map->room * 2 : MAP_FIRST;
    struct index grown = {.room = room, .count = map->count, .overflow = map->overflow};
    grown.keys = calloc(room, sizeof *grown.keys);
    grown.values = calloc(room, sizeof *grown.values);
    if (!grown.keys || !grown.values) {
      index_release(&grown);
      map->overflow = true;
      return false;
    }
    for (uint32_t i = 0; i < map->room; i++)
      if (map->keys[i])
        put(&grown, map->keys[i], map->values[i]);
    index_release(map);
    *map = grown;
  }
  put(map, key, value);
  map->count++;
  return true;
}

/* What stands behind the gap moves up where its own place lies before it (Knuth, volume 3, 6.4, algorithm R). */
void index_remove(struct index *map, uint64_t key)
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
