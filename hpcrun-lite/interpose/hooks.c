#define _GNU_SOURCE

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/thread.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/unwind.h"

#define INTERPOSED __attribute__((visibility("default")))

/* ---- signals: ours is taken before the program's handler, if it has one, and cannot be blocked ---- */

/* A handler on a stack of its own may have no room left for ours. */
static const struct sigaction *with_room(const struct sigaction *action, struct sigaction *copy)
{
  if (!action || !own_signal_installed() || !(action->sa_flags & SA_ONSTACK))
    return action;
  *copy = *action;
  sigaddset(&copy->sa_mask, RT_SIGNAL);
  return copy;
}

/* For which signals the mask of the program's handler does not have ours by its own will. */
static bool mask_added[_NSIG];

static int set_action(int number, const struct sigaction *action, struct sigaction *old)
{
  int (*real)(int, const struct sigaction *, struct sigaction *) = libc_real(LIBC_sigaction);
  struct sigaction copy;
  int result = real(number, with_room(action, &copy), old);
  if (result != 0 || number < 1 || number >= _NSIG)
    return result;
  if (old && mask_added[number])
    sigdelset(&old->sa_mask, RT_SIGNAL);
  if (action)
    mask_added[number] =
        own_signal_installed() && action->sa_flags & SA_ONSTACK && !sigismember(&action->sa_mask, RT_SIGNAL);
  return result;
}

INTERPOSED int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old)
{
  if (number != RT_SIGNAL || !own_signal_installed())
    return set_action(number, action, old);
  struct sigaction before = own_signal_program_action();
  if (action)
    own_signal_set_program_action(action);
  if (old)
    *old = before;
  return 0;
}

INTERPOSED sighandler_t signal(int number, sighandler_t handler)
{
  sighandler_t (*real)(int, sighandler_t) = libc_real(LIBC_signal);
  if (number != RT_SIGNAL || !own_signal_installed())
    return real(number, handler);
  sighandler_t before = own_signal_program_action().sa_handler;
  own_signal_set_program_action(&(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART});
  return before;
}

static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
  if (!set || !own_signal_installed() || !sigismember(set, RT_SIGNAL))
    return set;
  *copy = *set;
  sigdelset(copy, RT_SIGNAL);
  return copy;
}

/* A mask as the program sets and sees it: RT_SIGNAL is not blocked in truth, so that samples come, until one comes that
 * is the program's. */
static int set_mask(enum libc_call call, int how, const sigset_t *set, sigset_t *old)
{
  int (*real)(int, const sigset_t *, sigset_t *) = libc_real(call);
  sigset_t copy;
  bool before = own_signal_view.blocked;
  bool strip = how != SIG_UNBLOCK && !own_signal_view.truly;
  if (set && own_signal_installed() && (how == SIG_SETMASK || sigismember(set, RT_SIGNAL) == 1))
    own_signal_view.blocked =
        how != SIG_UNBLOCK && sigismember(set, RT_SIGNAL) == 1; /* before the call: what is pending comes in it */
  int result = real(how, strip ? without_ours(set, &copy) : set, old);
  if (result != 0)
    own_signal_view.blocked = before;
  else if (old && before)
    sigaddset(old, RT_SIGNAL);
  else if (old && own_signal_view.held)
    sigdelset(old, RT_SIGNAL);
  own_signal_view.truly &= own_signal_view.blocked;
  return result;
}

INTERPOSED int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
  return set_mask(LIBC_pthread_sigmask, how, set, old);
}

INTERPOSED int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
  return set_mask(LIBC_sigprocmask, how, set, old);
}

/* Readers of the descriptor would meet samples. */
INTERPOSED int signalfd(int fd, const sigset_t *set, int flags)
{
  int (*real)(int, const sigset_t *, int) = libc_real(LIBC_signalfd);
  sigset_t copy;
  return real(fd, without_ours(set, &copy), flags);
}

/* ---- threads ---- */

struct start {
  void *(*run)(void *);
  thrd_start_t run_c11;
  void *argument;
  uint32_t handed;
  bool blocked; /* the creator's mask */
};

static void *trampoline(void *argument)
{
  struct start start = *(struct start *)argument;
  uint64_t sp;
  free(argument);
  __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
  own_signal_view.blocked = start.blocked;
  thread_start(sp, start.handed);
  void *result = start.run ? start.run(start.argument) : (void *)(intptr_t)start.run_c11(start.argument);
  __asm__ volatile("" ::: "memory"); /* not a tail call: this frame marks the end of the thread's stack */
  return result;
}

static struct start *start_new(struct start start)
{
  struct start *copy = process.active ? malloc(sizeof *copy) : NULL;
  if (copy) {
    *copy = start;
    copy->handed = thread_hand_over();
    copy->blocked = own_signal_view.blocked;
  }
  return copy;
}

INTERPOSED int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*run)(void *),
                              void *restrict argument)
{
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = libc_real(LIBC_pthread_create);
  struct start *start = start_new((struct start){.run = run, .argument = argument});
  if (!start)
    return real(thread, attr, run, argument);
  int error = real(thread, attr, trampoline, start);
  if (error)
    free(start);
  return error;
}

INTERPOSED int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
  int (*real)(thrd_t *, thrd_start_t, void *) = libc_real(LIBC_thrd_create);
  struct start *start = start_new((struct start){.run_c11 = run, .argument = argument});
  if (!start)
    return real(thread, run, argument);
  int error = real(thread, (thrd_start_t)(void (*)(void))trampoline, start);
  if (error != thrd_success)
    free(start);
  return error;
}

/* ---- code that goes away ---- */

INTERPOSED int dlclose(void *handle)
{
  int (*real)(void *) = libc_real(LIBC_dlclose);
  int result = real(handle);
  if (process.active && rt_thread() && rt_enter(rt_thread())) {
    atomic_fetch_add(&rt.module_generation, 1);
    unwind_flush();
    rt_leave(rt_thread());
  } else {
    atomic_fetch_add(&rt.module_generation, 1);
  }
  return result;
}
