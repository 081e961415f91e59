/* Samples in the trace (construct/trace.h).
 *
 * Context: RT, in the handler, inside rt_enter(); functions marked CTL are called by CTL. */
#ifndef HPCRUN_LITE_RT_SAMPLING_SAMPLE_TRACE_H
#define HPCRUN_LITE_RT_SAMPLING_SAMPLE_TRACE_H

#include "common/tracelog.h"
#include "hpcrun-lite/rt/sampling/blame.h"

/* CTL: a new thread, whose stream has begun. */
void sample_trace_start(struct thread_state *t);

/* Writes a sample of the event that drives the categories.  node: 0 for kinds without one; nominal: the event's period,
 * of which the weight is usually a little more or less. */
void sample_trace_put(struct thread_state *t, enum tracelog_sample_kind kind, uint32_t node, uint64_t weight,
                      uint64_t nominal);

/* What other threads have waited for a lock that the context has released. */
void sample_trace_charge(struct thread_state *t, uint32_t node, const struct blame *blame);

#endif
