#include "hpcprof-lite/input/range/trace_sweep.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/heap.h"

#include <assert.h>
#include <stdlib.h>

enum { HELD_MAX = 16 };

struct source {
  struct thread_trace states;
  struct trace_cursor samples;
  struct trace_event state, sample; /* the next ones */
  /* charges whose time is not known yet, and what comes after them */
  struct trace_event held[HELD_MAX];
  unsigned held_count, held_next;
  bool has_state, has_sample;
  bool ends; /* `state` is the end of the last one */
};

struct trace_sweep {
  struct source *sources; /* [thread] */
  struct heap heap;       /* threads by the time of what comes next, without those of which nothing comes */
  uint32_t count;
};

/* ---- what comes next of a thread ---- */

static void next_state(struct source *source)
{
  source->has_state = !source->ends;
  while (!source->ends && thread_trace_next(&source->states, &source->state))
    if (source->state.kind == TRACE_EVENT_STATE || source->state.kind == TRACE_EVENT_GAP)
      return;
  source->ends = true;
  source->state.begin_ticks = source->states.at;
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

struct trace_sweep *trace_sweep_open(const struct trace_reader *reader, const struct thread_life *lives, uint32_t count,
                                     struct problems *problems)
{
  assert(lives || !count);
  struct trace_sweep *sweep = xmalloc(sizeof *sweep);
  *sweep = (struct trace_sweep){.sources = xcalloc(count, sizeof *sweep->sources), .count = count};
  sweep->heap = (struct heap){.items = xcalloc(count, sizeof *sweep->heap.items), .count = count};
  for (uint32_t i = 0; i < count; i++) {
    struct source *source = &sweep->sources[i];
    thread_trace_open(reader, &lives[i], problems, &source->states);
    trace_cursor_open(reader, lives[i].index, NULL, &source->samples); /* damage is reported once */
    next_state(source);
    next_sample(source);
    sweep->heap.items[i] = i;
  }
  heap_make(&sweep->heap, before, sweep);
  return sweep;
}

void trace_sweep_close(struct trace_sweep *sweep)
{
  for (uint32_t i = 0; i < sweep->count; i++) {
    thread_trace_close(&sweep->sources[i].states);
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
      .thread = thread, .ends = state && source->ends, .event = state ? source->state : source->sample};
  if (state)
    next_state(source);
  else
    next_sample(source);
  heap_next(&sweep->heap, source->has_state || source->has_sample, before, sweep);
  return true;
}
