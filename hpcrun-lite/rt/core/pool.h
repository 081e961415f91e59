/* Records that come and go: tables whose records are handed out and taken back by any thread.
 *
 * Context: RT, in callbacks, never in a handler.  A thread keeps some free records at cache; what it has too many of it
 * gives to all in batches.  A record is named by its index, from 1; its first eight bytes are the pool's while it is
 * free.  Memory is never given back, so a stale index names some record of the pool, never anything else.
 */
#ifndef HPCRUN_LITE_RT_CORE_POOL_H
#define HPCRUN_LITE_RT_CORE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hpcrun-lite/rt/core/arena.h"

/* What every record of a pool begins with.  next: its holder's.  batch: of a batch's first record, written before the
 * batch is pushed; who pops may read that of a record that is in use again, and then fails, by the tag. */
struct pool_item {
  uint32_t next, batch;
};

struct pool {
  struct table table;
  _Atomic uint64_t batches; /* tag << 32 | first record of the first batch */
  atomic_flag lock;         /* for adding records                          */
};

/* A thread's free records. */
struct pool_cache {
  uint32_t first, count;
};

void pool_init(struct pool *pool, uint32_t item_size);

enum { POOL_BATCH = 64 };

/* Fills an empty cache; false without memory.  Gives a batch of a full one to the others. */
bool pool_fill(struct pool *pool, struct pool_cache *cache);
void pool_spill(struct pool *pool, struct pool_cache *cache);

/* Gives all that a thread has at cache to the others. */
void pool_flush(struct pool *pool, struct pool_cache *cache);

static inline void *pool_at(const struct pool *pool, uint32_t index)
{
  return table_at(&pool->table, index);
}

/* A record, its content as it was put back (all zero if it was never in use) but for the pool's part, and its address.
 * 0 without memory. */
static inline uint32_t pool_take(struct pool *pool, struct pool_cache *cache, void **item)
{
  if (__builtin_expect(!cache->first, 0) && !pool_fill(pool, cache))
    return 0;
  uint32_t index = cache->first;
  struct pool_item *taken = pool_at(pool, index);
  cache->first = taken->next;
  cache->count--;
  *item = taken;
  return index;
}

static inline uint32_t pool_get(struct pool *pool, struct pool_cache *cache)
{
  void *item;
  return pool_take(pool, cache, &item);
}

/* The record at that address is not in use any more. */
static inline void pool_return(struct pool *pool, struct pool_cache *cache, uint32_t index, void *item)
{
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
