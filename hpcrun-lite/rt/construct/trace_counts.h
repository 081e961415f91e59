/* Counts of events in the trace: with -t and -c, what each thread has counted in which time.
 *
 * Context: RT, in callbacks and the handler of the thread itself, with its trace on and its counters read; functions
 * marked CTL are called by CTL.  doc/format.md ("Counts of events") is normative.
 */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_TRACE_COUNTS_H
#define HPCRUN_LITE_RT_CONSTRUCT_TRACE_COUNTS_H

#include "hpcrun-lite/rt/construct/construct_thread.h"

/* totals: what the thread has counted until now.  Unless `always` is set, counts are written no more often than each
 * millisecond, about. */
void trace_counts_put(struct thread_state *t, const uint64_t *totals, bool always);

/* CTL, while the thread writes nothing: writes what counts_open() returns.  The thread's state stays the same, so that
 * this part of the trace can be taken back. */
void trace_counts_open(struct thread_state *t, const uint64_t *totals);

#endif
