#include "hpcrun-lite/rt/sampling/call_sleep.h"

#include "common/order.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"

enum { SITES = sizeof((struct call_sleep *)0)->sites / sizeof *((struct call_sleep *)0)->sites };

void call_sleep_init(struct thread_state *t)
{
  sampling_of(t)->call_sleep = (struct call_sleep){.random = (rt_ticks() ^ (uint64_t)t->tid << 32) | 1};
}

/* The columns of a value record, from sampling_process.blocked_metric on. */
enum column { CALL_SLEPT, CALL_NEAR, CALL_BYTES };

static void add(struct thread_state *t, uint32_t node, enum column column, uint64_t amount)
{
  if (amount && !cct_add(t, node == CCT_NONE ? CCT_ROOT : node, sampling_process.blocked_metric + column, amount))
    rt_lost(t, FORMAT_LOST_MEMORY);
}

/* Begins the next part of the sleep in short calls. */
static void begin_part(struct call_sleep *sleep, uint64_t period_ns)
{
  sleep->random ^= sleep->random << 13;
  sleep->random ^= sleep->random >> 7;
  sleep->random ^= sleep->random << 17;
  sleep->part_ns = period_ns;
  sleep->passed_ns = 0;
  sleep->moment_ns = rt_scale(period_ns, sleep->random >> 32, 1ull << 32);
}

/* What is charged to a short call: the parts whose moments are in it. */
static uint64_t chosen(struct call_sleep *sleep, uint64_t ns, uint64_t period_ns)
{
  uint64_t charged = 0;
  while (ns) {
    if (sleep->passed_ns == sleep->part_ns)
      begin_part(sleep, period_ns);
    uint64_t step = MIN(ns, sleep->part_ns - sleep->passed_ns);
    if (sleep->moment_ns >= sleep->passed_ns && sleep->moment_ns < sleep->passed_ns + step)
      charged += sleep->part_ns;
    sleep->passed_ns += step;
    ns -= step;
  }
  return charged;
}

/* The place of the bytes of a call's line; NULL: it has none. */
static struct call_bytes *bytes_of(struct thread_state *t, const void *code)
{
  struct call_bytes *sites = sampling_of(t)->call_sleep.sites;
  for (unsigned i = 0; i < SITES; i++)
    if (sites[i].bytes && sites[i].code == code)
      return &sites[i];
  return NULL;
}

/* The same, or a new place.  If there is none, what another line has left is charged to the root. */
static struct call_bytes *bytes_of_or_new(struct thread_state *t, const void *code)
{
  struct call_bytes *sites = sampling_of(t)->call_sleep.sites, *site = bytes_of(t, code);
  unsigned i = 0;
  if (site)
    return site;
  while (i < SITES - 1 && sites[i].bytes)
    i++;
  add(t, CCT_ROOT, CALL_BYTES, sites[i].bytes);
  sites[i] = (struct call_bytes){.code = code};
  return &sites[i];
}

static __attribute__((noinline)) void charge(struct thread_state *t, uint64_t ns, struct call_bytes *site)
{
  uint32_t node = context_met(t);
  add(t, node, CALL_SLEPT, ns);
  if (!site)
    return;
  add(t, node, CALL_BYTES, site->bytes);
  site->bytes = 0;
}

uint64_t call_sleep_part(struct thread_state *t, uint64_t ns)
{
  const struct event *event = &sampling_process.events[sampling_process.time_event];
  uint64_t period_ns = __atomic_load_n(&event->period, __ATOMIC_RELAXED);
  return ns <= period_ns ? chosen(&sampling_of(t)->call_sleep, ns, period_ns) : ns;
}

void call_sleep_charge(struct thread_state *t, uint64_t ticks, struct call_moved moved)
{
  if (sampling_process.time_event < 0 || sampling_process.wall || t->inside || !ticks)
    return;
  rt_inside_inc(t);
  if (!rt_stopped() && !rt_paused()) {
    struct call_bytes *site = moved.bytes ? bytes_of_or_new(t, moved.code) : bytes_of(t, moved.code);
    if (site)
      site->bytes += moved.bytes;
    uint64_t ns = call_sleep_part(t, rt_ticks_to_ns(ticks));
    if (ns)
      charge(t, ns, site);
  }
  rt_inside_dec(t);
}

void call_sleep_switched(struct thread_state *t, uint64_t position, struct call_moved moved)
{
  struct activity is = t->activity;
  if (t->inside || is.idle || is.lockwait || is.call)
    return;
  struct switched parts[3] = {{0}};
  switches_read(t, 2, (const uint64_t[]){switches_moment(t, position), rt_ticks()}, parts);
  switches_limit(t);
  uint64_t taken = sampling_of(t)->call_sleep.taken;
  sampling_of(t)->call_sleep.taken = 0; /* a call around this one has its own */
  call_sleep_charge(t, parts[1].slept + taken, moved);
}

void call_sleep_read(struct thread_state *t)
{
  struct call_sleep *sleep = &sampling_of(t)->call_sleep;
  struct switched parts[2] = {{0}};
  if (!sleep->open) {
    switches_outside(t);
    return;
  }
  switches_read(t, 1, (const uint64_t[]){switches_moment(t, sleep->open)}, parts);
  sleep->taken += parts[1].slept;
}

void call_sleep_sampled(struct thread_state *t, uint32_t node)
{
  struct switches *switches = &sampling_of(t)->switches;
  if (!sampling_process.wall)
    add(t, node, CALL_NEAR, rt_ticks_to_ns(switches->slept_outside));
  switches->slept_outside = 0;
}

void call_sleep_end(struct thread_state *t)
{
  if (t != rt_self && __atomic_load_n(&t->inside, __ATOMIC_ACQUIRE))
    return;
  for (unsigned i = 0; i < SITES; i++) {
    add(t, CCT_ROOT, CALL_BYTES, sampling_of(t)->call_sleep.sites[i].bytes);
    sampling_of(t)->call_sleep.sites[i].bytes = 0;
  }
}
