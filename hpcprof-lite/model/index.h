/* A hash index: 64-bit keys to 32-bit numbers, by open addressing with linear probing.
 *
 * Context: BATCH.  One thread at a time may change an index.  Neither keys nor numbers may be 0.  A key is either the
 * identity itself (an address, a number in a file) or a hash of it.  Several elements may share a hash: the caller then
 * compares the elements, by INDEX_FIND().  At most three quarters of the slots are in use.
 *
 * An index of zeros is empty and needs no initialisation.  It owns its memory, which index_release() frees.
 */
#ifndef HPCPROF_LITE_MODEL_INDEX_H
#define HPCPROF_LITE_MODEL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index {
  uint64_t *keys;    /* 0 = free slot */
  uint32_t *numbers; /* [slot]        */
  uint32_t count, slots;
};

void index_release(struct index *index);

/* Removes all elements, but keeps the memory. */
void index_clear(struct index *index);

/* Returns the number stored under a key, 0 if there is none. */
uint32_t index_find(const struct index *index, uint64_t key);

/* Iterate over the elements that share a key.  Each returns a number, or 0 at the end; *slot holds the position. */
uint32_t index_first(const struct index *index, uint64_t key, uint32_t *slot);
uint32_t index_next(const struct index *index, uint64_t key, uint32_t *slot);

/* The first number under a key for which `same`, an expression with i, is true; 0 if there is none. */
#define INDEX_FIND(index, key, i, same)                                                                                \
  __extension__({                                                                                                      \
    uint32_t slot_, i = index_first(index, key, &slot_);                                                               \
    while (i && !(same))                                                                                               \
      i = index_next(index, key, &slot_);                                                                              \
    i;                                                                                                                 \
  })

/* Adds an element, even if the key is present already. */
void index_add(struct index *index, uint64_t key, uint32_t number);

/* Removes the element that index_find() returns.  Does nothing if the key is not present. */
void index_remove(struct index *index, uint64_t key);

/* Hashes for identities of several parts: index_hash() adds one part to a hash, index_hash_bytes() adds bytes.  The
 * result is never 0. */
static inline uint64_t index_hash(uint64_t hash, uint64_t part)
{
  hash = (hash * 0x9e3779b97f4a7c15ULL + part) * 0xbf58476d1ce4e5b9ULL;
  hash ^= hash >> 32;
  return hash ? hash : 1;
}

uint64_t index_hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif
