#include "hpcprof-lite/grains/live_grains.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum { GRAINS_MAX = 4 << 20, REGIONS_MAX = 1 << 20, LOOPS_MAX = 4 << 20, PLACEMENTS_MAX = 1 << 16 };

void live_grains_init(struct live_grains *grains, const char *notes, struct problems *problems)
{
  *grains = (struct live_grains){0};
  tape_init(&grains->tape, problems);
  grain_schedule_init(&grains->schedule, problems);
  *XAPPEND(grains->placements, grains->placements_count, grains->placements_room) =
      (struct live_placement){0, GRAIN_NO_CPU};
  numa_parse(notes, &grains->numa);
  object_pool_init(&grains->spreads, (1 + grains->numa.nodes) * sizeof(uint64_t), GRAINS_MAX);
  object_pool_init(&grains->regions, sizeof(struct team_region), REGIONS_MAX);
  object_pool_init(&grains->loops, sizeof(struct team_loop), LOOPS_MAX);
  object_pool_init(&grains->pool, sizeof(struct live_grain), GRAINS_MAX);
}

void live_grains_release(struct live_grains *grains)
{
  tape_release(&grains->tape);
  grain_schedule_release(&grains->schedule);
  object_pool_release(&grains->pool);
  object_pool_release(&grains->spreads);
  object_pool_release(&grains->regions);
  object_pool_release(&grains->loops);
  hash_map_release(&grains->placement_map);
  free(grains->placements);
}

uint32_t live_grains_placement(struct live_grains *grains, uint32_t thread, uint32_t cpu)
{
  uint64_t key = ((uint64_t)thread << 32 | cpu) + 1;
  uint32_t found = hash_map_find(&grains->placement_map, key);
  if (found || grains->placements_count > PLACEMENTS_MAX)
    return found;
  hash_map_add(&grains->placement_map, key, grains->placements_count);
  *XAPPEND(grains->placements, grains->placements_count, grains->placements_room) =
      (struct live_placement){thread, cpu};
  return grains->placements_count - 1;
}

uint32_t live_grain_new(struct live_grains *grains, enum grain_kind kind, uint32_t parent, uint32_t clock)
{
  assert(kind < GRAIN_KINDS && parent < grains->pool.used);
  uint32_t index = object_pool_get(&grains->pool);
  grains->lost += !index;
  if (!index)
    return 0;
  struct live_grain *grain = live_grain(grains, index), *creator = live_grain(grains, parent);
  grain->refs = 1;
  grain->flags = kind;
  grain->parent = parent;
  grain->clock = clock;
  grain->id = ++grains->count;
  grain->root = kind == GRAIN_TASK || kind == GRAIN_CHUNK ? creator->root : index;
  grain->instant = creator->exec;
  creator->refs += parent != 0;
  TAPE_PUT(&grains->tape, TAPE_BEGIN, index);
  return index;
}

/* ---- execution ---- */

static void end_stretch(struct live_grains *grains, uint32_t index)
{
  struct live_grain *grain = live_grain(grains, index);
  if (grain->stretch_end <= grain->stretch_begin)
    return;
  grain_schedule_add(&grains->schedule, grain->stretch_begin, grain->stretch_end);
  grain->stretch_begin = grain->stretch_end;
  TAPE_PUT(&grains->tape, TAPE_STRETCH, index);
}

void live_grain_run(struct live_grains *grains, uint32_t index, uint32_t placement, uint64_t work, uint64_t start)
{
  assert(index && placement < grains->placements_count && !(live_grain(grains, index)->flags & LIVE_GRAIN_ENDED));
  struct live_grain *grain = live_grain(grains, index);
  if (grain->stretch_end != start) {
    end_stretch(grains, index);
    grain->stretch_begin = start;
  }
  grain->stretch_end = start + work;
  grain->exec += work;
  grains->work += work;
  if (!grain->fragments++) /* until now, where it was begun */
    grain->placement = placement;
  grain->flags |= LIVE_GRAIN_STARTED;
  TAPE_PUT(&grains->tape, TAPE_RUN, index, placement, work, tape_zigzag(start - grains->run_end));
  grains->run_end = start + work;
}

/* ---- ends ---- */

static uint64_t *spread_at(const struct live_grains *grains, uint32_t spread)
{
  return object_pool_at(&grains->spreads, spread);
}

/* The first number of a spread is not that of a node: the pool uses it while the spread is free. */
static void add_to_spread(struct live_grains *grains, struct live_sum *sum, uint32_t node, uint64_t count)
{
  assert(count);
  if (node >= grains->numa.nodes || (!sum->spread && !(sum->spread = object_pool_get(&grains->spreads))))
    return;
  spread_at(grains, sum->spread)[1 + node] += count;
}

