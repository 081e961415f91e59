#include "hpcprof-lite/replay/joins.h"

#include "common/order.h"

#include <assert.h>

static struct join *join_at(const struct joins *joins, uint32_t index)
{
  return object_pool_at(&joins->table.pool, index);
}

void joins_init(struct joins *joins, struct vector_clocks *clocks, uint32_t max)
{
  assert(clocks->width && max);
  size_t bytes = sizeof(struct vector_clock) + clocks->width * sizeof(struct vector_clock_element);
  uint32_t room = (uint32_t)(JOINS_BYTES_MAX / bytes);
  *joins = (struct joins){.clocks = clocks};
  object_table_init(&joins->table, sizeof(struct join), MIN(room, max));
}

void joins_release(struct joins *joins)
{
  object_table_release(&joins->table);
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
  object_table_remove(&joins->table, index, join->name);
}

static uint32_t join_new(struct joins *joins, uint64_t name)
{
  uint32_t index = object_table_add(&joins->table, name);
  if (!index && joins->oldest) {
    drop(joins, joins->oldest);
    index = object_table_add(&joins->table, name);
  }
  if (!index)
    return 0;
  uint32_t clock = vector_clock_new(joins->clocks);
  if (!clock) {
    object_table_remove(&joins->table, index, name);
    return 0;
  }
  *join_at(joins, index) = (struct join){.name = name, .clock = clock};
  link_join(joins, index);
  return index;
}

void joins_drop(struct joins *joins, uint64_t name)
{
  uint32_t index = hash_map_find(&joins->table.names, name);
  if (index)
    drop(joins, index);
}

struct join *joins_find(struct joins *joins, uint64_t name, bool create)
{
  uint32_t index = hash_map_find(&joins->table.names, name);
  if (!index && create)
    index = join_new(joins, name);
  if (!index)
    return NULL;
  unlink_join(joins, index);
  link_join(joins, index);
  return join_at(joins, index);
}
