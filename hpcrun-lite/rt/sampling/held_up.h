/* Waits that no thread of the process could end, because threads had no processor.
 *
 * For tasks and locks it is not known which thread ends a wait.  But while all other OpenMP threads wait, or are ready
 * to run without a processor, none of them gets on.  If one of them is ready, the wait goes on because that one has no
 * processor.  If all of them wait, the wait could be over: the waiting thread had no processor, or was not woken yet.
 * Only the present wait of each other thread is known, so the result is too small if several threads waited more than
 * once during this wait.  It is too large if something outside OpenMP ends the wait, such as the event of a detached
 * task.
 *
 * Context: RT.  Called at the end of a long wait.  Reads the records of switches of all threads (switches.h).
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_HELD_UP_H
#define HPCRUN_LITE_RT_SAMPLING_HELD_UP_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* ticks: for how long no thread could end the wait.  no_core: the part of it in which another thread was ready without
 * a processor, and the waiting thread was not. */
struct held_up {
  uint64_t ticks, no_core;
};

/* The thread has waited between these moments (time-stamp counter), and has read its records.  outside: threads that
 * OpenMP does not know can end the wait, too. */
struct held_up held_up_wait(struct thread_state *t, uint64_t since, uint64_t until, bool outside);

#endif
