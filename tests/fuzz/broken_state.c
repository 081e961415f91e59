/* Breaks an invariant of the measured process's state: a free item is returned to its pool again. */
#include "hpcrun-lite/rt/core/pool.h"

int main(void)
{
  static struct pool pool;
  static struct pool_cache cache;
  pool_init(&pool, 64);
  uint32_t index = pool_get(&pool, &cache);
  pool_put(&pool, &cache, index);
  pool_put(&pool, &cache, index);
  return 0;
}
