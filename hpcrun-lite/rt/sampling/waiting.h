/* Wait sites: how long each thread waits at each construct, exactly, and which contexts ran meanwhile.
 *
 * Samples cannot show how much time threads wait: the threads of a team go on while the kernel delivers the signal,
 * reach the next barrier, and are found waiting because of the sample.  So callbacks measure the amounts, and a sample
 * only adds to the proportions in which hpcprof-lite distributes them.  A site is a kind of wait and a code address.
 *
 * Context: RT; functions marked CTL are called by CTL.  The table of sites (t->waits) is the thread's own; only
 * `waiting_key` and `activity` are read by samples of other threads.  The arena owns the memory; without memory a wait
 * counts at the site of parked threads.
 *
 * An interval of waiting is split, so that a wait contains only time in which other threads keep this one from going
 * on:
 *
 *   site                 waiting                                          the runtime's own work
 *   barrier, region end   until the last thread of the team has arrived    until the thread is released
 *   taskwait, taskgroup   after the first microsecond without a task       the first microsecond: the search for a task
 *   lock                  beyond the thread's fastest acquisition          an acquisition without waiting, at most two
 *                                                                          microseconds
 *
 * After the last arrival at the end of a region, the workers wait for the master to end the region; after that they are
 * parked. */
#ifndef HPCRUN_LITE_RT_SAMPLING_WAITING_H
#define HPCRUN_LITE_RT_SAMPLING_WAITING_H

#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/sampling/switches.h"

enum {
  WAITING_LOCK_FACTOR = 4, /* an acquisition up to this multiple of the fastest one did not wait */
  WAITING_LOCK_LEAST = 64  /* ticks, 25 to 60 ns: that takes so long at least, since clocks go in steps of some 10 ns */
};

/* The key of a thread that waits outside parallel regions. */
#define WAITING_PARKED ((uint64_t)FORMAT_WAIT_PARKED)

/* CTL: sets up the tables of a new thread.  Nothing is allocated yet. */
void waiting_init(struct thread_state *t);
void waiting_release(struct thread_state *t);

/* The thread begins to wait; code is the address that the runtime names, or NULL: then it is the region's.  Returns the
 * time-stamp counter, or 0 if it was not read. */
uint64_t waiting_begin(struct thread_state *t, enum format_wait_kind kind, const void *code);

/* Whether the innermost wait is that at the end of a region. */
bool waiting_at_region_end(struct thread_state *t);

/* The innermost wait has ended.  Returns as waiting_begin(). */
uint64_t waiting_end(struct thread_state *t);

/* A task begins during a wait (waits: false), or the thread goes on waiting after it.  Returns as waiting_begin(). */
uint64_t waiting_task(struct thread_state *t, bool waits);

/* The thread becomes a worker without a region, or leaves that state.  Waits that it has not ended are forgotten.
 * waiting_unpark() returns as waiting_begin(). */
void waiting_park(struct thread_state *t);
uint64_t waiting_unpark(struct thread_state *t);

/* The same for the lock that the thread acquires.  waiting_lock_end() counts nothing unless waiting_lock_begin() was
 * called before. */
uint64_t waiting_lock_begin(struct thread_state *t, const void *code);

/* The slow part: it ends at that moment. */
uint64_t waiting_lock_end_at(struct thread_state *t, uint64_t now);

static inline uint64_t waiting_lock_end(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  if (!t->activity.lockwait)
    return 0;
  struct format_wait *wait = sampling->waiting_lock;
  uint64_t now = rt_ticks(), ticks = now - t->lock_since, cost = sampling->lock_cost;
  if (__builtin_expect(ticks > WAITING_LOCK_FACTOR * cost || (ticks < cost && cost > WAITING_LOCK_LEAST) || !wait ||
                           sampling->lock_waits || trace_of(t)->states ||
                           atomic_load_explicit(&rt.waits, memory_order_relaxed),
                       0))
    return waiting_lock_end_at(t, now);
  rt_set_flag(&t->activity.lockwait, false); /* none of it was waiting: t->lockwait_ticks remain */
  t->changes++;
  wait->runtime += ticks;
  wait->count++;
  wait->since = 0;
  construct_of(t)->lock_runtime = ticks;
  return now;
}

/* What waiting_lock_begin() has begun was no wait: it is not counted.  Samples in between stay samples of a wait. */
static inline void waiting_lock_withdraw(struct thread_state *t)
{
  if (!t->activity.lockwait || atomic_load_explicit(&rt.waits, memory_order_relaxed) & RT_WAITS_ENDED)
    return;
  rt_set_flag(&t->activity.lockwait, false);
  t->changes++;
  if (sampling_of(t)->waiting_lock)
    sampling_of(t)->waiting_lock->since = 0;
}

/* The thread has released a lock: records its wait for that, with its records of switches. */
void waiting_lock_read(struct thread_state *t) __attribute__((noinline));

/* Whether there may be a wait to be recorded, or the thread holds a lock for which it has waited. */
static inline bool waiting_lock_noted(const struct thread_state *t)
{
  return sampling_of(t)->locks.attends & LOCKS_NOTED;
}

