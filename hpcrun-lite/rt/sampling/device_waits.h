/* Threads that wait for a device: in target constructs, and in operations outside of these.
 *
 * Context: RT, in callbacks of the thread itself, outside rt_enter(), except where a function says otherwise.  The time
 * is that of all the runtime does for the construct: what it hands to the device, and waiting for that.  The thread
 * does not work meanwhile, as in a call of MPI, and other threads wait for the device through it.  Where the host is
 * the device, what it runs is work as anywhere else: then there is no such time. */
#ifndef HPCRUN_LITE_RT_SAMPLING_DEVICE_WAITS_H
#define HPCRUN_LITE_RT_SAMPLING_DEVICE_WAITS_H

#include "hpcrun-lite/rt/sampling/switches.h"

/* The thread begins to wait for the device, or has done so.  Waits nest; only the outermost one counts, unless the
 * thread is in another call or waits otherwise.  node: the context of the construct or operation; 0: not known. */
void device_waits_begin(struct thread_state *t, struct format_device *device);
void device_waits_end(struct thread_state *t, uint32_t node);

/* A copy begins in the thread's current task, as a construct of that row, or ends.  node: the context of the construct
 * around it; 0: not known.  What the task waits for the device meanwhile is the copy's. */
void device_waits_copy_begin(struct thread_state *t, uint32_t row, uint32_t node);
void device_waits_copy_end(struct thread_state *t);

static inline bool device_waits_in(const struct thread_state *t)
{
  return t->activity.call == RT_CALL_DEVICE;
}

/* Whether device_waits_end() ends the wait now, in which the thread was switched. */
static inline bool device_waits_switched(const struct thread_state *t)
{
  const struct device_wait *wait = &sampling_of(t)->device_wait;
  return wait->depth == 1 && device_waits_in(t) && switches_position(t) != wait->position;
}

/* How long the thread has slept in the wait, in ns: by what its ring still has, and the last 32 times. */
uint64_t device_waits_slept(struct thread_state *t);

/* In the handler: a sample in the wait, of that time. */
void device_waits_sampled(struct thread_state *t, uint64_t ns);

#endif
