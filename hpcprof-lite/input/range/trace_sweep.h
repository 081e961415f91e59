/* The traces of all threads of a process, merged by time.
 *
 * Context: BATCH.  States are delivered when they begin, samples and charges at their time, so that at each of them the
 * caller knows the states of all threads.  Each thread's stream is decoded twice at the same time, for its states and
 * for its samples, since a state is written when it ends: memory is two chunks for each thread, however long the trace
 * is.
 */
#ifndef HPCPROF_LITE_INPUT_RANGE_TRACE_SWEEP_H
#define HPCPROF_LITE_INPUT_RANGE_TRACE_SWEEP_H

#include "hpcprof-lite/input/thread_states.h"

/* What the trace itself does not contain of a thread. */
struct trace_sweep_thread {
  uint32_t index;
  uint64_t begin, end;    /* of its life: the time-stamp counter */
  struct open_state open; /* the state in which the process was killed */
};

struct trace_sweep_item {
  uint32_t thread; /* position in the array of threads */
  bool ends;       /* the thread's last state has ended: `event` has no meaning */
  struct trace_event event;
};

struct trace_sweep;

/* Begins.  The arrays belong to the caller and must stay.  Damage is reported in problems. */
struct trace_sweep *trace_sweep_open(const struct trace_reader *reader, const struct trace_sweep_thread *threads,
                                     uint32_t count, double tick_ns, struct problems *problems);
void trace_sweep_close(struct trace_sweep *sweep);

/* Fills in the next item.  States and gaps of a thread tile its life.  Returns false after the last one. */
bool trace_sweep_next(struct trace_sweep *sweep, struct trace_sweep_item *item);

#endif
