/* The hash of bytes: FNV-1a (Fowler, Noll, Vo), of 64 bits.
 *
 * Context: RT, CTL and BATCH.  No state.  Both programs, and processes of one job, get the same hash of the same bytes.
 */
#ifndef COMMON_HASH_H
#define COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325ULL

/* The hash of the bytes after those of `hash`; HASH_START: there are none before. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ULL;
  return hash;
}

#endif
