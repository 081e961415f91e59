/* The longest chain of work in the task graph of OpenMP, computed online with logical clocks (after OMP-WHIP, with the
 * semantics of doc/parallelism.md).
 *
 * Context: RT, in callbacks, inside rt_enter() or with `inside` raised.  Handlers only add samples to the running
 * fragment.  Each task has a clock: the length of the longest chain of work that ends at its current point.  What a
 * task runs between two events, a fragment, is added to its clock, and joins take the maximum.  A task is named by its
 * index, which its data word holds; the structure lives until the task and all its children have ended.  Without memory
 * a task, join or region is not followed, and the loss is counted.
 *
 * Departure from OMP-WHIP: no tree is kept in memory.  Taskgroups, dependences, ordered and doacross are joins like any
 * other, so the result is the longest path of the whole graph, not only of its series-parallel part. */
#ifndef HPCRUN_LITE_RT_SPAN_SPAN_H
#define HPCRUN_LITE_RT_SPAN_SPAN_H

#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/span/span_thread.h"

/* CTL: starts the tables of a new process; begins and ends the calling thread's part in the graph. */
void span_start(void);
void span_start_thread(struct thread_state *t);
void span_stop_thread(struct thread_state *t);

/* Threads that the program creates.  span_hand_over() keeps the clock of the calling thread's task and returns its
 * index (0: none); the caller passes it on exactly once: to span_take_over(), in the new thread or in the thread that
 * joins an ended one, or to span_forget(). */
uint32_t span_hand_over(struct thread_state *t);
void span_take_over(struct thread_state *t, uint32_t handed);
void span_forget(struct thread_state *t, uint32_t handed);

/* Implicit tasks.  region: the region's handle (sampling/region.h), or 0 for a task outside any region, whose clock
 * begins at 0.  outer: the task that shares its data word with this one, 0: none; span_implicit_end()
 * returns it.  moment: the time-stamp counter if it was read in the callback, else 0.  Returns the task's index, 0
 * without memory. */
uint32_t span_implicit_begin(struct thread_state *t, uint64_t region, uint32_t outer, uint64_t moment);
uint32_t span_implicit_end(struct thread_state *t, uint32_t task);

/* Begins the thread's initial task before the OpenMP runtime does: at the start of the process, or when the program
 * calls the tool first. */
void span_begin_early(struct thread_state *t);

/* moment: the start of the callback, for span_parallel_begin() by the work clock (span/work_clock.h), for
 * span_parallel_end() by the time-stamp counter.  forked: the time-stamp counter near the callback's end. */
void span_parallel_begin(struct thread_state *t, uint32_t creator, uint64_t region, int flags, const void *code,
                         uint64_t moment, uint64_t forked);

/* What the threads of a region know of it: see construct/construct.h.  The creator sets it after
 * span_parallel_begin(); zeros: the region is not known.  row: of the record; set to 0: that of the region. */
struct span_entry {
  uint32_t owner, record, kind, row;
  bool light;          /* this and the next one are not set, but those of the region (span/light_region.h) */
  uint32_t stands_for; /* light regions */
};
void span_set_entry(uint64_t region, struct span_entry entry);
struct span_entry span_entry(uint64_t region);
uint32_t span_region_row(uint64_t region);
void span_parallel_end(struct thread_state *t, uint64_t region, uint64_t moment);

/* The number of threads in a region's team is known. */
void span_team_size(uint64_t region, uint32_t threads);

/* Events of tasks, waits and taskgroups.  moment: the time-stamp counter if it was read already, else 0. */
void span_task_schedule(struct thread_state *t, uint32_t prior, int status, uint32_t next, uint64_t moment);

/* Waits of all kinds: barrier, taskwait, taskgroup.  dependent: a taskwait with dependences.  known: the region has not
 * ended yet. */
void span_wait_begin(struct thread_state *t, uint32_t task, int kind, bool dependent, uint64_t moment,
                     const void *code);
void span_wait_end(struct thread_state *t, uint32_t task, int kind, bool known, uint64_t moment);
/* Of a taskgroup, or of a target region, which also ends when all tasks in it have ended.  Returns the row. */
uint32_t span_taskgroup_begin(struct thread_state *t, uint32_t task, enum format_directive_kind kind, const void *code);
void span_taskgroup_end(struct thread_state *t, uint32_t task);

/* Pauses or resumes measuring.  While it is paused work does not count, but the structure of the graph is still
 * followed.  Other threads notice it at their next event. */
void span_pause(struct thread_state *t, bool pause);

/* The running task waits for a device from a tick on; until a tick, in the context of a node (0: not known).  The time
 * between is no work, but part of the task's clock.  With counted work of the program, what it reports
 * meanwhile is, in the context of the call; with hardware counters, nothing.  Outside rt_enter(). */
void span_device_begin(struct thread_state *t, uint64_t ticks);
void span_device_end(struct thread_state *t, uint64_t since, uint64_t ticks, uint32_t node);

/* In such a wait, which goes on: a part of it ends, and the next one is in another construct. */
void span_device_cut(struct thread_state *t, uint64_t since, uint64_t ticks, uint32_t node);

/* Handler: does what is due at the limits of the part of the run that is measured (rt/filter/time_filter.h). */
void span_window(struct thread_state *t);

/* Handler: adds a sample to the running fragment. */
void span_sample(struct thread_state *t, uint32_t node, uint64_t weight);

/* Ends the running fragment of the calling thread and begins a new one.  span_begin_anew(): the time since the end of
 * the last fragment is in none. */
void span_cut(struct thread_state *t);
void span_begin_anew(struct thread_state *t);

/* CTL, after span_report() for all threads: adds the thread's sums to the shared tables; adds the bounds that locks put
 * on the span. */
void span_add_sums(struct thread_state *t);
void span_add_lock_bounds(void);

/* CTL: reports the ends that the thread has not reported yet.  To be called for all threads before
 * span_offer_open_tasks() and span_add_sums(). */
void span_report(struct thread_state *t);

/* CTL: offers the clocks of the open tasks of thread t to the program's span.  self: the calling thread. */
void span_offer_open_tasks(struct thread_state *self, struct thread_state *t);

/* The longest chain that has ended.  At the end of measuring its length is the span, and output/writer.c writes its
 * critical path as contributions (FORMAT_CONTRIBUTIONS). */
const struct clock *span_program(void);

/* The program reports work of the current task, done in that context (CCT_NONE: not known). */
void span_add_work(struct thread_state *t, uint32_t node, uint64_t units);

#endif
