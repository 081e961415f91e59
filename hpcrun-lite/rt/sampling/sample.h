/* The signal handler: guard, weigh, unwind, charge.  Context: RT. */
#ifndef HPCRUN_LITE_RT_SAMPLING_SAMPLE_H
#define HPCRUN_LITE_RT_SAMPLING_SAMPLE_H

#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/sampling/source.h"

/* Handles a signal if it is one of ours; returns false if it is the program's.  errno is kept. */
bool sample_signal(const siginfo_t *info, void *context);

/* CTL: the thread ends, or the process, and no further sample is taken: those that it owes since it rests after a long
 * one are the tool's.  cpu_ns: the thread's clock. */
void sample_end(struct thread_state *t, uint64_t cpu_ns);

/* Charges what waited at a lock to the context that releases it. */
void sample_charge_blame(struct thread_state *t, uint32_t node, const struct blame *blame);

#endif
