#include "hpcrun-lite/rt/doacross_events.h"

#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/lock_events.h"

static __attribute__((noinline)) void begin_wait(struct thread_state *t, const struct doacross *loop, const void *code)
{
  measured_of(t)->awaits = code;
  lock_events_acquire(t, ompt_mutex_ordered, (uint64_t)loop, code);
}

enum doacross_wait doacross_events_wait_other(struct thread_state *t, struct doacross_vector vector, const void *code)
{
  enum doacross_wait wait = DOACROSS_FOLLOWS;
  struct doacross_cursor *own = NULL;
  rt_inside_inc(t);
  if (span_of(t)->end_slot && !rt_graph_suspended() && (own = worksharing_doacross(t))) {
    governor_enter(t);
    wait = worksharing_sink_begins(span_of(t)->running, own, vector);
    if (wait == DOACROSS_PASSES)
      governor_leave(t);
    else
      governor_take_back(t);
  }
  rt_inside_dec(t);
  measured_of(t)->passes = wait == DOACROSS_PASSES;
  if (__builtin_expect(wait == DOACROSS_WAITS, 0))
    begin_wait(t, own->loop, code);
  return wait;
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
    construct_waited(t);
    construct_events_awaited(t, worksharing_sink_waited(t, moment, code), moment);
    graph_leave(t);
  }
  waiting_lock_released(t);
}

void doacross_events_not_waited(struct thread_state *t)
{
  if (!measured_of(t)->awaits)
    return;
  measured_of(t)->awaits = NULL;
  trace_of(t)->holder = 0;
  waiting_lock_withdraw(t);
  construct_held_already(t);
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

void doacross_events_sink_follows(struct thread_state *t, struct doacross_vector vector)
{
  if (measured_of(t)->awaits)
    has_waited(t);
  if (!graph_enter(t))
    return;
  worksharing_sink(t, vector);
  graph_leave(t);
}
