/* Records of one size by number, and numbers by key: what the replay of a log keeps of tasks, constructs and clocks.
 *
 * Context: BATCH.  Memory grows in blocks and is used again; a record's address stays while it lives.  Number 0 is no
 * record, and reads as zero.  At most as many records live as the slab was made for: a log is hostile input.
 */
#ifndef HPCPROF_LITE_REPLAY_OBJECT_POOL_H
#define HPCPROF_LITE_REPLAY_OBJECT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBJECT_POOL_SHIFT = 8 };

struct object_pool {
  uint8_t **blocks;
  size_t blocks_room;
  uint32_t blocks_count, used, free, max;
  size_t size;
  bool overflow; /* a record was refused for want of memory */
};

/* 0, or ERR_NOMEM; object_pool_release() in any case. */
int object_pool_init(struct object_pool *pool, size_t size, uint32_t max);
void object_pool_release(struct object_pool *pool);

/* A record of zeros; 0 where there is no room. */
uint32_t object_pool_get(struct object_pool *pool);
void object_pool_put(struct object_pool *pool, uint32_t index);

static inline void *object_pool_at(const struct object_pool *pool, uint32_t index)
{
  return pool->blocks[index >> OBJECT_POOL_SHIFT] + (size_t)(index & ((1u << OBJECT_POOL_SHIFT) - 1)) * pool->size;
}

#endif
