#include "hpcprof-lite/model/hash_map.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64 };

void hash_map_release(struct hash_map *map)
{
  free(map->keys);
  free(map->numbers);
  *map = (struct hash_map){0};
}

void hash_map_clear(struct hash_map *map)
{
  if (map->count)
    memset(map->keys, 0, map->slots * sizeof *map->keys);
  map->count = 0;
}

/* The highest bits of the product, on which all bits of the key have an effect (Knuth, volume 3, 6.4: Fibonacci
 * hashing): keys can have a number in their lowest bits, and a thread in their highest. */
static uint32_t home_slot(const struct hash_map *map, uint64_t key)
{
  assert(map->slots > 1 && !(map->slots & (map->slots - 1)));
  return (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> (64 - __builtin_ctz(map->slots)));
}

/* Returns the number in the first slot with that key, from *slot on, or 0. */
static uint32_t seek(const struct hash_map *map, uint64_t key, uint32_t *slot)
{
  assert(*slot < map->slots && map->count < map->slots);
  while (map->keys[*slot] && map->keys[*slot] != key)
    *slot = (*slot + 1) & (map->slots - 1);
  return map->keys[*slot] ? map->numbers[*slot] : 0;
}

uint32_t hash_map_first(const struct hash_map *map, uint64_t key, uint32_t *slot)
{
  if (!map->slots)
    return 0;
  *slot = home_slot(map, key);
  return seek(map, key, slot);
}

uint32_t hash_map_next(const struct hash_map *map, uint64_t key, uint32_t *slot)
{
  assert(*slot < map->slots);
  *slot = (*slot + 1) & (map->slots - 1);
  return seek(map, key, slot);
}

uint32_t hash_map_find(const struct hash_map *map, uint64_t key)
{
  uint32_t slot;
  return hash_map_first(map, key, &slot);
}

static void put(struct hash_map *map, uint64_t key, uint32_t number)
{
  assert(map->count < map->slots);
  uint32_t slot = home_slot(map, key);
  while (map->keys[slot])
    slot = (slot + 1) & (map->slots - 1);
  map->keys[slot] = key;
  map->numbers[slot] = number;
}

static void grow(struct hash_map *map)
{
  struct hash_map grown = {.slots = map->slots ? map->slots * 2 : SLOTS_FIRST, .count = map->count};
  if (!grown.slots)
    xalloc_die();
  grown.keys = xcalloc(grown.slots, sizeof *grown.keys);
  grown.numbers = xmalloc(grown.slots * sizeof *grown.numbers);
  for (uint32_t i = 0; i < map->slots; i++)
    if (map->keys[i])
      put(&grown, map->keys[i], map->numbers[i]);
  hash_map_release(map);
  *map = grown;
}

void hash_map_add(struct hash_map *map, uint64_t key, uint32_t number)
{
  assert(key && number);
  if (map->count >= map->slots / 4 * 3)
    grow(map);
  put(map, key, number);
  map->count++;
}

/* Moves elements whose home slot is not after the gap into it (Knuth, volume 3, 6.4, algorithm R). */
uint32_t hash_map_remove(struct hash_map *map, uint64_t key)
{
  uint32_t gap, mask = map->slots - 1, number = hash_map_first(map, key, &gap);
  if (!number)
    return 0;
  for (uint32_t slot = (gap + 1) & mask; map->keys[slot]; slot = (slot + 1) & mask) {
    if (((slot - home_slot(map, map->keys[slot])) & mask) < ((slot - gap) & mask))
      continue;
    map->keys[gap] = map->keys[slot];
    map->numbers[gap] = map->numbers[slot];
    gap = slot;
  }
  map->keys[gap] = 0;
  map->count--;
  return number;
}

uint64_t hash_map_key_bytes(uint64_t hash, const void *bytes, size_t size)
{
  const uint8_t *at = bytes;
  uint64_t part;
  for (; size >= sizeof part; at += sizeof part, size -= sizeof part) {
    memcpy(&part, at, sizeof part);
    hash = hash_map_key(hash, part);
  }
  part = 0;
  memcpy(&part, at, size);
  return hash_map_key(hash, part ^ (uint64_t)size << 56);
}
