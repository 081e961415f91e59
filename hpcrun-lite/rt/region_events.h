/* Events of parallel regions and implicit tasks: what a thread does, its place in the regions, the graph and
 * constructs.
 *
 * Context: RT, in callbacks of the thread itself, which is not inside.  Arguments are those of OMPT. */
#ifndef HPCRUN_LITE_RT_REGION_EVENTS_H
#define HPCRUN_LITE_RT_REGION_EVENTS_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/measured_thread.h"

/* The OpenMP runtime begins or ends to use the thread.  worker: one that the runtime has created. */
void region_events_thread_begin(struct thread_state *t, bool worker);
void region_events_thread_end(struct thread_state *t);

/* The thread creates a region, or ends the one that it has created last. */
void region_events_begin(struct thread_state *t, const ompt_frame_t *frame, ompt_data_t *parallel_data,
                         const ompt_data_t *task_data, int flags, const void *codeptr);
void region_events_end(struct thread_state *t);

/* An implicit task of the thread begins or ends. */
void region_events_implicit_begin(struct thread_state *t, const ompt_data_t *parallel_data, ompt_data_t *task_data,
                                  unsigned team_size, unsigned index, int flags);
void region_events_implicit_end(struct thread_state *t, ompt_data_t *task_data);

/* A flag of OMPT that hpcrun-lite/gomp adds: one thread runs all implicit tasks of the region. */
enum { OMPT_ONE_THREAD = 0x100 };

#endif
