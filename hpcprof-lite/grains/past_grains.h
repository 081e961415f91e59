/* The grains that the second pass has open: read backwards, from a grain's release to its creation.
 *
 * Context: BATCH.  Numbers are those of the tape.  The structure owns its memory; the tape is the caller's.
 */
#ifndef HPCPROF_LITE_GRAINS_PAST_GRAINS_H
#define HPCPROF_LITE_GRAINS_PAST_GRAINS_H

#include "common/counters.h"
#include "hpcprof-lite/grains/live_grains.h"

/* The longest text of a path. */
enum { PAST_GRAIN_PATH_MAX = 4096 };

struct past_grain {
  uint64_t id;
  uint32_t flags, parent, root, row, creator_row;
  uint32_t joins; /* the region of an implicit task, else the taskgroup, 0: none */
  uint32_t clock, placement, loop;
  uint32_t thread; /* in its path, of an implicit or initial task */
  uint64_t number, construct, instant, create, start, iterations, overhead, chunk;
  uint64_t exec, through, parallelism;         /* through: length of the longest path through it */
  bool ran;                                    /* has fragments */
  uint32_t sync;                               /* joins it */
  uint32_t next_wait, next_barrier, next_loop; /* its own synchronisations that come next */
  uint64_t hash, team_hash;                    /* of its path; of an implicit task also without the thread's number */
  enum past_grain_inside {
    PAST_GRAIN_UNDECIDED,
    PAST_GRAIN_INSIDE,
    PAST_GRAIN_OUTSIDE
  } inside;               /* below a wanted one */
  uint32_t depth, prefix; /* levels of its path; the ancestor at which a long path is cut off */
};

struct past_loop {
  uint64_t number, increment, threads, exec, longest, scatter;
  bool partial; /* not all of its chunks were announced */
};

/* Events that a grain has counted. */
struct past_counts {
  uint64_t at[COUNTERS_MAX];
};

struct past_grains {
  struct past_grain *grains;  /* [grain] */
  struct past_counts *counts; /* [grain], without those behind the last one that has any */
  struct past_loop *loops;    /* [loop]  */
  size_t grains_room, counts_room, loops_room;
  const struct live_placement *placements;
  uint64_t next_id; /* of the grain that is opened next */
  char path[PAST_GRAIN_PATH_MAX];
};

void past_grains_release(struct past_grains *past);

/* Read TAPE_RELEASE, TAPE_MEMBER, TAPE_CREATED, TAPE_RANGE, TAPE_LOOP and TAPE_COUNT. */
void past_grains_open(struct past_grains *past, const struct tape_record *record);
void past_grains_member(struct past_grains *past, const struct tape_record *record);
void past_grains_created(struct past_grains *past, const struct tape_record *record);
void past_grains_range(struct past_grains *past, const struct tape_record *record);
void past_grains_loop(struct past_grains *past, const struct tape_record *record);
void past_grains_count(struct past_grains *past, const struct tape_record *record);

static inline struct past_grain *past_grain(struct past_grains *past, uint64_t index)
{
  return &past->grains[index];
}

/* Sets the iterations of a chunk, GRAIN_UNKNOWN where they are not known. */
void past_grains_iterations(const struct past_grains *past, const struct past_grain *grain, uint64_t *first,
                            uint64_t *last);

/* Returns what the grain has counted, by counter; NULL: not known. */
const uint64_t *past_grains_counts(const struct past_grains *past, const struct past_grain *grain);

/* Writes the path of a grain to past->path. */
void past_grains_path(struct past_grains *past, const struct past_grain *grain);

#endif
