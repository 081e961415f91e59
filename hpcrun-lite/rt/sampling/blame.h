/* Blame: which threads are busy at a sample and where the others wait, and samples of lock waiting, which are charged
 * to the lock's holder (ICS'13, section 3.1).  How much time threads wait is known exactly: see sampling/waiting.h.
 *
 * Context: RT; blame_start() CTL, under the CTL lock.  A thread's state is in its thread_state (rt.h) and written by
 * that thread only; samples of all live threads (live_threads.h) read it.  The table of locks is static.  Blame that
 * cannot be kept is dropped and counted.
 *
 * Departure from the paper: no counter of idle threads is shared.  Each thread keeps its own state in a few bytes that
 * its callbacks write, and a sample counts the states of all threads.  Such a count cannot drift; it costs a callback
 * one plain store, and a sample one load for each thread.  Threads that OpenMP does not know are busy while they run,
 * but never in use.  Invariant at every count: 1 <= busy.
 *
 * Locks: samples of a waiting thread go into the entry of its lock, in a table of fixed size that is indexed by a hash
 * of the 64-bit id.  The thread that releases the lock takes the entry's content and frees the entry.  The wait for an
 * entry is bounded.  A waiter that finds the blame of another lock in its entry loses its own, and the loss is counted.
 *
 * A sample, and an entry, has room for BLAME_SITES wait sites.  What further sites would get goes to the last
 * one: that changes in which proportions their exact waiting is distributed, not its amount, so it is not a loss.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_BLAME_H
#define HPCRUN_LITE_RT_SAMPLING_BLAME_H

#include "hpcrun-lite/rt/sampling/call_sleep.h"

/* `lock` is exchanged with acquire and stored with release; its holder writes the other fields.
 * Releases of locks read `id` without it: if they read an old value, the blame waits for the next release, or the entry
 * turns out to be empty.  CTL reads the blame that is left at the end. */
struct blame_entry {
  uint64_t id; /* the lock, 0: free */
  uint32_t lock;
  struct blame blame;
} __attribute__((aligned(64)));

enum { BLAME_ENTRIES_BITS = 12 };
extern struct blame_entry blame_entries[1 << BLAME_ENTRIES_BITS];

/* CTL: a new process, in which no lock has blame. */
void blame_start(void);

/* The OpenMP runtime announces the start and the end of this thread. */
void blame_openmp_begin(struct thread_state *t, bool worker);
void blame_openmp_end(struct thread_state *t);

/* Adds to the number of threads in use: threads that the runtime did not create, and the workers of open regions,
 * except blocked ones.  Also keeps the maximum. */
void blame_in_use(int more);

/* The thread enters and leaves a call in which it sleeps outside the runtime's waits.  During the call it is not in
 * use.  With `wall` it counts as busy instead.  blame_blocked() returns false if the thread is not busy; the caller
 * must then not call the others.  blame_returned(): the call returns, so that its time can be charged to its context;
 * blame_unblocked(): it was left in another way. */
bool blame_blocked(struct thread_state *t);
void blame_returned(struct thread_state *t, struct call_moved moved);
void blame_unblocked(struct thread_state *t);

/* The share of this thread's sample, which stands for time_ns, in the idleness of all threads. */
struct blame blame_share(struct thread_state *t, uint64_t time_ns);

/* The same of this thread's sleep, which ends now: of threads that are idle now, for as long as they have been. */
struct blame blame_slept(struct thread_state *t, uint64_t time_ns);

/* Is a thread that is neither idle nor waits for a lock in no call in which it does no work? */
static inline bool blame_works(struct activity is)
{
  return is.call != RT_CALL_MPI && is.call != RT_CALL_DEVICE;
}

/* The share of this thread's sample, in which it works, in the time in which any thread works: it is divided among
 * those that do, without those that poll. */
uint64_t blame_work_share(const struct thread_state *self, uint64_t time_ns);

/* Whether another thread, which has work, is ready to run without a processor: by its records of switches. */
bool blame_any_ready(const struct thread_state *self);

/* Compares the thread's state with the runtime's state query and with the sampled address.  A state that contradicts
 * them at two consecutive samples without a callback in between is wrong: it is corrected and counted as a loss. */
void blame_check(struct thread_state *t, uint64_t pc);

/* Adds blame to the entry of a lock for which the thread waits, at the wait site of that key.  Returns false if it
 * was lost. */
bool blame_wait(uint64_t wait_id, uint64_t key, const struct blame *blame);

/* Takes the blame out of a lock's entry; its list has the sites at which threads waited for the lock, too. */
struct blame blame_take(uint64_t wait_id);

/* Samples whose blame is still in entries: those locks were not released afterwards. */
uint64_t blame_left(void);

/* The lock's entry, which another lock may share. */
static inline struct blame_entry *blame_entry(uint64_t wait_id)
{
  return &blame_entries[wait_id * 0x9e3779b97f4a7c15ULL >> (64 - BLAME_ENTRIES_BITS)];
}

/* Whether a release of that lock has blame to take.  Costs one load and one comparison. */
static inline bool blame_pending(uint64_t wait_id)
{
  return __atomic_load_n(&blame_entry(wait_id)->id, __ATOMIC_RELAXED) == wait_id;
}

#endif
