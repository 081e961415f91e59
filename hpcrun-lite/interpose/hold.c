#define _GNU_SOURCE
#include "hpcrun-lite/interpose/hold.h"

#include <errno.h>
#include <signal.h>

#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/posix_lock_events.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/mpi_calls.h"
#include "hpcrun-lite/rt/sampling/pools.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/source.h"

/* To be undone after the call. */
enum held { HELD_SIGNAL = 1, HELD_STATE = 2, HELD_TIMERS = 4 };

/* For the call that the thread is in: a handler may jump out of it. */
static __thread unsigned now_held __attribute__((tls_model("initial-exec")));

/* While the thread sleeps, workers of its regions may be sampled and the program may be killed: publishes the regions'
 * contexts before that. */
void hold_publish_regions(void)
{
  struct thread_state *t = rt_thread();
  if (!span_of(t)->open_region || !rt_enter(t))
    return;
  int saved_errno = errno;
  if (!rt_stopped() && region_publish_open(t)) /* tested inside: see rt_stopped() */
    context_publish_open(t);
  rt_leave(t);
  errno = saved_errno;
}

static unsigned hold_back(void)
{
  sigset_t own, before;
  unsigned held = 0;
  hold_publish_regions();
  if (own_signal_in_use()) { /* the program may wait for it */
    source_suspend(rt_thread());
    held = HELD_TIMERS;
  } else {
    sigemptyset(&own);
    sigaddset(&own, SAMPLE_SIGNAL);
    libc_sigmask(SIG_BLOCK, &own, &before);
    held = sigismember(&before, SAMPLE_SIGNAL) ? 0 : HELD_SIGNAL;
    own_signal_view.held = held || now_held & HELD_SIGNAL;
  }
  return held;
}

unsigned hold_wait(bool may_wait)
{
  if (!may_wait || !rt_thread() || !process.active)
    return 0;
  unsigned held = hold_back();
  held |= blame_blocked(rt_thread()) ? HELD_STATE : 0;
  now_held |= held;
  return held;
}

unsigned hold_transfer(bool may_be_cut)
{
  if (!may_be_cut || !rt_thread() || !process.active)
    return 0;
  unsigned held = hold_back();
  now_held |= held;
  return held;
}

void hold_release(unsigned held)
{
  hold_moved(held, 0, NULL);
}

static struct call_moved moved_by(ssize_t bytes, const void *code)
{
  return (struct call_moved){code, bytes > 0 ? (uint64_t)bytes : 0};
}

void hold_moved(unsigned held, ssize_t bytes, const void *code)
{
  int saved_errno = errno;
  now_held &= ~held;
  if (held & HELD_STATE && rt_thread())
    blame_returned(rt_thread(), moved_by(bytes, code));
  if (held & HELD_TIMERS && rt_thread() && !own_signal_view.in_kernel)
    source_resume(rt_thread());
  if (held & HELD_SIGNAL) {
    own_signal_view.held = false;
    own_signal_unblock();
  }
  errno = saved_errno;
}

void hold_leave(uint64_t sp)
{
  if (rt_thread()) {
    mpi_calls_left(rt_thread(), sp, false);
    sampling_of(rt_thread())->call_sleep.open = 0;
    posix_lock_events_waited(rt_thread());
  }
  if (now_held & HELD_STATE && rt_thread())
    blame_unblocked(rt_thread()); /* the stack is that of a handler */
  if (now_held)
    hold_release(now_held);
  if (rt_thread())
    pools_end(rt_thread(), false);
}

bool hold_sleep_begin(bool may_wait)
{
  if (!may_wait || !rt_thread())
    return false;
  hold_publish_regions();
  bool slept = !sampling_process.wall && blame_blocked(rt_thread());
  now_held |= slept ? HELD_STATE : 0;
  return slept;
}

void hold_sleep_end(bool slept)
{
  int saved_errno = errno;
  now_held &= slept ? ~(unsigned)HELD_STATE : ~0u;
  if (slept && rt_thread())
    blame_returned(rt_thread(), moved_by(0, NULL));
  errno = saved_errno;
}

void hold_io_switched(uint64_t position, ssize_t bytes, const void *code)
{
  struct thread_state *t = rt_thread();
  int saved_errno = errno;
  if (t && position && process.active)
    call_sleep_switched(t, position, moved_by(bytes, code));
  errno = saved_errno;
}
