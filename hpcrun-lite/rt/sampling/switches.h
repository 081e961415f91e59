/* Records of switches: when the kernel took a processor from the thread, and gave it one.
 *
 * A perf event of the thread writes a record of 16 bytes into a small ring at each switch: its time, and whether the
 * thread could still run when it was switched out (preempted, throttled, or it yielded).  The thread reads what is new
 * where a wait or an interposed call ends, and at samples, and adds the time to that wait or call.  A thread that was
 * not preempted slept until it was woken; how long it then waited for a processor is not recorded.  The kernel's total
 * (times_run_delay_ns()) contains that time, so hpcprof-lite knows its sum.
 *
 * Context: RT; switches_probe() CTL.  The thread opens and reads its own ring, in callbacks and in its handler, which
 * does not read while it interrupts a reading.  If CTL ends measuring early, it only forgets the rings of other
 * threads. The ring overwrites its oldest records: they all have the same size, so what is left stays readable, and
 * what was overwritten is known by the distance.  Where there is no ring (perf_event is forbidden, its share of the
 * user's locked memory is used up, or the thread switches so often that records would cost it much),
 * record->switched_seen says how much time records cover.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_SWITCHES_H
#define HPCRUN_LITE_RT_SAMPLING_SWITCHES_H

#include <linux/perf_event.h>

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: how many rings the process may have: a quarter of what the user may lock.  sampling_process.cpus is known. */
void switches_probe(void);

/* Opens the calling thread's ring, if it may have one; closes it. */
void switches_start(struct thread_state *t);
void switches_stop(struct thread_state *t);

/* What the thread did not run in a part of its time, in measured ticks: preempted, or asleep; and how often it was
 * woken. */
struct switched {
  uint64_t preempted, slept, wakes;
};

/* Divides what was recorded since the last reading at moments (time-stamp counter, ascending) into count + 1 parts, and
 * adds it to them and to the thread's record.  The part before the first moment is time outside waits and interposed
 * calls. */
enum { SWITCHES_MANY = 2048, SWITCHES_MOMENTS = 5 };
void switches_read(struct thread_state *t, unsigned count, const uint64_t moments[], struct switched parts[])
    __attribute__((noinline));

/* A wait for a lock has ended, whose records the next reading adds to its site: not while the thread holds the lock.
 */
static inline void switches_lock_waited(struct thread_state *t, struct format_wait *wait, uint64_t since,
                                        uint64_t until)
{
  struct switches *switches = &sampling_of(t)->switches;
  switches->lock_since = since;
  switches->lock_until = until;
  switches->lock_read = false;
  atomic_signal_fence(memory_order_release); /* a sample may read */
  switches->lock = wait;
}

/* switches_read() where all of it is outside. */
void switches_outside(struct thread_state *t) __attribute__((noinline));

/* When a thread could run and had no processor, between two times (CLOCK_MONOTONIC ns), by what its ring still has;
 * asleep: also when it slept.  The last `most` such intervals, ascending; returns their number.  Any thread may ask. */
struct switches_interval {
  uint64_t from, to;
};
unsigned switches_off(struct thread_state *of, uint64_t from_ns, uint64_t to_ns, bool asleep,
                      struct switches_interval *intervals, unsigned most);

/* What the last record of a thread says: it has a processor, is ready without one, or sleeps.  Any thread may ask,
 * between switches_readers(1) and switches_readers(-1). */
enum switches_state { SWITCHES_UNKNOWN, SWITCHES_RUNS, SWITCHES_READY, SWITCHES_SLEEPS };
enum switches_state switches_state(const struct thread_state *of);
void switches_readers(int more);

/* The time at a moment (time-stamp counter) since the calling thread's ring was opened, and the ticks of a duration. */
uint64_t switches_ns_at(const struct thread_state *t, const struct sys_moment *now, uint64_t ticks);
uint64_t switches_ticks_of(const struct thread_state *t, const struct sys_moment *now, uint64_t ns);

/* The position up to which the kernel has written records, plus 1; 0 without a ring. */
static inline uint64_t switches_position(const struct thread_state *t)
{
  const struct perf_event_mmap_page *page = __atomic_load_n(&sampling_of(t)->switches.ring, __ATOMIC_RELAXED);
  return page ? __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) + 1 : 0;
}

/* When the thread was first switched after that; 0 if that record is lost. */
uint64_t switches_moment(const struct thread_state *t, uint64_t position);

/* Bytes of records that were not read; a ring has room for twice as many as SWITCHES_MANY; 0 without a ring. */
static inline uint64_t switches_unread(const struct thread_state *t)
{
  const struct switches *switches = &sampling_of(t)->switches;
  const struct perf_event_mmap_page *page = __atomic_load_n(&switches->ring, __ATOMIC_RELAXED);
  return page ? __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - switches->read : 0;
}

/* Adds the ticks by which the thread was held up since the last join to `held_up`, and counts again from 0.  Returns
 * them.  Called where no other thread's arrival decides how late the run is. */
uint64_t switches_join(struct thread_state *t);

/* The thread went on so many ticks after the reason to wait was over.  Returns how many of them were time without a
 * processor, its own or that of the thread that wakes it: a thread that is not held up runs after about 0.1 ms. */
enum { SWITCHES_WAKE_USUAL = 1 << 18 };
static inline uint64_t switches_late(uint64_t ticks)
{
  return ticks > SWITCHES_WAKE_USUAL ? ticks : 0;
}

/* Closes the ring of a thread that switches so often that its records cost much.  The thread is in a callback, or in
 * its handler, which has not interrupted code of the tool. */
void switches_limit(struct thread_state *t);

#endif
