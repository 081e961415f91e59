#include "hpcprof-lite/replay/joins.h"

/* In a list, the one used last first. */
struct join {
  uint32_t clock, newer, older;
  uint64_t name;
};

static struct join *at(const struct joins *joins, uint32_t index)
{
  return slab_at(&joins->slab, index);
}

int joins_init(struct joins *joins, struct lanes *lanes, uint32_t most)
{
  size_t bytes = sizeof(struct lanes_clock) + lanes->width * sizeof(struct lane);
  uint32_t room = (uint32_t)(JOINS_BYTES_MAX / bytes);
  *joins = (struct joins){.lanes = lanes};
  return slab_init(&joins->slab, sizeof(struct join), room < most ? room : most);
}

void joins_release(struct joins *joins)
{
  slab_release(&joins->slab);
  slab_map_release(&joins->names);
}

static void unlink_join(struct joins *joins, uint32_t index)
{
  const struct join *join = at(joins, index);
  *(join->newer ? &at(joins, join->newer)->older : &joins->newest) = join->older;
  *(join->older ? &at(joins, join->older)->newer : &joins->oldest) = join->newer;
}

static void link_join(struct joins *joins, uint32_t index)
{
  struct join *join = at(joins, index);
  join->newer = 0;
  join->older = joins->newest;
  *(join->older ? &at(joins, join->older)->newer : &joins->oldest) = index;
  joins->newest = index;
}

static void drop_oldest(struct joins *joins)
{
  uint32_t index = joins->oldest;
  struct join *join = at(joins, index);
  unlink_join(joins, index);
  slab_map_remove(&joins->names, join->name);
  lanes_free(joins->lanes, &join->clock);
  slab_put(&joins->slab, index);
}

static uint32_t join_new(struct joins *joins, uint64_t name)
{
  uint32_t index = slab_get(&joins->slab);
  if (!index && joins->oldest) {
    drop_oldest(joins);
    index = slab_get(&joins->slab);
  }
  uint32_t clock = index ? lanes_new(joins->lanes) : 0;
  if (!clock || !slab_map_add(&joins->names, name, index)) {
    lanes_free(joins->lanes, &clock);
    if (index)
      slab_put(&joins->slab, index);
    return 0;
  }
  *at(joins, index) = (struct join){.name = name, .clock = clock};
  link_join(joins, index);
  return index;
}

uint32_t joins_clock(struct joins *joins, uint64_t name, bool make)
{
  uint32_t index = slab_map_find(&joins->names, name);
  if (!index)
    index = make ? join_new(joins, name) : 0;
  if (!index)
    return 0;
  unlink_join(joins, index);
  link_join(joins, index);
  return at(joins, index)->clock;
}
