/* Threads that sleep until others release a lock, and who releases it: directed blame without samples.
 *
 * A thread that is going to wait for a lock marks the lock's entry.  A thread that releases the lock and finds marks
 * takes the time that has passed since the waits began, or since the lock was released before, and charges it to the
 * context of its release.  What is charged are shares (sampling/waiting.h): the amounts of waiting are the waiting
 * threads' own.
 *
 * The table of entries has a fixed size and is indexed by a hash of the lock's address; two locks with waiting threads
 * can meet in one entry, and then the waits for one of them are charged to nobody, which is counted.  An entry's lock
 * is taken for a few instructions, and waited for a bounded time.
 *
 * Context: RT, in calls of the thread itself; lock_waiters_start() CTL, under the CTL lock. */
#ifndef HPCRUN_LITE_RT_SAMPLING_LOCK_WAITERS_H
#define HPCRUN_LITE_RT_SAMPLING_LOCK_WAITERS_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

enum { LOCK_WAITERS_BITS = 10, LOCK_WAITERS_SITES = 4 };

/* `lock` is exchanged with acquire and stored with release; its holder writes the other fields.  Releases of locks read
 * `id` without it. */
struct lock_waiters {
  uint64_t id; /* the lock for which threads wait; 0: free */
  uint32_t lock;
  uint32_t count;    /* of these threads */
  uint64_t released; /* rt_measured_clock(): until when their waiting is charged */
  struct {
    uint64_t key;   /* the wait site (sampling/waiting.h) */
    uint64_t since; /* sum of the ticks since which waiting is not charged yet, of all that wait there */
    uint64_t count; /* of these */
  } sites[LOCK_WAITERS_SITES];
} __attribute__((aligned(128)));

extern struct lock_waiters lock_waiters[1 << LOCK_WAITERS_BITS] __attribute__((visibility("hidden")));
extern atomic_bool lock_waiters_used
    __attribute__((visibility("hidden"))); /* a thread has waited; any thread, relaxed */

/* What threads have waited until a release, and for how long the releasing one has held the lock after a wait. */
struct lock_release {
  uint64_t held; /* ticks; 0: not timed */
  unsigned count;
  struct {
    uint64_t key, ticks;
  } sites[LOCK_WAITERS_SITES];
};

/* CTL: a new process, in which no thread waits. */
void lock_waiters_start(void);

/* The thread begins to wait for a lock at that site; since: rt_measured_clock().  Returns false if that cannot be
 * marked; otherwise lock_waiters_ended() follows when it has waited, which returns false if the mark stays. */
bool lock_waiters_begin(uint64_t id, uint64_t key, uint64_t since);
bool lock_waiters_ended(uint64_t id, uint64_t key, uint64_t since);

/* The thread is going to release a lock for which threads wait: takes their waiting. */
void lock_waiters_take(uint64_t id, struct lock_release *release) __attribute__((noinline));

/* The thread has released it: charges what was taken to the context of the call, which returns to that address, with
 * that stack pointer. */
void lock_waiters_charge(struct thread_state *t, uint64_t id, enum format_lock_kind kind,
                         const struct lock_release *release, const void *code, uint64_t sp) __attribute__((noinline));

static inline struct lock_waiters *lock_waiters_of(uint64_t id)
{
  return &lock_waiters[id * 0x9e3779b97f4a7c15ULL >> (64 - LOCK_WAITERS_BITS)];
}

/* Whether threads wait for the lock.  The table is not touched in a program whose threads never wait. */
static inline bool lock_waiters_any(uint64_t id)
{
  return __builtin_expect(atomic_load_explicit(&lock_waiters_used, memory_order_relaxed), 0) &&
         __builtin_expect(__atomic_load_n(&lock_waiters_of(id)->id, __ATOMIC_RELAXED) == id, 0);
}

#endif
