/* The live threads that are measured, for code that looks at the states of all of them.
 *
 * Context: RT; live_threads_start(), live_threads_add() and live_threads_remove() CTL, under the CTL lock.  The table
 * is allocated from the arena.  The memory of a state stays mapped when its thread ends, and is only reused for the
 * state of another thread: who still has a pointer to it reads that one's.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_LIVE_THREADS_H
#define HPCRUN_LITE_RT_SAMPLING_LIVE_THREADS_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: starts the table in a new process; adds a thread (false without memory), and removes it. */
void live_threads_start(void);
bool live_threads_add(struct thread_state *t);
void live_threads_remove(struct thread_state *t);

/* Numbers below live_threads() are those of the live threads, or free (NULL). */
uint32_t live_threads(void);
struct thread_state *live_thread(uint32_t number);

#endif
