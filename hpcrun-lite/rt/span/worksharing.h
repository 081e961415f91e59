/* What the threads of a team share: worksharing loops, sections, single and masked; locks; ordered and doacross loops;
 * task dependences; and user regions.
 *
 * Context: RT, in callbacks; the rules of span/span.h hold.  State is in the team (span/graph.h) and in a static table
 * of locks.  When there is no room for a shared loop, each thread counts it for itself. */
#ifndef HPCRUN_LITE_RT_SPAN_WORKSHARING_H
#define HPCRUN_LITE_RT_SPAN_WORKSHARING_H

#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/span/span_thread.h"

/* CTL: starts the table of locks in a new process. */
void worksharing_start(void);

/* Events of worksharing constructs in a task.  count: iterations.  Returns the row of the construct. */
uint32_t worksharing_work_begin(struct thread_state *t, uint32_t task, int kind, uint64_t count, const void *code);

/* Ends the task's open single or loop: at a barrier, at the start of another worksharing construct, and at the task's
 * end, because GCC's code does not always announce the end. */
void worksharing_close(struct thread_state *t, struct task *task);

void worksharing_work_end(struct thread_state *t, uint32_t task, int kind);

/* A chunk begins; start and iterations are for the log, 0 iterations: not known.  Returns the work clock's value at
 * that moment, 0 if it was not read. */
uint64_t worksharing_chunk(struct thread_state *t, uint32_t task, int kind, uint64_t start, uint64_t iterations);
/* Returns the row where the construct begins. */
uint32_t worksharing_masked(struct thread_state *t, uint32_t task, bool begin, const void *code);

/* moment: the time-stamp counter if the thread has waited, else 0.  Returns the row. */
uint32_t worksharing_mutex_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment,
                                    const void *code);

/* later: much time has passed in the callback since that moment. */
void worksharing_mutex_released(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, bool later);

/* The row of a critical construct or lock.  A light instance of it has begun (span/governor.h); moment as above. */
uint32_t worksharing_mutex_row(struct thread_state *t, int kind, const void *code);
void worksharing_mutex_light(struct thread_state *t, uint32_t row, uint64_t moment);

/* The same where the acquisition is recorded late: the fragment that it has ended had that work.  worksharing_held():
 * with the release, at that moment, of the thread's `hold`, which ends.  Returns false in rare cases, doing nothing. */
void worksharing_held_on(struct thread_state *t, bool lock, uint64_t wait_id, uint32_t row, uint64_t work);
bool worksharing_held(struct thread_state *t, bool lock, uint64_t moment);

/* CTL, at the end of measuring: adds the lower bounds of locks that are still in use to their rows. */
void worksharing_add_lock_bounds(void);

/* A lock is made or destroyed: its id may now mean another lock. */
void worksharing_lock_ends(uint64_t wait_id);

/* A task names dependences. */
void worksharing_dependences(struct thread_state *t, uint32_t task, const ompt_dependence_t *dependences, int count);

/* The task's part of the doacross loop that it is in; NULL: it is in none, or in one without a place in its team. */
static inline struct doacross_cursor *worksharing_doacross(const struct thread_state *t)
{
  struct task *task = span_of(t)->running;
  return task && task->flags & TASK_IN_LOOP && task->doacross.loop ? &task->doacross : NULL;
}

/* Does the clock of an iteration change anything in the task's? */
static inline bool worksharing_changes(const struct task *task, struct doacross_clock source)
{
  return graph_would_take(task, source.join, source.moved) || graph_log_on();
}

/* An iteration is going to wait for the one of that vector; vector.count: 0: as many coordinates as the task's last
 * vector had.  Most waits pass. */
static inline enum doacross_wait worksharing_sink_begins(const struct task *task, struct doacross_cursor *own,
                                                         struct doacross_vector vector)
{
  own->found.join = NULL;
  if (!vector.count)
    vector.count = own->dimensions;
  struct doacross_clock source = vector.count ? doacross_sink(own, vector) : (struct doacross_clock){0};
  if (!source.join)
    return DOACROSS_WAITS;
  if (!worksharing_changes(task, source))
    return DOACROSS_PASSES;
  own->found = source;
  return DOACROSS_FOLLOWS;
}

/* The same, in few instructions, where the other one is the last that the task's chunk has announced.  Returns whether
 * it is: then the wait passes, since the task's clock is that one's, or a later one. */
static inline bool worksharing_sink_is_last(const struct thread_state *t, struct doacross_vector vector)
{
  const struct doacross_cursor *own = worksharing_doacross(t);
  return own && doacross_is_last(own, vector) && !graph_log_on();
}

/* An iteration has waited until that moment for another one.  Returns the row of an ordered construct at that address.
 */
uint32_t worksharing_sink_waited(struct thread_state *t, uint64_t moment, const void *code);

/* The iteration goes on after the one of that vector, unless worksharing_sink_begins() has said that it passes. */
void worksharing_sink(struct thread_state *t, struct doacross_vector vector);

/* The running task is in no doacross loop that has a place in its team: in a light region none has. */
void worksharing_not_in_doacross(struct thread_state *t) __attribute__((noinline));

/* The iteration of that vector announces its end. */
static inline void worksharing_source(struct thread_state *t, struct doacross_vector vector)
{
  struct task *task = span_of(t)->running;
  if (!worksharing_doacross(t)) {
    worksharing_not_in_doacross(t);
    return;
  }
  if (!task->doacross.dimensions) /* its first iteration */
    graph_note_contents(task);
  uint64_t moment = work_clock_value(t);
  bool cut = graph_fragment_cut(t, task, moment);
  if (!cut)
    graph_fragment_end_at(t, moment);
  doacross_source(t, &task->doacross, vector, &task->now, task->now.base - task->loop_begin + 1, task->name);
  if (!cut)
    graph_fragment_begin_after(t, moment);
}

/* A block of that row begins in the current task, and ends: a user region, or what a target construct does here. */
void worksharing_block(struct thread_state *t, uint32_t row);
void worksharing_block_end(struct thread_state *t);

/* The same in a wait for a device, while the work clock stands still. */
void worksharing_block_in_wait(struct thread_state *t, uint32_t row);
void worksharing_block_end_in_wait(struct thread_state *t);

#endif
