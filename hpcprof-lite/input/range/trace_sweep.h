/* The traces of all threads of a process, merged by time.
 *
 * Context: BATCH.  States are delivered when they begin, samples and charges at their time, so that at each of them the
 * caller knows the states of all threads.  Each thread's stream is decoded twice at the same time, for its states and
 * for its samples, since a state is written when it ends: memory is two extents for each thread, however long the trace
 * is.
 */
#ifndef HPCPROF_LITE_INPUT_RANGE_TRACE_SWEEP_H
#define HPCPROF_LITE_INPUT_RANGE_TRACE_SWEEP_H

#include "hpcprof-lite/input/thread_trace.h"

struct trace_sweep_item {
  uint32_t thread; /* position of its life */
  bool ends;       /* the thread's last state has ended: `event` has no meaning */
  struct trace_event event;
};

struct trace_sweep;

/* Begins, with a life for each thread.  Damage is reported in problems. */
struct trace_sweep *trace_sweep_open(const struct trace_reader *reader, const struct thread_life *lives, uint32_t count,
                                     struct problems *problems);
void trace_sweep_close(struct trace_sweep *sweep);

/* Fills in the next item.  Returns false after the last one. */
bool trace_sweep_next(struct trace_sweep *sweep, struct trace_sweep_item *item);

#endif
