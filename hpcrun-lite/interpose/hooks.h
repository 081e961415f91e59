/* Functions of libc that are interposed, and the signal.  Context: CTL. */
#ifndef HPCRUN_LITE_INTERPOSE_HOOKS_H
#define HPCRUN_LITE_INTERPOSE_HOOKS_H

#include <stdbool.h>

/* Installs the signal handler and the fork and exit hooks. */
bool hooks_start(void);

/* Has thread_stop() called when the calling thread ends. */
void hooks_watch_thread_end(void);

#endif
