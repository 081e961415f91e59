/* Calls in which a thread sleeps: our signal is held back.  Context: CTL. */
#ifndef HPCRUN_LITE_INTERPOSE_BLOCKING_H
#define HPCRUN_LITE_INTERPOSE_BLOCKING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Around such a call: what begin returns goes to the end.  errno stays as it is. */
unsigned blocking_hold(bool may_wait);

/* The same around a call that works, and that a signal would end before all is done: the thread does not sleep. */
unsigned blocking_hold_signal(bool may_be_cut);
void blocking_release(unsigned held);

/* sigtimedwait() for a set with our signal: returns what is no sample. */
int blocking_await(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);

/* May a signal end a write of that size with less?  errno stays as it is. */
bool partial_io_possible(int fd, size_t size);

#endif
