/* The signal handler: guard, weigh, unwind, charge.
 *
 * Context: RT, in the handler; sample_end() CTL.  Works on the calling thread's state only.  A sample that cannot be
 * charged is dropped and counted. */
#ifndef HPCRUN_LITE_RT_SAMPLING_SAMPLE_H
#define HPCRUN_LITE_RT_SAMPLING_SAMPLE_H

#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/source.h"

/* Handles a signal if it is one of the tool's; returns false if it belongs to the program.  errno does not change.
 * Called by the signal handler (hpcrun-lite/handler.c). */
bool sample_signal(const siginfo_t *info, void *context);

/* CTL: the thread or the process ends, and no further sample is taken.  Time for which throttled samples are missing
 * counts as tool time.  cpu_ns: the thread's CPU clock. */
void sample_end(struct thread_state *t, uint64_t cpu_ns);

/* CTL, while the thread takes no samples: charges what it has counted since its last sample, with these totals now
 * (counts/counts.h), to the context of its open construct, or to the root. */
void sample_charge_open_counts(struct thread_state *t, const uint64_t *totals);

/* The thread releases a lock that has blame: takes it, while no other thread can; and charges it to the context of the
 * call. */
void sample_take_blame(struct thread_state *t, uint64_t wait_id) __attribute__((noinline, cold));
void sample_charge_released(struct thread_state *t, uint64_t wait_id, enum format_lock_kind kind)
    __attribute__((noinline, cold));

/* The thread has slept while it waited for a device, and the wait ends: charges what others waited meanwhile to the
 * context of the call, as no sample has found it. */
void sample_charge_device_sleep(struct thread_state *t) __attribute__((noinline, cold));

#endif
