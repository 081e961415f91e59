#include "hpcrun-lite/rt/core/pool.h"

#include "hpcrun-lite/rt/core/sys.h"

enum { FIRST = 256, TRIES = 100000 };

static struct pool_item *at(const struct pool *pool, uint32_t index)
{
  return pool_at(pool, index);
}

void pool_init(struct pool *pool, uint32_t item_size)
{
  uint32_t none;
  atomic_store(&pool->batches, 0);
  atomic_flag_clear(&pool->lock);
  table_init(&pool->table, FORMAT_FREE, ARENA_SHARED, 0, item_size, FIRST);
  if (table_next(&pool->table, &none))
    table_publish(&pool->table); /* index 0 means "none" */
}

static void push_batch(struct pool *pool, uint32_t first)
{
  uint64_t head = atomic_load(&pool->batches);
  do {
    __atomic_store_n(&at(pool, first)->batch, (uint32_t)head, __ATOMIC_RELAXED);
  } while (!atomic_compare_exchange_weak(&pool->batches, &head, ((head >> 32) + 1) << 32 | first));
}

static uint32_t pop_batch(struct pool *pool)
{
  uint64_t head = atomic_load(&pool->batches);
  for (;;) {
    uint32_t first = (uint32_t)head;
    if (!first)
      return 0;
    uint64_t next = __atomic_load_n(&at(pool, first)->batch, __ATOMIC_RELAXED);
    if (atomic_compare_exchange_weak(&pool->batches, &head, ((head >> 32) + 1) << 32 | next))
      return first;
  }
}

/* Adds a batch of new items to the table, linked.  Returns the first, 0 without memory. */
static uint32_t add_items(struct pool *pool)
{
  for (int i = 0; i < TRIES; i++) {
    if (atomic_flag_test_and_set_explicit(&pool->lock, memory_order_acquire)) {
      sys_yield();
      continue;
    }
    uint32_t first = 0;
    bool room = table_next_many(&pool->table, POOL_BATCH, &first);
    if (room)
      table_publish_many(&pool->table, POOL_BATCH);
    atomic_flag_clear_explicit(&pool->lock, memory_order_release);
    for (uint32_t k = 0; room && k < POOL_BATCH; k++)
      at(pool, first + k)->next = k + 1 < POOL_BATCH ? first + k + 1 : 0;
    return room ? first : 0;
  }
  return 0;
}

bool pool_fill(struct pool *pool, struct pool_cache *cache)
{
  cache->count = POOL_BATCH;
  cache->first = pop_batch(pool);
  if (!cache->first)
    cache->first = add_items(pool);
  return cache->first != 0;
}

/* Moves the cache's items to the pool, up to that one. */
static void move_until(struct pool *pool, struct pool_cache *cache, uint32_t last)
{
  uint32_t first = cache->first;
  cache->first = at(pool, last)->next;
  at(pool, last)->next = 0;
  push_batch(pool, first);
}

void pool_spill(struct pool *pool, struct pool_cache *cache)
{
  uint32_t last = cache->first;
  for (int i = 1; i < POOL_BATCH; i++)
    last = at(pool, last)->next;
  move_until(pool, cache, last);
  cache->count -= POOL_BATCH;
}

void pool_flush(struct pool *pool, struct pool_cache *cache)
{
  while (cache->first) { /* in batches, because pool_fill() counts on no more */
    uint32_t last = cache->first;
    for (int i = 1; i < POOL_BATCH && at(pool, last)->next; i++)
      last = at(pool, last)->next;
    move_until(pool, cache, last);
  }
  *cache = (struct pool_cache){0};
}
