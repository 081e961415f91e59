/* The program's handlers and signal masks: SAMPLE_SIGNAL is delivered to the tool first and is not blocked, while the
 * program sees its own settings.  Context: CTL. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/core/rt.h"

/* The alternate stack of a handler may have no room for a sample on top: the handler runs with SAMPLE_SIGNAL blocked.
 */
static const struct sigaction *with_room(const struct sigaction *action, struct sigaction *copy)
{
  if (!action || !own_signal_installed() || !(action->sa_flags & SA_ONSTACK))
    return action;
  *copy = *action;
  sigaddset(&copy->sa_mask, SAMPLE_SIGNAL);
  return copy;
}

/* Signals whose handler's mask has SAMPLE_SIGNAL only because with_room() added it. */
static bool mask_added[_NSIG];

static int set_action(int number, const struct sigaction *action, struct sigaction *old)
{
  int (*real)(int, const struct sigaction *, struct sigaction *) = libc_real(LIBC_sigaction);
  struct sigaction copy;
  int result = real(number, with_room(action, &copy), old);
  if (result != 0 || number < 1 || number >= _NSIG)
    return result;
  if (old && mask_added[number])
    sigdelset(&old->sa_mask, SAMPLE_SIGNAL);
  if (action)
    mask_added[number] =
        own_signal_installed() && action->sa_flags & SA_ONSTACK && !sigismember(&action->sa_mask, SAMPLE_SIGNAL);
  return result;
}

INTERPOSED int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old)
{
  if (number != SAMPLE_SIGNAL || !own_signal_installed())
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
  if (number != SAMPLE_SIGNAL || !own_signal_installed())
    return real(number, handler);
  sighandler_t before = own_signal_program_action().sa_handler;
  own_signal_set_program_action(&(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART});
  return before;
}

static const sigset_t *without_own(const sigset_t *set, sigset_t *copy)
{
  if (!set || !own_signal_installed() || !sigismember(set, SAMPLE_SIGNAL))
    return set;
  *copy = *set;
  sigdelset(copy, SAMPLE_SIGNAL);
  return copy;
}

/* Sets and shows the mask as the program means it.  The kernel does not block SAMPLE_SIGNAL, so that samples arrive,
 * until a signal of the program arrives. */
static int set_mask(enum libc_call call, int how, const sigset_t *set, sigset_t *old)
{
  enum { KERNEL_MASK = 8 }; /* bytes */
  int (*real)(int, const sigset_t *, sigset_t *) = libc_real(call);
  sigset_t copy, kernel_mask;
  bool before = own_signal_view.blocked;
  bool strip = how != SIG_UNBLOCK && !own_signal_view.in_kernel;
  if (set && own_signal_installed() && (how == SIG_SETMASK || sigismember(set, SAMPLE_SIGNAL) == 1))
    own_signal_view.blocked =
        how != SIG_UNBLOCK && sigismember(set, SAMPLE_SIGNAL) == 1; /* before the call: it delivers what is pending */
  int result = real(how, strip ? without_own(set, &copy) : set, &kernel_mask);
  before = before && (result != 0 || !own_signal_mask_outdated(&kernel_mask));
  if (result != 0) {
    own_signal_view.blocked = before;
    return result;
  }
  if (set)
    own_signal_mask_changed(&kernel_mask, how, set);
  if (old) {
    memcpy(old, &kernel_mask, KERNEL_MASK); /* libc writes no more; some programs have no more room */
    if (before)
      sigaddset(old, SAMPLE_SIGNAL);
    else if (own_signal_view.held)
      sigdelset(old, SAMPLE_SIGNAL);
  }
  if (!own_signal_view.blocked)
    own_signal_end_pending();
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

/* Readers of the descriptor would receive samples. */
INTERPOSED int signalfd(int fd, const sigset_t *set, int flags)
{
  int (*real)(int, const sigset_t *, int) = libc_real(LIBC_signalfd);
  sigset_t copy;
  return real(fd, without_own(set, &copy), flags);
}
