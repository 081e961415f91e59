/* What a thread has done since some moment, in the unit of work: ticks of CPU time, or what the program reported.
 *
 * Context: RT, in callbacks; work_start() when the thread's events are armed.  CPU time without a system call: while
 * the sequence counter of the thread's perf_event page stands still, the thread was not switched out, and a difference
 * of time-stamp counters is CPU time; only when it has moved is the kernel asked.  Ticks are turned into nanoseconds
 * when the results are written.
 */
#ifndef HPCRUN_LITE_RT_WORK_H
#define HPCRUN_LITE_RT_WORK_H

#include "hpcrun-lite/rt/rt.h"

void work_start(struct thread_state *t);

/* A moment of the thread: the time-stamp counter, or the units reported until now. */
static inline uint64_t work_moment(const struct thread_state *t)
{
  return rt.work_unit == WORK_USER ? t->work.units : rt_ticks();
}

/* Work from t->work.since until that moment. */
uint64_t work_until(struct thread_state *t, uint64_t moment);

/* The rate of the time-stamp counter, measured against elapsed time since the process's start; the longer, the better.
 */
void work_calibrate(uint64_t start_ticks, uint64_t start_ns);

#endif
