/* SAMPLE_SIGNAL: installed and masked by the tool, and how the program sees it.
 *
 * Samples arrive as SAMPLE_SIGNAL even if the program blocks the signal or has a handler for it.  So the program's
 * settings are kept here instead of in the kernel, and the interposed functions show them to the program.
 *
 * Context: CTL, and the signal handler.  The program's action is written by any thread, without a lock, as the kernel's
 * would be; a thread's view is written by that thread alone, in and outside the handler.  Nothing is allocated.
 */
#ifndef HPCRUN_LITE_PROCESS_OWN_SIGNAL_H
#define HPCRUN_LITE_PROCESS_OWN_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* SAMPLE_SIGNAL in the calling thread's mask. */
struct own_signal_view {
  uint64_t mask;  /* the other signals that the program blocks by calls of libc; inherited like `blocked` */
  bool blocked;   /* as the program sees it; a new thread has its creator's */
  bool in_kernel; /* blocked in the kernel's mask, too: a signal of the program is pending */
  bool held;      /* blocked by the tool for the duration of a call, which the program does not see */
};

extern __thread struct own_signal_view own_signal_view __attribute__((tls_model("initial-exec")));

/* Installs the tool's handler; takes over the program's action and the calling thread's mask.  Returns false on
 * failure. */
bool own_signal_install(void (*handler)(int, siginfo_t *, void *));
bool own_signal_installed(void);

/* The action that the program has installed, as the program sees it.  Once the program wants its handler to run on the
 * alternate stacks of its threads, the tool's does, too: the other stacks may be too small for any handler (Go's). */
struct sigaction own_signal_program_action(void);
void own_signal_set_program_action(const struct sigaction *action);

/* The program has changed the calling thread's mask through libc: how and set as for sigprocmask().  kernel_mask: as it
 * was before; signals that a siglongjmp() or a raw system call has unblocked are not in it. */
void own_signal_mask_changed(const sigset_t *kernel_mask, int how, const sigset_t *set);

/* Does the kernel's mask lack signals that the program has blocked through libc?  Then a runtime with signal stacks of
 * its own (Go's; other programs may lack them after a handler of theirs) has set the mask by a raw system call since,
 * and own_signal_view.blocked is out of date. */
bool own_signal_mask_outdated(const sigset_t *kernel_mask);

/* Does the program rely on SAMPLE_SIGNAL: has it installed a handler, or waited for the signal?  Then samples give way.
 */
bool own_signal_in_use(void);

/* Does a wait for these signals include SAMPLE_SIGNAL?  If the thread blocks it, it is in use from then on. */
bool own_signal_awaited(const sigset_t *set);

/* Is this signal, taken out of a wait, the tool's: a sample of the calling thread, a command, or the timer of a filter?
 * The timer's work is done. */
bool own_signal_absorb(const siginfo_t *info);

/* A signal of the program is pending that the thread blocks, from now on in the kernel's mask, too; and it no longer
 * is. Meanwhile the thread's timers stand still: the kernel drops a signal that is sent while a sample is pending. */
void own_signal_begin_pending(void);
void own_signal_end_pending(void);

/* Blocks SAMPLE_SIGNAL for the calling thread. */
void own_signal_block(void);

/* Lets the calling thread receive SAMPLE_SIGNAL, unless a signal of the program is pending that the program blocks. */
void own_signal_unblock(void);

#endif
