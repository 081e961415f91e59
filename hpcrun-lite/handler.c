#define _GNU_SOURCE
#include "hpcrun-lite/handler.h"

#include <poll.h>
#include <signal.h>
#include <ucontext.h>

#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/thread.h"

/* Is this the signal of an event or timer that was stopped or armed anew meanwhile?  It can be ignored: time after a
 * thread's last sample is in no sample, and the next sample of a thread that goes on includes the time. */
static bool late_sample(const siginfo_t *info)
{
  return info->si_code == SI_TIMER || (info->si_code >= POLL_IN && info->si_code <= POLL_HUP);
}

/* Calls the program's handler with the mask that the kernel would set. */
static void call_program(int number, siginfo_t *info, ucontext_t *context)
{
  struct sigaction action = own_signal_program_action();
  sigset_t mask;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
    return;
  if (action.sa_flags & (int)SA_RESETHAND)
    own_signal_set_program_action(&(struct sigaction){.sa_handler = SIG_DFL});
  sigorset(&mask, &context->uc_sigmask, &action.sa_mask);
  if (!(action.sa_flags & SA_NODEFER))
    sigaddset(&mask, SAMPLE_SIGNAL);
  libc_sigmask(SIG_SETMASK, &mask, NULL);
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
}

/* The program blocks the signal: sends it again, and blocks it on return, so that it stays pending in the kernel. */
static void leave_pending(siginfo_t *info, ucontext_t *context)
{
  own_signal_view.in_kernel = true;
  sigaddset(&context->uc_sigmask, SAMPLE_SIGNAL);
  sys_signal_again(sys_pid(), info->si_code == SI_TKILL ? sys_tid() : 0, SAMPLE_SIGNAL, info);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
  ucontext_t *interrupted = context;
  if (sample_signal(info, context))
    return;
  bool of_program = rt_self && info->si_code == SI_TIMER && own_signal_in_use(); /* the program has such a timer */
  if (late_sample(info) && !of_program) {
    if (!rt_self && !thread_stopped())
      rt_lost(NULL, FORMAT_LOST_UNKNOWN);
  } else if (own_signal_view.blocked && !sigismember(&interrupted->uc_sigmask, SAMPLE_SIGNAL)) {
    leave_pending(info, interrupted);
  } else {
    call_program(number, info, interrupted);
  }
}

bool handler_install(void)
{
  return own_signal_install(on_signal);
}
