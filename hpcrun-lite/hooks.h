/* Functions of libc that are interposed, and the signal.  Context: CTL. */
#ifndef HPCRUN_LITE_HOOKS_H
#define HPCRUN_LITE_HOOKS_H

#include <signal.h>
#include <stdbool.h>

/* Installs the signal handler and the fork and exit hooks. */
bool hooks_start(void);

/* Has thread_stop() called when the calling thread ends. */
void hooks_watch_thread_end(void);

/* Lets the calling thread receive our signal. */
void hooks_unblock_signal(void);

/* pthread_sigmask past the program's: can block our signal. */
void hooks_sigmask(int how, const sigset_t *set, sigset_t *old);

/* A set of signals to wait for, without ours (a program that waits for all must not eat it); copy is the room for it.
 */
const sigset_t *hooks_awaited(const sigset_t *set, sigset_t *copy);

/* The next definition of an interposed function, looked up once. */
void *hooks_next(void **cache, const char *name);

/* The same of a function that libc has in several versions, of which older ones take other structures. */
void *hooks_next_version(void **cache, const char *name, const char *version);

#endif
