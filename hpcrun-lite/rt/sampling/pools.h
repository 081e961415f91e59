/* Pools of threads in a process without OpenMP, whose threads wait for work at one condition variable or semaphore.
 *
 * Threads that wait at one object at the same time are a pool's: from that moment on they are idle, as threads of
 * OpenMP without work are: exactly, at a wait site (waiting.h), and charged to what the running threads do meanwhile.
 * One that has waited there alone until then was blocked.  A thread that has been idle at an object is so whenever it
 * waits there, also alone; it remembers the last POOLS_KNOWN objects.  Once a thread of the process is OpenMP's, waits
 * that begin are blocked time.
 *
 * Context: RT, in calls of the thread itself, outside the handler; pools_start() CTL, under the CTL lock.  Waiting
 * threads are in lists, by a hash of the object's address.  A list's lock is held for a few instructions and waited for
 * a bounded time: if it cannot be taken, no pools are recognised any more, which is counted.  It also protects the
 * state of a thread that waits alone, which the second one turns idle.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_POOLS_H
#define HPCRUN_LITE_RT_SAMPLING_POOLS_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: a new process, in which no thread waits. */
void pools_start(void);

/* The thread begins to wait at an object of that kind; code: where the call returns to, NULL: in the OpenMP runtime.
 * blocks: it is blocked where it is not idle; otherwise it counts as busy.  Returns false if it waits for something
 * else already; the caller must then not call pools_end(). */
bool pools_begin(struct thread_state *t, const void *object, enum format_lock_kind kind, const void *code, bool blocks);

/* The wait has ended; returned: the stack is that of the call.  Does nothing in a thread that has not begun one. */
void pools_end(struct thread_state *t, bool returned);

#endif
