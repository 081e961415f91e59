/* The series-parallel graph of OpenMP, online: logical clocks (after OMP-WHIP, with the semantics of
 * doc/parallelism.md).
 *
 * Context: RT, in callbacks, inside rt_enter() or with `inside` raised: handlers only leave samples for the fragment
 * that runs.  Each task has a record with its clock, the length of the longest chain of work that ends where the task
 * is now. What a task runs between two events, a fragment, adds to its clock; joins take the maximum.  A record is
 * named by its index, which stands in the task's data word.  It lives until the task and all its children have ended.
 *
 * Departure from OMP-WHIP: there is no tree in memory; taskgroups, dependences, ordered and doacross are joins like any
 * other, so the result is the longest path of the whole graph, not of its series-parallel part.
 */
#ifndef HPCRUN_LITE_RT_SPAN_SPAN_H
#define HPCRUN_LITE_RT_SPAN_SPAN_H

#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/core/rt.h"

void span_start(void);
void span_start_thread(struct thread_state *t);
void span_stop_thread(struct thread_state *t);

/* Threads that the program makes itself.  The creator's clock is handed to the new thread, and that of an ended thread
 * to who joins it: a record in between is kept by the caller, who passes it on once. */
uint32_t span_hand_over(struct thread_state *t);
void span_take_over(struct thread_state *t, uint32_t handed);
void span_forget(struct thread_state *t, uint32_t handed);

/* Implicit tasks.  region: handle of the region (rt/region.h), 0 for a task outside of any (it begins a clock of its
 * own, at 0).  Returns the record, 0 without memory. */
uint32_t span_implicit_begin(struct thread_state *t, uint64_t region);
/* The program speaks to the tool before the runtime has begun the thread's initial task: that task begins. */
void span_begin_early(struct thread_state *t);

void span_implicit_end(struct thread_state *t, uint32_t task);

/* moment (rt/span/work_clock.h): when the callback began. */
void span_parallel_begin(struct thread_state *t, uint32_t creator, uint64_t region, int flags, const void *code,
                         uint64_t moment);
void span_parallel_end(struct thread_state *t, uint64_t region);

/* The team of a region has so many threads. */
void span_team_size(uint64_t region, uint32_t threads);

void span_task_schedule(struct thread_state *t, uint32_t prior, int status, uint32_t next, uint64_t moment);

/* Waits of all kinds: barriers, taskwait, taskgroup.  known: the region has not ended. */
void span_wait_begin(struct thread_state *t, uint32_t task, int kind, uint64_t moment, const void *code);
void span_wait_end(struct thread_state *t, uint32_t task, int kind, bool known, uint64_t moment);
void span_taskgroup_begin(struct thread_state *t, uint32_t task, const void *code);
void span_taskgroup_end(struct thread_state *t, uint32_t task);

/* moment, here and above: the time-stamp counter if it was read already, else 0.  The wait since lock_since is no work.
 */

/* Measuring rests, or goes on: work does not count meanwhile, but the structure is followed.  Other threads take notice
 * at their next event. */
void span_pause(struct thread_state *t, bool pause);

/* A sample fell into the fragment that runs.  In the handler. */
void span_sample(struct thread_state *t, uint32_t node, uint64_t weight);

/* Brings the shared tables up to date with what the thread has done. */
void span_settle(struct thread_state *t);

/* Tells whom it concerns of the tasks that the thread has ended: of all threads, before what they have reached counts.
 */
void span_report(struct thread_state *t);

/* What an open task of a living thread has reached counts as the end of a chain, too. */
void span_reach(struct thread_state *self, struct thread_state *t);

/* The longest chain that has ended. */
const struct clock *span_program(void);

/* The program reports work of the current task, done in a context (CCT_NONE: not known). */
void span_add_work(struct thread_state *t, uint32_t node, uint64_t units);

#endif
