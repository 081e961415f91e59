/* Access of the callbacks to the task graph: whether they may use it now, and which task a data word names.
 *
 * Context: RT, in callbacks. */
#ifndef HPCRUN_LITE_RT_GRAPH_ACCESS_H
#define HPCRUN_LITE_RT_GRAPH_ACCESS_H

#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/governor.h"

/* See graph_enter(): the graph is suspended. */
bool graph_enter_after_flush(struct thread_state *t);

/* Begins to use the graph, for schedule events: the thread may run a plain task (span/explicit_task.h).  Returns false
 * if the graph is off or suspended: CTL reads the threads' tables once they are not inside.  Otherwise the caller ends
 * with graph_leave(). */
static inline bool graph_enter_schedule(struct thread_state *t)
{
  if (!span_of(t)->end_slot) /* threads get one where the graph is on */
    return false;
  rt_inside_inc(t);
  if (!rt_graph_suspended()) {
    governor_enter(t);
    return true;
  }
  rt_inside_dec(t);
  return graph_enter_after_flush(t);
}

/* Bundled tasks (span/bundled_task.h) are not in the times of constructs yet: those that have ended, or one that runs
 * and is a plain one no longer. */
void graph_count_bundled(struct thread_state *t);

/* explicit_task_settle(), also for the times of constructs; at the creation of a task. */
static inline void graph_settle(struct thread_state *t)
{
  explicit_task_settle(t);
  if (__builtin_expect(span_of(t)->bundled_tasks.data || span_of(t)->bundled_tasks.uncounted, 0))
    graph_count_bundled(t);
}

static inline void graph_settle_here(struct thread_state *t)
{
  explicit_task_settle_here(t);
  if (__builtin_expect(span_of(t)->bundled_tasks.data != NULL, 0))
    graph_count_bundled(t);
}

/* CTL: completes what the thread, which stands still or is the calling one, has not reported yet of tasks. */
void graph_report(struct thread_state *t);

/* The same for all other events. */
static inline bool graph_enter(struct thread_state *t)
{
  if (!graph_enter_schedule(t))
    return false;
  graph_settle(t);
  return true;
}

/* Ends the use of the graph. */
static inline void graph_leave(struct thread_state *t)
{
  governor_leave(t);
  rt_inside_dec(t);
}

/* Ends it where the event goes on: in another use of the graph, which counts it. */
static inline void graph_leave_event(struct thread_state *t)
{
  governor_take_back(t);
  rt_inside_dec(t);
}

/* The index of the current task, from its data word; a new task is the one that the thread runs. */
static inline uint32_t graph_task_of(const struct thread_state *t, const ompt_data_t *data)
{
  if (!span_process.online || !data)
    return 0;
  return data->value & RT_TASK_NEW ? span_of(t)->task : rt_task_index(data->value);
}

/* The same for the task that creates a region or task.  A task that a forked child has inherited has no index; then it
 * is the task that the thread has begun. */
static inline uint32_t graph_creator_of(const struct thread_state *t, const ompt_data_t *data)
{
  uint32_t task = graph_task_of(t, data);
  return task ? task : span_of(t)->task;
}

/* The index of a task that need not be the current one. */
uint32_t graph_any_task_of(struct thread_state *t, ompt_data_t *data);

/* The current task's data word.  At the end of a taskgroup libomp (14 to 19) passes a copy of it. */
ompt_data_t *graph_current_data(ompt_data_t *otherwise);

#endif
