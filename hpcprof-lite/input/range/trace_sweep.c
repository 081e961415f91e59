#include "hpcprof-lite/input/range/trace_sweep.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/heap.h"

#include <assert.h>
#include <stdlib.h>

/* What is delivered of a thread, in this order; what it does not have is left out. */
enum stage {
  BEGINS,   /* a hole before the first state */
  FIRST,    /* that state */
  IN_TRACE, /* the states in the trace */
  HOLE,     /* a hole after them */
  OPEN,     /* the state in which the process was killed */
  LEAVES,   /* the end */
  DONE
};

enum { HELD_MAX = 16 };

struct source {
  struct trace_cursor states, samples;
  struct trace_event state, first, sample; /* the next ones */
  /* charges whose time is not known yet, and what comes after them */
  struct trace_event held[HELD_MAX];
  unsigned held_count, held_next;
  enum stage stage; /* of what comes after `state` */
  bool has_state, has_sample;
};

struct trace_sweep {
  const struct trace_sweep_thread *threads;
  struct source *sources;
  struct heap heap; /* threads by the time of what comes next, without those of which nothing comes */
  uint32_t count;
  uint64_t slack; /* THREAD_STATES_SLACK_NS in ticks */
};

/* ---- what comes next of a thread ---- */

static bool read_state(struct source *source, struct trace_event *state)
{
  struct trace_event event;
  while (trace_cursor_next(&source->states, &event))
    if (event.kind == TRACE_EVENT_STATE || event.kind == TRACE_EVENT_GAP) {
      *state = event;
      return true;
    }
  return false;
}

static bool set_state(struct source *source, enum trace_event_kind kind, uint64_t begin, uint64_t end)
{
  assert(begin <= end);
  source->state = (struct trace_event){.kind = kind, .begin_ticks = begin, .end_ticks = end};
  return true;
}

/* Passes a stage.  Returns whether it has delivered something. */
static bool pass_stage(struct source *source, const struct trace_sweep_thread *thread, uint64_t slack)
{
  assert(source->stage < DONE);
  uint64_t since = source->state.end_ticks;
  switch (source->stage) {
  case BEGINS:
    source->stage = read_state(source, &source->first) ? FIRST : HOLE;
    return source->stage == FIRST && source->first.begin_ticks > model_sum(since, source->states.missing ? 0 : slack) &&
           set_state(source, TRACE_EVENT_GAP, since, source->first.begin_ticks);
  case FIRST:
    source->stage = IN_TRACE;
    source->state = source->first;
    return true;
  case IN_TRACE:
    if (read_state(source, &source->state))
      return true;
    source->stage = HOLE;
    return false;
  case HOLE: {
    bool follows = thread_states_go_on(&thread->open, &source->states);
    uint64_t until = thread->end;
    if (follows)
      until = thread->open.since ? thread->open.since : since;
    source->stage = follows ? OPEN : LEAVES;
    return until > model_sum(since, slack) && set_state(source, TRACE_EVENT_GAP, since, until);
  }
  case OPEN:
    source->stage = LEAVES;
    since = MAX(since, thread->open.since);
    if (thread->end <= since)
      return false;
    set_state(source, TRACE_EVENT_STATE, since, thread->end);
    source->state.code = thread->open.code;
    source->state.blocked = thread->open.blocked;
    source->state.own_ticks = thread->open.left ? thread->end - since : 0;
    return true;
  case LEAVES:
    source->stage = DONE;
    return set_state(source, TRACE_EVENT_GAP, since, since);
  default:
    return false;
  }
}

static void next_state(struct source *source, const struct trace_sweep_thread *thread, uint64_t slack)
{
  source->has_state = false;
  while (!source->has_state && source->stage != DONE)
    source->has_state = pass_stage(source, thread, slack);
}

/* Reads samples and charges into held[].  The time of a charge is that of the state's end or of the sample that comes
 * next in the trace, since a lock is released at the end of the state in which it is held. */
