#include "hpcprof-lite/model/object_pool.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void add_block(struct object_pool *pool)
{
  *XAPPEND(pool->blocks, pool->blocks_count, pool->blocks_room) = xcalloc((size_t)1 << OBJECT_POOL_SHIFT, pool->size);
}

void object_pool_init(struct object_pool *pool, size_t size, uint32_t max)
{
  assert(size && max);
  *pool = (struct object_pool){.size = (size + 7) / 8 * 8, .used = 1, .max = max};
  add_block(pool);
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
  assert(pool->free < pool->used && pool->used <= pool->blocks_count << OBJECT_POOL_SHIFT);
  uint32_t index = pool->free;
  if (index) {
    memcpy(&pool->free, object_pool_at(pool, index), sizeof pool->free);
    memset(object_pool_at(pool, index), 0, pool->size);
    return index;
  }
  if (pool->used > pool->max)
    return 0;
  if (pool->used >> OBJECT_POOL_SHIFT == pool->blocks_count)
    add_block(pool);
  return pool->used++;
}

void object_pool_put(struct object_pool *pool, uint32_t index)
{
  assert(index && index < pool->used);
  memcpy(object_pool_at(pool, index), &pool->free, sizeof pool->free);
  pool->free = index;
}

void object_table_init(struct object_table *table, size_t size, uint32_t max)
{
  *table = (struct object_table){0};
  object_pool_init(&table->pool, size, max);
}

void object_table_release(struct object_table *table)
{
  object_pool_release(&table->pool);
  hash_map_release(&table->names);
}

uint32_t object_table_add(struct object_table *table, uint64_t name)
{
  if (!name)
    return 0;
  uint32_t index = object_pool_get(&table->pool);
  if (index)
    hash_map_add(&table->names, name, index);
  return index;
}

void object_table_remove(struct object_table *table, uint32_t index, uint64_t name)
{
  assert(index && name);
  hash_map_remove(&table->names, name);
  object_pool_put(&table->pool, index);
}
