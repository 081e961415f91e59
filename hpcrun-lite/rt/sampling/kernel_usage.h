/* What the kernel has counted for a thread: CPU time in user and system mode, page faults, context switches;
 * and the threads that it has created.
 *
 * Context: RT, in the handler of the thread itself; functions marked CTL are called by CTL.  Each sample asks
 * getrusage() once, and what has changed since the last sample goes to the sampled context, to the construct that is
 * open, and to the thread's record.  So the sums are exact; the place is that of the sample.  What follows the last
 * sample goes to the open construct and its context, or to the root.
 *
 * What the tool itself causes in a sample is left out: what a second getrusage() shows, where the sample has made
 * records or took more than 0.1 ms.  Otherwise it has touched only memory that was in use before, and has used as much
 * CPU time as it took.
 * Page faults of new memory are known from core/touch.h.  What remains of the tool in the program's figures is what the
 * kernel does to deliver a signal, and page faults of callbacks in code, stack and first tables that were not used
 * before.
 *
 * Where measuring was paused, figures are divided by time. */
#ifndef HPCRUN_LITE_RT_SAMPLING_KERNEL_USAGE_H
#define HPCRUN_LITE_RT_SAMPLING_KERNEL_USAGE_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: the calling thread is measured from now on, or again after an exec that failed. */
void kernel_usage_start(struct thread_state *t);

/* CTL: the calling thread or the process ends: charges what the calling thread has used until now. */
void kernel_usage_stop(struct thread_state *t);

/* A sample begins; its context is known; it ends, after so much time. */
void kernel_usage_sample_begin(struct thread_state *t);
void kernel_usage_charge(struct thread_state *t, uint32_t node);
void kernel_usage_sample_end(struct thread_state *t, uint64_t elapsed_ns);

/* The calling thread, which is inside, has created a thread, which took that long: charges it to the open construct,
 * and to its context; to the context of the call, if no construct is open. */
void kernel_usage_created(struct thread_state *t, uint64_t elapsed_ns);

/* Charges what a thread, which may be another one, has used until now to its open construct.  Of another one this is
 * CTL, and does nothing while it is inside. */
void kernel_usage_charge_open(struct thread_state *t);

#endif
