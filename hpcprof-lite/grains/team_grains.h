/* Regions and worksharing loops of the first pass over a graph log: which implicit tasks and chunks they join.
 *
 * Context: BATCH.  Regions and loops are named by numbers, 0 = none; number 0 can be read and consists of zeros.  The
 * structure owns its memory; grains and tape belong to the caller.
 */
#ifndef HPCPROF_LITE_GRAINS_TEAM_GRAINS_H
#define HPCPROF_LITE_GRAINS_TEAM_GRAINS_H

#include "hpcprof-lite/grains/live_grains.h"
#include "hpcprof-lite/replay/task_graph.h"

struct team_region {
  uint32_t creator; /* first, because the pool overwrites the beginning of free ones */
  uint32_t refs;    /* from itself until it ends, and its implicit tasks until they end; 0 in free ones */
  uint32_t row, creator_row;
  uint32_t in_graph;          /* its number there */
  uint64_t name;              /* among all regions of the process */
  uint64_t number, construct; /* as in struct live_grain */
  bool masked, ended;
  uint64_t singles, maskeds;  /* constructs so far */
  uint64_t ended_ticks, sync; /* when it ended, and the number of its creator's synchronisation */
  uint64_t instant;           /* what the creator had executed then */
  struct live_sum joined;     /* implicit tasks that have ended */
  uint32_t loops[TASK_GRAPH_LOOPS];
};

struct team_loop {
  uint32_t row;
  uint32_t refs; /* from its region while others may enter it, who is in it, and its chunks; 0 in free ones */
  uint32_t threads;
  uint64_t number, iterations, exec, longest;
  uint64_t announced;     /* iterations of its chunks */
  bool shared;            /* by the region's threads */
  struct live_sum chunks; /* that have ended */
  bool any;
  int64_t rising; /* positive: later chunks begin at higher values, negative: at lower ones */
  struct team_chunk {
    uint64_t start, iterations, id;
  } lowest, highest, noted; /* chunks: by their start, and the one that was noted last */
};

struct team_grains {
  struct object_pool regions, loops;
  struct live_grains *grains;
  uint64_t regions_begun;
};

/* Returns 0 or ERR_NOMEM; team_grains_release() in either case. */
int team_grains_init(struct team_grains *teams, struct live_grains *grains);
void team_grains_release(struct team_grains *teams);

static inline struct team_region *team_region(const struct team_grains *teams, uint32_t index)
{
  return object_pool_at(&teams->regions, index);
}

/* A region begins in a grain.  Returns its number, 0 if there are too many. */
uint32_t team_region_new(struct team_grains *teams, uint32_t creator);

/* An implicit task of the region has begun; it ends, and then releases the region; the region ends. */
void team_region_entered(struct team_grains *teams, uint32_t region, uint32_t grain);
void team_region_left(struct team_grains *teams, uint32_t region, uint32_t grain);
void team_region_release(struct team_grains *teams, uint32_t region);
void team_region_end(struct team_grains *teams, uint32_t region, uint64_t ticks);

/* An implicit or initial task enters a loop, which is at that place of the region (TASK_GRAPH_LOOPS: at none). */
void team_loop_enter(struct team_grains *teams, uint32_t grain, uint32_t region, uint32_t place, uint64_t number,
                     uint64_t iterations, uint32_t row);

/* The task leaves it; the region has no loop at that place any more. */
void team_loop_leave(struct team_grains *teams, uint32_t grain);
void team_loop_close(struct team_grains *teams, uint32_t region, uint32_t place);

/* A chunk begins in a task that is in a loop; it ends. */
void team_chunk_begin(struct team_grains *teams, uint32_t grain, uint32_t place, uint64_t start, uint64_t iterations,
                      uint64_t ticks);
void team_chunk_end(struct team_grains *teams, uint32_t grain);

/* A taskloop begins in a task or chunk; a task of it is created, and begins to run its chunk; the taskloop ends. */
void team_taskloop_begin(struct team_grains *teams, uint32_t grain, uint64_t number);
void team_taskloop_task(struct team_grains *teams, uint32_t grain, uint32_t loop);
void team_taskloop_chunk(struct team_grains *teams, uint32_t grain, uint64_t start, uint64_t iterations);
void team_taskloop_end(struct team_grains *teams, uint32_t grain);

/* A chunk, or task of a taskloop, has been released. */
void team_chunk_released(struct team_grains *teams, const struct live_grain *chunk);

/* All that is still open ends: the log ends. */
void team_grains_finish(struct team_grains *teams);

#endif
