/* Creation contexts of explicit tasks (--task-context creation; ICS'13, section 3.3).
 *
 * Context: RT, inside rt_enter().  A task's data word holds the index of a record that says where it was created:
 * thread and node, and as what the creating task itself was entered.  Only when a task is sampled, or creates tasks in
 * its turn, is its outermost function known: then it is `entered` below the place of its creation, or, if a task among
 * its ancestors was entered with the same function, as that one: recursive tasks are folded, and a path holds each task
 * function at most once.
 *
 * Cost: a creation unwinds the stack, but for those whose stack is the same, word by word, as at an earlier creation by
 * the same task or region.  Memory grows with distinct contexts, not with tasks.  Regions publish their creation
 * context as they begin, so that no node is moved later to which a record points.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_TASK_CONTEXT_H
#define HPCRUN_LITE_RT_SAMPLING_TASK_CONTEXT_H

#include "hpcrun-lite/rt/core/rt.h"

void task_start(void);

/* A task is created in the context of that node of the thread's tree, by a task that was entered as `creator` (0: an
 * implicit one).  Returns its record, 0 without memory. */
uint32_t task_context_create(uint32_t thread, uint32_t node, uint32_t creator);

/* As what a task is entered that was created so and whose outermost function is root (module << 32 | offset).  0
 * without memory. */
uint32_t task_context_enter(uint32_t created, uint64_t root);

/* The node of this thread's tree below which the frames of a task entered so belong. */
uint32_t task_context_node(struct thread_state *t, uint32_t entered);

#endif
