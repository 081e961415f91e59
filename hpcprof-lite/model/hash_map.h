/* A hash map: 64-bit keys to 32-bit numbers, by open addressing with linear probing.
 *
 * Context: BATCH.  One thread at a time may change a map.  Neither keys nor numbers may be 0.  A key is either the
 * identity itself (an address, a number in a file) or a hash of it.  Several elements may share a hash: the caller then
 * compares the elements, by HASH_MAP_FIND().  At most three quarters of the slots are in use.
 *
 * A map of zeros is empty and needs no initialisation.  It owns its memory, which hash_map_release() frees.
 */
#ifndef HPCPROF_LITE_MODEL_HASH_MAP_H
#define HPCPROF_LITE_MODEL_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_map {
  uint64_t *keys;    /* 0 = free slot */
  uint32_t *numbers; /* [slot]        */
  uint32_t count, slots;
};

void hash_map_release(struct hash_map *map);

/* Removes all elements, but keeps the memory. */
void hash_map_clear(struct hash_map *map);

/* Returns the number stored under a key, 0 if there is none. */
uint32_t hash_map_find(const struct hash_map *map, uint64_t key);

/* Iterate over the elements that share a key.  Each returns a number, or 0 at the end; *slot holds the position. */
uint32_t hash_map_first(const struct hash_map *map, uint64_t key, uint32_t *slot);
uint32_t hash_map_next(const struct hash_map *map, uint64_t key, uint32_t *slot);

/* The first number under a key for which `same`, an expression with i, is true; 0 if there is none. */
#define HASH_MAP_FIND(map, key, i, same)                                                                               \
  __extension__({                                                                                                      \
    uint32_t slot_, i = hash_map_first(map, key, &slot_);                                                              \
    while (i && !(same))                                                                                               \
      i = hash_map_next(map, key, &slot_);                                                                             \
    i;                                                                                                                 \
  })

/* Adds an element, even if the key is present already. */
void hash_map_add(struct hash_map *map, uint64_t key, uint32_t number);

/* Removes the element that hash_map_find() returns, and returns its number; 0 if the key is not present. */
uint32_t hash_map_remove(struct hash_map *map, uint64_t key);

/* Hashes for identities of several parts: hash_map_key() adds one part to a hash, hash_map_key_bytes() adds bytes.  The
 * result is never 0. */
static inline uint64_t hash_map_key(uint64_t hash, uint64_t part)
{
  hash = (hash * 0x9e3779b97f4a7c15ULL + part) * 0xbf58476d1ce4e5b9ULL;
  hash ^= hash >> 32;
  return hash ? hash : 1;
}

uint64_t hash_map_key_bytes(uint64_t hash, const void *bytes, size_t size);

#endif
