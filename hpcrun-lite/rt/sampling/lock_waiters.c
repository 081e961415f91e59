#include "hpcrun-lite/rt/sampling/lock_waiters.h"

#include "common/order.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/lock_table.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/waiting.h"

/* A mark that is not taken back stays, so its thread lets others run, and tries for longer. */
enum { TRIES = 100, END_TRIES = 1 << 15 };

struct lock_waiters lock_waiters[1 << LOCK_WAITERS_BITS];
atomic_bool lock_waiters_used;

void lock_waiters_start(void)
{
  for (unsigned i = 0; lock_waiters_used && i < sizeof lock_waiters / sizeof *lock_waiters; i++)
    lock_waiters[i] = (struct lock_waiters){0};
  lock_waiters_used = false;
}

static bool entry_take(struct lock_waiters *entry, int tries)
{
  for (int i = 0; i < tries; i++) {
    if (!__atomic_exchange_n(&entry->lock, 1, __ATOMIC_ACQUIRE))
      return true;
    machine_relax();
    if (i % TRIES == TRIES - 1)
      sys_yield();
  }
  return false;
}

static void entry_drop(struct lock_waiters *entry)
{
  __atomic_store_n(&entry->lock, 0, __ATOMIC_RELEASE);
}

/* The site with that key at which threads wait; LOCK_WAITERS_SITES: there is none. */
static unsigned site_of(const struct lock_waiters *entry, uint64_t key)
{
  unsigned i = 0;
  while (i < LOCK_WAITERS_SITES && !(entry->sites[i].count && entry->sites[i].key == key))
    i++;
  return i;
}

/* The same, or else a free one. */
static unsigned site_or_free(const struct lock_waiters *entry, uint64_t key)
{
  unsigned i = site_of(entry, key);
  for (unsigned k = 0; i == LOCK_WAITERS_SITES && k < LOCK_WAITERS_SITES; k++)
    i = entry->sites[k].count ? i : k;
  return i;
}

bool lock_waiters_begin(uint64_t id, uint64_t key, uint64_t since)
{
  struct lock_waiters *entry = lock_waiters_of(id);
  if (!atomic_load_explicit(&lock_waiters_used, memory_order_relaxed))
    atomic_store_explicit(&lock_waiters_used, true, memory_order_relaxed);
  if (!entry_take(entry, TRIES))
    return false;
  unsigned i = !entry->id || entry->id == id ? site_or_free(entry, key) : LOCK_WAITERS_SITES;
  bool marked = i < LOCK_WAITERS_SITES;
  if (marked) {
    if (!entry->id)
      entry->released = 0; /* not while anybody waits */
    entry->sites[i].key = key;
    entry->sites[i].count++;
    entry->sites[i].since += MAX(since, entry->released);
    entry->count++;
    __atomic_store_n(&entry->id, id, __ATOMIC_RELEASE);
  }
  entry_drop(entry);
  return marked;
}

bool lock_waiters_ended(uint64_t id, uint64_t key, uint64_t since)
{
  struct lock_waiters *entry = lock_waiters_of(id);
  if (!entry_take(entry, END_TRIES))
    return false;
  unsigned i = site_of(entry, key);
  if (entry->id == id && i < LOCK_WAITERS_SITES) {
    entry->sites[i].since -= MAX(since, entry->released);
    if (!--entry->sites[i].count)
      entry->sites[i].since = 0; /* without what rounding has left */
    if (!--entry->count)
      __atomic_store_n(&entry->id, 0, __ATOMIC_RELEASE);
  }
  entry_drop(entry);
  return true;
}

void lock_waiters_take(uint64_t id, struct lock_release *release)
{
  struct lock_waiters *entry = lock_waiters_of(id);
  release->count = 0;
  if (!entry_take(entry, TRIES))
    return;
  uint64_t now = rt_measured_clock(rt_ticks());
  for (unsigned i = 0; entry->id == id && i < LOCK_WAITERS_SITES; i++) {
    uint64_t since = entry->sites[i].count * now; /* the sums may wrap around, their differences do not */
    int64_t ticks = (int64_t)(since - entry->sites[i].since);
    entry->sites[i].since = since;
    if (ticks > 0 && entry->sites[i].count) {
      release->sites[release->count].key = entry->sites[i].key;
      release->sites[release->count++].ticks = (uint64_t)ticks;
    }
  }
  entry->released = entry->id == id ? now : entry->released;
  entry_drop(entry);
}

/* ---- the context of a release ---- */

/* Unwinds at most once in a period of samples; the first ones at once. */
static bool may_unwind(struct sampling_thread *sampling, uint64_t now)
{
  enum { AT_ONCE = 64 };
  if (sampling->releases_unwound >= AT_ONCE && now < sampling->release_due)
    return false;
  const struct event *event = &sampling_process.events[MAX(sampling_process.time_event, 0)];
  uint64_t period_ns = sampling_process.time_event < 0 ? 0 : __atomic_load_n(&event->period, __ATOMIC_RELAXED);
  uint64_t tick_ns = rt_ticks_to_ns(1 << 20);
  sampling->release_due = now + rt_scale(MAX(period_ns, 1000000), 1 << 20, tick_ns);
  sampling->releases_unwound++;
  return true;
}

/* The context of a call that releases locks.  It is unwound, unless there would be too many unwinds, or others have
 * waited for a short time only: then it is that of an earlier call that returns to the same address. */
static uint32_t context_of(struct thread_state *t, const void *code, uint64_t sp, uint64_t waited_ticks)
{
  enum { SHORT_TICKS = 50000 }; /* about 20 us: ten times what an unwind takes */
  struct sampling_thread *sampling = sampling_of(t);
  enum { PLACES = sizeof sampling->releases / sizeof *sampling->releases };
  struct release_site *site = &sampling->releases[((uint64_t)code ^ (uint64_t)code >> 4) % PLACES];
  uint64_t region = region_current(t);
  bool known = site->code == code && site->node;
  if (known && site->sp == sp && site->region == region && waited_ticks < SHORT_TICKS)
    return site->node;
  if (!may_unwind(sampling, rt_ticks()))
    return known ? site->node : CCT_NONE;
  uint32_t node = context_met(t);
  *site = (struct release_site){.code = code, .sp = sp, .region = region, .node = node == CCT_NONE ? 0 : node};
  return node;
}

void lock_waiters_charge(struct thread_state *t, uint64_t id, enum format_lock_kind kind,
                         const struct lock_release *release, const void *code, uint64_t sp)
{
  rt_inside_inc(t);
  if (!rt_stopped() && !rt_paused()) {
    uint64_t ticks = 0, ns = 0;
    for (unsigned i = 0; i < release->count; i++)
      ticks += release->sites[i].ticks;
    uint32_t node = context_of(t, code, sp, ticks);
    for (unsigned i = 0; i < release->count; i++) {
      uint64_t waited_ns = rt_ticks_to_ns(release->sites[i].ticks);
      ns += waited_ns;
      if (node == CCT_NONE || !waiting_share(t, node, release->sites[i].key, waited_ns))
        rt_lost(t, node == CCT_NONE ? FORMAT_LOST_RELEASES : FORMAT_LOST_MEMORY);
    }
    lock_table_released(t, id, kind, ns, node == CCT_NONE ? 0 : node);
  }
  rt_inside_dec(t);
}
