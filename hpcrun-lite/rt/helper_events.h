/* Hidden helper threads of libomp, which run the target tasks (target nowait) of a process without a device: they are
 * the runtime's, and what they run is the program's.
 *
 * What libomp does (measured: 14.0.6, 15.0.7, 16.0.6 and 19.1.7, with code of clang 14 and 19).  For the first target
 * task it creates a thread, in whose stack there is no code of the program.  That thread, the team's initial
 * one, begins a region whose code address is in libomp, with KMP_HIDDEN_HELPER_THREADS threads (8), and sleeps until
 * the process ends.  14 to 16 do not announce it by thread_begin, 19 does, as an initial thread.  The others are
 * announced as workers.  They wait at the barrier that ends that region, where they are given target tasks: only
 * helpers run these, and helpers run nothing else.  A task is created by task_create with the flag `target` from 19 on,
 * and cannot be told from others before; task_schedule names the helper's implicit task, and then the target task.
 * libomp never uses a helper for another team, nor another thread for this one.
 *
 * Therefore: the team's initial thread is one that libomp has created (pthread_create() with a function in libomp),
 * that is not announced as a worker, and that begins a region from an address in libomp; threads that it creates are
 * the helpers.  While a helper has no task it is like a thread outside OpenMP that sleeps: its callbacks are ignored,
 * and its samples count nowhere.  In a task it has a place in the graph and in constructs like any other thread.
 * Threads that a task's own regions need are the program's.
 *
 * Not recognised: helpers of a libomp that is linked into the executable or creates threads unseen (RTLD_DEEPBIND).
 *
 * Context: RT, in callbacks of the thread itself, which is not inside.  Callbacks of other threads do not come
 * here, but for those of which OpenMP has not told yet. */
#ifndef HPCRUN_LITE_RT_HELPER_EVENTS_H
#define HPCRUN_LITE_RT_HELPER_EVENTS_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/measured_thread.h"

/* A thread is announced.  Returns whether it is a helper, or may be their initial thread: then the region that it
 * begins tells. */
bool helper_events_thread_begin(struct thread_state *t, bool worker);

/* A thread that is not announced begins a region.  Returns whether it is that of the helpers.  Otherwise, a thread for
 * which helper_events_thread_begin() has returned true is now known to be none of them. */
bool helper_events_region(struct thread_state *t, const void *codeptr);

/* An implicit task begins in a thread that OpenMP does not know. */
void helper_events_implicit_begin(struct thread_state *t, ompt_data_t *task_data);

/* Such a thread switches tasks.  Returns whether it is a helper that begins a task: then OpenMP knows it. */
bool helper_events_wakes(struct thread_state *t, const ompt_data_t *prior, int status, const ompt_data_t *next);

/* A helper goes on with another task.  Returns whether it has none any more: then helper_events_sleeps() follows, once
 * the task that it leaves has ended. */
bool helper_events_ends(struct thread_state *t, const ompt_data_t *next);
void helper_events_sleeps(struct thread_state *t);

#endif
