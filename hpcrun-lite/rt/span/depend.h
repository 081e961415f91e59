/* Task dependences: who waits for whom, among the children of one task.
 *
 * Context: RT, in callbacks of the thread that runs the parent (adding) or the task (waiting, ending).  At each address
 * stand the last set of tasks that write, and those that read after it.  A set's end is a join; a task waits for joins,
 * and offers its own end to those that it belongs to.  Joins live as long as somebody refers to them.
 */
#ifndef HPCRUN_LITE_RT_SPAN_DEPEND_H
#define HPCRUN_LITE_RT_SPAN_DEPEND_H

#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* Of a task: its own part in dependences, and what its children have named. */
struct depend {
  uint32_t edges, addresses, all;
};

void depend_start(void);
void depend_stop_thread(struct thread_state *t);

/* A child of `parent` names dependences. */
void depend_add(struct thread_state *t, struct depend *parent, struct depend *child,
                const ompt_dependence_t *dependences, int count);

/* Raises the clock, of the task of that name in the log, to the ends of all that the task waits for. */
void depend_wait(struct thread_state *t, const struct depend *task, struct clock *clock, uint64_t name);

/* The task of that name ends at that clock (NULL: nobody waits for it); it has no part in dependences any more. */
void depend_end(struct thread_state *t, struct depend *task, const struct clock *clock, uint64_t name);

/* The join that stands at a place of a map of its own (a doacross loop's iterations).  The caller holds a lock.  NULL
 * without memory. */
struct join *depend_join_at(struct thread_state *t, struct depend *map, uint64_t where);

/* No further children. */
void depend_clear(struct thread_state *t, struct depend *parent);

#endif
