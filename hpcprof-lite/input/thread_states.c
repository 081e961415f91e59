#include "hpcprof-lite/input/thread_states.h"

#include "hpcprof-lite/model/construct_tree.h"

#include <assert.h>

/* A worker enters and leaves a region of another thread while it waits. */
uint32_t thread_states_wait(const struct format_construct *construct, bool outside, uint32_t time)
{
  assert(time < CONSTRUCT_TIMES && (outside || construct));
  bool waits = time == CONSTRUCT_TIME_WAIT;
  if (outside)
    return waits ? FORMAT_WAIT_PARKED : MODEL_NONE;
  if (time == CONSTRUCT_TIME_ENTER && construct_is_lock(construct->kind))
    return FORMAT_WAIT_LOCK;
  if (construct_is_region(construct->kind) && read_is_link(construct) && time == CONSTRUCT_TIME_ENTER)
    return FORMAT_WAIT_PARKED;
  if (construct_is_region(construct->kind) && (waits || (read_is_link(construct) && time == CONSTRUCT_TIME_EXIT)))
    return FORMAT_WAIT_REGION_END;
  if (!waits)
    return MODEL_NONE;
  bool tasks = construct->kind == DIRECTIVE_TASKWAIT || construct->kind == DIRECTIVE_TASKGROUP ||
               construct->kind == DIRECTIVE_TASKLOOP;
  return tasks ? FORMAT_WAIT_TASKS : FORMAT_WAIT_BARRIER;
}

struct open_state thread_states_open(const struct profile_process *process, const struct profile_thread *thread,
                                     const struct format_wait *waits, uint32_t waits_count)
{
  assert(waits || !waits_count);
  bool constructs = process->flags & PROCESS_ONLINE;
  uint32_t place = 0;
  for (uint32_t i = 0; i < waits_count; i++)
    place = waits[i].since ? i + 1 : place;
  struct open_state state = {.known = process->unfinished && !thread->end_ns,
                             .blocked = thread->blocked_since != 0,
                             .limited = thread->lost[LOSS_TRACE] != 0,
                             .code = place,
                             .since = place ? waits[place - 1].since : 0};
  if (constructs) {
    state.code = thread->construct_open;
    state.since = thread->construct_since;
    state.left = !place && thread->construct_open % CONSTRUCT_TIMES == CONSTRUCT_TIME_EXIT;
  }
  if (constructs && place && waits[place - 1].kind == FORMAT_WAIT_LOCK && !state.blocked) {
    state.lock = place; /* a lock that is waited for is not an open construct */
    state.since = waits[place - 1].since;
  }
  if (state.blocked)
    state.since = thread->blocked_since;
  return state;
}

bool thread_states_go_on(const struct open_state *state, const struct trace_cursor *cursor)
{
  return state->known && cursor->state_clock && (!state->limited || cursor->missing);
}
