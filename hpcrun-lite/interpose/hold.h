/* Holds SAMPLE_SIGNAL back during a call that sleeps, or that a signal would cut short.
 *
 * The sample then stands for the time that has passed, in the context of the call.  This is needed not only for `wall`
 * events: a sample of CPU time or of a counter can also interrupt a call, just before it sleeps.  If the program relies
 * on SAMPLE_SIGNAL itself (own_signal.h), the thread's timers and events are suspended instead.
 *
 * Context: CTL, in the thread that calls.  State: what is held, per thread.  Nothing can fail; in a thread that is not
 * measured nothing is done.
 */
#ifndef HPCRUN_LITE_INTERPOSE_HOLD_H
#define HPCRUN_LITE_INTERPOSE_HOLD_H

#include <stdbool.h>
#include <sys/types.h>

#include "hpcrun-lite/rt/sampling/call_sleep.h"

/* Begins a call that may sleep: the thread counts as blocked.  may_wait: false where this call cannot wait; then
 * nothing is done.  Returns what hold_release() needs. */
unsigned hold_wait(bool may_wait);

/* Begins a call that works, and that a signal may cut short: the thread does not count as blocked. */
unsigned hold_transfer(bool may_be_cut);

/* Ends the call.  errno stays as it is. */
void hold_release(unsigned held);

/* The same for a call that has moved so many bytes (below 0: it failed), and returns to that address. */
void hold_moved(unsigned held, ssize_t bytes, const void *code);

/* The thread jumps out of the call that it is in, if any, to that stack pointer. */
void hold_leave(uint64_t sp);

/* Around a call that sleeps and that signals do not interrupt: the thread counts as blocked, nothing is held back.
 * `wall` samples arrive as elsewhere.  hold_sleep_begin() returns what hold_sleep_end() needs. */
bool hold_sleep_begin(bool may_wait);
void hold_sleep_end(bool slept);

/* Around a call that mostly runs in the kernel, and sometimes sleeps there: the thread counts as blocked only while it
 * sleeps, which the kernel's records of its switches tell afterwards; nothing is held back.  Costs a few nanoseconds if
 * the thread was not switched.  A jump out of the call leaves nothing to mend.  hold_io_begin() returns what
 * hold_io_end() needs; errno stays as it is. */
void hold_io_switched(uint64_t position, ssize_t bytes, const void *code) __attribute__((noinline, cold));

static inline uint64_t hold_io_begin(void)
{
  struct thread_state *t = rt_thread();
  return t ? call_sleep_enter(t) : 0;
}

static inline void hold_io_end(uint64_t position, ssize_t bytes, const void *code)
{
  struct thread_state *t = rt_thread();
  if (t && __builtin_expect(call_sleep_left(t, position), 0))
    hold_io_switched(position, bytes, code);
}

/* Before the thread sleeps: publishes the creation contexts of its open regions.  hold_wait() and hold_sleep_begin() do
 * so, too. */
void hold_publish_regions(void);

#endif
