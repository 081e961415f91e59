/* Blame: who is busy and who is idle at a sample, and what lock waiters leave to be charged to the lock's holder
 * (ICS'13, section 3.1).
 *
 * Context: RT; joining, leaving and starting CTL, under its lock.
 *
 * Departure from the paper: there is no shared counter of idle threads.  Each thread keeps its own state, in bytes that
 * only its callbacks write, and a sample counts the states of all threads.  Such a count cannot drift, costs a callback
 * one plain store, and a sample one load for each thread.  Invariant, at every count: 1 <= busy <= in_use.
 *
 * Locks: a waiting thread's samples go into the entry of its lock, in a table of fixed size indexed by a hash of the
 * 64-bit id; whoever releases the lock takes the entry's content and frees it.  Entries are only ever waited for a
 * bounded time; a waiter who finds another lock's blame in its entry loses its own, which is counted.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_BLAME_H
#define HPCRUN_LITE_RT_SAMPLING_BLAME_H

#include "hpcrun-lite/rt/core/rt.h"

struct blame_entry {
  uint64_t id;   /* of the lock, 0 = free; written with `busy`, read by releases without: a stale one is a blame that
                    waits for the next release, or an entry that is found empty */
  uint32_t busy; /* taken by who changes the entry: exchanged with acquire, stored with release */
  struct blame blame; /* written and read with `busy`; by CTL at the end, as it stands */
} __attribute__((aligned(64)));

enum { BLAME_ENTRIES_BITS = 12 };
extern struct blame_entry blame_entries[1 << BLAME_ENTRIES_BITS];

/* A new process image: no locks are waited for. */
void blame_start(void);

/* Makes a thread's state count from now on, and no longer.  False without memory. */
bool blame_join(struct thread_state *t);
void blame_leave(struct thread_state *t);

/* The OpenMP runtime knows this thread from now on, and no longer. */
void blame_openmp_begin(struct thread_state *t, bool worker);
void blame_openmp_end(struct thread_state *t);

/* More threads are in use, or fewer (negative): those that the runtime did not make, and the workers of open regions,
 * but not those that are blocked.  The most there ever were is kept. */
void blame_in_use(int more);

/* The thread enters and leaves a call in which it sleeps, outside of the runtime's waits.  Meanwhile it is not in use,
 * unless elapsed time drives the samples: then it is busy, and the sample on its return is charged with the mean of
 * what was sampled meanwhile.  blame_block() returns false where the thread is not busy: then
 * blame_unblock() is not the caller's to call. */
bool blame_block(struct thread_state *t);
void blame_unblock(struct thread_state *t);

/* The share of a sample of p = time_ns of this thread in the idleness of all. */
struct blame blame_share(struct thread_state *t, uint64_t time_ns);

/* Compares the thread's state with the runtime's, and with where the sample found it.  A state that contradicts them in
 * two samples with no callback in between is wrong: it is set right and counted as a loss. */
void blame_check(struct thread_state *t, uint64_t pc);

/* Leaves blame with a lock that the thread waits for.  False if it was lost. */
bool blame_wait(uint64_t wait_id, const struct blame *blame);

/* Takes the blame that waits at a lock. */
struct blame blame_take(uint64_t wait_id);

/* Samples whose blame was left with locks and not taken. */
uint64_t blame_left(void);

static inline struct blame_entry *blame_entry(uint64_t wait_id)
{
  return &blame_entries[wait_id * 0x9e3779b97f4a7c15ULL >> (64 - BLAME_ENTRIES_BITS)];
}

/* Is there blame for whoever releases that lock?  One load and one comparison. */
static inline bool blame_waits(uint64_t wait_id)
{
  return __atomic_load_n(&blame_entry(wait_id)->id, __ATOMIC_RELAXED) == wait_id;
}

#endif
