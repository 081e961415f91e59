/* The locks of a thread: how long it has waited for each and held it afterwards, where it has released one for which
 * others waited, and how often it has acquired each (lock_counts.h); and the contexts of its last such releases
 * (lock_waiters.c).
 *
 * Context: RT; functions marked CTL are called by CTL.  The table is the thread's own; the arena owns the memory.
 *
 * A record is found by the kind of the lock and its address, or the number that the runtime has for it.  So a lock at
 * the address of one that was destroyed has the same record.  Locks beyond a limit share record 0: sums are complete.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_LOCK_TABLE_H
#define HPCRUN_LITE_RT_SAMPLING_LOCK_TABLE_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: sets up the table of a new thread.  Nothing is allocated yet. */
void lock_table_init(struct thread_state *t);
void lock_table_release(struct thread_state *t);

/* Finds the record of a lock; NULL: it has none yet. */
struct format_lock *lock_table_known(struct thread_state *t, uint64_t id, enum format_lock_kind kind);

/* Finds or adds the record of a lock.  Returns NULL without memory, which is counted as a loss.  The caller is inside.
 */
struct format_lock *lock_table_find(struct thread_state *t, uint64_t id, enum format_lock_kind kind);

/* Adds the thread's last wait to the record of its lock, unless that was done.  Other threads wait while the thread
 * holds the lock, so this follows when it has released it, or acquires another one. */
void lock_table_add(struct thread_state *t) __attribute__((noinline));

/* CTL, for any thread, while measuring is stopped: the same.  Returns the record of the lock, or object of a pool, for
 * which the thread still waits at that site, if it does; NULL: there is none. */
struct lock_wait_open {
  uint64_t id, ticks; /* ticks: until now; 0: it does not wait */
  enum format_lock_kind kind;
  const struct format_wait *at;
};
struct format_lock *lock_table_stopped(struct thread_state *t, struct lock_wait_open open);

static inline void lock_table_settle(struct thread_state *t)
{
  if (__builtin_expect(sampling_of(t)->locks.waited != 0, 0))
    lock_table_add(t);
}

/* How long the thread holds a lock alone is timed only if it has waited for it: reading the clock at each acquisition
 * would cost more than the acquisition.  So the sum over all threads is at most the elapsed time.
 * lock_table_hold(): it holds the lock since that moment; more than LOCK_HOLDS at one time are not timed.
 * lock_table_hold_end(): it is going to release it; returns the measured ticks, 0 if that was not timed.  After many
 * releases of other locks, those that are left are forgotten.
 * lock_table_forget_hold(): it was released in a way that is not seen.
 * lock_table_held(): it has released it after so many. */
void lock_table_hold(struct thread_state *t, uint64_t id, uint64_t since);
uint64_t lock_table_hold_end(struct thread_state *t, uint64_t id);
void lock_table_forget_hold(struct thread_state *t, uint64_t id);
void lock_table_held(struct thread_state *t, uint64_t id, enum format_lock_kind kind, uint64_t ticks);

/* Removes LOCKS_NOTED if nothing is left for which it stands. */
void lock_table_unnote(struct thread_state *t);

/* The thread has released a lock in that context, for which others had waited so long. */
void lock_table_released(struct thread_state *t, uint64_t id, enum format_lock_kind kind, uint64_t ns, uint32_t node);

/* A node of the thread was merged into another one. */
void lock_table_follow_merge(struct thread_state *t, uint32_t from, uint32_t to);

#endif
