/* Pools: tables whose items any thread may take and return.
 *
 * Context: RT, in callbacks, never in a handler.  Each thread keeps a cache of free items; a cache that is too full
 * gives a batch of them back to the pool, from where all threads take.  An item is named by its index, from 1; while it
 * is free, its first eight bytes belong to the pool.  Memory is never returned to the system, so a stale index names
 * some item of the pool and nothing else.  Without memory functions return 0 or false. */
#ifndef HPCRUN_LITE_RT_CORE_POOL_H
#define HPCRUN_LITE_RT_CORE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hpcrun-lite/rt/core/arena.h"
#include "hpcrun-lite/rt/core/assertion.h"

/* The first member of every item.  next: the next free item of the same cache or batch.  batch: in the first item of a
 * batch, the next batch, written before the batch is pushed.  A thread that pops may read `batch` of an item that is in
 * use again; the tag then makes its pop fail. */
struct pool_item {
  uint32_t next, batch;
};

struct pool {
  struct table table;
  _Atomic uint64_t batches; /* tag << 32 | first item of the first batch */
  atomic_flag lock;         /* for adding items to the table */
};

/* A thread's free items.  Invariant: `count` is at least the length of the list. */
struct pool_cache {
  uint32_t first, count;
};

/* Makes the pool empty. */
void pool_init(struct pool *pool, uint32_t item_size);

enum { POOL_BATCH = 64 };

/* Fills an empty cache, from the pool or with new items; returns false without memory.  pool_spill() moves a batch from
 * a full cache to the pool. */
bool pool_fill(struct pool *pool, struct pool_cache *cache);
void pool_spill(struct pool *pool, struct pool_cache *cache);

/* Moves all items of the cache to the pool: the thread ends. */
void pool_flush(struct pool *pool, struct pool_cache *cache);

/* The address of an item. */
static inline void *pool_at(const struct pool *pool, uint32_t index)
{
  return table_at(&pool->table, index);
}

/* Takes a free item and sets *item to its address.  Apart from struct pool_item, the item has the content with which it
 * was returned, or is zero if it was never used.  Returns its index, 0 without memory. */
static inline uint32_t pool_take(struct pool *pool, struct pool_cache *cache, void **item)
{
  if (__builtin_expect(!cache->first, 0) && !pool_fill(pool, cache))
    return 0;
  RT_ASSERT(cache->count > 0);
  uint32_t index = cache->first;
  struct pool_item *taken = pool_at(pool, index);
  cache->first = taken->next;
  cache->count--;
  *item = taken;
  return index;
}

/* The same without the address. */
static inline uint32_t pool_get(struct pool *pool, struct pool_cache *cache)
{
  void *item;
  return pool_take(pool, cache, &item);
}

/* Returns an item, given by index and address, to the thread's cache; pool_put() needs only the index. */
static inline void pool_return(struct pool *pool, struct pool_cache *cache, uint32_t index, void *item)
{
  RT_ASSERT(index && index != cache->first);
  ((struct pool_item *)item)->next = cache->first;
  cache->first = index;
  if (__builtin_expect(++cache->count >= 2 * POOL_BATCH, 0))
    pool_spill(pool, cache);
}

static inline void pool_put(struct pool *pool, struct pool_cache *cache, uint32_t index)
{
  pool_return(pool, cache, index, pool_at(pool, index));
}

#endif
