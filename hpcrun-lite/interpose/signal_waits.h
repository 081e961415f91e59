/* Waits for signals, and waits that set a signal mask: the mask includes SAMPLE_SIGNAL unless the program relies on it.
 *
 * Context: CTL.  No state.
 */
#ifndef HPCRUN_LITE_INTERPOSE_SIGNAL_WAITS_H
#define HPCRUN_LITE_INTERPOSE_SIGNAL_WAITS_H

#include <signal.h>
#include <time.h>

/* sigtimedwait() for a set with SAMPLE_SIGNAL that does not return for samples. */
int signal_waits_await(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);

#endif