static inline void waiting_lock_released(struct thread_state *t)
{
  if (__builtin_expect(waiting_lock_noted(t), 0))
    waiting_lock_read(t);
}

/* Whether the lock for which the thread waits, or waited last, is of POSIX or C11. */
static inline bool waiting_for_posix(const struct thread_state *t)
{
  return sampling_of(t)->lock_kind >= FORMAT_LOCK_MUTEX;
}

/* The key of the lock that the thread waits for. */
uint64_t waiting_lock_key(const struct thread_state *t);

/* waiting_begin_late(): the thread begins a region; what held it up before delays the beginning of the region, not its
 * barriers.  waiting_end_late(): the thread has ended a region, and may have left its last barrier late.  Both return
 * the delay in ticks, and 0 inside another region. */
uint64_t waiting_begin_late(struct thread_state *t) __attribute__((noinline, cold));
uint64_t waiting_end_late(struct thread_state *t) __attribute__((noinline, cold));

static inline uint64_t waiting_region_begin(struct thread_state *t)
{
  return switches_unread(t) || sampling_of(t)->switches.since_join ? waiting_begin_late(t) : 0;
}

static inline uint64_t waiting_region_end(struct thread_state *t)
{
  const struct switches *switches = &sampling_of(t)->switches;
  return switches->since_join | switches->outer ? waiting_end_late(t) : 0;
}

/* Waiting in a pool (pools.h).  waiting_pool_site(): the site of a call that returns to that address; NULL without
 * memory, and where no waiting is recorded.  waiting_pool_turn(): a thread whose wait is open has waited at an object
 * of a pool since that moment; another thread may call it, under the lock of the object's list.  waiting_pool_end():
 * the calling thread's wait has ended. */
struct format_wait *waiting_pool_site(struct thread_state *t, const void *code);
void waiting_pool_turn(struct thread_state *t, uint64_t since);
void waiting_pool_end(struct thread_state *t, bool returned);

/* At a sample of a thread that waits or is in a call of the program: reads its records of switches. */
void waiting_read_switches(struct thread_state *t);

/* A sample of the waiting thread fell into the tool's own code, which counts as neither waiting nor the runtime's work.
 */
void waiting_in_tool(struct thread_state *t, uint64_t ns);

/* CTL: how the wait that the thread is in divides up to that moment, in ticks: waiting at t->waiting, the runtime's
 * work, and waiting as a parked thread.  Nothing is changed.  The thread may be running. */
struct waiting_interval {
  uint64_t idle, runtime, parked;
  uint64_t ending; /* of idle: after the master had left the barrier at the end of the region */
};
struct waiting_interval waiting_open_interval(struct thread_state *t, uint64_t now);

/* CTL, called by the thread that ends the process: for how many ticks of the time for which the other thread is parked
 * until that moment the calling one, if it is the initial thread outside regions, had no processor. */
uint64_t waiting_open_no_core(struct thread_state *t, uint64_t now);

/* CTL: for how many ticks the thread has waited for a lock until that moment, if it still waits; 0: it does not.  The
 * thread may be running. */
uint64_t waiting_open_lock(const struct thread_state *t, uint64_t now);

/* CTL: writes the state that the thread is in until now to the trace; ends: the thread ends, and calls this itself.
 * Otherwise it may be running.  If it is in a callback or the handler, nothing is written, which is counted. */
void waiting_end_trace(struct thread_state *t, uint64_t now, bool ends);

/* CTL, where constructs are not followed: the program goes on after waiting_end_trace(), in an exec that has failed.
 * Threads have written no states since then.  One that is still in the same state goes on with it; what another one did
 * is a gap, which is counted. */
void waiting_go_on(struct thread_state *t);

/* The key of a device that is idle.  device: as in struct format_device. */
uint64_t waiting_device_key(uint32_t device);

/* Adds to the share of a context in the waiting at a site.  Returns false without memory. */
bool waiting_share(struct thread_state *t, uint32_t node, uint64_t key, uint64_t ns);

/* The kind of a wait, from that of OMPT. */
static inline enum format_wait_kind waiting_kind(int kind)
{
  bool tasks = kind == ompt_sync_region_taskwait || kind == ompt_sync_region_taskgroup;
  bool end = kind == ompt_sync_region_barrier_implicit_parallel; /* libomp 14 to 16: also by its address */
  if (tasks)
    return FORMAT_WAIT_TASKS;
  return end ? FORMAT_WAIT_REGION_END : FORMAT_WAIT_BARRIER;
}

/* The thread's next acquisition of a lock does not wait. */
static inline void waiting_tests_lock(struct thread_state *t)
{
  sampling_of(t)->tests_lock = true;
}

/* Whether the acquisition that begins cannot wait: waiting_tests_lock() has announced it, or its kind says so. */
static inline bool waiting_lock_is_tested(struct thread_state *t, int kind)
{
  bool tests = sampling_of(t)->tests_lock || kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock;
  sampling_of(t)->tests_lock = false;
  return tests;
}

#endif
