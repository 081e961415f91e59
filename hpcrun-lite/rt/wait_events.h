/* Waits at barriers, taskwaits and taskgroups: what a thread does, the graph and constructs.
 *
 * Context: RT, in callbacks of the thread itself, which is not inside.  kind: OMPT's. */
#ifndef HPCRUN_LITE_RT_WAIT_EVENTS_H
#define HPCRUN_LITE_RT_WAIT_EVENTS_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/measured_thread.h"

/* The thread begins to wait, or its wait ends.  parallel_data: of a region that has not ended, if the runtime names
 * one.
 */
void wait_events_begin(struct thread_state *t, int kind, const void *codeptr, ompt_data_t *task_data);
void wait_events_end(struct thread_state *t, int kind, const ompt_data_t *parallel_data, ompt_data_t *task_data);

/* A taskgroup begins or ends. */
void wait_events_group(struct thread_state *t, bool begin, const ompt_data_t *task_data, const void *codeptr);

#endif
