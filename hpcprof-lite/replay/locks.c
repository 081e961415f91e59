#include "hpcprof-lite/replay/locks.h"

enum { LOCKS_MAX = 1 << 14 };

/* Keys of an index must not be 0. */
static uint64_t key_of(uint64_t id)
{
  return id + 1 ? id + 1 : 1;
}

int locks_init(struct locks *locks)
{
  return object_pool_init(&locks->pool, sizeof(struct lock), LOCKS_MAX);
}

void locks_release(struct locks *locks)
{
  object_pool_release(&locks->pool);
  index_release(&locks->index);
}

bool locks_overflow(const struct locks *locks)
{
  return locks->pool.overflow || locks->index.overflow;
}

struct lock *locks_find(const struct locks *locks, uint64_t id)
{
  uint32_t index = index_find(&locks->index, key_of(id));
  return index ? object_pool_at(&locks->pool, index) : NULL;
}

struct lock *locks_get(struct locks *locks, uint64_t id, const struct clock_pair *now)
{
  struct lock *lock = locks_find(locks, id);
  if (lock)
    return lock;
  uint32_t index = object_pool_get(&locks->pool);
  if (!index || !index_add(&locks->index, key_of(id), index))
    return NULL;
  lock = object_pool_at(&locks->pool, index);
  *lock = (struct lock){.earliest = *now};
  return lock;
}

void lock_acquired(struct lock *lock, uint32_t row, const struct clock_pair *now)
{
  for (unsigned i = 0; i < INSTANCES_TIMES; i++)
    if (now->at[i] < lock->earliest.at[i])
      lock->earliest.at[i] = now->at[i];
  lock->row = row;
  lock->acquired = *now;
}

struct clock_pair lock_released(struct lock *lock, const struct clock_pair *now)
{
  struct clock_pair held = clock_pair_since(now, &lock->acquired), bound;
  for (unsigned i = 0; i < INSTANCES_TIMES; i++) {
    lock->held.at[i] += held.at[i];
    bound.at[i] = lock->earliest.at[i] + lock->held.at[i];
  }
  return bound;
}
