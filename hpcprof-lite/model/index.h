/* Keys → numbers, by open addressing.
 *
 * Context: BATCH.  One thread writes an index at a time.  Keys are 64 bits and not 0; numbers are 32 bits and not 0.  A
 * key is either the identity itself (an address, a number in a file) or a hash of it: then several elements may have
 * the same key, and the caller compares those that index_first() and index_next() return.  At most three quarters of
 * the slots are in use.  An index of zeros is empty; its memory belongs to its owner, who calls index_release().
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
  bool overflow; /* an element was refused without memory */
};

void index_release(struct index *index);

/* The number of a key, 0 without. */
uint32_t index_find(const struct index *index, uint64_t key);

/* The same where elements may share a key: the first one's number, then the next one's, 0 at the end.  *slot is the
 * position of the search. */
uint32_t index_first(const struct index *index, uint64_t key, uint32_t *slot);
uint32_t index_next(const struct index *index, uint64_t key, uint32_t *slot);

/* Adds an element; one with the same key may be there already.  False without memory: the index is unchanged. */
bool index_add(struct index *index, uint64_t key, uint32_t number);

/* Removes the element that index_find() returns; nothing happens without one. */
void index_remove(struct index *index, uint64_t key);

/* Hashes for identities of several parts: index_hash() takes one more part in, index_hash_bytes() takes bytes.  The
 * result is never 0. */
static inline uint64_t index_hash(uint64_t hash, uint64_t part)
{
  hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32;
  return hash ? hash : 1;
}

uint64_t index_hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif
