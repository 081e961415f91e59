/* Grains, regions and loops that live at one time of the first pass over a graph log, and what goes to the tape when
 * they end.
 *
 * Context: BATCH.  Grains are named by numbers, 0 = none; grain 0 can be read and consists of zeros.  A grain lives
 * until it and all grains that it has created have ended, so that the second pass knows all ancestors of a grain.  The
 * structure owns its memory.
 */
#ifndef HPCPROF_LITE_GRAINS_LIVE_GRAINS_H
#define HPCPROF_LITE_GRAINS_LIVE_GRAINS_H

#include "hpcprof-lite/grains/grain_schedule.h"
#include "hpcprof-lite/grains/tape.h"
#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/grains/numa.h"
#include "hpcprof-lite/replay/task_graph.h"

/* Flags of a grain, on the tape above its kind. */
enum live_grain_flag {
  LIVE_GRAIN_KIND = 3,     /* enum grain_kind */
  LIVE_GRAIN_MASKED = 4,   /* created in a masked construct; otherwise, if it has a construct's number, in a single */
  LIVE_GRAIN_RANGE = 8,    /* its path has a range of iterations */
  LIVE_GRAIN_FURTHER = 16, /* an initial task that is not the process's first one */
  LIVE_GRAIN_DROPPED = 32, /* stood for a wait: is not a grain */
  LIVE_GRAIN_OF_LOOP = 64, /* a chunk of a worksharing loop, which runs in its parent */
  LIVE_GRAIN_LOOP_TASK = 128, /* of a taskloop */
  LIVE_GRAIN_CUT = 256,       /* not all that it did is in the part of the run that is reported */
  LIVE_GRAIN_UNCOUNTED = 512, /* the events of a fragment are not known */
  LIVE_GRAIN_TAPED = 1023,
  LIVE_GRAIN_STARTED = 1024,
  LIVE_GRAIN_ENDED = 2048,
  LIVE_GRAIN_WAITING = 4096
};

/* The kind of a grain with these flags, as it is reported: the chunk of a taskloop is recorded as a task. */
static inline enum grain_kind live_grain_kind(uint32_t flags)
{
  return flags & LIVE_GRAIN_LOOP_TASK ? GRAIN_CHUNK : (enum grain_kind)(flags & LIVE_GRAIN_KIND);
}

enum live_sync { LIVE_SYNC_TASKWAIT, LIVE_SYNC_GROUP, LIVE_SYNC_BARRIER, LIVE_SYNC_LOOP, LIVE_SYNC_CHILD };

/* Ended grains that nothing has joined yet. */
struct live_sum {
  uint64_t count, exec, longest;
  uint32_t spread; /* how many ran on each NUMA node (live_grains.spreads), 0 if there is one node */
};

struct live_grain {
  uint32_t root; /* the implicit or initial task that it descends from */
  uint32_t refs; /* from itself until it ends, and its children; 0 in free ones */
  uint32_t flags, parent;
  uint32_t row, creator_row, group, clock;
  uint32_t region;    /* of an implicit task */
  uint32_t loop;      /* of a chunk, or the loop that an implicit task is in */
  uint32_t taskloop;  /* the taskloop that is open in it */
  uint32_t chunk;     /* the chunk that it runs */
  uint32_t placement; /* where it ran first */
  uint32_t member;    /* of an implicit task: its thread's number in the team + 1, or 0 */
  uint64_t id;
  uint64_t number;    /* among the children of its parent, or of the construct in which it was created */
  uint64_t construct; /* that construct's number, or 0 */
  uint64_t instant;   /* what the parent had executed then */
  uint64_t create;    /* ticks + 1, or 0 */
  uint64_t children, chunks, taskloops, syncs, barriers; /* how many it has had */
  uint64_t open_construct;                               /* the single or masked construct that is open in it */
  uint64_t open_children, open_taskloops;                /* of that construct */
  uint32_t scopes;                                       /* open scopes */
  uint32_t construct_scope, taskloop_scope; /* positions of that construct, and of the taskloop, among them */
  bool open_masked;
  uint64_t exec, fragments, stretch_begin, stretch_end; /* stretch: the last one */
  uint64_t wait;
  uint64_t start, iterations, overhead; /* of a chunk; iterations: + 1, or 0; overhead: likewise */
  uint64_t loop_exec, loop_begin_ticks; /* of a task in a loop: execution of its chunks */
  uint64_t loop_chunks;
  struct live_sum direct; /* its children that have ended */
  struct live_sum deep;   /* of a root: descendants whose parent has ended, too */
};

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
};

