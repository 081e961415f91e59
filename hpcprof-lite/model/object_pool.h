/* Pools of objects of one size, which are named by numbers, and tables of objects that also have a name.
 *
 * Context: BATCH.  The pool owns its memory, which grows in blocks and is reused; the address of an object does not
 * change while it is in use.  Object 0 always exists, is not in use, and consists of zeros.  Because a log is hostile
 * input, the number of objects is limited.
 */
#ifndef HPCPROF_LITE_MODEL_OBJECT_POOL_H
#define HPCPROF_LITE_MODEL_OBJECT_POOL_H

#include "hpcprof-lite/model/hash_map.h"

#include <assert.h>

enum { OBJECT_POOL_SHIFT = 8 }; /* objects in a block = 1 << OBJECT_POOL_SHIFT */

struct object_pool {
  uint8_t **blocks;
  size_t blocks_room;
  uint32_t blocks_count;
  uint32_t used; /* objects below this number have been handed out at least once */
  uint32_t free; /* first of the list of freed objects, 0 = empty; each begins with the number of the next */
  uint32_t max;  /* the highest number that is handed out */
  size_t size;   /* of an object, in bytes */
};

/* Prepares for at most `max` objects of `size` bytes. */
void object_pool_init(struct object_pool *pool, size_t size, uint32_t max);
void object_pool_release(struct object_pool *pool);

/* Returns the number of an object of zeros, or 0 if there are too many. */
uint32_t object_pool_get(struct object_pool *pool);

/* Frees an object. */
void object_pool_put(struct object_pool *pool, uint32_t index);

/* Returns the address of an object that is in use, or of object 0. */
static inline void *object_pool_at(const struct object_pool *pool, uint32_t index)
{
  assert(index < pool->used);
  return pool->blocks[index >> OBJECT_POOL_SHIFT] + (size_t)(index & ((1u << OBJECT_POOL_SHIFT) - 1)) * pool->size;
}

struct object_table {
  struct object_pool pool;
  struct hash_map names; /* not 0 */
};

/* The same for tables. */
void object_table_init(struct object_table *table, size_t size, uint32_t max);
void object_table_release(struct object_table *table);

/* Adds an object of zeros.  Returns its number, or 0 if the name is 0 or there are too many. */
uint32_t object_table_add(struct object_table *table, uint64_t name);

/* Removes the name and frees the object. */
void object_table_remove(struct object_table *table, uint32_t index, uint64_t name);

#endif
