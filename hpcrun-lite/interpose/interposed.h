/* What the functions that replace libc's have in common.  INTERPOSED: the library exports these and hides all others.
 * Context: CTL. */
#ifndef HPCRUN_LITE_INTERPOSE_INTERPOSED_H
#define HPCRUN_LITE_INTERPOSE_INTERPOSED_H

#include <time.h>

#include "hpcrun-lite/fork.h"
#include "hpcrun-lite/rt/core/rt.h"

#define INTERPOSED __attribute__((visibility("default")))

/* In such a function: where its caller goes on, and the frame that is above the caller's. */
#define CALLER __builtin_return_address(0)
#define FRAME ((uint64_t)__builtin_frame_address(0))

/* The thread, if what it locks is measured.  Then all functions of libc are known.  While no thread forks, fork_runs is
 * not read, which is on a cache line of its own. */
static inline struct thread_state *measured(void)
{
  bool forks = __builtin_expect(atomic_load_explicit(&rt.forking, memory_order_relaxed), 0) && fork_runs;
  return __builtin_expect(rt_home.measuring && !forks, 1) ? rt_self : NULL;
}

/* Whether the calls with a time limit accept it: they refuse some before they try.  libc need not look at it if the
 * lock is free, so that it may be NULL, whatever its declaration says. */
static inline bool is_time(clockid_t clock, const struct timespec *volatile until_passed)
{
  const struct timespec *until = until_passed;
  return until && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && until->tv_nsec >= 0 &&
         until->tv_nsec < 1000000000;
}

#endif
