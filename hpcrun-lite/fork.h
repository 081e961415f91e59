/* fork: the child begins a new measurement.  Children created without calling libc's fork() are not measured
 * (rt_home in rt.h).
 *
 * Context: CTL.  The lock is held while the process is copied, and no thread is in a handler, where it could hold a
 * lock of libunwind: in the child no thread would release it.
 */
#ifndef HPCRUN_LITE_FORK_H
#define HPCRUN_LITE_FORK_H

#include <stdbool.h>

/* The thread forks: what other handlers of fork() lock in it is not measured. */
extern __thread bool fork_runs __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Registers what runs around fork(): once, before the program has threads. */
void fork_start(void);

#endif
