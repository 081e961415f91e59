/* Creation contexts of explicit tasks (--task-context creation; ICS'13, section 3.3).
 *
 * Context: RT, inside rt_enter() or with `inside` raised; task_context_start() CTL.  One table, shared by all threads,
 * has two kinds of elements, named by index (0: none):
 *
 * - a creation context is where a task was created: thread and node, and the entry of the creating task;
 * - an entry is how a task was entered: its creation context, and its outermost function.
 *
 * A task's data word leads to its creation context.  Its outermost function becomes known only when the task is sampled
 * or creates tasks itself.  If an ancestor was entered with the same function, the task gets the ancestor's entry:
 * recursive tasks are merged with their ancestor, and a calling context contains each task function at most once.
 *
 * Elements are never changed or freed, so memory grows with distinct contexts, not with tasks.  Regions publish their
 * creation context when they begin (sampling/task_creation.h), so no node to which such an element points is moved
 * later. Without memory a function returns 0 or CCT_NONE, and the sample stands below the region instead. */
#ifndef HPCRUN_LITE_RT_SAMPLING_TASK_CONTEXT_H
#define HPCRUN_LITE_RT_SAMPLING_TASK_CONTEXT_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: starts the table of a new process. */
void task_context_start(void);

/* The creation context of a task at a node of that thread's tree, by a task that has the entry `creator` (0: an
 * implicit task).  filtered: what a filter found on the path to it.  0 without memory. */
uint32_t task_context_create(uint32_t thread, uint32_t node, uint32_t creator, uint32_t filtered);

/* What a filter found on the path to the creation of the task that was entered. */
uint32_t task_context_filtered(uint32_t entered);

/* The entry of a task with that creation context and that outermost function (module << 32 | offset).  0 without
 * memory. */
uint32_t task_context_enter(uint32_t creation_context, uint64_t root);

/* The node of this thread's tree below which the frames of a task with that entry belong. */
uint32_t task_context_node(struct thread_state *t, uint32_t entered);

#endif
