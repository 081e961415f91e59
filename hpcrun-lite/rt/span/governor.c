#include "hpcrun-lite/rt/span/governor.h"

enum {
  FIRST_EVENTS = 32,    /* of the first interval, so that the cost is known early */
  LEAST_EVENTS = 128,   /* of the others */
  RANDOM_EVENTS = 256,  /* up to so many more */
  PERIOD_MOST = 64,     /* then those that are followed cost little beside those that are counted */
  COST_SHIFT = 4,       /* the mean cost is kept in parts of a tick, and the latest cost is that part of it */
  LONGEST_OF_MEAN = 4,  /* a timed event counts as at most so many mean ones */
  FIRST_LONGEST = 20000 /* and the first one as so many ticks */
};

static uint32_t next_random(struct governor *governor)
{
  uint32_t x = governor->random;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return governor->random = x;
}

void governor_start(struct thread_state *t)
{
  struct governor *governor = &span_of(t)->governor;
  *governor = (struct governor){.random = t->index * 0x9e3779b9u | 1, .period = 1, .period_most = 1};
  governor->interval = governor->due = FIRST_EVENTS;
  governor->since = rt_ticks();
  governor->waited = t->idle_ticks + t->lockwait_ticks;
}

void governor_time(struct thread_state *t)
{
  span_of(t)->governor.entered = rt_ticks();
}

/* Adds the cost of an event to the mean. */
static void add_cost(struct governor *governor, uint64_t ticks)
{
  uint64_t mean = governor->cost >> COST_SHIFT, most = mean ? LONGEST_OF_MEAN * mean : FIRST_LONGEST;
  ticks = ticks < most ? ticks : most;
  if (mean)
    governor->cost += ticks - mean;
  else
    governor->cost = ticks << COST_SHIFT;
}

/* Chooses the period by what share of the interval was spent. */
static void choose_period(struct governor *governor, uint64_t spent, uint64_t passed)
{
  uint64_t limit = span_process.overhead_limit;
  if (100 * spent > limit * passed && governor->period < PERIOD_MOST)
    governor->period *= 2;
  else if (200 * spent < limit * passed && governor->period > 1)
    governor->period /= 2;
  if (governor->period > governor->period_most)
    governor->period_most = governor->period;
}

uint32_t governor_gap(struct thread_state *t)
{
  struct governor *governor = &span_of(t)->governor;
  return next_random(governor) % (2 * governor->period - 1);
}

void governor_tick(struct thread_state *t)
{
  struct governor *governor = &span_of(t)->governor;
  uint64_t now = rt_ticks(), waited = t->idle_ticks + t->lockwait_ticks, waits = waited - governor->waited;
  uint64_t passed = now - governor->since;
  passed = passed > waits ? passed - waits : 0;
  uint64_t events = (uint64_t)(governor->interval - governor->due);
  add_cost(governor, now - governor->entered);
  uint64_t spent = events * (governor->cost >> COST_SHIFT);
  spent = spent < passed ? spent : passed;
  governor->events += events;
  governor->spent += spent;
  governor->since = now;
  governor->waited = waited;
  governor->interval = governor->due = LEAST_EVENTS + (int32_t)(next_random(governor) % RANDOM_EVENTS);
  if (governor_is_on())
    choose_period(governor, spent, passed);
}