struct team_loop {
  uint32_t row;
  uint32_t
      refs; /* from its region while others may enter it, the threads that are in it, and its chunks; 0 in free ones */
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

struct live_placement {
  uint32_t thread, cpu;
};

struct live_grains {
  struct object_pool pool, spreads, regions, loops;
  struct numa numa;
  struct tape tape;
  struct grain_schedule schedule;
  struct live_placement *placements; /* from 1 */
  uint32_t placements_count;
  size_t placements_room;
  struct hash_map placement_map;
  uint64_t count, lost;          /* grains created; those that there was no room for */
  uint64_t of_kind[GRAIN_KINDS]; /* those that have ended */
  uint64_t run_end;              /* clock at the end of the last fragment on the tape */
  uint64_t last_released;        /* id of the last grain that went to the tape */
  uint64_t work;
  uint64_t regions_begun;
};

/* notes: of the process, which name its NUMA nodes. */
void live_grains_init(struct live_grains *grains, const char *notes, struct problems *problems);
void live_grains_release(struct live_grains *grains);

static inline struct live_grain *live_grain(const struct live_grains *grains, uint32_t index)
{
  return object_pool_at(&grains->pool, index);
}

/* Adds a grain, whose creation goes to the tape.  Returns its number, 0 if there are too many. */
uint32_t live_grain_new(struct live_grains *grains, enum grain_kind kind, uint32_t parent, uint32_t clock);

/* Returns the number of a placement, 0 if there are too many. */
uint32_t live_grains_placement(struct live_grains *grains, uint32_t thread, uint32_t cpu);

/* A fragment of the grain, from a clock on. */
void live_grain_run(struct live_grains *grains, uint32_t index, uint32_t placement, uint64_t work, uint64_t start);

/* The grain ends.  Its end goes to the tape, and it is released when it has no children. */
void live_grain_end(struct live_grains *grains, uint32_t index);

/* Drops a reference. */
void live_grain_unref(struct live_grains *grains, uint32_t index);

/* Ends and releases all grains: the log ends. */
void live_grains_finish(struct live_grains *grains);

/* Add another sum, which becomes 0, or a grain. */
void live_sum_move(struct live_grains *grains, struct live_sum *into, struct live_sum *from);
void live_sum_add(struct live_grains *grains, struct live_sum *into, const struct live_grain *grain);

/* Sets the sum to 0.  Returns the median distance between the CPUs of its grains + 1, 0 if that is not known. */
uint64_t live_sum_end(struct live_grains *grains, struct live_sum *sum);

/* A synchronisation of the grain joins what has ended; the sum becomes 0. */
void live_grain_sync(struct live_grains *grains, uint32_t index, enum live_sync kind, uint64_t what,
                     struct live_sum *joined);

/* ---- regions and loops (team_grains.c) ----
 *
 * They say which implicit tasks and chunks they join. */

static inline struct team_region *team_region(const struct live_grains *grains, uint32_t index)
{
  return object_pool_at(&grains->regions, index);
}

/* A region begins in a grain.  Returns its number, 0 if there are too many. */
uint32_t team_region_new(struct live_grains *grains, uint32_t creator);

/* An implicit task of the region has begun; it ends, and then releases the region; the region ends. */
void team_region_entered(struct live_grains *grains, uint32_t region, uint32_t grain);
void team_region_left(struct live_grains *grains, uint32_t region, uint32_t grain);
void team_region_release(struct live_grains *grains, uint32_t region);
void team_region_end(struct live_grains *grains, uint32_t region, uint64_t ticks);

/* An implicit or initial task enters a loop.  shared: names the loop that its team shares, which is begun if it is 0;
 * NULL: it has the loop for itself. */
void team_loop_enter(struct live_grains *grains, uint32_t grain, uint32_t *shared, uint64_t number, uint64_t iterations,
                     uint32_t row);
void team_loop_leave(struct live_grains *grains, uint32_t grain);

/* A chunk begins in a task that is in a loop; it ends. */
void team_chunk_begin(struct live_grains *grains, uint32_t grain, uint32_t placement, uint64_t start,
                      uint64_t iterations, uint64_t ticks);
void team_chunk_end(struct live_grains *grains, uint32_t grain);

/* A taskloop begins in a task or chunk; a task of it is created, and begins to run its chunk; the taskloop ends. */
void team_taskloop_begin(struct live_grains *grains, uint32_t grain, uint64_t number);
void team_taskloop_task(struct live_grains *grains, uint32_t grain, uint32_t loop);
void team_taskloop_chunk(struct live_grains *grains, uint32_t grain, uint64_t start, uint64_t iterations);
void team_taskloop_end(struct live_grains *grains, uint32_t grain);

/* Drops a reference to a loop: no task enters it any more, or a chunk of it was released. */
void team_loop_release(struct live_grains *grains, uint32_t loop);

/* All that is still open ends: the log ends. */
void team_grains_finish(struct live_grains *grains);

#endif
