/* Task dependences among the children of one task.
 *
 * Context: RT, in callbacks: additions by the thread that runs the parent, waits and ends by the thread that runs the
 * task.  For each address there are the last tasks that write it, and the tasks that have read it since.  Each task has
 * one record of its end (struct task_end in depend.c).  A task that is added waits for the ends of the tasks before it:
 * it takes those that have ended already at once, and keeps edges to the others until it begins.  So nothing is locked,
 * and threads share no counters but those of ends that a task waits for.
 *
 * Memory: for each address its last writers and readers, until the parent has ended, or waits for all its children.
 * Ends are reference-counted.  Everything comes from pools.  Without memory a dependence is lost, and the loss is
 * counted. */
#ifndef HPCRUN_LITE_RT_SPAN_DEPEND_H
#define HPCRUN_LITE_RT_SPAN_DEPEND_H

#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* The part of a task in dependences: its own edges and its end; the addresses that its children have named, a map and
 * their number; the last task that was ordered after all addresses (omp_all_memory). */
struct depend {
  struct link *edges;
  struct task_end *end, *all;
  uint32_t addresses, named;
};

/* Whether the part is in use; most tasks have no dependences. */
static inline bool depend_used(const struct depend *task)
{
  return task->edges || task->end || task->all || task->addresses;
}

/* CTL: starts the pools of a new process.  depend_stop_thread() returns a thread's free items. */
void depend_start(void);
void depend_stop_thread(struct thread_state *t);

/* Adds the dependences of a child of `parent`.  Raises the child's clock to the ends that are known already. */
void depend_add(struct thread_state *t, struct depend *parent, struct depend *child, struct clock *clock,
                const ompt_dependence_t *dependences, int count);

/* Raises the clock to the ends that depend_add() has left, and removes the edges.  name: the task's, in the graph log.
 */
void depend_wait(struct thread_state *t, struct depend *task, struct clock *clock, uint64_t name);

/* The task has ended at that clock (NULL: it has no end). */
void depend_end(struct thread_state *t, struct depend *task, const struct clock *clock, uint64_t name);

/* All children have ended, and the parent's clock is not before their ends: forgets the addresses if they are many. */
void depend_settled(struct thread_state *t, struct depend *parent);

/* Forgets all addresses: no further child will name any. */
void depend_clear(struct thread_state *t, struct depend *parent);

#endif
