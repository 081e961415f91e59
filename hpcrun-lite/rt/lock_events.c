#include "hpcrun-lite/rt/lock_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/span/worksharing.h"

/* A light instance begins, of a lock or critical construct.  Returns false where it is to be followed as a whole. */
static bool acquire_light(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, const void *codeptr)
{
  uint64_t stands_for = 0;
  if (construct_of(t)->light_count)
    construct_light_ends(t, wait_id); /* its release was not seen */
  if (governor_thins(t) && kind != ompt_mutex_ordered && span_of(t)->running) {
    uint32_t row = worksharing_mutex_row(t, kind, codeptr);
    if (construct_events_light(t, kind, row, wait_id, moment, &stands_for)) {
      worksharing_mutex_light(t, row, moment);
      return true;
    }
  }
  governor_begin(t, stands_for);
  return false;
}

/* The body of an instance that stands for light ones begins when the tool has done its work, which these do not have.
 */
static void begin_late(struct thread_state *t, uint64_t wait_id)
{
  uint64_t now = rt_ticks() + GRAPH_CALLBACK_TICKS;
  work_clock_begin(t, work_clock_is_time() ? now : work_clock_value(t));
  construct_acquired_late(t, wait_id, now);
}

void lock_events_graph_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment,
                                const void *codeptr)
{
  if (!graph_enter(t))
    return;
  /* A thread that ends a critical section can clear the address that libomp keeps for another thread. */
  if (code_in_runtime(codeptr))
    codeptr = code_of_caller(t, graph_current_data(NULL), codeptr, NULL);
  if (!acquire_light(t, kind, wait_id, moment, codeptr)) {
    uint32_t row = worksharing_mutex_acquired(t, kind, wait_id, moment, codeptr);
    construct_events_acquired(t, kind, row, wait_id, moment);
    if (span_of(t)->governor.stands_for)
      begin_late(t, wait_id);
  }
  graph_leave(t);
}

void lock_events_acquired_again(struct thread_state *t)
{
  waiting_lock_end(t);
  construct_held_already(t);
}

/* What the tool has done since that moment is no work. */
static void release_light_blamed(struct thread_state *t, uint64_t moment)
{
  graph_fragment_end_at(t, moment);
  graph_fragment_begin(t);
}

void lock_events_release(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment)
{
  bool blamed = sampling_of(t)->released.samples;
  if (blamed)
    sample_charge_released(t);
  if (!graph_enter(t))
    return;
  if (construct_of(t)->light_count && construct_light_ends(t, wait_id)) {
    if (blamed)
      release_light_blamed(t, moment);
  } else {
    worksharing_mutex_released(t, kind, wait_id, moment, blamed);
    construct_events_released(t, kind, wait_id, work_clock_is_time() ? moment : 0);
  }
  graph_leave(t);
}

void lock_events_ends(struct thread_state *t, uint64_t wait_id)
{
  if (!graph_enter(t))
    return;
  worksharing_lock_ends(wait_id);
  graph_leave(t);
}
