/* pthread_once() and call_once(): a thread that finds the routine begun by another one sleeps until it has ended.
 *
 * Context: CTL.  Which thread runs the routine is decided inside libc.  So a call counts as sleeping until it returns,
 * or until the routine begins in its thread, of which libc gets a function in its place.  From then on the routine may
 * leave the call by an exception, by cancellation, or by a jump: nothing is to be undone then. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <threads.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/rt/core/rt.h"

/* A call in which the routine has not begun, on the stack of its thread. */
struct once {
  void (*routine)(void);
  bool slept; /* what hold_sleep_begin() returned */
  struct once *outer;
};

static __thread struct once *innermost __attribute__((tls_model("initial-exec")));

static void run_routine(void)
{
  struct once *once = innermost;
  innermost = once->outer;
  hold_sleep_end(once->slept);
  once->slept = false;
  once->routine();
}

/* glibc: a bit of the control, once the routine has ended. */
static inline bool is_done(const int *control)
{
  enum { DONE = 2 };
  return __atomic_load_n(control, __ATOMIC_RELAXED) & DONE;
}

#define CALL_ONCE(call_real)                                                                                           \
  struct once once = {routine, hold_sleep_begin(true), innermost};                                                     \
  innermost = &once;                                                                                                   \
  call_real;                                                                                                           \
  innermost = once.outer;                                                                                              \
  hold_sleep_end(once.slept)

INTERPOSED int pthread_once(pthread_once_t *control, void (*routine)(void))
{
  int (*real)(pthread_once_t *, void (*)(void)) = libc_real(LIBC_pthread_once);
  if (is_done(control) || !rt_thread())
    return real(control, routine);
  CALL_ONCE(int result = real(control, run_routine));
  return result;
}

INTERPOSED void call_once(once_flag *flag, void (*routine)(void))
{
  void (*real)(once_flag *, void (*)(void)) = libc_real(LIBC_call_once);
  if (is_done(&flag->__data) || !rt_thread()) {
    real(flag, routine);
    return;
  }
  CALL_ONCE(real(flag, run_routine));
}
