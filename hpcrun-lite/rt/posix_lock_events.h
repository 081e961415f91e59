/* Locks of POSIX and C11: what a thread does.
 *
 * Waiting for one is waiting for a lock, as for OpenMP's: exact, at the place of the call, and charged to the context
 * of the release (sampling/lock_waiters.h).  Such locks are no constructs, and have no part in the graph.
 *
 * Context: CTL, in calls of the program (interpose/locks.c), outside the tool's own code.  Nothing can fail: a wait in
 * a thread that is not measured, in the OpenMP runtime, or within another wait is not counted. */
#ifndef HPCRUN_LITE_RT_POSIX_LOCK_EVENTS_H
#define HPCRUN_LITE_RT_POSIX_LOCK_EVENTS_H

#include <pthread.h>

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/sampling/lock_counts.h"
#include "hpcrun-lite/rt/sampling/lock_table.h"
#include "hpcrun-lite/rt/sampling/lock_waiters.h"
#include "hpcrun-lite/rt/sampling/waiting.h"

/* The thread goes on to acquire a lock that another one holds; code: the return address of the call. */
void posix_lock_events_wait(struct thread_state *t, const void *lock, enum format_lock_kind kind, const void *code);

/* It has stopped waiting, whether it holds the lock or not; or it jumps out of the call, or ends there.  Returns the
 * moment, 0 if the wait was not timed. */
uint64_t posix_lock_events_waited(struct thread_state *t);

/* glibc: bits of a mutex's kind. */
enum { MUTEX_RECURSIVE = 1, MUTEX_TYPE = 3, MUTEX_ROBUST = 0x10, MUTEX_INHERIT = 0x20, MUTEX_PROTECT = 0x40 };

static inline int posix_lock_events_mutex_kind(const pthread_mutex_t *mutex)
{
  return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
}

/* Does the thread that holds a mutex, also one of C11, hold it more than once? */
static inline bool posix_lock_events_nested(const pthread_mutex_t *mutex)
{
  return (posix_lock_events_mutex_kind(mutex) & MUTEX_TYPE) == MUTEX_RECURSIVE && mutex->__data.__count > 1;
}

/* It has acquired a lock.  Those of MPI, in calls of the program, do not count. */
static inline void posix_lock_events_acquired(struct thread_state *t, const void *lock, enum format_lock_kind kind,
                                              const void *code)
{
  if (code_in_runtime(code) || t->inside || t->activity.call == RT_CALL_MPI)
    return;
  t->record->locks_taken++;
  if (__builtin_expect(sampling_of(t)->locks.attends, 0))
    lock_counts_acquired(t, (uint64_t)lock, kind, kind == FORMAT_LOCK_MUTEX && posix_lock_events_nested(lock));
}

/* Is there anything to do at a release of the lock? */
static inline bool posix_lock_events_noticed(const struct thread_state *t, const void *lock)
{
  return __builtin_expect(waiting_lock_noted(t), 0) || lock_waiters_any((uint64_t)lock);
}

/* The thread is going to release such a lock, and has released it, in a call with that return address and stack
 * pointer.
 */
void posix_lock_events_release(struct thread_state *t, const void *lock, struct lock_release *release);
void posix_lock_events_released(struct thread_state *t, const void *lock, enum format_lock_kind kind,
                                const struct lock_release *release, const void *code, uint64_t sp);

#endif
