/* The CTL lock: orders all of CTL that reads or writes the process's state.
 *
 * Context: CTL; never taken in RT.  While a thread holds the lock, no signal handler of the program runs on that thread
 * (the handler might end the process, and so need the lock), cancellation is off, floating point has its defaults, and
 * a SIGPIPE or SIGXFSZ that writing raises is discarded.  The holder's own settings are saved in static memory.
 *
 * Taking it again is possible only during an exec (lock_lend()): a handler of the program may then run and end the
 * process.
 */
#ifndef HPCRUN_LITE_LOCK_H
#define HPCRUN_LITE_LOCK_H

#include <stdbool.h>

void lock_take(void);

/* Releases the lock and restores what the matching lock_take() saved. */
void lock_drop(void);

/* In a forked child: the threads that waited for the lock are the parent's. */
void lock_inherit(void);

/* Waits until the threads that wanted the lock until now have had it and left it, for a bounded time: the program may
 * be about to forbid the system calls of that. */
void lock_settle(void);

/* Gives the holder its own signal mask and floating-point settings, and keeps the lock: an exec passes them on. */
void lock_lend(void);

/* Has the holder taken the lock more than once? */
bool lock_nested(void);

#endif