void live_sum_add(struct live_grains *grains, struct live_sum *into, const struct live_grain *grain)
{
  assert(grain->placement < grains->placements_count);
  into->count++;
  into->exec += grain->exec;
  into->longest = MAX(grain->exec, into->longest);
  add_to_spread(grains, into, numa_node(&grains->numa, grains->placements[grain->placement].cpu), 1);
}

static void drop_spread(struct live_grains *grains, struct live_sum *sum)
{
  if (sum->spread)
    object_pool_put(&grains->spreads, sum->spread);
  *sum = (struct live_sum){0};
}

void live_sum_move(struct live_grains *grains, struct live_sum *into, struct live_sum *from)
{
  assert(into != from);
  into->count += from->count;
  into->exec += from->exec;
  into->longest = MAX(from->longest, into->longest);
  for (uint32_t node = 0; from->spread && node < grains->numa.nodes; node++)
    add_to_spread(grains, into, node, spread_at(grains, from->spread)[1 + node]);
  drop_spread(grains, from);
}

uint64_t live_sum_end(struct live_grains *grains, struct live_sum *sum)
{
  uint32_t median = sum->spread ? numa_median(&grains->numa, spread_at(grains, sum->spread) + 1) : 0;
  drop_spread(grains, sum);
  return median ? (uint64_t)median + 1 : 0;
}

void live_grain_sync(struct live_grains *grains, uint32_t index, enum live_sync kind, uint64_t what,
                     struct live_sum *joined)
{
  assert(index && kind <= LIVE_SYNC_CHILD);
  struct live_grain *grain = live_grain(grains, index);
  struct live_sum sum = *joined;
  uint64_t scatter = live_sum_end(grains, joined);
  TAPE_PUT(&grains->tape, TAPE_SYNC, index, ++grain->syncs, kind, what, grain->wait, sum.count, sum.exec, sum.longest,
           scatter, grain->exec);
  grain->wait = 0;
}

void live_grain_unref(struct live_grains *grains, uint32_t index)
{
  assert(!index || live_grain(grains, index)->refs);
  while (index && --live_grain(grains, index)->refs == 0) {
    const struct live_grain *grain = live_grain(grains, index);
    uint32_t parent = grain->parent;
    if ((grain->flags & LIVE_GRAIN_KIND) == GRAIN_IMPLICIT && grain->member)
      TAPE_PUT(&grains->tape, TAPE_MEMBER, index, grain->member - 1);
    if (grain->flags & LIVE_GRAIN_KIND) /* not initial */
      TAPE_PUT(&grains->tape, TAPE_CREATED, index, grain->instant, grain->create);
    if (grain->flags & LIVE_GRAIN_RANGE)
      TAPE_PUT(&grains->tape, TAPE_RANGE, index, grain->loop, grain->start, grain->iterations, grain->overhead,
               grain->loop_chunks);
    uint32_t joins = (grain->flags & LIVE_GRAIN_KIND) == GRAIN_IMPLICIT ? grain->region : grain->group;
    TAPE_PUT(&grains->tape, TAPE_RELEASE, index, parent, tape_zigzag(grain->id - grains->last_released),
             grain->flags & LIVE_GRAIN_TAPED, grain->row, grain->creator_row, grain->number, grain->construct, joins,
             grain->clock, grain->placement);
    if (!(grain->flags & LIVE_GRAIN_DROPPED))
      grains->of_kind[live_grain_kind(grain->flags)]++;
    grains->last_released = grain->id;
    if (grain->flags & (LIVE_GRAIN_OF_LOOP | LIVE_GRAIN_LOOP_TASK))
      team_loop_release(grains, grain->loop);
    drop_spread(grains, &live_grain(grains, index)->direct); /* of what nothing joins */
    drop_spread(grains, &live_grain(grains, index)->deep);
    object_pool_put(&grains->pool, index);
    index = parent;
  }
}

void live_grain_end(struct live_grains *grains, uint32_t index)
{
  struct live_grain *grain = live_grain(grains, index);
  if (!index || grain->flags & LIVE_GRAIN_ENDED)
    return;
  end_stretch(grains, index);
  grain->flags |= LIVE_GRAIN_ENDED;
  TAPE_PUT(&grains->tape, TAPE_END, index);
  live_grain_unref(grains, index);
}

struct last {
  uint64_t id;
  uint32_t index;
};

ORDER(by_id_down, struct last, COMPARE(y->id, x->id))

/* A grain is created after its ancestors: so the youngest ones are ended first. */
void live_grains_finish(struct live_grains *grains)
{
  struct last *all = NULL;
  size_t room = 0, count = 0;
  for (uint32_t i = 1; i < grains->pool.used; i++) {
    const struct live_grain *grain = live_grain(grains, i);
    if (!grain->refs || grain->flags & LIVE_GRAIN_ENDED)
      continue;
    *XAPPEND(all, count, room) = (struct last){grain->id, i};
  }
  if (count)
    qsort(all, count, sizeof *all, by_id_down);
  for (size_t i = 0; i < count; i++)
    live_grain_end(grains, all[i].index);
  free(all);
}
