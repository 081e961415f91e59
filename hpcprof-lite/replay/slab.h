/* Records of one size by number, and numbers by key: what the replay of a log keeps of tasks, constructs and clocks.
 *
 * Context: BATCH.  Memory grows in blocks and is used again; a record's address stays while it lives.  Number 0 is no
 * record, and reads as zero.  At most as many records live as the slab was made for: a log is hostile input.
 */
#ifndef HPCPROF_SLAB_H
#define HPCPROF_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLAB_SHIFT = 8 };

struct slab {
  uint8_t **blocks;
  uint32_t blocks_count, used, free, max;
  size_t size;
  bool starved; /* a record was refused for want of memory */
};

/* 0, or ERR_NOMEM; slab_release() in any case. */
int slab_init(struct slab *slab, size_t size, uint32_t max);
void slab_release(struct slab *slab);

/* A record of zeros; 0 where there is no room. */
uint32_t slab_get(struct slab *slab);
void slab_put(struct slab *slab, uint32_t index);

static inline void *slab_at(const struct slab *slab, uint32_t index)
{
  return slab->blocks[index >> SLAB_SHIFT] + (size_t)(index & ((1u << SLAB_SHIFT) - 1)) * slab->size;
}

/* Open addressing; keys are not 0. */
struct slab_map {
  uint64_t *keys;
  uint32_t *values;
  uint32_t count, room;
  bool starved; /* as above */
};

void slab_map_release(struct slab_map *map);

/* 0 where there is none. */
uint32_t slab_map_find(const struct slab_map *map, uint64_t key);

/* The key must not be there.  False without memory. */
bool slab_map_add(struct slab_map *map, uint64_t key, uint32_t value);
void slab_map_remove(struct slab_map *map, uint64_t key);

#endif
