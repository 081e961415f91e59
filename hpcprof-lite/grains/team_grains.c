/* Grains of regions, of their loops and of barriers (live_grains.h).  Context: BATCH. */
#include "hpcprof-lite/grains/live_grains.h"

#include "common/order.h"

#include <assert.h>

static struct team_loop *loop_at(const struct live_grains *grains, uint32_t index)
{
  return object_pool_at(&grains->loops, index);
}

/* ---- regions ---- */

uint32_t team_region_new(struct live_grains *grains, uint32_t creator)
{
  assert(creator < grains->pool.used);
  uint32_t index = object_pool_get(&grains->regions);
  if (!index)
    return 0;
  struct team_region *region = team_region(grains, index);
  region->refs = 1;
  region->creator = creator;
  region->name = ++grains->regions_begun;
  live_grain(grains, creator)->refs += creator != 0;
  return index;
}

void team_region_release(struct live_grains *grains, uint32_t index)
{
  assert(!index || team_region(grains, index)->refs);
  struct team_region *region = team_region(grains, index);
  if (!index || --region->refs > 0)
    return;
  struct live_sum joined = region->joined;
  uint64_t scatter = live_sum_end(grains, &region->joined);
  TAPE_PUT(&grains->tape, TAPE_REGION, index, region->creator, region->sync, joined.count, joined.exec, joined.longest,
           scatter, region->instant);
  uint32_t creator = region->creator;
  object_pool_put(&grains->regions, index);
  live_grain_unref(grains, creator);
}

void team_region_entered(struct live_grains *grains, uint32_t index, uint32_t grain)
{
  assert(grain);
  if (!index)
    return;
  team_region(grains, index)->refs++;
  live_grain(grains, grain)->region = index;
}

void team_region_left(struct live_grains *grains, uint32_t index, uint32_t grain)
{
  if (index)
    live_sum_add(grains, &team_region(grains, index)->joined, live_grain(grains, grain));
}

void team_region_end(struct live_grains *grains, uint32_t index, uint64_t ticks)
{
  struct team_region *region = team_region(grains, index);
  if (!index || region->ended)
    return;
  region->ended = true;
  region->ended_ticks = ticks;
  if (region->creator) {
    struct live_grain *creator = live_grain(grains, region->creator);
    region->sync = ++creator->syncs;
    region->instant = creator->exec;
    TAPE_PUT(&grains->tape, TAPE_JOIN, region->creator, region->sync);
  }
  team_region_release(grains, index);
}

/* ---- loops ---- */

/* Returns the increment of the loop's variable, zigzag, + 1; 0 if it is not known.  From the first chunk to the last
 * one the variable has passed all iterations but the last chunk's. */
static uint64_t increment(const struct team_loop *loop)
{
  bool up = loop->rising >= 0;
  uint64_t distance = loop->highest.start - loop->lowest.start;
  uint64_t last = up ? loop->highest.iterations : loop->lowest.iterations;
  if (!loop->any || !last || loop->iterations <= last || distance % (loop->iterations - last))
    return 0;
  uint64_t step = distance / (loop->iterations - last);
  if (!step || step >= (uint64_t)1 << 62)
    return 0;
  return tape_zigzag(up ? step : -step) + 1;
}

void team_loop_release(struct live_grains *grains, uint32_t index)
{
  assert(!index || loop_at(grains, index)->refs);
  const struct team_loop *loop = loop_at(grains, index);
  if (!index || --loop_at(grains, index)->refs > 0)
    return;
  uint64_t scatter = live_sum_end(grains, &loop_at(grains, index)->chunks);
  bool partial = loop->shared && loop->announced < loop->iterations;
  TAPE_PUT(&grains->tape, TAPE_LOOP, index, loop->number, increment(loop), loop->threads, loop->exec, loop->longest,
           scatter, partial);
  object_pool_put(&grains->loops, index);
}

static uint32_t loop_new(struct live_grains *grains, uint64_t number, uint64_t iterations, uint32_t row)
{
  uint32_t index = object_pool_get(&grains->loops);
  if (index)
    *loop_at(grains, index) = (struct team_loop){.refs = 1, .number = number, .iterations = iterations, .row = row};
  return index;
}

void team_loop_enter(struct live_grains *grains, uint32_t grain_index, uint32_t *shared, uint64_t number,
                     uint64_t iterations, uint32_t row)
{
  assert(grain_index);
  struct live_grain *grain = live_grain(grains, grain_index);
  team_loop_leave(grains, grain_index);
  uint32_t index = shared ? *shared : 0;
  if (!index)
    index = loop_new(grains, number, iterations, row);
  grain->loop = index;
  if (shared && index) {
    *shared = index;
    loop_at(grains, index)->refs++;
    loop_at(grains, index)->shared = true;
  }
  grain->loop_exec = grain->loop_chunks = 0;
  TAPE_PUT(&grains->tape, TAPE_ENTER, grain_index);
}

