/* Where tasks and regions are created.  Context: RT, inside rt_enter(). */
#ifndef HPCRUN_LITE_RT_SAMPLING_TASK_CREATION_H
#define HPCRUN_LITE_RT_SAMPLING_TASK_CREATION_H

#include "hpcrun-lite/rt/core/rt.h"

/* A task is created by the calling thread, from a task that was created as `creator` (0: an implicit one), in the
 * runtime entered at enter_frame from code.  Returns its record, 0 without memory. */
uint32_t task_creation_context(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code);

/* The context from which the runtime was entered so, in this thread's tree.  CCT_NONE without memory. */
uint32_t task_creation_node(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code);

#endif
