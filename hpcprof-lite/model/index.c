#include "hpcprof-lite/model/index.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64 };

void index_release(struct index *index)
{
  free(index->keys);
  free(index->numbers);
  *index = (struct index){0};
}

void index_clear(struct index *index)
{
  if (index->count)
    memset(index->keys, 0, index->slots * sizeof *index->keys);
  index->count = 0;
}

static uint32_t home_slot(const struct index *index, uint64_t key)
{
  assert(index->slots && !(index->slots & (index->slots - 1)));
  return (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (index->slots - 1);
}

/* Returns the number in the first slot with that key, from *slot on, or 0. */
static uint32_t seek(const struct index *index, uint64_t key, uint32_t *slot)
{
  assert(*slot < index->slots && index->count < index->slots);
  while (index->keys[*slot] && index->keys[*slot] != key)
    *slot = (*slot + 1) & (index->slots - 1);
  return index->keys[*slot] ? index->numbers[*slot] : 0;
}

uint32_t index_first(const struct index *index, uint64_t key, uint32_t *slot)
{
  if (!index->slots)
    return 0;
  *slot = home_slot(index, key);
  return seek(index, key, slot);
}

uint32_t index_next(const struct index *index, uint64_t key, uint32_t *slot)
{
  assert(*slot < index->slots);
  *slot = (*slot + 1) & (index->slots - 1);
  return seek(index, key, slot);
}

uint32_t index_find(const struct index *index, uint64_t key)
{
  uint32_t slot;
  return index_first(index, key, &slot);
}

static void put(struct index *index, uint64_t key, uint32_t number)
{
  assert(index->count < index->slots);
  uint32_t slot = home_slot(index, key);
  while (index->keys[slot])
    slot = (slot + 1) & (index->slots - 1);
  index->keys[slot] = key;
  index->numbers[slot] = number;
}

static void grow(struct index *index)
{
  struct index grown = {.slots = index->slots ? index->slots * 2 : SLOTS_FIRST, .count = index->count};
  if (!grown.slots)
    xalloc_die();
  grown.keys = xcalloc(grown.slots, sizeof *grown.keys);
  grown.numbers = xmalloc(grown.slots * sizeof *grown.numbers);
  for (uint32_t i = 0; i < index->slots; i++)
    if (index->keys[i])
      put(&grown, index->keys[i], index->numbers[i]);
  index_release(index);
  *index = grown;
}

void index_add(struct index *index, uint64_t key, uint32_t number)
{
  assert(key && number);
  if (index->count >= index->slots / 4 * 3)
    grow(index);
  put(index, key, number);
  index->count++;
}

/* Moves elements whose home slot is not after the gap into it (Knuth, volume 3, 6.4, algorithm R). */
void index_remove(struct index *index, uint64_t key)
{
  uint32_t gap, mask = index->slots - 1;
  if (!index_first(index, key, &gap))
    return;
  for (uint32_t slot = (gap + 1) & mask; index->keys[slot]; slot = (slot + 1) & mask) {
    if (((slot - home_slot(index, index->keys[slot])) & mask) < ((slot - gap) & mask))
      continue;
    index->keys[gap] = index->keys[slot];
    index->numbers[gap] = index->numbers[slot];
    gap = slot;
  }
  index->keys[gap] = 0;
  index->count--;
}

uint64_t index_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
  const uint8_t *at = bytes;
  uint64_t part;
  for (; size >= sizeof part; at += sizeof part, size -= sizeof part) {
    memcpy(&part, at, sizeof part);
    hash = index_hash(hash, part);
  }
  part = 0;
  memcpy(&part, at, size);
  return index_hash(hash, part ^ (uint64_t)size << 56);
}
