/* What a thread has done so far, in the unit of work: nanoseconds of CPU time, counts of a hardware event, or what the
 * program reported.
 *
 * Context: RT, in callbacks; work_start() when the thread's events are armed.  CPU time without a system call: while
 * the sequence counter of the thread's perf_event page stands still, the thread was not switched out, and a difference
 * of time-stamp counters is CPU time; only when it has moved is the kernel asked.
 */
#ifndef HPCRUN_LITE_RT_WORK_H
#define HPCRUN_LITE_RT_WORK_H

#include "hpcrun-lite/rt/rt.h"

void work_start(struct thread_state *t);

/* Never smaller than before. */
uint64_t work_now(struct thread_state *t);

/* The rate of the time-stamp counter, measured against elapsed time since the process's start; the longer, the better.
 */
void work_calibrate(uint64_t start_ticks, uint64_t start_ns);

#endif
