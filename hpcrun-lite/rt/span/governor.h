/* The governor: what following OpenMP's events costs each thread, and which of them are followed as a whole.
 *
 * Context: RT, in callbacks of the thread itself, between graph_enter() and graph_leave(); governor_start() at the
 * thread's start.  The state is the thread's own.  Nothing can fail.
 *
 * Cost.  About one event in 256, chosen at random, is timed from graph_enter() to graph_leave(), and ends an interval.
 * The cost of an interval is the number of its events, times the mean cost of timed events.  It does not contain what
 * the tool does outside graph_enter() and graph_leave().  A timed event counts as at most four mean ones, because the
 * thread may have been switched out in it.
 *
 * Limit.  Where the cost is more than span_process.overhead_limit percent of the interval, without the thread's waits,
 * the thread's period doubles, up to a maximum; where it is less than half of the limit, the period is halved.  Of the
 * instances of a lock, critical or atomic construct, one in `period` is followed as a whole, chosen at random.  The
 * others are light: they are counted, and their waits are measured.  A followed one stands for the light ones before
 * it.  Regions likewise: see span/light_region.h.  Of tasks, only creations are left out: see span/plain_task.h. */
#ifndef HPCRUN_LITE_RT_SPAN_GOVERNOR_H
#define HPCRUN_LITE_RT_SPAN_GOVERNOR_H

#include "hpcrun-lite/rt/span/span_thread.h"

enum { GOVERNOR_OFF = 100 /* as the limit: everything is followed as a whole */ };

/* CTL: the calling thread begins. */
void governor_start(struct thread_state *t);

/* An event begins that is timed; it ends. */
void governor_time(struct thread_state *t) __attribute__((noinline));
void governor_tick(struct thread_state *t) __attribute__((noinline));

/* An event begins to use the graph, and ends. */
static inline void governor_enter(struct thread_state *t)
{
  if (__builtin_expect(--span_of(t)->governor.due <= 0, 0))
    governor_time(t);
}

static inline void governor_leave(struct thread_state *t)
{
  if (__builtin_expect(span_of(t)->governor.due <= 0, 0))
    governor_tick(t);
}

/* Both at once, for an event that is not timed. */
static inline bool governor_counts_only(const struct thread_state *t)
{
  return span_of(t)->governor.due > 1;
}

static inline void governor_count(struct thread_state *t)
{
  span_of(t)->governor.due--;
}

/* The event that has begun last goes on in another use of the graph, which counts it. */
static inline void governor_take_back(struct thread_state *t)
{
  span_of(t)->governor.due++;
}

/* How many events the thread has followed. */
static inline uint64_t governor_events(const struct thread_state *t)
{
  const struct governor *governor = &span_of(t)->governor;
  return governor->events + (uint64_t)(governor->interval - governor->due);
}

/* How many light instances precede the next one that is followed: on average one less than the period. */
uint32_t governor_gap(struct thread_state *t);

/* Whether there is a limit. */
static inline bool governor_is_on(void)
{
  return __builtin_expect(span_process.overhead_limit != GOVERNOR_OFF, 0);
}

static inline bool governor_thins(const struct thread_state *t)
{
  return span_of(t)->governor.period > 1;
}

/* An instance that is followed as a whole, and stands for so many light ones, has begun with that many events. */
static inline void governor_begin_at(struct thread_state *t, uint64_t events, uint64_t stands_for)
{
  span_of(t)->governor.begun = events;
  span_of(t)->governor.stands_for = stands_for;
}

/* It begins now. */
static inline void governor_begin(struct thread_state *t, uint64_t stands_for)
{
  governor_begin_at(t, governor_events(t), stands_for);
}

/* It ends, and the last event before that was its begin.  Otherwise something happened inside, or it is not the one
 * that began last: then it stands for itself only. */
static inline bool governor_is_leaf(const struct thread_state *t)
{
  return governor_events(t) == span_of(t)->governor.begun + 1;
}

/* How many light instances the one stands for that ends. */
static inline uint64_t governor_stands_for(const struct thread_state *t)
{
  uint64_t light = span_of(t)->governor.stands_for;
  return light && governor_is_leaf(t) ? light : 0;
}

#endif
