#include "hpcrun-lite/rt/lock_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/span/worksharing.h"

void lock_events_graph_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment,
                                const void *codeptr)
{
  if (!graph_enter(t))
    return;
  /* A thread that ends a critical section can clear the address that libomp keeps for another thread. */
  if (code_in_runtime(codeptr))
    codeptr = code_of_caller(t, graph_current_data(NULL), codeptr, NULL);
  uint32_t row = worksharing_mutex_acquired(t, kind, wait_id, moment, codeptr);
  construct_events_acquired(t, kind, row, wait_id, moment);
  graph_leave(t);
}

void lock_events_acquired_again(struct thread_state *t)
{
  waiting_lock_end(t);
  construct_held_already(t);
}

void lock_events_release(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment)
{
  bool blamed = sampling_of(t)->released.samples;
  if (blamed)
    sample_charge_released(t);
  if (!graph_enter(t))
    return;
  worksharing_mutex_released(t, kind, wait_id, moment, blamed);
  construct_events_released(t, kind, wait_id, work_clock_is_time() ? moment : 0);
  graph_leave(t);
}

void lock_events_ends(struct thread_state *t, uint64_t wait_id)
{
  if (!graph_enter(t))
    return;
  worksharing_lock_ends(wait_id);
  graph_leave(t);
}
