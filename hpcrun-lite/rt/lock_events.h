/* Locks and other mutual exclusion: what a thread does, the graph and constructs.
 *
 * Context: RT, in callbacks of the thread itself, which is not inside.  kind: OMPT's.  The order of arguments is that
 * in which OMPT passes them, so that the callbacks move few.
 *
 * Other threads wait while a callback runs under a lock of the program.  So an acquisition is only noted
 * (span_thread.hold), with its moment and the work that came before, and recorded with the release, after the lock is
 * free.  If anything else happens in between, it is recorded before that: by any other callback, by a sample, by the
 * program's calls to the tool, at the end of the thread, and by CTL where it reads the graph. */
#ifndef HPCRUN_LITE_RT_LOCK_EVENTS_H
#define HPCRUN_LITE_RT_LOCK_EVENTS_H

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/lock_counts.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/work_clock.h"

/* For the graph and constructs; moment: the time-stamp counter if the runtime has announced a wait, also one that took
 * no time, else 0. */
void lock_events_graph_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment,
                                const void *codeptr);

/* The slow part of lock_events_left(). */
void lock_events_release(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment);

/* Records the thread's noted acquisition: in its callbacks; in a handler, if the thread is not inside; and by CTL, for
 * any thread, while the graph is suspended. */
void lock_events_record(struct thread_state *t) __attribute__((noinline, cold));
void lock_events_interrupted(struct thread_state *t) __attribute__((noinline, cold));
void lock_events_record_suspended(struct thread_state *t);

/* Has the thread an acquisition that is not recorded yet? */
static inline bool lock_events_unrecorded(const struct thread_state *t)
{
  return span_of(t)->hold.site;
}

/* Something happens in the thread that is not a release. */
static inline void lock_events_before_other(struct thread_state *t)
{
  if (__builtin_expect(lock_events_unrecorded(t), 0))
    lock_events_record(t);
}

/* The thread begins to acquire the lock, holds it, and has released it. */
static inline void lock_events_acquire(struct thread_state *t, int kind, uint64_t wait_id, const void *codeptr)
{
  if (waiting_lock_is_tested(t, kind))
    return;
  t->wait_id = wait_id;
  sampling_of(t)->lock_kind = (uint8_t)kind; /* FORMAT_LOCK_LIST has OMPT's numbers */
  uint64_t moment = waiting_lock_begin(t, codeptr);
  if (!span_process.online || !moment)
    return;
  rt_inside_inc(t);
  work_clock_wait(t, moment);
  explicit_task_wait(t);
  if (__builtin_expect(counts_of(t)->attend, false) && !rt_graph_suspended())
    construct_acquire(t, moment);
  rt_inside_dec(t);
}

/* The slow part of lock_events_acquired(). */
void lock_events_acquired_noted(struct thread_state *t, int kind, uint64_t wait_id, const void *codeptr,
                                uint64_t moment);

/* Counts an acquisition for -c locks: by the kind of the lock, not of the call. */
static inline void lock_events_count(struct thread_state *t, int kind, uint64_t wait_id)
{
  bool tests = kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock;
  if (__builtin_expect(sampling_of(t)->locks.attends & LOCKS_COUNTED, 0))
    lock_counts_acquired(t, wait_id, (enum format_lock_kind)(tests ? kind - 1 : kind), false);
}

static inline void lock_events_acquired(struct thread_state *t, int kind, uint64_t wait_id, const void *codeptr)
{
  uint64_t moment = waiting_lock_end(t);
  if (__builtin_expect(sampling_of(t)->locks.attends & LOCKS_COUNTED || trace_of(t)->states, 0))
    lock_events_acquired_noted(t, kind, wait_id, codeptr, moment);
  else if (span_process.online)
    lock_events_graph_acquired(t, kind, wait_id, moment, codeptr);
}

/* An acquisition that is first tested: what is to be done about it once the lock is the thread's, whose holder is to
 * lose no time.  LOCK_RECORD: lock_events_acquired(); LOCK_NOTE: lock_events_note(); LOCK_BEGUN: nothing.  If the test
 * fails, lock_events_not_begun(). */
enum lock_prepared { LOCK_RECORD, LOCK_NOTE, LOCK_BEGUN };

/* The slow parts. */
enum lock_prepared lock_events_prepare_graph(struct thread_state *t, int kind, uint64_t wait_id, const void *code);
void lock_events_withdraw(struct thread_state *t, const void *code);

static inline enum lock_prepared lock_events_prepare(struct thread_state *t, int kind, uint64_t wait_id,
                                                     const void *code)
{
  if (sampling_of(t)->locks.attends & LOCKS_COUNTED || trace_of(t)->states)
    return LOCK_RECORD;
  return span_process.online ? lock_events_prepare_graph(t, kind, wait_id, code) : LOCK_BEGUN;
}

static inline void lock_events_not_begun(struct thread_state *t, enum lock_prepared prepared, const void *code)
{
  if (span_process.online && prepared == LOCK_BEGUN)
    lock_events_withdraw(t, code);
}

/* Reads the clock, and keeps the rest for the release.  Returns false where the graph is suspended: then the
 * acquisition is to be recorded. */
bool lock_events_note(struct thread_state *t, uint64_t wait_id, const void *code);

/* A release in two parts, between which the runtime frees the lock.  lock_events_leave() returns the moment, for
 * lock_events_left(), or 0 where it is not needed.  Blame is taken before: afterwards, a thread that has waited may
 * hold the lock and release it. */
static inline uint64_t lock_events_leave(struct thread_state *t, uint64_t wait_id)
{
  bool blamed = blame_pending(wait_id);
  uint64_t moment = span_process.online && (blamed || !construct_is_light(t, wait_id)) ? work_clock_value(t) : 0;
  if (__builtin_expect(blamed, 0))
    sample_take_blame(t, wait_id);
  return moment;
}

/* The release of a light instance, where there is no more to it.  Returns false otherwise, doing nothing. */
static inline bool lock_events_light_left(struct thread_state *t, uint64_t wait_id)
{
  if (!construct_is_light(t, wait_id) || lock_events_unrecorded(t) || sampling_of(t)->released.samples ||
      waiting_lock_noted(t) || !governor_counts_only(t))
    return false;
  rt_inside_inc(t);
  bool ends = !rt_graph_suspended();
  if (ends) {
    governor_count(t);
    construct_light_ends_only(t);
  }
  rt_inside_dec(t);
  return ends;
}

static inline void lock_events_left(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment)
{
  if (span_process.online && lock_events_light_left(t, wait_id))
    return;
  if (span_process.online || sampling_of(t)->released.samples)
    lock_events_release(t, kind, wait_id, moment);
  waiting_lock_released(t);
}

/* The thread has released a lock: the runtime announces that late. */
void lock_events_release_late(struct thread_state *t, int kind, uint64_t wait_id);

static inline void lock_events_released(struct thread_state *t, int kind, uint64_t wait_id)
{
  bool more =
      blame_pending(wait_id) || (span_process.online ? !lock_events_light_left(t, wait_id) : waiting_lock_noted(t));
  if (more)
    lock_events_release_late(t, kind, wait_id);
}

/* The acquisition that ends is timed; waited: all of the time was waiting. */
static inline void lock_events_waited(struct thread_state *t, bool waited)
{
  sampling_of(t)->lock_waits = waited;
}

/* The thread acquires a nested lock that it already holds: then lock_events_acquired() is not called. */
void lock_events_acquired_again(struct thread_state *t, uint64_t wait_id);

/* The lock is destroyed, or another one begins at its address. */
void lock_events_ends(struct thread_state *t, uint64_t wait_id);

#endif
