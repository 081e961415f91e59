/* Explicit tasks: where they come from, and whom their ends are told to.
 *
 * Context: RT, in callbacks; the rules are those of rt/span/span.h.  This is what makes small tasks cheap:
 *
 * A task that is created gets no record.  What it has in common with the tasks that the same code of the same parent
 * creates, one after the other, stands in a creation: parent, group, phase, flags, and the parent's clock.  Only how
 * far that clock has moved since is the task's own, and stands in its data word.  The thread that runs the task makes
 * the record, out of memory that is its own.
 *
 * A task that ends offers its clock to its parent's children, and its group or the region's phase.  The thread keeps
 * the latest of the clocks of one creation in a place of its own, and raises its bit in the meetings that they
 * belong to: who waits there collects the places of all who have raised one.  Only when it ends a task of another
 * creation, or waits itself, does it tell.  So threads that work off the same tasks do not write to the same memory.
 */
#ifndef HPCRUN_LITE_RT_SPAN_EXPLICIT_TASK_H
#define HPCRUN_LITE_RT_SPAN_EXPLICIT_TASK_H

#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

void explicit_task_start(void);
bool explicit_task_start_thread(struct thread_state *t);
void explicit_task_stop_thread(struct thread_state *t);

/* A child of that task is created.  serial: the creator waits for it, by the program's own wish.  created: see
 * rt/sampling/task_context.h.  Returns its data word. */
uint64_t explicit_task_create(struct thread_state *t, uint32_t parent, int flags, bool serial, const void *code,
                              uint32_t created);

/* The record of a task by its data word, made if there is none yet; 0 without. */
uint32_t explicit_task_index(struct thread_state *t, ompt_data_t *data);

/* The thread is going to run the task: its record.  The word of a new task goes without it, since most tasks end before
 * anybody asks: t->running_data keeps the two together until explicit_task_publish(). */
uint32_t explicit_task_begin(struct thread_state *t, ompt_data_t *data);

/* What schedules most tasks: a new one begins, and one that t->running_data stands for ends. */
void explicit_task_start_new(struct thread_state *t, ompt_data_t *data, uint64_t moment);
void explicit_task_end_new(struct thread_state *t, const ompt_data_t *next, uint64_t moment);

/* A task begins: it waits for its dependences, and has cost a little. */
static inline void explicit_task_started(struct thread_state *t, struct task *task, uint64_t moment)
{
  if (t->task_ended)
    graph_cost(t, GRAPH_TASK, moment - t->task_ended);
  task->flags |= TASK_STARTED;
  if (task->depend.edges) {
    depend_wait(t, &task->depend, &task->now, task->name);
    task->scope.begin = task->now.base;
  }
  if (!(task->flags & TASK_SERIAL))
    task->now.burdened += t->costs[GRAPH_TASK];
}

/* From now on the thread may run something else than the task that it has begun: the word names the record. */
void explicit_task_publish(struct thread_state *t);

/* `created` of a data word of either kind. */
uint32_t explicit_task_created(uint64_t word);

/* The task goes on to another chunk of a loop, whose children are no business of this one's taskwait. */
void explicit_task_chunk(struct thread_state *t, struct task *parent);

/* The task creates no more children. */
void explicit_task_close(struct thread_state *t, struct task *parent);

/* The task has ended; its clock is final. */
void explicit_task_end(struct thread_state *t, uint32_t index);

/* It has ended, and nobody waits for it. */
void explicit_task_drop(struct thread_state *t, uint32_t index);

/* Tells whom it concerns of all tasks that the thread has ended. */
void explicit_task_report(struct thread_state *t);

/* The clock after a wait: for the children of a task, the members of a group, or a region's phase. */
void explicit_task_join_children(struct thread_state *t, struct clock *clock, uint32_t task);
void explicit_task_join_group(struct thread_state *t, struct clock *clock, uint32_t group);
void explicit_task_join_phase(struct thread_state *t, struct clock *clock, uint64_t region, uint32_t phase);

/* A task record, all zero but for what the pool needs; and one reference less. */
uint32_t explicit_task_new(struct thread_state *t);
void explicit_task_unref(struct thread_state *t, uint32_t index);

#endif
