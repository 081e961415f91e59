#define _GNU_SOURCE
#include "hpcrun-lite/process/own_signal.h"

#include <stdatomic.h>
#include <string.h>

#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/rt/control/command.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/sampling/source.h"

__thread struct own_signal_view own_signal_view __attribute__((tls_model("initial-exec")));
static struct sigaction program_action;
static bool installed;
static atomic_bool in_use;

static struct sigaction own_action;

static bool install_own(struct sigaction *before)
{
  int (*real)(int, const struct sigaction *, struct sigaction *) = libc_real(LIBC_sigaction);
  return real(SAMPLE_SIGNAL, &own_action, before) == 0;
}

static uint64_t bits_of(const sigset_t *set)
{
  uint64_t bits;
  memcpy(&bits, set, sizeof bits); /* the kernel's layout */
  return bits & ~(1ull << (SAMPLE_SIGNAL - 1) | 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1));
}

bool own_signal_install(void (*handler)(int, siginfo_t *, void *))
{
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  own_action = (struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  memset(&own_action.sa_mask, 0xff, sizeof own_action.sa_mask); /* includes glibc's signal for cancellation */
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&own_action.sa_mask, faults[i]);
  if (!install_own(&program_action))
    return false;
  installed = true;
  sigset_t inherited;
  libc_sigmask(SIG_BLOCK, NULL, &inherited);
  own_signal_view.blocked = sigismember(&inherited, SAMPLE_SIGNAL) == 1;
  own_signal_view.mask = bits_of(&inherited);
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
  if (!(action->sa_flags & SA_ONSTACK) || own_action.sa_flags & SA_ONSTACK)
    return;
  own_action.sa_flags |= SA_ONSTACK;
  install_own(NULL);
}

void own_signal_mask_changed(const sigset_t *kernel_mask, int how, const sigset_t *set)
{
  uint64_t *mask = &own_signal_view.mask, bits = bits_of(set);
  *mask &= bits_of(kernel_mask);
  if (how == SIG_SETMASK)
    *mask = bits;
  else if (how == SIG_BLOCK)
    *mask |= bits;
  else
    *mask &= ~bits;
}

bool own_signal_mask_outdated(const sigset_t *kernel_mask)
{
  return program_action.sa_flags & SA_ONSTACK && own_signal_view.mask & ~bits_of(kernel_mask);
}

bool own_signal_in_use(void)
{
  return atomic_load_explicit(&in_use, memory_order_relaxed);
}

bool own_signal_awaited(const sigset_t *set)
{
  if (!set || !installed || sigismember(set, SAMPLE_SIGNAL) != 1)
    return false;
  if (own_signal_view.blocked) /* else the program waits for whatever may come */
    atomic_store(&in_use, true);
  return true;
}

bool own_signal_absorb(const siginfo_t *info)
{
  if (info->si_signo == SAMPLE_SIGNAL && time_filter_signal(info)) {
    time_filter_pass();
    return true;
  }
  return info->si_signo == SAMPLE_SIGNAL && rt_thread() && (source_of(rt_thread(), info) || command_absorb(info));
}

void own_signal_begin_pending(void)
{
  own_signal_view.in_kernel = true;
  atomic_store(&in_use, true);
  if (rt_thread())
    source_suspend(rt_thread());
}

void own_signal_end_pending(void)
{
  if (!own_signal_view.in_kernel)
    return;
  own_signal_view.in_kernel = false;
  if (rt_thread())
    source_resume(rt_thread());
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
