/* Target constructs, as far as the host sees them: how long a thread is in one.
 *
 * Context: RT, in callbacks of the thread itself, which is not inside. */
#ifndef HPCRUN_LITE_RT_TARGET_EVENTS_H
#define HPCRUN_LITE_RT_TARGET_EVENTS_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/measured_thread.h"

/* A target construct of OMPT's kind begins in the current task, whose data word is task_data, or the innermost one of
 * that kind ends.  What it runs on the host meanwhile is serial work of the task. */
void target_events(struct thread_state *t, int kind, bool begin, const ompt_data_t *task_data, const void *codeptr);

/* An operation for a device, of a kind of constructs, begins or ends; bytes: that it moves or allocates. */
void target_events_operation(struct thread_state *t, uint32_t kind, bool begin, uint64_t bytes);

#endif
