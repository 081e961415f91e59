#define _GNU_SOURCE
#include "hpcrun-lite/handler.h"

#include <poll.h>
#include <signal.h>
#include <ucontext.h>

#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/control/command.h"
#include "hpcrun-lite/rt/core/arena.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/thread.h"

/* Is this the signal of an event or timer that was stopped or armed anew meanwhile?  It can be ignored: time after a
 * thread's last sample is in no sample, and the next sample of a thread that goes on includes the time. */
static bool late_sample(const siginfo_t *info)
{
  return info->si_code == SI_TIMER || (info->si_code >= POLL_IN && info->si_code <= POLL_HUP);
}

/* Takes a sample, on a stack with room. */
__attribute__((visibility("hidden"))) bool handler_sample(const siginfo_t *info, void *context);
bool handler_sample(const siginfo_t *info, void *context)
{
  struct thread_state *t = rt_thread();
  if (t && lock_events_unrecorded(t))
    lock_events_interrupted(t);
  return sample_signal(info, context);
}

/* The same on another stack: other_stack.S (arch), in assembler, with unwind information, because a sample may unwind
 * from here. */
__attribute__((visibility("hidden"))) bool handler_sample_on(const siginfo_t *info, void *context, void *stack_top);

/* The stack for samples that find too little room.  Allocated with the first one; NULL without memory. */
static void *own_stack_top(struct thread_state *t)
{
  struct measured_thread *measured = measured_of(t);
  enum { SIZE = 32 << 10 };
  if (!measured->handler_stack && rt_enter(t)) {
    if (!rt_stopped())
      measured->handler_stack = arena_new(ARENA_HANDLER, 0, FORMAT_FREE, t->index, SIZE, 1);
    rt_leave(t);
  }
  if (!measured->handler_stack)
    return NULL;
  return (void *)(((uintptr_t)arena_data(measured->handler_stack) + SIZE) & -(uintptr_t)64);
}

/* The alternate stack that the handler runs on may be as small as one signal's frame. */
static bool little_room(const ucontext_t *context)
{
  enum { NEEDED = 6 << 10 }; /* twice what samples were seen to need */
  const stack_t *alternate = &context->uc_stack;
  uintptr_t room = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)alternate->ss_sp;
  return room < alternate->ss_size && room < NEEDED;
}

static bool take_sample(const siginfo_t *info, ucontext_t *context)
{
  struct thread_state *t = rt_thread();
  if (!t || !little_room(context))
    return handler_sample(info, context);
  void *top = own_stack_top(t);
  if (top)
    return handler_sample_on(info, context, top);
  if (t->inside) /* the sample is only counted, as one in the tool, which needs little room */
    return sample_signal(info, context);
  bool sample = own_signal_absorb(info);
  if (sample)
    rt_lost(t, FORMAT_LOST_MEMORY);
  return sample;
}

/* A command of hpcrun-lite --control: the commander repeats it for another thread where this one has too little room.
 */
static bool take_command(const siginfo_t *info, const ucontext_t *context)
{
  if (little_room(context))
    return command_absorb(info);
  return command_signal(info);
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
  own_signal_begin_pending();
  sigaddset(&context->uc_sigmask, SAMPLE_SIGNAL);
  sys_signal_again(sys_pid(), info->si_code == SI_TKILL ? sys_tid() : 0, SAMPLE_SIGNAL, info);
}

/* The kernel drops a signal that is sent to a thread for which SAMPLE_SIGNAL is pending already.  A runtime that
 * interrupts its threads with that signal (Go's) waits for ever then, but it tolerates a signal too many.  It shows by
 * its alternate stacks. */
static bool replaces_other(siginfo_t *info, const ucontext_t *context)
{
  if (!(own_signal_program_action().sa_flags & SA_ONSTACK) || !context->uc_stack.ss_size)
    return false;
  *info = (siginfo_t){.si_signo = SAMPLE_SIGNAL, .si_code = SI_TKILL};
  info->si_pid = sys_pid();
  return true;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
  ucontext_t *interrupted = context;
  if (!machine_storage_of_libc())
    return;
  bool sample = take_sample(info, interrupted) || take_command(info, interrupted);
  bool of_program = rt_self && info->si_code == SI_TIMER && own_signal_in_use(); /* the program has such a timer */
  bool late = !sample && late_sample(info) && !of_program;
  if (own_signal_mask_outdated(&interrupted->uc_sigmask))
    own_signal_view.blocked = false;
  bool blocked = own_signal_view.blocked && !sigismember(&interrupted->uc_sigmask, SAMPLE_SIGNAL);
  if (late && !rt_self && !thread_stopped())
    rt_lost(NULL, FORMAT_LOST_UNKNOWN);
  if ((sample || late) && !replaces_other(info, interrupted))
    return;
  if (blocked)
    leave_pending(info, interrupted);
  else
    call_program(number, info, interrupted);
}

bool handler_install(void)
{
  return own_signal_install(on_signal);
}
