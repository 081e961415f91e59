/* Task dependences among the children of one task.
 *
 * Context: RT, in callbacks: additions by the thread that runs the parent, waits and ends by the thread that runs the
 * task.  For each address there is the last set of tasks that write it, and the set of tasks that have read it since.
 * The end of a set is a join.  A task waits for the joins of the sets before it, and offers its end to the joins of its
 * own sets.  Sets are reference-counted and come from pools.  Without memory a dependence is lost, and the loss is
 * counted. */
#ifndef HPCRUN_LITE_RT_SPAN_DEPEND_H
#define HPCRUN_LITE_RT_SPAN_DEPEND_H

#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* The part of a task in dependences: its own edges; the addresses that its children have named; the last set that was
 * ordered after all addresses (omp_all_memory). */
struct depend {
  uint32_t edges, addresses, all;
};

/* CTL: starts the pools of a new process.  depend_stop_thread() returns a thread's free items. */
void depend_start(void);
void depend_stop_thread(struct thread_state *t);

/* Adds the dependences of a child of `parent`. */
void depend_add(struct thread_state *t, struct depend *parent, struct depend *child,
                const ompt_dependence_t *dependences, int count);

/* Raises the clock to the ends of all sets that the task waits for.  name: the task's, in the graph log. */
void depend_wait(struct thread_state *t, const struct depend *task, struct clock *clock, uint64_t name);

/* Offers the clock (NULL: none) as the task's end to its sets, and removes its edges. */
void depend_end(struct thread_state *t, struct depend *task, const struct clock *clock, uint64_t name);

/* The join of a key in a map that is used for nothing else (the iterations of a doacross loop).  The caller holds a
 * lock.  NULL without memory. */
struct join *depend_join_at(struct thread_state *t, struct depend *map, uint64_t where);

/* Forgets all addresses: no further child will name any. */
void depend_clear(struct thread_state *t, struct depend *parent);

#endif