void team_loop_leave(struct live_grains *grains, uint32_t grain_index)
{
  struct live_grain *grain = live_grain(grains, grain_index);
  uint32_t index = grain->loop;
  team_chunk_end(grains, grain_index);
  if (!index)
    return;
  struct team_loop *loop = loop_at(grains, index);
  loop->threads++;
  loop->exec += grain->loop_exec;
  loop->longest = MAX(grain->loop_exec, loop->longest);
  if (grain->loop_chunks)
    live_grain_sync(grains, grain_index, LIVE_SYNC_LOOP, grain->loop_chunks, &(struct live_sum){0});
  grain->loop = 0;
  team_loop_release(grains, index);
}

/* ---- chunks ---- */

static void note_chunk(struct team_loop *loop, uint64_t start, uint64_t iterations, uint64_t id)
{
  struct team_chunk chunk = {start, iterations, id};
  if (!loop->any)
    loop->lowest = loop->highest = chunk;
  if ((int64_t)start < (int64_t)loop->lowest.start)
    loop->lowest = chunk;
  if ((int64_t)start > (int64_t)loop->highest.start)
    loop->highest = chunk;
  loop->announced += iterations;
  loop->noted = chunk;
  loop->any = true;
}

void team_chunk_begin(struct live_grains *grains, uint32_t task_index, uint32_t placement, uint64_t start,
                      uint64_t iterations, uint64_t ticks)
{
  assert(task_index && live_grain(grains, task_index)->loop);
  struct live_grain *task = live_grain(grains, task_index);
  bool first = !task->loop_chunks;
  uint64_t before = live_grain(grains, task->chunk)->start;
  team_chunk_end(grains, task_index);
  uint32_t index = live_grain_new(grains, GRAIN_CHUNK, task_index, task->clock);
  if (!index)
    return;
  struct team_loop *loop = loop_at(grains, task->loop);
  struct live_grain *chunk = live_grain(grains, index);
  note_chunk(loop, start, iterations, chunk->id);
  if (!first && (int64_t)start > (int64_t)before)
    loop->rising = INT64_MAX; /* also where LLVM's runtime then moves chunks of other threads to this one */
  else if (!first && loop->rising < INT64_MAX)
    loop->rising--;
  loop->refs++;
  chunk->flags |= LIVE_GRAIN_OF_LOOP | LIVE_GRAIN_RANGE;
  chunk->placement = placement;
  chunk->number = ++task->chunks;
  chunk->loop = task->loop;
  chunk->loop_chunks = ++task->loop_chunks;
  chunk->row = chunk->creator_row = loop->row;
  chunk->start = start;
  chunk->iterations = iterations ? iterations + 1 : 0;
  chunk->overhead = first && ticks >= task->loop_begin_ticks ? ticks - task->loop_begin_ticks + 1 : 0;
  task->chunk = index;
}

void team_chunk_end(struct live_grains *grains, uint32_t task_index)
{
  struct live_grain *task = live_grain(grains, task_index);
  uint32_t index = task->chunk;
  if (!index)
    return;
  struct live_grain *chunk = live_grain(grains, index);
  task->loop_exec += chunk->exec;
  live_sum_add(grains, &loop_at(grains, chunk->loop)->chunks, chunk);
  live_sum_move(grains, &task->direct, &chunk->direct);
  task->chunk = 0;
  live_grain_end(grains, index);
}

/* ---- taskloops ---- */

void team_taskloop_begin(struct live_grains *grains, uint32_t grain, uint64_t number)
{
  assert(grain);
  team_taskloop_end(grains, grain);
  live_grain(grains, grain)->taskloop = loop_new(grains, number, 0, 0);
}

void team_taskloop_task(struct live_grains *grains, uint32_t grain, uint32_t loop)
{
  assert(grain && !live_grain(grains, grain)->loop);
  if (!loop)
    return;
  live_grain(grains, grain)->flags |= LIVE_GRAIN_LOOP_TASK;
  live_grain(grains, grain)->loop = loop;
  loop_at(grains, loop)->refs++;
}

/* Its tasks are created in the order of their iterations. */
void team_taskloop_chunk(struct live_grains *grains, uint32_t grain, uint64_t start, uint64_t iterations)
{
  struct live_grain *task = live_grain(grains, grain);
  struct team_loop *loop = loop_at(grains, task->loop);
  if (!task->loop || task->flags & LIVE_GRAIN_RANGE || !iterations)
    return;
  bool later = task->id > loop->noted.id, higher = (int64_t)start > (int64_t)loop->noted.start;
  if (loop->any)
    loop->rising += later == higher ? 1 : -1;
  loop->iterations += iterations;
  note_chunk(loop, start, iterations, task->id);
  task->flags |= LIVE_GRAIN_RANGE;
  task->start = start;
  task->iterations = iterations + 1;
}

void team_taskloop_end(struct live_grains *grains, uint32_t grain)
{
  uint32_t loop = live_grain(grains, grain)->taskloop;
  live_grain(grains, grain)->taskloop = 0;
  team_loop_release(grains, loop);
}

/* ---- the end ---- */

void team_grains_finish(struct live_grains *grains)
{
  for (uint32_t i = 1; i < grains->regions.used; i++)
    while (team_region(grains, i)->refs)
      team_region_release(grains, i);
  for (uint32_t i = 1; i < grains->loops.used; i++)
    while (loop_at(grains, i)->refs)
      team_loop_release(grains, i);
}
