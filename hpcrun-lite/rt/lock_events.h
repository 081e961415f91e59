/* Locks and other mutual exclusion: what a thread does, the graph and constructs.
 *
 * Context: RT, in callbacks of the thread itself, which is not inside.  kind: OMPT's.  The order of arguments is that
 * in which OMPT passes them, so that the callbacks move few. */
#ifndef HPCRUN_LITE_RT_LOCK_EVENTS_H
#define HPCRUN_LITE_RT_LOCK_EVENTS_H

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/work_clock.h"

/* For the graph and constructs; moment: the time-stamp counter if the thread has waited, else 0. */
void lock_events_graph_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment,
                                const void *codeptr);

/* The slow part of lock_events_released(); blamed: the lock has blame. */
void lock_events_release(struct thread_state *t, int kind, uint64_t wait_id, bool blamed);

/* The thread begins to acquire the lock, holds it, and has released it. */
static inline void lock_events_acquire(struct thread_state *t, int kind, uint64_t wait_id, const void *codeptr)
{
  if (waiting_lock_is_tested(t, kind))
    return;
  t->wait_id = wait_id;
  uint64_t moment = waiting_lock_begin(t, codeptr);
  if (!span_process.online || !moment)
    return;
  rt_inside_inc(t);
  work_clock_wait(t, moment);
  if (!atomic_load_explicit(&rt.graph_suspended, memory_order_relaxed))
    construct_acquire(t, moment);
  rt_inside_dec(t);
}

static inline void lock_events_acquired(struct thread_state *t, int kind, uint64_t wait_id, const void *codeptr)
{
  uint64_t moment = t->activity.lockwait ? waiting_lock_end(t) : 0;
  trace_lock_held(t, wait_id);
  if (span_process.online)
    lock_events_graph_acquired(t, kind, wait_id, moment, codeptr);
}

static inline void lock_events_released(struct thread_state *t, int kind, uint64_t wait_id)
{
  bool blamed = blame_pending(wait_id);
  if (blamed || span_process.online)
    lock_events_release(t, kind, wait_id, blamed);
}

/* The thread acquires a nested lock that it already holds: then lock_events_acquired() is not called. */
void lock_events_acquired_again(struct thread_state *t);

/* The lock is destroyed, or another one begins at its address. */
void lock_events_ends(struct thread_state *t, uint64_t wait_id);

#endif
