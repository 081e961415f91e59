#define _GNU_SOURCE
#include "hpcrun-lite/process/own_signal.h"

#include <stdatomic.h>
#include <string.h>

#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/sampling/source.h"

__thread struct own_signal_view own_signal_view __attribute__((tls_model("initial-exec")));
static struct sigaction program_action;
static bool installed;
static atomic_bool in_use;

bool own_signal_install(void (*handler)(int, siginfo_t *, void *))
{
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  int (*real)(int, const struct sigaction *, struct sigaction *) = libc_real(LIBC_sigaction);
  struct sigaction own = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  memset(&own.sa_mask, 0xff, sizeof own.sa_mask); /* includes glibc's signal for cancellation */
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&own.sa_mask, faults[i]);
  if (real(SAMPLE_SIGNAL, &own, &program_action) != 0)
    return false;
  installed = true;
  sigset_t inherited;
  libc_sigmask(SIG_BLOCK, NULL, &inherited);
  own_signal_view.blocked = sigismember(&inherited, SAMPLE_SIGNAL) == 1;
  return true;
}

bool own_signal_installed(void)
{
  return installed;
}

struct sigaction own_signal_program_action(void)
{
  return program_action;
}

void own_signal_set_program_action(const struct sigaction *action)
{
  program_action = *action;
  if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
    atomic_store(&in_use, true);
}

bool own_signal_in_use(void)
{
  return atomic_load_explicit(&in_use, memory_order_relaxed);
}

bool own_signal_awaited(const sigset_t *set)
{
  if (!set || !installed || sigismember(set, SAMPLE_SIGNAL) != 1)
    return false;
  atomic_store(&in_use, true);
  return true;
}

bool own_signal_is_sample(const siginfo_t *info)
{
  return info->si_signo == SAMPLE_SIGNAL && rt_thread() && source_of(rt_thread(), info);
}

static void mask_own(int how)
{
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SAMPLE_SIGNAL);
  libc_sigmask(how, &own, NULL);
}

void own_signal_block(void)
{
  mask_own(SIG_BLOCK);
}

void own_signal_unblock(void)
{
  if (!own_signal_view.in_kernel)
    mask_own(SIG_UNBLOCK);
}
