/* Acquisitions of locks, and where the thread was at the first one.
 *
 * With -c locks, each acquisition is counted in the record of its lock (lock_table.h).  The records of locks that were
 * acquired lately are found by a small table, which is indexed by a hash.
 *
 * Context: RT, in calls and callbacks of the thread itself.  Without memory for records nothing is counted, which is
 * counted as a loss. */
#ifndef HPCRUN_LITE_RT_SAMPLING_LOCK_COUNTS_H
#define HPCRUN_LITE_RT_SAMPLING_LOCK_COUNTS_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* The thread has acquired a lock, and lock_table.attends is not 0: counts that, with -c locks.  Unless it holds the
 * lock already (again), a hold of the lock that has not ended was not seen to end, and is forgotten. */
void lock_counts_acquired(struct thread_state *t, uint64_t id, enum format_lock_kind kind, bool again)
    __attribute__((noinline));

/* Sets the context of a record to that of the call that the thread is in: of a new one, and at the first wait.  The
 * caller is inside. */
void lock_counts_meet(struct thread_state *t, struct format_lock *lock);

#endif
