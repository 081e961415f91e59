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

#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* The part of a loop: a map, and the list of the source blocks of all threads.  Both are atomic until the loop ends. */
struct doacross {
  uint32_t runs;
  struct block *blocks;
};

/* The vector of an iteration: coordinates, each `step` words after the one before. */
struct doacross_vector {
  const uint64_t *values;
  uint32_t step, count;
};

/* The part of a task in its loop, zero at the start except for the loop (NULL: it has no place in the team): the last
 * runs of iterations that it has announced and waited for, and the block that it fills; how many coordinates vectors
 * have (0: there was none yet); and what doacross_is_announced() has found. */
struct doacross_cursor {
  struct doacross *loop;
  struct run *source, *sink;
  struct block *block;
  uint32_t used, dimensions, found_position;
  uint64_t found, found_key; /* found: see doacross.c; 0: nothing */
};

/* CTL: starts the pools of a new process.  doacross_stop_thread() returns a thread's free items. */
void doacross_start(void);
void doacross_stop_thread(struct thread_state *t);

/* The iteration of that vector announces the clock of the task of that name, and the loop's own chain (struct join). */
void doacross_source(struct thread_state *t, struct doacross_cursor *own, struct doacross_vector vector,
                     const struct clock *clock, uint64_t within, uint64_t name);

/* What an iteration has announced: a clock, moved on by some work. */
struct doacross_clock {
  const struct join *join; /* NULL: nothing was announced */
  uint64_t moved;
};

/* Returns what the iteration of that vector has announced; it does not change any more. */
struct doacross_clock doacross_sink(struct doacross_cursor *own, struct doacross_vector vector);

/* Whether there is something, which the next doacross_sink() of that vector then finds at once. */
bool doacross_is_announced(struct doacross_cursor *own, struct doacross_vector vector);

/* The loop has ended: forgets what was announced. */
void doacross_clear(struct thread_state *t, struct doacross *loop);

#endif
