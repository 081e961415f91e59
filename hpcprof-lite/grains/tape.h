/* What the first pass over a graph log keeps for the second: operations on clocks and grains, which are written
 * forwards and read backwards.
 *
 * Context: BATCH.  Grains, clocks, groups, loops and regions are named by numbers, which are used again; a number means
 * the same from the operation that begins its use (read last) to the one that ends it (read first).  The tape is in a
 * temporary file; two blocks of it are in memory.
 */
#ifndef HPCPROF_LITE_GRAINS_TAPE_H
#define HPCPROF_LITE_GRAINS_TAPE_H

#include "hpcprof-lite/grains/scratch_file.h"

/* Small numbers for small differences, whatever their sign; and the difference again. */
static inline uint64_t tape_zigzag(uint64_t difference)
{
  return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t tape_unzigzag(uint64_t number)
{
  return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* O(enumerator, number of operands): */
#define TAPE_LIST(O)                                                                                                   \
  O(SET, 2)      /* clock, other: becomes the other one (replay/vector_clock.h) */                                     \
  O(RAISE, 2)    /* clock, other: becomes the later of the two */                                                      \
  O(FREE, 1)     /* clock: is not used any more */                                                                     \
  O(RUN, 4)      /* grain, placement, work, start: runs from clock `start` on */                                       \
  O(COUNT, 3)    /* grain, counter, amount: has counted that in a fragment */                                          \
  O(STRETCH, 1)  /* grain: ends a stretch (grain_schedule.h) with its last fragment */                                 \
  O(BEGIN, 1)    /* grain: is created */                                                                               \
  O(END, 1)      /* grain: has ended */                                                                                \
  O(RELEASE, 11) /* grain, parent, id, kind and flags, row, row of its creator, number, construct, group, clock,       \
                    placement: it and all that it has created have ended */                                            \
  O(MEMBER, 2)   /* grain, number of its thread in the team: of an implicit task, before its RELEASE */                \
  O(CREATED, 3)  /* grain, instant, ticks + 1 or 0: of a task, before its RELEASE */                                   \
  O(RANGE, 6)    /* grain, loop, start, iterations + 1 or 0, overhead + 1 or 0, number among its thread's: of a chunk, \
                    before its RELEASE */                                                                              \
  O(SYNC, 10)    /* grain, number, kind, of what, wait, count, exec, longest, scatter + 1 or 0, instant */             \
  O(ENTER, 1)    /* grain: enters a loop */                                                                            \
  O(GROUP, 1)    /* group: begins */                                                                                   \
  O(LOOP, 8)     /* loop, number, increment + 1 or 0 (zigzag), threads, exec, longest, scatter + 1 or 0, whether       \
                    chunks were not announced: all its chunks are released */                                          \
  O(REGION, 8)   /* region, creator, its synchronisation, count, exec, longest, scatter + 1 or 0, instant: all have    \
                    left it */                                                                                         \
  O(JOIN, 2)     /* grain, number: its synchronisation at the end of a region */                                       \
  O(DEPENDENCE, 3) /* grain, join, takes: offers its clock, or takes the join's */                                     \
  O(FRAGMENT, 5)   /* clock, thread, begin, ticks, work: of a critical chain (critical_chain.h), instead of RUN */

#define TAPE_ENUMERATOR(enumerator, operands) TAPE_##enumerator,
enum tape_op { TAPE_LIST(TAPE_ENUMERATOR) TAPE_OPS };

enum { TAPE_OPERANDS_MAX = 11 };

struct tape_record {
  enum tape_op op;
  uint64_t operand[TAPE_OPERANDS_MAX];
};

struct tape_block {
  uint64_t offset;
  uint32_t size, stored; /* bytes; in the file */
};

struct tape {
  struct scratch_file file;
  struct ZSTD_CCtx_s *zstd;
  uint8_t *bytes, *packed; /* the block in memory; what the file holds of it */
  size_t at, end; /* written: where its last record starts; read: the next record's start, and the end of all */
  struct tape_block *blocks;
  size_t blocks_count, blocks_room;
  size_t next_block; /* read backwards: the block before the one in memory, + 1 */
  bool failed;
};

void tape_init(struct tape *tape, struct problems *problems);
void tape_release(struct tape *tape);

/* Appends a record.  After a failure the tape cannot be read, which tape_end() returns. */
void tape_put(struct tape *tape, enum tape_op op, const uint64_t *operands);

#define TAPE_PUT(tape, op, ...) tape_put(tape, op, (const uint64_t[]){__VA_ARGS__})

/* Ends the tape; the next record that is read is the last one.  May be called again, to read once more.  Returns 0 or
 * ERR_INPUT. */
int tape_end(struct tape *tape);

/* Reads the record before the last one that was read.  Returns false at the start of the tape, or if it cannot be read,
 * which tape_failed() tells apart. */
bool tape_back(struct tape *tape, struct tape_record *record);

/* Returns 0 or ERR_INPUT. */
int tape_failed(const struct tape *tape);

#endif
