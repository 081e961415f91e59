/* What the functions that replace libc's have in common.  INTERPOSED: the library exports these and hides all others.
 * Context: CTL. */
#ifndef HPCRUN_LITE_INTERPOSE_INTERPOSED_H
#define HPCRUN_LITE_INTERPOSE_INTERPOSED_H

#include "hpcrun-lite/rt/core/rt.h"

#define INTERPOSED __attribute__((visibility("default")))

/* In such a function: where its caller goes on, and the frame that is above the caller's. */
#define CALLER __builtin_return_address(0)
#define FRAME ((uint64_t)__builtin_frame_address(0))

/* The thread, if what it locks is measured.  Then all functions of libc are known. */
static inline struct thread_state *measured(void)
{
  return __builtin_expect(rt_home.measuring, 1) ? rt_self : NULL;
}

#endif
