/* Events of explicit tasks: their creation, and which task a thread runs, for waits, the graph and constructs.
 *
 * Context: RT, in callbacks of the thread itself, which is not inside.  Arguments are those of OMPT. */
#ifndef HPCRUN_LITE_RT_TASK_EVENTS_H
#define HPCRUN_LITE_RT_TASK_EVENTS_H

#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* Whether anything follows the creation of tasks with such flags. */
static inline bool task_events_follow(int flags)
{
  return span_process.online || atomic_load_explicit(&sampling_process.task_words, memory_order_relaxed) ||
         flags & ompt_task_taskwait;
}

/* Then: a task is created, or is a taskwait with dependences.  The function looks for the thread's state itself: one
 * argument more would be passed in memory. */
void task_events_create(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *new_data, int flags,
                        bool dependent, const void *codeptr);

/* For the graph: the thread switches tasks, and stays busy or idle. */
void task_events_switch(struct thread_state *t, ompt_data_t *prior, int status, ompt_data_t *next);

/* A switch by which the thread turns idle or busy, also for the graph. */
void task_events_switch_wait(struct thread_state *t, ompt_data_t *prior, int status, ompt_data_t *next);

/* The thread switches tasks. */
static inline void task_events_schedule(struct thread_state *t, ompt_data_t *prior, int status, ompt_data_t *next)
{
  if (status == ompt_taskwait_complete || (next && t->activity.idle != (next->value & RT_TASK_WAITING)))
    task_events_switch_wait(t, prior, status, next);
  else if (span_process.online)
    task_events_switch(t, prior, status, next);
}

/* See ompt_creation_begin(). */
struct creation_time task_events_creation_begin(struct thread_state *t, const void *caller, uint64_t ticks);
void task_events_creation_undeferred(struct thread_state *t, const void *caller, uint64_t ticks);
void task_events_creation_end(struct thread_state *t, const struct creation_time *outer);

/* The open creation has ended: its time goes from the construct around it to that of its tasks.  The caller has entered
 * the graph. */
void task_events_creation_ended(struct thread_state *t);

/* The dependences of a task that was created. */
void task_events_dependences(struct thread_state *t, ompt_data_t *task_data, const ompt_dependence_t *dependences,
                             int count);

#endif
