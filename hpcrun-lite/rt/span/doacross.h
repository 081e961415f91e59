/* Doacross loops: an iteration announces its clock (source), and later iterations wait for it (sink).
 *
 * Context: RT, in callbacks.  Any thread of the team announces and looks up, without locks.  A source is a word: a
 * clock that its thread has written into a block of its own, and how far the iteration's clock has moved on since.  A
 * new clock is written only where more than that distance differs, as after a wait for another thread.  A map leads
 * from an iteration's vector to its word; iterations whose last coordinates are adjacent share an entry, which the
 * thread remembers, so most look-ups need no search.  Memory, until the loop has ended: ten bytes for each iteration
 * that was announced, and 80 for each clock, up to SOURCE_BLOCKS_MAX blocks of them.  A source that finds no room is
 * lost, and the loss is counted.  The last thread of the team to leave the loop releases everything, some nanoseconds
 * for each iteration. */
#ifndef HPCRUN_LITE_RT_SPAN_DOACROSS_H
#define HPCRUN_LITE_RT_SPAN_DOACROSS_H

#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/key_map.h"

/* The part of a loop: a map, and the list of the source blocks of all threads.  Both are atomic until the loop ends. */
struct doacross {
  uint32_t runs;
  struct doacross_block *blocks;
};

/* The iterations whose vectors differ only in the last DOACROSS_RUN_BITS of the last coordinate.  A source is the index
 * of a block, a slot of that, and how far the clock there has moved on; 0: not announced.  The thread that announces it
 * stores it with release. */
enum { DOACROSS_RUN_BITS = 5, DOACROSS_RUN = 1 << DOACROSS_RUN_BITS };
enum { DOACROSS_SLOT_BITS = 4, DOACROSS_BLOCK = (1 << DOACROSS_SLOT_BITS) - 1, DOACROSS_MOVED_BITS = 42 };
struct doacross_run {
  struct key_item item;
  uint64_t sources[DOACROSS_RUN];
};

/* Clocks of one thread in the order in which it has announced them.  paths: a bit for each clock whose critical path
 * has segments. */
struct doacross_block {
  struct pool_item pool;
  uint32_t index, paths;
  struct doacross_block *more;
  struct join clocks[DOACROSS_BLOCK];
};

/* The vector of an iteration: coordinates, each `step` words after the one before. */
struct doacross_vector {
  const uint64_t *values;
  uint32_t step, count;
};

/* What an iteration has announced: a clock, moved on by some work.  It does not change any more. */
struct doacross_clock {
  const struct join *join; /* NULL: nothing was announced */
  uint64_t moved;
};

/* What is to be done about an iteration that is going to wait for another one: its clock follows that one's when it has
 * waited; nothing, since it knows that clock, or a later one, already; or it has to wait for the other one's end. */
enum doacross_wait { DOACROSS_FOLLOWS, DOACROSS_PASSES, DOACROSS_WAITS };

/* The part of a task in its loop, zero at the start except for the loop (NULL: it has no place in the team): the last
 * runs of iterations that it has announced and waited for; the block that it fills; the clock there that it has written
 * last, and its place in a source; and how many coordinates vectors have (0: there was none yet).  announced: the place
 * + 1, in the run `source`, of the iteration that its chunk has announced last; 0: none.  found: what
 * worksharing_sink_begins() knows of the iteration that the task waits for now. */
struct doacross_cursor {
  struct doacross *loop;
  struct doacross_run *source, *sink;
  struct doacross_block *block;
  uint32_t used, dimensions, announced;
  const struct join *last;
  uint64_t place;
  struct doacross_clock found;
};

/* CTL: starts the pools of a new process.  doacross_stop_thread() returns a thread's free items. */
void doacross_start(void);
void doacross_stop_thread(struct thread_state *t);

static inline const uint64_t *doacross_last(struct doacross_vector vector)
{
  return vector.values + (uint64_t)(vector.count - 1) * vector.step;
}