static void hold_samples(struct source *source)
{
  assert(source->held_next == source->held_count);
  struct trace_event event;
  source->held_count = source->held_next = 0;
  while (source->held_count < HELD_MAX && trace_cursor_next(&source->samples, &event)) {
    bool sample = event.kind == TRACE_EVENT_SAMPLE, charge = event.kind == TRACE_EVENT_CHARGE;
    for (unsigned i = 0; i < source->held_count && !charge; i++)
      source->held[i].begin_ticks = source->held[i].end_ticks = MAX(source->held[i].end_ticks, event.end_ticks);
    if (sample || charge)
      source->held[source->held_count++] = event;
    if (!charge && source->held_count)
      return;
  }
}

static void next_sample(struct source *source)
{
  uint64_t before = source->sample.end_ticks;
  if (source->held_next == source->held_count)
    hold_samples(source);
  source->has_sample = source->held_next < source->held_count;
  if (!source->has_sample)
    return;
  source->sample = source->held[source->held_next++];
  source->sample.end_ticks = MAX(source->sample.end_ticks, before);
  source->sample.begin_ticks = source->sample.end_ticks;
}

static bool state_is_next(const struct source *source)
{
  return source->has_state && (!source->has_sample || source->state.begin_ticks <= source->sample.begin_ticks);
}

/* ---- the order of the threads ---- */

static bool before(const void *context, uint32_t a, uint32_t b)
{
  const struct trace_sweep *sweep = context;
  const struct source *x = &sweep->sources[a], *y = &sweep->sources[b];
  uint64_t at = (state_is_next(x) ? &x->state : &x->sample)->begin_ticks;
  uint64_t other = (state_is_next(y) ? &y->state : &y->sample)->begin_ticks;
  assert((x->has_state || x->has_sample) && (y->has_state || y->has_sample));
  return at != other ? at < other : a < b;
}

struct trace_sweep *trace_sweep_open(const struct trace_reader *reader, const struct trace_sweep_thread *threads,
                                     uint32_t count, double tick_ns, struct problems *problems)
{
  assert(tick_ns > 0 && (threads || !count));
  struct trace_sweep *sweep = xmalloc(sizeof *sweep);
  *sweep = (struct trace_sweep){
      .threads = threads, .count = count, .slack = model_rounded(THREAD_STATES_SLACK_NS / tick_ns)};
  sweep->sources = xcalloc(count, sizeof *sweep->sources);
  sweep->heap.items = xcalloc(count, sizeof *sweep->heap.items);
  for (uint32_t i = 0; i < count; i++) {
    struct source *source = &sweep->sources[i];
    trace_cursor_open(reader, threads[i].index, problems, &source->states);
    trace_cursor_open(reader, threads[i].index, NULL, &source->samples); /* damage is reported once */
    set_state(source, TRACE_EVENT_GAP, threads[i].begin, threads[i].begin);
    next_state(source, &threads[i], sweep->slack);
    next_sample(source);
    if (source->has_state || source->has_sample)
      sweep->heap.items[sweep->heap.count++] = i;
  }
  heap_make(&sweep->heap, before, sweep);
  return sweep;
}

void trace_sweep_close(struct trace_sweep *sweep)
{
  for (uint32_t i = 0; i < sweep->count; i++) {
    trace_cursor_close(&sweep->sources[i].states);
    trace_cursor_close(&sweep->sources[i].samples);
  }
  free(sweep->sources);
  free(sweep->heap.items);
  free(sweep);
}

bool trace_sweep_next(struct trace_sweep *sweep, struct trace_sweep_item *item)
{
  if (!sweep->heap.count)
    return false;
  uint32_t thread = sweep->heap.items[0];
  struct source *source = &sweep->sources[thread];
  bool state = state_is_next(source);
  *item = (struct trace_sweep_item){
      .thread = thread, .ends = state && source->stage == DONE, .event = state ? source->state : source->sample};
  if (state)
    next_state(source, &sweep->threads[thread], sweep->slack);
  else
    next_sample(source);
  heap_next(&sweep->heap, source->has_state || source->has_sample, before, sweep);
  return true;
}
