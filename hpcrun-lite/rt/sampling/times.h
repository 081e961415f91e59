/* What the records of threads and of the process say of times: brought up to date while the program runs, since it may
 * be killed, and at the end.
 *
 * Context: RT; what is marked, CTL.  A thread writes its own record while it lives, and CTL once it does not write any
 * more.  The record of the process is written by whoever is the first to be sampled in a while; CTL fills in what does
 * not change.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_TIMES_H
#define HPCRUN_LITE_RT_SAMPLING_TIMES_H

#include "hpcrun-lite/rt/core/rt.h"

/* CTL: the process's start, on CLOCK_MONOTONIC, by the time-stamp counter, and of its CPU time. */
void times_start(uint64_t start_ns, uint64_t start_ticks, uint64_t start_cpu_ns);

/* CTL: the record that is kept up to date from now on, NULL = none. */
void times_keep(struct format_process *process);

/* Times of the thread until now; cpu_ns: its clock, 0 if it is not known any more.  The thread may go on meanwhile. */
void times_thread(struct thread_state *t, uint64_t cpu_ns);

/* Times and losses of the process until now. */
void times_process(struct format_process *process);

/* A sample of the thread's own: its record, and that of the process, from time to time. */
void times_refresh(struct thread_state *t);

/* Nanoseconds for a difference of time-stamp counters. */
uint64_t times_ticks_to_ns(uint64_t ticks);

#endif
