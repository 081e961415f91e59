/* What a thread has done since some moment, in the unit of work.
 *
 * Context: RT, in callbacks; work_clock_start() when the thread's events are armed, work_clock_probe() CTL.  A moment
 * is the time-stamp counter, what the program has reported, or a hardware counter of the thread.
 *
 * CPU time without a system call: as long as a witness stands, the thread was not switched out, and a difference of
 * time-stamp counters is CPU time; only when it has moved is the kernel asked.  The witness is the sequence counter of
 * a perf_event page, or, for threads without an event that samples their CPU time, a pointer in their rseq area.  Ticks
 * are turned into nanoseconds when the results are written.  Invariant: the thread was not switched out between
 * base_ticks and `since`, unless `since` is the earlier one.
 *
 * A hypervisor that takes the processor away moves no witness.  The kernel knows of that, and the difference is a long
 * one: so it is asked about long fragments too, and now and then in between.
 */
#ifndef HPCRUN_LITE_RT_SPAN_WORK_CLOCK_H
#define HPCRUN_LITE_RT_SPAN_WORK_CLOCK_H

#include "hpcrun-lite/rt/core/rt.h"

/* Finds out, before the first thread starts, whether the kernel clears the rseq area of a thread that it switches out.
 */
void work_clock_probe(void);

void work_clock_start(struct thread_state *t);
void work_clock_stop(struct thread_state *t);

/* Chooses the witness anew: the pages of the thread's events have changed. */
void work_clock_choose_indicator(struct thread_state *t);

/* Slow parts of the functions below. */
uint64_t work_clock_count(struct thread_state *t);
uint64_t work_clock_query(struct thread_state *t, uint64_t moment);
void work_clock_rebase(struct thread_state *t);

static inline bool work_clock_is_time(void)
{
  return rt.work_unit == WORK_CPU_TIME;
}

static inline uint64_t work_clock_moment(struct thread_state *t)
{
  if (work_clock_is_time())
    return rt_ticks();
  return rt.work_unit == WORK_USER ? t->work.units : work_clock_count(t);
}

static inline bool work_clock_not_switched(const struct work *work)
{
  return __atomic_load_n(work->switch_indicator, __ATOMIC_ACQUIRE) == work->unswitched_value;
}

enum { WORK_LONG_TICKS = 1 << 21 }; /* about 1 ms */

/* The fragment's work until that moment. */
static inline uint64_t work_clock_until(struct thread_state *t, uint64_t moment)
{
  const struct work *work = &t->work;
  uint64_t passed = moment > work->since ? moment - work->since : 0;
  if (work_clock_is_time() && (passed > WORK_LONG_TICKS || !work_clock_not_switched(work)))
    return work_clock_query(t, moment);
  return work->done + passed;
}

/* A fragment begins at that moment. */
static inline void work_clock_begin(struct thread_state *t, uint64_t moment)
{
  t->work.since = moment;
  t->work.done = 0;
  if (work_clock_is_time() && (moment - t->work.base_ticks > WORK_LONG_TICKS || !work_clock_not_switched(&t->work)))
    work_clock_rebase(t);
}

/* The thread waits for a lock from now on, and may sleep.  What the fragment has done is settled before, so that
 * work_clock_until(wait_since) holds whatever happens in between. */
static inline void work_clock_wait(struct thread_state *t, uint64_t ticks)
{
  uint64_t moment = work_clock_is_time() ? ticks : work_clock_moment(t);
  t->work.done = work_clock_until(t, moment);
  t->work.since = t->work.wait_since = moment;
}

/* The rate of the time-stamp counter, measured against elapsed time since the process's start; the longer, the better.
 */
void work_clock_calibrate(uint64_t start_ticks, uint64_t start_ns);

#endif
