/* Doacross loops: iterations that wait for others, and announce their ends.
 *
 * Context: RT, in wrappers and callbacks of the thread itself, which is not inside.  A wait for an iteration that has
 * not announced its end is a wait for a lock, whose id is the loop: for the thread's state, samples, the graph, and
 * constructs, where it is an ordered construct without a body.  A thread that announces an iteration releases it.  To
 * wait for an iteration that has ended costs no reading of a clock. */
#ifndef HPCRUN_LITE_RT_DOACROSS_EVENTS_H
#define HPCRUN_LITE_RT_DOACROSS_EVENTS_H

#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/span/worksharing.h"

/* The slow parts of doacross_events_wait() and doacross_events_sink(). */
enum doacross_wait doacross_events_wait_other(struct thread_state *t, struct doacross_vector vector, const void *code);
void doacross_events_sink_follows(struct thread_state *t, struct doacross_vector vector);

/* The iteration calls the runtime at that address, to wait for the one of a vector.  vector.count: 0: as many
 * coordinates as the task's last vector had.  DOACROSS_WAITS: that ends with the next event, or with
 * doacross_events_not_waited(): there is no such iteration.  DOACROSS_PASSES: doacross_events_sink() has nothing to do
 * and need not be called. */
static inline enum doacross_wait doacross_events_wait(struct thread_state *t, struct doacross_vector vector,
                                                      const void *code)
{
  measured_of(t)->passes = worksharing_sink_is_last(t, vector);
  return measured_of(t)->passes ? DOACROSS_PASSES : doacross_events_wait_other(t, vector, code);
}

void doacross_events_not_waited(struct thread_state *t);

/* An iteration has announced its end; another one goes on that has waited for it. */
void doacross_events_source(struct thread_state *t, struct doacross_vector vector);
static inline void doacross_events_sink(struct thread_state *t, struct doacross_vector vector)
{
  bool passed = measured_of(t)->passes;
  measured_of(t)->passes = false;
  if (!passed)
    doacross_events_sink_follows(t, vector);
}

#endif
