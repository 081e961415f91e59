/* Where tasks and regions are created.
 *
 * Context: RT, in callbacks with `inside` raised.  They unwind the stack, unless it is the same, word by word, as when
 * the same task or region created something before: each thread keeps some such stacks, in memory of the
 * arena.  Without memory a function returns 0 or CCT_NONE.
 *
 * The functions take the creating task's own creation context (`creator`, 0: an implicit task), the frame with which
 * it entered the runtime, and the code address from which it did. */
#ifndef HPCRUN_LITE_RT_SAMPLING_TASK_CREATION_H
#define HPCRUN_LITE_RT_SAMPLING_TASK_CREATION_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* The creation context (sampling/task_context.h) of a task that the calling thread creates. */
uint32_t task_creation_context(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code);

/* The creation context of a task, from its data word; NULL: 0. */
uint32_t task_creation_known(const ompt_data_t *data);

/* The address in the program from which the runtime was entered.  NULL: it is not known, or lies outside the frame
 * `end`, at which the current task begins (0: not known); then the task's last act was to jump into the runtime. */
const void *task_creation_caller(struct thread_state *t, uint32_t creator, const void *code, uint64_t end);

/* The node of the thread's tree at which the runtime was entered, and what a filter found on the path to it. */
uint32_t task_creation_node(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code,
                            uint32_t *filtered);

/* Forgets the stacks that the calling thread keeps: another filter finds something else on them. */
void task_creation_forget(struct thread_state *t);

#endif
