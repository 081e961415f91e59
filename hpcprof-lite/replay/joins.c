#include "hpcprof-lite/replay/joins.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum { MESSAGES_MAX = 1 << 26 }; /* numbers */

static struct join *join_at(const struct joins *joins, uint32_t index)
{
  return object_pool_at(&joins->pool, index);
}

void joins_init(struct joins *joins, struct vector_clocks *clocks, uint32_t max)
{
  assert(clocks->width && max);
  size_t bytes = sizeof(struct vector_clock) + clocks->width * sizeof(struct vector_clock_element);
  uint32_t room = (uint32_t)(JOINS_BYTES_MAX / bytes);
  *joins = (struct joins){.clocks = clocks};
  object_pool_init(&joins->pool, sizeof(struct join), MIN(room, max));
}

void joins_release(struct joins *joins)
{
  object_pool_release(&joins->pool);
  hash_map_release(&joins->names);
  free(joins->messages);
}

static void unlink_join(struct joins *joins, uint32_t index)
{
  assert(index && join_at(joins, index)->name);
  const struct join *join = join_at(joins, index);
  *(join->newer ? &join_at(joins, join->newer)->older : &joins->newest) = join->older;
  *(join->older ? &join_at(joins, join->older)->newer : &joins->oldest) = join->newer;
}

static void link_join(struct joins *joins, uint32_t index)
{
  assert(index && join_at(joins, index)->name);
  struct join *join = join_at(joins, index);
  join->newer = 0;
  join->older = joins->newest;
  *(join->older ? &join_at(joins, join->older)->newer : &joins->oldest) = index;
  joins->newest = index;
}

static void drop(struct joins *joins, uint32_t index)
{
  struct join *join = join_at(joins, index);
  unlink_join(joins, index);
  vector_clock_free(joins->clocks, &join->clock);
  hash_map_remove(&joins->names, join->name);
  object_pool_put(&joins->pool, index);
}

/* Returns a join without a name, or 0 if there is no room. */
static uint32_t join_new(struct joins *joins)
{
  uint32_t index = object_pool_get(&joins->pool);
  if (!index && joins->oldest) {
    drop(joins, joins->oldest);
    index = object_pool_get(&joins->pool);
  }
  uint32_t clock = index ? vector_clock_new(joins->clocks) : 0;
  if (index && !clock)
    object_pool_put(&joins->pool, index);
  if (!clock)
    return 0;
  *join_at(joins, index) = (struct join){.clock = clock};
  return index;
}

struct join *joins_find(struct joins *joins, uint64_t name, bool create)
{
  uint32_t index = hash_map_find(&joins->names, name);
  if (index) {
    unlink_join(joins, index);
  } else {
    index = create && name ? join_new(joins) : 0;
    if (!index)
      return NULL;
    join_at(joins, index)->name = name;
    hash_map_add(&joins->names, name, index);
  }
  link_join(joins, index);
  return join_at(joins, index);
}

struct join *joins_of_message(struct joins *joins, uint64_t number, bool create)
{
  assert(number);
  uint32_t index = number < joins->messages_room ? joins->messages[number] : 0;
  if (!index && create && number < MESSAGES_MAX) {
    xarray_reserve_zero(&joins->messages, &joins->messages_room, number + 1, sizeof *joins->messages);
    joins->messages[number] = index = join_new(joins);
  }
  return index ? join_at(joins, index) : NULL;
}

void joins_drop_message(struct joins *joins, uint64_t number)
{
  uint32_t index = number < joins->messages_room ? joins->messages[number] : 0;
  if (!index)
    return;
  joins->messages[number] = 0;
  vector_clock_free(joins->clocks, &join_at(joins, index)->clock);
  object_pool_put(&joins->pool, index);
}
