/* The work clock: what a thread has done since a moment, in the unit of work.
 *
 * Context: RT, in callbacks and at a thread's start and end; work_clock_probe() and work_clock_calibrate() CTL.  A
 * moment is a value of the time-stamp counter, of the work that the program has reported, or of a hardware counter of
 * the thread.  The state of a thread (struct work) is its own.  On failure the clock falls back to asking the kernel;
 * work that a hardware counter has missed is counted as a loss.
 *
 * CPU time without a system call: a switch indicator says whether the thread was switched out.  As long as it was not,
 * a difference of time-stamp counters is CPU time; otherwise the kernel is asked.  The indicator is the sequence
 * counter in the page of a perf event, or, for a thread without an event that samples its CPU time, a pointer in its
 * rseq area.  Ticks are converted to nanoseconds when results are written.  Invariant: the thread was not switched out
 * between base_ticks and `since`, unless `since` is earlier.
 *
 * The indicator does not show that a hypervisor has taken the processor away.  The kernel knows that, and such a gap is
 * long; therefore the kernel is also asked about long fragments, and from time to time between fragments. */
#ifndef HPCRUN_LITE_RT_SPAN_WORK_CLOCK_H
#define HPCRUN_LITE_RT_SPAN_WORK_CLOCK_H

#include "hpcrun-lite/rt/span/span_thread.h"

/* Finds out, before the first thread starts, whether the kernel clears the rseq pointer of a thread that it switches
 * out. */
void work_clock_probe(void);

/* Start and end of the calling thread. */
void work_clock_start(struct thread_state *t);
void work_clock_stop(struct thread_state *t);

/* Chooses the switch indicator again, because span_thread.sampled_page has changed. */
void work_clock_choose_indicator(struct thread_state *t);

/* The slow parts of the functions below. */
uint64_t work_clock_count(struct thread_state *t);
uint64_t work_clock_query(struct thread_state *t, uint64_t moment);
void work_clock_rebase(struct thread_state *t);

static inline bool work_clock_is_time(void)
{
  return span_process.work_unit == WORK_CPU_TIME;
}

/* Whether a moment costs no system call. */
static inline bool work_clock_is_quick(void)
{
  return span_process.work_unit <= WORK_USER;
}

/* The current moment. */
static inline uint64_t work_clock_value(struct thread_state *t)
{
  if (work_clock_is_time())
    return rt_ticks();
  return span_process.work_unit == WORK_USER ? span_of(t)->work.units : work_clock_count(t);
}

static inline bool work_clock_not_switched(const struct work *work)
{
  return __atomic_load_n(work->switch_indicator, __ATOMIC_ACQUIRE) == work->unswitched_value;
}

enum { WORK_LONG_TICKS = 1 << 21 }; /* about 1 ms */

/* A fragment begins a little after the moment of an event, so that a short callback does not read the clock again. */
enum { WORK_CALLBACK_TICKS = 60 };

/* The fragment's work until a moment. */
static inline uint64_t work_clock_until(struct thread_state *t, uint64_t moment)
{
  const struct work *work = &span_of(t)->work;
  uint64_t passed = moment > work->since ? moment - work->since : 0;
  if (work_clock_is_time() && (passed > WORK_LONG_TICKS || !work_clock_not_switched(work)))
    return work_clock_query(t, moment);
  return work->done + passed;
}

/* A fragment begins at a moment. */
static inline void work_clock_begin(struct thread_state *t, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  span->work.since = moment;
  span->work.done = 0;
  if (work_clock_is_time() &&
      (moment - span->work.base_ticks > WORK_LONG_TICKS || !work_clock_not_switched(&span->work)))
    work_clock_rebase(t);
}

/* The fragment goes on at a moment, after a wait. */
static inline void work_clock_go_on(struct thread_state *t, uint64_t moment)
{
  uint64_t done = span_of(t)->work.done;
  work_clock_begin(t, moment);
  span_of(t)->work.done = done;
}

/* Where CPU time counts: the fragment ends at a moment that is not earlier than its start, and the next one begins a
 * little after another moment.  Returns whether that was simple: otherwise nothing is done. */
static inline bool work_clock_cut(struct thread_state *t, uint64_t ended, uint64_t begun, uint64_t *done)
{
  struct work *work = &span_of(t)->work;
  uint64_t passed = ended - work->since;
  if (passed > WORK_LONG_TICKS || begun - work->base_ticks > WORK_LONG_TICKS || !work_clock_not_switched(work))
    return false;
  *done = work->done + passed;
  work->since = begun + WORK_CALLBACK_TICKS;
  work->done = 0;
  return true;
}

/* The thread begins to wait for a lock and may sleep.  The fragment's work is computed first, so that
 * work_clock_until(wait_since) is right whatever happens meanwhile. */
static inline void work_clock_wait(struct thread_state *t, uint64_t ticks)
{
  struct span_thread *span = span_of(t);
  uint64_t moment = work_clock_is_time() ? ticks : work_clock_value(t);
  span->work.done = work_clock_until(t, moment);
  span->work.since = span->work.wait_since = moment;
}

/* From that tick on the thread does no work, in whatever fragment, until work_clock_go_on(). */
static inline void work_clock_stand_still(struct thread_state *t, uint64_t ticks)
{
  work_clock_wait(t, ticks);
  span_of(t)->work.since = UINT64_MAX;
}

/* Measures the rate of the time-stamp counter against elapsed time since the first call, which work_clock_probe()
 * makes. The longer the interval, the more exact. */
void work_clock_calibrate(void);

#endif
