#include "hpcprof-lite/input/thread_trace.h"

enum { SLACK_NS = 1000000 };

/* ---- lives ---- */

uint64_t thread_life_end_ns(const struct profile_process *process, const struct profile_thread *thread)
{
  if (thread->end_ns)
    return thread->end_ns;
  if (process->unfinished) /* the thread's record is as old as its last sample */
    return process->wall_ns;
  return model_sum(thread->start_ns, thread->wall_ns);
}

/* Whether a parallel region was open when the process was killed. */
static bool killed_in_region(const struct read_file *file)
{
  const struct format_region *regions = read_records(file, FORMAT_REGIONS);
  for (uint32_t i = 0; i < read_count(file, FORMAT_REGIONS); i++)
    if (regions[i].word >> 31 & 1)
      return true;
  return false;
}

bool open_state_parked(const struct read_file *file, const struct format_wait *wait)
{
  return wait->kind == FORMAT_WAIT_REGION_END && !killed_in_region(file);
}

static struct open_state open_state_of(const struct read_file *file, const struct profile_process *process,
                                       const struct profile_thread *thread, const struct format_wait *waits,
                                       uint32_t waits_count)
{
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
  if (place && waits[place - 1].kind == FORMAT_WAIT_POOL) { /* before that the thread may have been blocked */
    state.code = constructs ? CONSTRUCT_TIME_WAIT : place;
    state.since = waits[place - 1].since;
    state.blocked = state.left = false;
    return state;
  }
  if (constructs && place && waits[place - 1].kind == FORMAT_WAIT_LOCK && !state.blocked) {
    state.lock = place; /* a lock that is waited for is no open construct */
    state.since = waits[place - 1].since;
  }
  if (state.blocked) {
    state.since = thread->blocked_since;
    state.lock_wait = place && waits[place - 1].kind == FORMAT_WAIT_LOCK;
  } else if (place && open_state_parked(file, &waits[place - 1]))
    state.code = constructs ? CONSTRUCT_TIME_WAIT : 1; /* outside all; the first place */
  return state;
}

struct thread_life thread_life_of(const struct read_file *file, const struct profile_process *process,
                                  const struct profile_thread *thread, const struct format_wait *waits,
                                  uint32_t waits_count)
{
  return (struct thread_life){.index = thread->index,
                              .begin = profile_ticks_at(process, thread->start_ns),
                              .end = profile_ticks_at(process, thread_life_end_ns(process, thread)),
                              .slack = model_rounded(SLACK_NS / process->workspan.tick_ns),
                              .open = open_state_of(file, process, thread, waits, waits_count)};
}

/* ---- events ---- */

void thread_trace_open(const struct trace_reader *reader, const struct thread_life *life, struct problems *problems,
                       struct thread_trace *trace)
{
  *trace = (struct thread_trace){.life = *life, .at = life->begin};
  trace_cursor_open(reader, life->index, problems, &trace->cursor);
}

void thread_trace_close(struct thread_trace *trace)
{
  trace_cursor_close(&trace->cursor);
}

/* Makes *event the gap until then.  Returns false if that is too short to be one. */
static bool outer_gap(struct thread_trace *trace, uint64_t until, uint64_t slack, struct trace_event *event)
{
  if (until <= trace->at || until - trace->at <= slack)
    return false;
  *event = (struct trace_event){.kind = TRACE_EVENT_GAP, .outer = true, .begin_ticks = trace->at, .end_ticks = until};
  trace->at = until;
  return true;
}

/* Takes the first state of the trace, before which there may be a gap. */
static void take_first(struct thread_trace *trace, struct trace_event *event)
{
  trace->started = true;
  trace->first = *event;
  uint64_t slack = trace->cursor.missing ? 0 : trace->life.slack;
  trace->held = outer_gap(trace, event->begin_ticks, slack, event);
}

/* What follows the trace: a gap, then the state in which the process was killed.  A stream of samples only tells
 * nothing of states. */
static bool next_after(struct thread_trace *trace, struct trace_event *event)
{
  const struct open_state *open = &trace->life.open;
  bool goes_on = open->known && trace->cursor.state_clock && (!open->limited || trace->cursor.missing);
  uint64_t since = goes_on ? MAX(open->since, trace->at) : trace->life.end;
  if (trace->ended)
    return false;
  if (outer_gap(trace, since, trace->life.slack, event))
    return true;
  trace->ended = true;
  if (!goes_on || since >= trace->life.end)
    return false;
  *event = (struct trace_event){.kind = TRACE_EVENT_STATE,
                                .begin_ticks = since,
                                .end_ticks = trace->life.end,
                                .code = open->code,
                                .blocked = open->blocked,
                                .lock_wait = open->lock_wait,
                                .lock = open->lock,
                                .own_ticks = open->left ? trace->life.end - since : 0};
  trace->at = event->end_ticks;
  return true;
}

bool thread_trace_next(struct thread_trace *trace, struct trace_event *event)
{
  if (trace->held) {
    *event = trace->first;
    trace->held = false;
  } else if (!trace_cursor_next(&trace->cursor, event)) {
    return next_after(trace, event);
  }
  if (event->kind != TRACE_EVENT_STATE && event->kind != TRACE_EVENT_GAP)
    return true;
  if (!trace->started)
    take_first(trace, event);
  trace->at = MAX(trace->at, event->end_ticks);
  return true;
}