/* Two coordinates below 2^32: every run has a key of its own.  Otherwise two runs have the same key once in 2^64. */
static inline uint64_t doacross_key(struct doacross_vector vector, uint32_t *position)
{
  const uint64_t *value = vector.values, *last = doacross_last(vector);
  uint64_t key = 0;
  for (; value < last; value += vector.step)
    key = (key ^ *value) * 0x9e3779b97f4a7c15ULL + 1;
  *position = *last % DOACROSS_RUN;
  return key ^ *last >> DOACROSS_RUN_BITS;
}

/* The slow parts of doacross_source(): finds or adds a run; writes a clock to which the sources refer that follow.
 * Without memory they return NULL, false. */
struct doacross_run *doacross_run_begin(struct thread_state *t, struct doacross *loop, uint64_t key);
bool doacross_clock_begin(struct thread_state *t, struct doacross_cursor *own, const struct clock *clock,
                          uint64_t within, uint64_t name);

/* Has only the distance from the thread's last clock changed?  NULL: there is none; the log has a name for each source.
 */
static inline bool doacross_goes_on(const struct join *last, const struct clock *clock, uint64_t within)
{
  if (!last || graph_log_on())
    return false;
  uint64_t moved = clock->base - last->latest.base;
  return within - last->within == moved && moved >> DOACROSS_MOVED_BITS == 0 && clock_moved_on(&last->latest, clock);
}

/* The iteration of that vector announces the clock of the task of that name, and the loop's own chain (struct join).
 * Inline, as doacross_sink(): every iteration pays for both. */
static inline void doacross_source(struct thread_state *t, struct doacross_cursor *own, struct doacross_vector vector,
                                   const struct clock *clock, uint64_t within, uint64_t name)
{
  uint32_t position;
  uint64_t key = doacross_key(vector, &position);
  own->dimensions = vector.count;
  if (!own->source || own->source->item.key != key)
    own->source = doacross_run_begin(t, own->loop, key);
  if (!own->source ||
      (!doacross_goes_on(own->last, clock, within) && !doacross_clock_begin(t, own, clock, within, name))) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    own->announced = 0;
    return;
  }
  uint64_t moved = clock->base - own->last->latest.base;
  __atomic_store_n(&own->source->sources[position], own->place | moved, __ATOMIC_RELEASE);
  own->announced = position + 1;
}

extern struct pool doacross_blocks;

/* Is the vector, of as many coordinates as the last one, that of the iteration that the task's chunk has announced
 * last?
 */
static inline bool doacross_is_last(const struct doacross_cursor *own, struct doacross_vector vector)
{
  uint32_t position;
  vector.count = own->dimensions;
  return own->announced && *doacross_last(vector) % DOACROSS_RUN + 1 == own->announced &&
         doacross_key(vector, &position) == own->source->item.key;
}

/* The slow part of doacross_sink(): the run is not one of the last ones.  Returns NULL if there is none. */
struct doacross_run *doacross_find_run(struct doacross_cursor *own, uint64_t key);

/* Returns what the iteration of that vector has announced. */
static inline struct doacross_clock doacross_sink(struct doacross_cursor *own, struct doacross_vector vector)
{
  uint32_t position;
  uint64_t key = doacross_key(vector, &position);
  struct doacross_run *run = own->sink && own->sink->item.key == key ? own->sink : own->source;
  own->dimensions = vector.count;
  if (!run || run->item.key != key)
    run = doacross_find_run(own, key);
  uint64_t source = run ? __atomic_load_n(&run->sources[position], __ATOMIC_ACQUIRE) : 0;
  if (!source)
    return (struct doacross_clock){0};
  const struct doacross_block *block =
      pool_at(&doacross_blocks, (uint32_t)(source >> (DOACROSS_MOVED_BITS + DOACROSS_SLOT_BITS)));
  return (struct doacross_clock){&block->clocks[(source >> DOACROSS_MOVED_BITS) % (1 << DOACROSS_SLOT_BITS)],
                                 source & ((1ull << DOACROSS_MOVED_BITS) - 1)};
}

/* The loop has ended: forgets what was announced. */
void doacross_clear(struct thread_state *t, struct doacross *loop);

#endif
