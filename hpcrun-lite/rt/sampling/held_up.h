/* Waits that nobody of the process could end, because threads had no processor.
 *
 * For tasks and locks it is not known which thread ends a wait.  But while all other OpenMP threads wait, or are ready
 * to run without a processor, nobody gets on.  If one of them is ready, that is why; if all wait, the thread itself
 * could go on, and had no processor or was not woken yet.  A thread counts as waiting only from its present wait on, so
 * that this is less than the truth where several threads have waited more than once meanwhile.  It is more where
 * something outside OpenMP ends a wait, such as the event of a detached task.
 *
 * Context: RT.  Called at the end of a long wait.  Reads the records of switches of all threads (switches.h).
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_HELD_UP_H
#define HPCRUN_LITE_RT_SAMPLING_HELD_UP_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* Ticks of a wait that were such; no_core: of these, the waiting thread itself was not ready without a processor. */
struct held_up {
  uint64_t ticks, no_core;
};

/* The thread has waited between these moments (time-stamp counter), and has read its records. */
struct held_up held_up_wait(struct thread_state *t, uint64_t since, uint64_t until);

#endif
