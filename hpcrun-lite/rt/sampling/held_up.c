#include "hpcrun-lite/rt/sampling/held_up.h"

#include "common/order.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/switches.h"

enum { PIECES_MAX = 8 };

/* Parts of a wait, ascending, in CLOCK_MONOTONIC ns.  What has no room is left out. */
struct pieces {
  struct switches_interval at[PIECES_MAX];
  unsigned count;
};

static void add(struct pieces *pieces, uint64_t from, uint64_t to)
{
  if (from < to && pieces->count < PIECES_MAX)
    pieces->at[pieces->count++] = (struct switches_interval){from, to};
}

static uint64_t length(const struct pieces *pieces)
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < pieces->count; i++)
    sum += pieces->at[i].to - pieces->at[i].from;
  return sum;
}

/* What both have. */
static struct pieces common_pieces(const struct pieces *a, const struct pieces *b)
{
  struct pieces both = {.count = 0};
  for (unsigned i = 0, j = 0; i < a->count && j < b->count;) {
    add(&both, MAX(a->at[i].from, b->at[j].from), MIN(a->at[i].to, b->at[j].to));
    if (a->at[i].to < b->at[j].to)
      i++;
    else
      j++;
  }
  return both;
}

/* When a thread had no processor; asleep: also while it slept. */
static struct pieces without_core(struct thread_state *t, uint64_t from, uint64_t to, bool asleep)
{
  struct pieces pieces;
  pieces.count = switches_off(t, from, to, asleep, pieces.at, PIECES_MAX - 1); /* one more may follow */
  return pieces;
}

/* Since when another thread waits (time-stamp counter); UINT64_MAX if it does not. */
static uint64_t waits_since(const struct thread_state *other)
{
  if (__atomic_load_n(&other->activity.lockwait, __ATOMIC_RELAXED))
    return __atomic_load_n(&other->lock_since, __ATOMIC_RELAXED);
  bool idle = __atomic_load_n(&other->activity.idle, __ATOMIC_RELAXED);
  return idle ? __atomic_load_n(&other->idle_since, __ATOMIC_RELAXED) : UINT64_MAX;
}

struct held_up held_up_wait(struct thread_state *t, uint64_t since, uint64_t until, bool outside)
{
  struct sys_moment now = sys_moment();
  uint64_t from = switches_ns_at(t, &now, since), to = switches_ns_at(t, &now, until), all_wait = from;
  struct pieces left = {.at = {{from, to}}, .count = from < to};
  for (uint32_t i = 0, threads = live_threads(); i < threads && left.count; i++) {
    struct thread_state *other = live_thread(i);
    if (!other || other == t || !(outside || __atomic_load_n(&other->activity.openmp, __ATOMIC_RELAXED)))
      continue;
    uint64_t waits_ticks = waits_since(other), waits = waits_ticks < until ? switches_ns_at(t, &now, waits_ticks) : to;
    waits = MAX(from, MIN(waits, to));
    struct pieces without = {.count = 0};
    if (waits > from)
      without = without_core(other, from, waits, false);
    add(&without, waits, to);
    left = common_pieces(&left, &without);
    all_wait = MAX(all_wait, waits);
  }
  if (!left.count)
    return (struct held_up){0};
  struct pieces others = {.at = {{from, all_wait}}, .count = from < all_wait}, own = without_core(t, from, to, false);
  struct pieces by_others = common_pieces(&left, &others), both = common_pieces(&by_others, &own);
  /* all others wait: this one could go on, and was not woken, or had no processor then */
  struct pieces by_own = without_core(t, all_wait, to, true);
  by_own = common_pieces(&left, &by_own);
  uint64_t no_core_ns = length(&by_others) - length(&both);
  return (struct held_up){switches_ticks_of(t, &now, length(&by_others)) +
                              switches_late(switches_ticks_of(t, &now, length(&by_own))),
                          switches_ticks_of(t, &now, no_core_ns)};
}
