/* Worksharing constructs, and the chunks of their loops, for the graph and constructs.
 *
 * Context: RT, in callbacks of the thread itself, which is not inside.  kind: OMPT's.  The functions for runtimes that
 * do not announce chunks are described in rt/ompt.h. */
#ifndef HPCRUN_LITE_RT_LOOP_EVENTS_H
#define HPCRUN_LITE_RT_LOOP_EVENTS_H

#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* A construct begins or ends; count: of its iterations. */
void loop_events_work(struct thread_state *t, int kind, bool begin, const ompt_data_t *task_data, uint64_t count,
                      const void *codeptr);

/* The same for a masked construct. */
void loop_events_masked(struct thread_state *t, bool begin, const ompt_data_t *task_data, const void *codeptr);

/* The runtime announces a chunk, or a section. */
void loop_events_dispatch(struct thread_state *t, const ompt_data_t *task_data, int kind, ompt_data_t instance);

static inline void loop_events_call(struct thread_state *t, const struct loop_call *call)
{
  if (measured_process.no_chunks)
    measured_of(t)->loop_call = *call;
}

void loop_events_chunk(struct thread_state *t, uint64_t lower, uint64_t upper, int64_t step, enum loop_bounds bounds);
void loop_events_distributed(struct thread_state *t, const void *caller);
void loop_events_taskloop_chunk(struct thread_state *t, uint64_t lower, uint64_t upper, int64_t step);
void loop_events_chunks_unknown(void);

/* A bit of measured_process.unseen: chunks are not known. */
enum { OMPT_UNSEEN_CHUNKS = 1 << 2 };

#endif
