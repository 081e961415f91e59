#include "hpcrun-lite/rt/doacross_events.h"

#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/span/worksharing.h"

/* The loop of an iteration that has to wait; NULL: it has not.  The thread's tables are only read. */
static inline const struct doacross *awaited(struct thread_state *t, struct doacross_vector vector)
{
  if (!span_of(t)->end_slot || atomic_load_explicit(&rt.graph_suspended, memory_order_relaxed))
    return NULL;
  struct doacross_cursor *own = worksharing_doacross(t);
  if (!own)
    return NULL;
  if (!vector.count)
    vector.count = own->dimensions;
  return vector.count && doacross_is_announced(own, vector) ? NULL : own->loop;
}

bool doacross_events_wait(struct thread_state *t, struct doacross_vector vector, const void *code)
{
  rt_inside_inc(t);
  const struct doacross *loop = awaited(t, vector);
  rt_inside_dec(t);
  if (__builtin_expect(!loop, 1))
    return false;
  measured_of(t)->awaits = code;
  lock_events_acquire(t, ompt_mutex_ordered, (uint64_t)loop, code);
  return true;
}

/* The thread no longer waits.  Returns the moment, 0 if it is not known. */
static uint64_t leave(struct thread_state *t)
{
  measured_of(t)->awaits = NULL;
  if (!t->activity.lockwait)
    return 0;
  lock_events_waited(t, true);
  return waiting_lock_end(t);
}

static __attribute__((noinline)) void has_waited(struct thread_state *t)
{
  const void *code = measured_of(t)->awaits;
  uint64_t moment = leave(t);
  if (moment && graph_enter(t)) {
    construct_events_awaited(t, worksharing_sink_waited(t, moment, code), moment);
    graph_leave(t);
  }
  waiting_lock_released(t);
}

void doacross_events_not_waited(struct thread_state *t)
{
  if (!measured_of(t)->awaits)
    return;
  leave(t);
  construct_held_already(t);
  waiting_lock_released(t);
}

/* Others have waited for an iteration of the loop: samples of that are charged to the one that ends. */
static __attribute__((noinline, cold)) void charge(struct thread_state *t, uint64_t loop)
{
  sample_take_blame(t, loop);
  if (sampling_of(t)->released.samples)
    sample_charge_released(t, loop, (enum format_lock_kind)ompt_mutex_ordered);
}

void doacross_events_source(struct thread_state *t, struct doacross_vector vector)
{
  const struct doacross_cursor *own = worksharing_doacross(t);
  if (__builtin_expect(own && blame_pending((uint64_t)own->loop), 0))
    charge(t, (uint64_t)own->loop);
  if (!graph_enter(t))
    return;
  worksharing_source(t, vector);
  graph_leave(t);
}

void doacross_events_sink(struct thread_state *t, struct doacross_vector vector)
{
  if (measured_of(t)->awaits)
    has_waited(t);
  if (!graph_enter(t))
    return;
  worksharing_sink(t, vector);
  graph_leave(t);
}
