#include "hpcrun-lite/rt/sampling/waiting.h"

#include "common/order.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/sampling/call_sleep.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/held_up.h"
#include "hpcrun-lite/rt/sampling/lock_table.h"
#include "hpcrun-lite/rt/sampling/mpi_table.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/switches.h"

enum {
  WAITS_FIRST = 8,
  SITES_MAX = 4096,      /* further ones count as parked */
  SEARCH_TICKS = 2500,   /* about a microsecond: looking for a task, in its queue and those of other threads */
  LOCK_COST_MOST = 5000, /* about two microseconds: at least, the rest of a longer acquisition was waiting */
  DELAY_LEAST = 5000,    /* about two microseconds: a shorter time without a processor delays nobody */
  KIND_BITS = 3          /* of a key; the code address is above */
};

_Static_assert(SITES_MAX <= UINT16_MAX, "format_wait.site has 16 bits");

void waiting_init(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  table_init(&sampling->waits, FORMAT_WAITS, ARENA_WAITS, t->index, sizeof(struct format_wait), WAITS_FIRST);
  sampling->wait_depth = 0;
  sampling->waiting = NULL;
  lock_table_init(t);
  mpi_table_init(t);
}

void waiting_release(struct thread_state *t)
{
  table_release(&sampling_of(t)->waits);
  lock_table_release(t);
  mpi_table_release(t);
}

static struct format_wait *wait_at(const struct thread_state *t, uint32_t site)
{
  return table_at(&sampling_of(t)->waits, site);
}

static uint64_t key_of(enum format_wait_kind kind, const void *code)
{
  return (uint64_t)code << KIND_BITS | kind;
}

/* Returns the new record's index, or that of parked threads; NULL in a thread without memory for any. */
static struct format_wait *site_add(struct thread_state *t, uint64_t key)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint32_t index, module = 0;
  uint64_t code = key >> KIND_BITS;
  if (sampling->waits.count >= SITES_MAX)
    return wait_at(t, 0);
  bool placed = code && (key & ((1u << KIND_BITS) - 1)) != FORMAT_WAIT_DEVICE;
  const struct format_module *in = placed ? modules_find(t, code - 1, &module) : NULL;
  struct format_wait *wait = table_next(&sampling->waits, &index);
  if (!wait)
    return sampling->waits.count ? wait_at(t, 0) : NULL;
  *wait = (struct format_wait){.kind = (uint32_t)key & ((1u << KIND_BITS) - 1),
                               .module = in ? module : 0,
                               .offset = in ? code - 1 - in->base : code,
                               .key = key,
                               .site = (uint16_t)index};
  table_publish(&sampling->waits);
  return wait;
}

/* Whether a record is that of a site.  Code of an unloaded module had the same key as other code that is there now. */
static bool is_site(struct thread_state *t, const struct format_wait *wait, uint64_t key)
{
  return wait->key == key && (!wait->module || modules_still(t, (key >> KIND_BITS) - 1, wait->module));
}

/* Finds or adds a site.  The caller is inside.  The first record is always that of parked threads. */
static struct format_wait *site_find(struct thread_state *t, uint64_t key)
{
  if (!sampling_of(t)->waits.count && key != WAITING_PARKED)
    site_add(t, WAITING_PARKED);
  for (uint32_t i = 0; i < sampling_of(t)->waits.count; i++)
    if (is_site(t, wait_at(t, i), key))
      return wait_at(t, i);
  return site_add(t, key);
}

/* The first time that the thread waits at a site: keeps the context of the wait.  Time of the runtime's is charged to
 * it, and waiting that no sample has seen. */
static void keep_context(struct thread_state *t, struct format_wait *wait)
{
  if (wait->context_sought || rt_stopped() || wait->key == WAITING_PARKED)
    return;
  wait->context_sought = 1;
  uint32_t node = context_met(t);
  if (node != CCT_NONE && cct_kind(t, node) != FORMAT_KIND_FILTERED && wait->kind != FORMAT_WAIT_POOL)
    node = cct_child(t, node, (struct cct_key){FORMAT_KIND_RUNTIME, 0, 0});
  wait->node = node == CCT_NONE ? 0 : node;
}

/* Returns the record of a site at which the thread itself waits. */
static struct format_wait *site_seek(struct thread_state *t, uint64_t key) __attribute__((noinline));
static struct format_wait *site_seek(struct thread_state *t, uint64_t key)
{
  rt_inside_inc(t);
  struct format_wait *wait = site_find(t, key);
  if (wait && !wait->node)
    keep_context(t, wait);
  rt_inside_dec(t);
  return wait;
}

/* The same; most threads wait where they have waited shortly before. */
static inline struct format_wait *site_of(struct thread_state *t, uint64_t key)
{
  struct wait_cache *cache =
      &sampling_of(t)
           ->wait_cache[(key ^ key >> 7) % (sizeof sampling_of(t)->wait_cache / sizeof *sampling_of(t)->wait_cache)];
  if (__builtin_expect(!cache->wait || cache->key != key, 0)) {
    struct format_wait *wait = site_seek(t, key);
    if (!wait)
      return NULL;
    *cache = (struct wait_cache){key, wait};
  }
  return cache->wait;
}

/* ---- the trace, where constructs are not followed: there they write it ---- */

static void put_trace(struct thread_state *t, uint64_t now, const struct format_wait *wait, uint64_t own)
    __attribute__((noinline));
static void put_trace(struct thread_state *t, uint64_t now, const struct format_wait *wait, uint64_t own)
{
  rt_inside_inc(t);
  if (!rt_graph_suspended()) {
    trace_own(t, own);
    trace_state(t, now, wait ? wait->site + 1 : 0);
    if (!wait && t->activity.lockwait)
      trace_lock_wait(t, t->wait_id);
  }
  rt_inside_dec(t);
}

/* Until now, the thread waited at that site (NULL: it did not); own: of these ticks, the runtime's own work. */
static inline void trace_wait(struct thread_state *t, uint64_t now, const struct format_wait *wait, uint64_t own)
{
  if (__builtin_expect(trace_of(t)->states, false) && !span_process.online)
    put_trace(t, now, wait, own);
}

/* CTL writes the state in which the thread is until the end of the process, and what follows is not counted. */
static inline bool ended(void)
{
  return __builtin_expect(atomic_load_explicit(&rt.waits, memory_order_relaxed) & RT_WAITS_ENDED, false);
}

/* ---- idleness ---- */

static inline struct wait_open *innermost(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  enum { OPEN_MAX = sizeof sampling->waits_open / sizeof *sampling->waits_open };
  unsigned depth = sampling->wait_depth < OPEN_MAX ? sampling->wait_depth : OPEN_MAX;
  return depth ? &sampling->waits_open[depth - 1] : NULL;
}

/* The record and the key of what the thread waits for from now on. */
static void set_waiting(struct thread_state *t, struct format_wait *wait)
{
  sampling_of(t)->waiting = wait;
  __atomic_store_n(&sampling_of(t)->waiting_key, wait ? wait->key : WAITING_PARKED, __ATOMIC_RELAXED);
}

/* ---- time without a processor ---- */

/* By how much missing processors held a thread up before it arrived at its last barrier of that parity, since its
 * team's last join. Written before the arrival, by the thread with that slot (span/barrier.h), and only if it was
 * delayed. */
static struct delays {
  struct delay {
    uint64_t arrived; /* when it turned idle: whose delay it is */
    uint64_t ticks;
  } at[BARRIER_PARITIES];
} __attribute__((aligned(64))) delays[BARRIER_LAST_BIT];

static void note_delay(struct thread_state *t, const struct wait_open *open, uint64_t now)
    __attribute__((noinline, cold));
static void note_delay(struct thread_state *t, const struct wait_open *open, uint64_t now)
{
  unsigned slot = (unsigned)__builtin_ctzll(span_of(t)->member | 1ull << BARRIER_LAST_BIT);
  unsigned parity = open->barrier % BARRIER_PARITIES;
  if (slot == BARRIER_LAST_BIT) /* other threads have that one, too */
    return;
  __atomic_store_n(&delays[slot].at[parity].arrived, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&delays[slot].at[parity].ticks, open->delay, __ATOMIC_RELEASE);
  __atomic_store_n(&delays[slot].at[parity].arrived, now, __ATOMIC_RELEASE);
  __atomic_store_n(&open->team->delayed[parity], now, __ATOMIC_RELAXED);
}

/* The thread arrives at a barrier of its team. */
static inline __attribute__((always_inline)) void arrive(struct thread_state *t, struct wait_open *open, uint64_t now)
{
  open->delay = sampling_of(t)->switches.since_join;
  if (__builtin_expect(open->delay > DELAY_LEAST, 0))
    note_delay(t, open, now);
  region_note_idle(t, open->team, open->region, open->barrier, now);
}

/* Whether a thread was delayed before it arrived at this barrier: since the calling one has left the barrier before. */
static inline bool was_delayed(const struct thread_state *t, const struct wait_open *open)
{
  uint64_t last = __atomic_load_n(&open->team->delayed[open->barrier % BARRIER_PARITIES], __ATOMIC_RELAXED);
  return last > sampling_of(t)->barrier_left || open->delay > DELAY_LEAST;
}

/* When the last one of the threads of a team would have arrived at a barrier if none had missed a processor.  last:
 * when it arrived; since: when the calling thread did. */
static uint64_t last_undelayed(const struct thread_state *t, const struct wait_open *open, uint64_t last,
                               uint64_t since)
{
  unsigned parity = open->barrier % BARRIER_PARITIES;
  struct barrier_members others = barrier_others(t, __atomic_load_n(&open->team->members, __ATOMIC_RELAXED));
  uint64_t latest = since - open->delay;
  const struct arrivals *arrivals;
  while ((arrivals = barrier_next(&others))) {
    const struct arrival *arrival = &arrivals->at[parity];
    uint64_t slot = (uint64_t)(arrivals - barrier_first_slots),
             arrived = __atomic_load_n(&arrival->idle_since, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&arrival->idle_team, __ATOMIC_RELAXED) != open->region)
      continue;
    const struct delay *delay = slot < BARRIER_LAST_BIT ? &delays[slot].at[parity] : NULL;
    if (delay && __atomic_load_n(&delay->arrived, __ATOMIC_ACQUIRE) == arrived)
      arrived -= __atomic_load_n(&delay->ticks, __ATOMIC_RELAXED);
    latest = arrived > latest ? arrived : latest;
  }
  return latest < last ? latest : last;
}

/* Adds to a barrier's site for how long the thread waited because another one had no processor before it arrived.
 * idle: until the last arrival, with `ready` of the thread's own; undelayed: see last_undelayed(). */
static uint64_t add_no_core(struct format_wait *wait, const struct wait_open *open, uint64_t since, uint64_t idle,
                            uint64_t ready, uint64_t undelayed)
{
  uint64_t caused = rt_minus(undelayed, since - open->delay);
  uint64_t no_core = rt_minus(rt_minus(idle, ready), caused);
  wait->no_core += no_core;
  return no_core;
}

/* Reads what was recorded of a wait that ends now: parts[1] is what lies before the moment at which its idle part ended
 * or, of a parked thread, the next region began; parts[2] is the rest. */
static void read_wait(struct thread_state *t, struct format_wait *wait, uint64_t since, uint64_t moment,
                      struct switched parts[3])
{
  bool parked = wait->kind == FORMAT_WAIT_PARKED;
  switches_read(t, 2, (const uint64_t[]){since, moment}, parts);
  wait->preempted += parts[1].preempted + (parked ? parts[2].preempted : 0);
  wait->wakes += parts[1].wakes;
  wait->preempted_in_runtime += parked ? 0 : parts[2].preempted;
  wait->woken += parts[2].slept;
}

/* Writes them to the trace.  no_core: what add_no_core() has returned. */
static __attribute__((noinline)) void trace_wait_ready(struct thread_state *t, const struct format_wait *wait,
                                                       uint64_t since, uint64_t now, const struct switched parts[3],
                                                       uint64_t no_core)
{
  bool parked = wait->kind == FORMAT_WAIT_PARKED;
  trace_ready(t, since, now,
              (struct trace_ready){parts[1].preempted + (parked ? parts[2].preempted : 0),
                                   parked ? 0 : parts[2].preempted, parts[2].slept, parts[1].wakes, no_core});
}

/* Adds what a sample has read of a wait, or of the time for which the thread is parked, that goes on. */
static void add_read(struct thread_state *t, struct format_wait *wait, uint64_t since, uint64_t now,
                     const struct trace_ready *ready)
{
  struct switches *switches = &sampling_of(t)->switches;
  if (!ready->preempted && !ready->of_own && !ready->wakes)
    return;
  wait->preempted += ready->preempted;
  wait->preempted_in_runtime += ready->of_own;
  wait->wakes += ready->wakes;
  switches->since_join -= ready->preempted;
  if (wait->kind != FORMAT_WAIT_PARKED && switches->wait_since != since) {
    switches->wait_since = since;
    switches->wait_preempted = 0;
  }
  if (wait->kind != FORMAT_WAIT_PARKED)
    switches->wait_preempted += ready->preempted;
  trace_ready(t, since, now, *ready);
}

/* What samples have read of the wait that began then: ticks in which the thread was preempted. */
static uint64_t read_before(const struct thread_state *t, uint64_t since)
{
  const struct switches *switches = &sampling_of(t)->switches;
  return switches->wait_since == since ? switches->wait_preempted : 0;
}

/* A wait ends, idle for so long, in which the thread was preempted: as far as that was read by a sample after the idle
 * part, it belongs to the rest.  Returns the thread's time without a processor in the idle part. */
static uint64_t settle_read(struct thread_state *t, struct format_wait *wait, uint64_t since, uint64_t idle,
                            uint64_t preempted)
{
  uint64_t all = preempted + read_before(t, since), excess = rt_minus(all, idle);
  wait->preempted -= excess;
  wait->preempted_in_runtime += excess;
  return all - excess;
}

/* How many regions the thread is in, of those that others have created at most one. */
static inline unsigned regions_around(const struct thread_state *t)
{
  const struct sampling_thread *sampling = sampling_of(t);
  return sampling->region_depth + (__atomic_load_n(&sampling->base_region, __ATOMIC_RELAXED) != 0);
}

/* A join was so much later than without missing processors. */
static void lose(struct thread_state *t, uint64_t ticks)
{
  struct switches *switches = &sampling_of(t)->switches;
  *(regions_around(t) > 1 ? &switches->outer : &switches->held_up) += ticks;
}

/* The thread leaves a barrier, where it was switched, or somebody had missed a processor before. */
static __attribute__((noinline)) void leave_barrier(struct thread_state *t, const struct wait_open *open,
                                                    uint64_t since, uint64_t idle, uint64_t now)
{
  struct sampling_thread *sampling = sampling_of(t);
  struct switched parts[3] = {{0}};
  uint64_t no_core = 0;
  read_wait(t, sampling->waiting, since, since + idle, parts);
  uint64_t ready = settle_read(t, sampling->waiting, since, idle, parts[1].preempted);
  sampling->switches.since_join = parts[2].preempted + switches_late(parts[2].slept); /* it goes on late */
  if (was_delayed(t, open)) {
    uint64_t undelayed = last_undelayed(t, open, since + idle, since);
    sampling->arrival.undelayed = undelayed;
    no_core = add_no_core(sampling->waiting, open, since, idle, ready, undelayed);
    lose(t, rt_minus(since + idle, undelayed));
  }
  trace_wait_ready(t, sampling->waiting, since, now, parts, no_core);
  switches_limit(t);
}

/* A wait for tasks or a lock has ended.  outside: threads outside OpenMP can have ended it.  Returns for how long
 * nobody could have ended it, in ticks, while the thread itself was not ready. */
static uint64_t leave_held_up(struct thread_state *t, uint64_t since, uint64_t until, bool outside)
{
  if (!sampling_of(t)->switches.ring || until - since <= SWITCHES_WAKE_USUAL || rt_ever_paused())
    return 0;
  struct held_up held_up = held_up_wait(t, since, until, outside);
  sampling_of(t)->switches.since_join += held_up.ticks;
  return held_up.no_core;
}

/* A wait other than at a barrier has ended. */
static __attribute__((noinline)) void leave_wait(struct thread_state *t, struct format_wait *wait, uint64_t since,
                                                 uint64_t now)
{
  bool parked = wait->kind == FORMAT_WAIT_PARKED;
  uint64_t begun = 0, no_core = 0;
  if (parked)
    begun = region_beginning(__atomic_load_n(&sampling_of(t)->base_region, __ATOMIC_RELAXED)).at;
  struct switched parts[3] = {{0}};
  read_wait(t, wait, since, begun > since && begun < now ? begun : now, parts);
  if (!parked) {
    sampling_of(t)->switches.since_join -= parts[1].preempted; /* others worked meanwhile, or it is in the next line */
    no_core = leave_held_up(t, since, now, wait->kind == FORMAT_WAIT_LOCK && waiting_for_posix(t));
    /* held_up_wait() sees the last ones of the thread's own intervals only */
    no_core = MIN(no_core, rt_minus(now - since, parts[1].preempted + read_before(t, since)));
    wait->no_core += no_core;
  }
  trace_wait_ready(t, wait, since, now, parts, no_core);
  switches_limit(t);
}

/* Turns idle at the innermost wait, or parked.  The inline form, as that of end_idle(), is for barriers. */
static inline __attribute__((always_inline)) uint64_t turn_idle_inline(struct thread_state *t)
{
  if (t->activity.idle)
    return 0;
  struct wait_open *open = innermost(t);
  set_waiting(t, open ? open->wait : site_of(t, WAITING_PARKED));
  if (__builtin_expect(open && switches_unread(t), 0))
    switches_outside(t);
  uint64_t now = rt_set_idle(t, true);
  trace_wait(t, now, NULL, 0);
  if (sampling_of(t)->waiting)
    sampling_of(t)->waiting->since = now;
  if (open && open->team)
    arrive(t, open, now);
  return now;
}

/* The thread has left the barrier at the end of its own region: the cache lines that it needs for that end begin to
 * move. */
static __attribute__((noinline)) void expect_region_end(const struct thread_state *t, const struct wait_open *open)
{
  region_expect_end(t);
  barrier_expect_close(t, open->region, open->barrier);
}

/* The same for a barrier inside a region, and the next one. */
static inline void expect_after(const struct thread_state *t, const struct wait_open *open)
{
  if (sampling_of(t)->waiting->kind != FORMAT_WAIT_REGION_END)
    barrier_expect(t, open->barrier + 1);
  else if (!open->as_worker)
    expect_region_end(t, open);
}

static __attribute__((noinline)) uint64_t turn_idle(struct thread_state *t)
{
  return turn_idle_inline(t);
}

/* The part of an interval that lies before a moment. */
static uint64_t part_before(uint64_t since, uint64_t moment, uint64_t now)
{
  return rt_minus(MIN(moment, now), since);
}

/* When the last one of the other threads arrived at a barrier. */
static inline __attribute__((always_inline)) uint64_t last_arrival(const struct thread_state *t,
                                                                   const struct wait_open *open)
{
  struct barrier_members others = barrier_others(t, __atomic_load_n(&open->team->members, __ATOMIC_RELAXED));
  return region_last_idle(open->team, others, open->region, open->barrier);
}

/* The part of a worker's wait at the end of a region that is idle: until the last thread arrived, and from the moment
 * at which the master left the barrier, or would have, until it ended the region. */
static uint64_t idle_at_region_end(const struct region_end *end, uint64_t since)
{
  uint64_t arriving = part_before(since, end->last_idle, end->end);
  uint64_t ending = end->left > since ? part_before(end->left, end->end, end->end) + end->late : 0;
  return arriving + ending < end->end - since ? arriving + ending : end->end - since;
}

/* Adds an interval to a site. */
static void add_interval(struct thread_state *t, struct format_wait *wait, uint64_t idle, uint64_t runtime)
{
  wait->idle += idle;
  wait->runtime += runtime;
  wait->count++;
  wait->since = 0;
  construct_of(t)->waited_runtime = runtime;
  t->idle_ticks -= runtime; /* rt_change_idle() has added the whole interval */
}

/* Takes the pauses of measuring out of an interval that was added to a site (NULL: only to the thread). */
static void leave_out_pauses(struct thread_state *t, struct format_wait *wait, uint64_t since, uint64_t idle,
                             uint64_t end) __attribute__((noinline, cold));
static void leave_out_pauses(struct thread_state *t, struct format_wait *wait, uint64_t since, uint64_t idle,
                             uint64_t end)
{
  uint64_t paused_idle = idle - rt_measured(since, since + idle);
  uint64_t paused_runtime = end - since - idle - rt_measured(since + idle, end);
  t->idle_ticks -= paused_idle;
  if (!wait)
    return;
  wait->idle -= paused_idle;
  wait->runtime -= paused_runtime;
  construct_of(t)->waited_runtime -= paused_runtime;
}

/* The part of a wait for tasks in which the thread no longer looks for one. */
static inline uint64_t beyond_search(uint64_t ticks)
{
  return ticks > SEARCH_TICKS ? ticks - SEARCH_TICKS : 0;
}

/* The idle part of an interval that ends now.  task: it ends because a task begins. */
static inline uint64_t idle_part(const struct thread_state *t, const struct wait_open *open, uint64_t since,
                                 uint64_t now, bool task)
{
  if (!open)
    return now - since;
  if (open->team && !task)
    return part_before(since, last_arrival(t, open), now); /* the other threads of the team had not arrived */
  return beyond_search(now - since);
}

/* The thread was busy already. */
static inline uint64_t end_nothing(struct thread_state *t)
{
  construct_of(t)->waited_runtime = 0;
  return 0;
}

/* end_idle() for a wait for tasks, or where a task begins, in few instructions.  Returns false where there is more to
 * it: then nothing is done. */
static inline bool end_task_wait(struct thread_state *t, uint64_t now)
{
  struct sampling_thread *sampling = sampling_of(t);
  struct format_wait *wait = sampling->waiting;
  uint64_t ticks = now - t->idle_since, idle = beyond_search(ticks);
  if (ticks > SWITCHES_WAKE_USUAL || !wait || !sampling->wait_depth || switches_unread(t) || trace_of(t)->states ||
      atomic_load_explicit(&rt.waits, memory_order_relaxed))
    return false;
  rt_change_idle(t, false, now);
  add_interval(t, wait, idle, ticks - idle);
  sampling->barrier_left = now;
  return true;
}

static inline __attribute__((always_inline)) uint64_t end_idle_inline(struct thread_state *t, bool task, uint64_t now)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint64_t since = t->idle_since;
  rt_change_idle(t, false, now);
  if (sampling->waiting) {
    const struct wait_open *open = innermost(t);
    uint64_t idle;
    if (__builtin_expect(open && open->team && !task, 1)) {
      uint64_t last = last_arrival(t, open);
      sampling->arrival = (struct last_arrival){last > since ? last : since, 0, open->region, open->barrier};
      idle = part_before(since, last, now);
      if (__builtin_expect(switches_unread(t) || was_delayed(t, open) || sampling->switches.wait_since == since, 0))
        leave_barrier(t, open, since, idle, now);
      else
        sampling->switches.since_join = 0;
      expect_after(t, open);
    } else {
      idle = idle_part(t, open, since, now, task);
      bool long_wait = open && now - since > SWITCHES_WAKE_USUAL && sampling->switches.ring;
      if (__builtin_expect(long_wait || switches_unread(t), 0))
        leave_wait(t, sampling->waiting, since, now);
    }
    add_interval(t, sampling->waiting, idle, now - since - idle);
    if (__builtin_expect(rt_ever_paused(), 0))
      leave_out_pauses(t, sampling->waiting, since, idle, now);
    trace_wait(t, now, sampling->waiting, construct_of(t)->waited_runtime);
  } else if (__builtin_expect(rt_ever_paused(), 0)) {
    leave_out_pauses(t, NULL, since, now - since, now);
  }
  sampling->barrier_left = now;
  return now;
}

static __attribute__((noinline)) uint64_t end_idle(struct thread_state *t, bool task, uint64_t now)
{
  return end_idle_inline(t, task, now);
}

static inline uint64_t turn_busy(struct thread_state *t, bool task)
{
  return t->activity.idle ? end_idle(t, task, rt_ticks()) : end_nothing(t);
}

/* The same for a wait for tasks, or where a task begins. */
static inline uint64_t turn_busy_with_tasks(struct thread_state *t, bool task)
{
  if (!t->activity.idle)
    return end_nothing(t);
  uint64_t now = rt_ticks();
  return __builtin_expect(end_task_wait(t, now), 1) ? now : end_idle(t, task, now);
}

/* When a worker began to wait at the end of a region, the last one of the team arrived, the master left the barrier,
 * and the region ended. */
static void region_end_moments(const struct region_end *end, uint64_t since, uint64_t moments[4])
{
  moments[0] = since;
  moments[1] = MAX(end->last_idle, since);
  moments[2] = MAX(end->left, moments[1]);
  moments[3] = MAX(end->end, moments[2]);
}

/* The same for a worker at the end of a region, which is parked after that.  It is also idle between the moments at
 * which the master left the barrier and ended the region. */
static __attribute__((noinline)) void leave_region_end(struct thread_state *t, const struct region_end *end,
                                                       uint64_t since, uint64_t idle)
{
  const struct wait_open *open = innermost(t);
  struct format_wait *wait = sampling_of(t)->waiting, *parked = wait_at(t, 0);
  uint64_t moments[5];
  struct switched parts[6] = {{0}};
  region_end_moments(end, since, moments);
  moments[4] = end->next_begun > end->end ? end->next_begun : rt_ticks();
  switches_read(t, 5, moments, parts);
  wait->preempted += parts[1].preempted + parts[3].preempted;
  wait->preempted_in_runtime += parts[2].preempted;
  wait->wakes += parts[1].wakes + parts[2].wakes + parts[3].wakes;
  parked->preempted += parts[4].preempted + parts[5].preempted;
  parked->woken += parts[5].slept;
  parked->wakes += parts[4].wakes;
  uint64_t ready = parts[1].preempted + parts[3].preempted, no_core = 0;
  uint64_t ready_in_all = settle_read(t, wait, since, idle, ready);
  if (open && open->team && end->undelayed)
    no_core = add_no_core(wait, open, since, idle, ready_in_all, end->undelayed);
  trace_ready(
      t, since, end->end,
      (struct trace_ready){ready, parts[2].preempted, 0, parts[1].wakes + parts[2].wakes + parts[3].wakes, no_core});
  struct trace_ready later = {
      .preempted = parts[4].preempted + parts[5].preempted, .woken = parts[5].slept, .wakes = parts[4].wakes};
  if (later.preempted || later.woken || later.wakes)
    trace_ready(t, end->end, rt_ticks(), later);
}

/* A worker learns at the next fork that the region at whose end it waits is over.  Since the region's end it is parked,
 * and still idle.  Returns false if the region is not over. */
static bool park_since_region_end(struct thread_state *t, const struct region_team *team)
{
  struct construct_thread *construct = construct_of(t);
  struct sampling_thread *sampling = sampling_of(t);
  struct region_end end;
  struct format_wait *parked = sampling->waits.count ? wait_at(t, 0) : NULL;
  uint64_t since = t->idle_since;
  if (!t->worker || !t->activity.idle || !sampling->waiting || !parked)
    return false;
  if (!region_find_end(sampling->base_region, team, &end)) {
    if (region_open(sampling->base_region))
      return false;
    end.end = since; /* it ended long ago: only how long this thread waited in it is not known */
    construct->region_end = 0;
  } else {
    construct->region_left = end.left;
    construct->region_end = end.end;
  }
  if (end.end > since) {
    uint64_t idle = idle_at_region_end(&end, since);
    if (switches_unread(t) || end.undelayed || sampling->switches.wait_since == since)
      leave_region_end(t, &end, since, idle);
    t->idle_ticks += end.end - since;
    add_interval(t, sampling->waiting, idle, end.end - since - idle);
    if (__builtin_expect(rt_ever_paused(), 0))
      leave_out_pauses(t, sampling->waiting, since, idle, end.end);
    trace_wait(t, end.end, sampling->waiting, construct->waited_runtime);
    __atomic_store_n(&t->idle_since, end.end, __ATOMIC_RELAXED);
  } else {
    sampling->waiting->since = 0;
  }
  set_waiting(t, parked);
  parked->since = t->idle_since;
  return true;
}

struct waiting_interval waiting_open_interval(struct thread_state *t, uint64_t now)
{
  struct sampling_thread *sampling = sampling_of(t);
  struct waiting_interval interval = {0};
  uint64_t since = t->idle_since;
  const struct wait_open *last = innermost(t), *open = NULL;
  struct wait_open copy; /* the thread may write to the original */
  struct region_end end;
  if (!t->activity.idle || !sampling->waiting || since >= now)
    return interval;
  if (last) {
    copy = *(const volatile struct wait_open *)last;
    copy.as_worker = copy.as_worker && copy.team;
    open = &copy;
  }
  if (open && open->as_worker && region_find_end(sampling->base_region, open->team, &end) && end.end > since) {
    interval.idle = idle_at_region_end(&end, since);
    interval.runtime = end.end - since - interval.idle;
    interval.ending = end.left > since ? part_before(end.left, end.end, end.end) : 0;
    interval.parked = rt_minus(now, end.end);
    return interval;
  }
  if (open && open->as_worker && !region_open(sampling->base_region))
    interval.parked = now - since;
  else
    interval.idle = idle_part(t, open, since, now, false);
  interval.runtime = now - since - interval.idle - interval.parked;
  return interval;
}

uint64_t waiting_open_no_core(struct thread_state *t, uint64_t now)
{
  const struct thread_state *initial = rt_self;
  if (!initial || initial == t || initial->tid != rt.pid || rt_ever_paused() || regions_around(rt_self))
    return 0;
  const struct format_wait *waiting = sampling_of(t)->waiting;
  struct waiting_interval open = waiting_open_interval(t, now);
  uint64_t parked = open.parked + (waiting && waiting->kind == FORMAT_WAIT_PARKED ? open.idle : 0);
  return MIN(sampling_of(initial)->switches.since_join, parked);
}

/* Writes the state in which the thread may be parked. */
static void end_trace_parked(struct thread_state *t, uint64_t now, uint64_t code)
{
  uint64_t no_core = waiting_open_no_core(t, now);
  if (no_core)
    trace_end_ready(t, now - no_core / 2, &(struct trace_ready){.no_core = no_core});
  trace_state(t, now, code);
}

/* Writes a wait without what follows the end of its region.  codes: of the wait, of that region's end, and of a thread
 * outside any. */
static void end_trace_in_wait(struct thread_state *t, uint64_t now, const uint64_t codes[3])
{
  struct waiting_interval open = waiting_open_interval(t, now);
  trace_own(t, open.runtime);
  trace_state(t, now - open.parked - open.ending, codes[0]);
  trace_state(t, now - open.parked, codes[1]);
  end_trace_parked(t, now, codes[2]);
}

enum { PARKED_CONSTRUCT = FORMAT_TIME_WAIT, PARKED_SITE = 1, OUTSIDE_CONSTRUCT = FORMAT_TIME_EXIT };

/* Writes the time of a thread that is in no wait, or parked.  The runtime works before a worker is parked for the first
 * time and once it is no longer, and once it has left the last barrier of a region that goes on. */
static void end_trace_outside(struct thread_state *t, uint64_t now, uint64_t code)
{
  if (t->activity.idle && !construct_of(t)->ticks) {
    trace_state(t, t->idle_since, OUTSIDE_CONSTRUCT);
    end_trace_parked(t, now, PARKED_CONSTRUCT);
  } else if (!t->activity.idle && code == PARKED_CONSTRUCT) {
    trace_state(t, sampling_of(t)->barrier_left, code);
    trace_state(t, now, OUTSIDE_CONSTRUCT);
  } else {
    if (!t->activity.idle && code % FORMAT_TIMES == FORMAT_TIME_EXIT)
      trace_own(t, part_before(t->record->construct_since, now, now));
    end_trace_parked(t, now, code);
  }
}

/* Where constructs are not followed, writes the state before the one in which the thread is, if it ended when CTL had
 * begun to read the streams.  wait: in which it is; NULL: none. */
static void end_trace_before(struct thread_state *t, const struct format_wait *wait)
{
  struct sampling_thread *sampling = sampling_of(t);
  if (wait) {
    trace_state(t, t->activity.lockwait ? t->lock_since : t->idle_since, 0);
  } else if (sampling->waiting) {
    trace_own(t, construct_of(t)->waited_runtime);
    trace_state(t, sampling->barrier_left, sampling->waiting->site + 1);
  }
}

static enum tracelog_op slept_how(const struct thread_state *t)
{
  if (t->activity.lockwait)
    return TRACELOG_LOCK_WAIT;
  return t->activity.call == RT_CALL_MPI ? TRACELOG_MPI : TRACELOG_BLOCKED;
}

/* Writes the state until then. */
static void end_trace(struct thread_state *t, uint64_t now)
{
  uint64_t code = trace_open_code(t), record = code / FORMAT_TIMES * FORMAT_TIMES;
  if (t->record->blocked_since)
    trace_put_slept(t, t->activity.idle ? t->idle_since : now, slept_how(t)); /* idle: in a pool */
  if (span_process.online) {
    if (record && code % FORMAT_TIMES == FORMAT_TIME_WAIT)
      end_trace_in_wait(t, now, (const uint64_t[]){code, record + FORMAT_TIME_EXIT, PARKED_CONSTRUCT});
    else
      end_trace_outside(t, now, code);
    return;
  }
  const struct format_wait *wait = t->activity.idle ? sampling_of(t)->waiting : NULL;
  if (t->activity.lockwait)
    wait = sampling_of(t)->waiting_lock;
  code = wait ? wait->site + 1 : 0;
  end_trace_before(t, wait);
  if (t->activity.idle && !t->activity.lockwait && wait)
    end_trace_in_wait(t, now, (const uint64_t[]){code, code, PARKED_SITE});
  else
    trace_state(t, now, code);
}

void waiting_end_trace(struct thread_state *t, uint64_t now, bool ends)
{
  struct sampling_thread *sampling = sampling_of(t);
  sampling->ended.marked = false;
  if (!trace_of(t)->states)
    return;
  if (__atomic_load_n(&t->inside,
                      __ATOMIC_ACQUIRE)) { /* CTL waits for a limited time; or a handler of the program ends it */
    rt_lost(NULL, FORMAT_LOST_TRACE);
    return;
  }
  if (!ends)
    trace_leave_window(t);
  sampling->ended = (struct trace_end){.trace = *trace_of(t),
                                       .changes = t->changes,
                                       .blocked_since = t->record->blocked_since,
                                       .waiting = sampling->waiting,
                                       .marked = true};
  end_trace(t, now);
}

void waiting_go_on(struct thread_state *t)
{
  struct trace_end *end = &sampling_of(t)->ended;
  bool writes = __atomic_load_n(&t->inside, __ATOMIC_ACQUIRE);
  bool same = t->changes == end->changes && sampling_of(t)->waiting == end->waiting &&
              t->record->blocked_since == end->blocked_since; /* a sleep may have ended that is not in `changes` yet */
  if (!trace_of(t)->states || (end->marked && !writes && same && trace_take_back(t, &end->trace)))
    return;
  if (!writes)
    trace_put_gap(t, rt_ticks());
  rt_lost(writes ? t : NULL, FORMAT_LOST_TRACE); /* where that of the thread counts, its stream may have ended */
  trace_of(t)->states = !writes;
}

/* The team of the innermost region; NULL outside any, and for a region without a record. */
static inline struct region_team *current_team(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint32_t region = span_of(t)->open_region ? span_of(t)->open_region : (uint32_t)sampling->base_region;
  if (sampling->team_region != region) {
    sampling->team = region_team(region);
    sampling->team_region = region;
  }
  return sampling->team;
}

bool waiting_at_region_end(struct thread_state *t)
{
  const struct wait_open *open = innermost(t);
  return open && open->wait && open->wait->kind == FORMAT_WAIT_REGION_END;
}

uint64_t waiting_begin(struct thread_state *t, enum format_wait_kind kind, const void *code)
{
  if (ended())
    return 0;
  if (t->activity.idle)
    end_idle(t, true, rt_ticks());
  struct region_team *team = kind == FORMAT_WAIT_TASKS ? NULL : current_team(t);
  bool worker = !span_of(t)->open_region, at_end = team && (!code || team->code == (uint64_t)code);
  uint32_t barrier = team ? sampling_of(t)->barriers++ : 0;
  if (at_end) {
    code = (const void *)team->code;
    kind = FORMAT_WAIT_REGION_END;
  }
  struct format_wait *wait = site_of(t, key_of(kind, code));
  sampling_of(t)->wait_depth++;
  if (!wait)
    return turn_idle(t);
  struct wait_open *open = innermost(t);
  open->wait = wait;
  open->team = team;
  open->as_worker = at_end && worker;
  open->barrier = barrier;
  open->region = sampling_of(t)->team_region;
  return turn_idle_inline(t);
}

uint64_t waiting_end(struct thread_state *t)
{
  if (ended())
    return 0;
  const struct wait_open *open = innermost(t);
  uint64_t now = 0;
  if (open && open->as_worker)
    __builtin_prefetch(graph_team(open->region)); /* most probably that of its next region, too */
  if (open && !open->team)
    now = turn_busy_with_tasks(t, false);
  else if (!open || !open->as_worker || !park_since_region_end(t, open->team))
    now = t->activity.idle ? end_idle_inline(t, false, rt_ticks()) : end_nothing(t);
  sampling_of(t)->wait_depth -= sampling_of(t)->wait_depth > 0;
  return now;
}

uint64_t waiting_task(struct thread_state *t, bool waits)
{
  if (ended())
    return 0;
  return waits ? turn_idle(t) : turn_busy_with_tasks(t, true);
}

/* A parked worker takes part in a region: it has waited for what had held up the creator.  Returns when that began. */
static uint64_t leave_parked(struct thread_state *t)
{
  struct region_beginning region = region_beginning(__atomic_load_n(&sampling_of(t)->base_region, __ATOMIC_RELAXED));
  struct format_wait *parked = sampling_of(t)->waiting;
  uint64_t since = t->idle_since;
  if (__builtin_expect(!region.delay || region.at <= since || !parked || rt_ever_paused(), 1))
    return region.at;
  uint64_t delay = MIN(region.delay, region.at - since);
  parked->no_core += delay;
  trace_ready(t, since, region.at, (struct trace_ready){.no_core = delay});
  return region.at;
}

/* The thread has created a region, and was switched out before it takes part in it. */
static __attribute__((noinline)) void enter_own_region(struct thread_state *t)
{
  uint64_t begun = region_beginning(region_current(t)).at;
  struct switched parts[2] = {{0}};
  switches_read(t, 1, &begun, parts);
  sampling_of(t)->switches.since_join += begun ? switches_late(parts[1].slept) : 0;
}

uint64_t waiting_begin_late(struct thread_state *t)
{
  struct switches *switches = &sampling_of(t)->switches;
  if (switches_unread(t))
    switches_outside(t);
  if (!switches->since_join)
    return 0;
  if (!regions_around(t))
    return switches_join(t);
  switches->outer += switches->since_join;
  switches->since_join = 0;
  return 0;
}

uint64_t waiting_end_late(struct thread_state *t)
{
  struct switches *switches = &sampling_of(t)->switches;
  unsigned around = regions_around(t);
  if (!around && switches->since_join > DELAY_LEAST)
    return switches_join(t);
  if (around == 1 && switches->outer) {
    switches->since_join += switches->outer;
    switches->outer = 0;
  }
  return 0;
}

void waiting_park(struct thread_state *t)
{
  if (ended())
    return;
  sampling_of(t)->wait_depth = 0;
  turn_idle(t);
}

uint64_t waiting_unpark(struct thread_state *t)
{
  if (ended())
    return 0;
  bool parked = t->activity.idle, first = !sampling_of(t)->barrier_left;
  uint64_t begun = parked && sampling_of(t)->switches.ring ? leave_parked(t) : 0, now = turn_busy(t, false);
  if (parked) /* the start of a new thread is not late */
    sampling_of(t)->switches.since_join = begun && !first ? switches_late(rt_minus(now, begun)) : 0;
  else if (__builtin_expect(switches_unread(t) != 0, 0))
    enter_own_region(t);
  sampling_of(t)->barriers = 0;
  sampling_of(t)->arrival.region = 0;
  barrier_expect(t, 0);
  if (!span_of(t)->open_region)
    sampling_of(t)->wait_depth = 0;
  return now;
}

/* ---- locks ---- */

/* At another place than the last one, or with a trace. */
static __attribute__((noinline)) uint64_t begin_lock_otherwise(struct thread_state *t, uint64_t key)
{
  struct format_wait *wait = sampling_of(t)->waiting_lock = site_of(t, key);
  uint64_t now = rt_change_lockwait(t, true, rt_ticks());
  trace_wait(t, now, NULL, 0);
  if (wait)
    wait->since = now;
  return now;
}

uint64_t waiting_lock_begin(struct thread_state *t, const void *code)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint64_t key = key_of(FORMAT_WAIT_LOCK, code);
  if (t->activity.lockwait || ended())
    return 0;
  struct format_wait *wait = sampling->waiting_lock;
  if (__builtin_expect(!wait || wait->key != key || trace_of(t)->states, 0))
    return begin_lock_otherwise(t, key);
  return wait->since = rt_change_lockwait(t, true, rt_ticks());
}

/* The thread now holds the lock: its records, and those of others, are read after the release, but a trace needs them
 * before the state ends. */
static __attribute__((noinline)) void end_lock_switches(struct thread_state *t, struct format_wait *wait,
                                                        uint64_t since, uint64_t now)
{
  if (!sampling_of(t)->switches.ring)
    return;
  if (trace_of(t)->states || sampling_of(t)->switches.lock) /* of a lock that it has held before */
    leave_wait(t, wait, since, now);
  else
    switches_lock_waited(t, wait, since, now);
}

static inline uint64_t end_lock(struct thread_state *t, uint64_t now)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint64_t since = t->lock_since;
  struct format_wait *wait = sampling->waiting_lock;
  rt_change_lockwait(t, false, now);
  if (!wait)
    return now;
  uint64_t ticks = now - since, cost = sampling->lock_cost;
  if (__builtin_expect(sampling->lock_waits, 0)) {
    cost = 0;
    sampling->lock_waits = false;
  } else if (__builtin_expect(ticks < cost || !cost, 0)) {
    cost = ticks < LOCK_COST_MOST ? ticks : LOCK_COST_MOST;
    cost = cost > WAITING_LOCK_LEAST ? cost : WAITING_LOCK_LEAST;
    sampling->lock_cost = cost;
  }
  bool waited = ticks > WAITING_LOCK_FACTOR * cost;
  uint64_t runtime = waited ? cost : ticks;
  if (waited) {
    lock_table_settle(t); /* of a lock around this one */
    sampling->locks.attends |= LOCKS_NOTED;
    sampling->locks.waited_id = t->wait_id;
    sampling->locks.waited_kind = sampling->lock_kind;
    sampling->locks.waited_at = wait;
    atomic_signal_fence(memory_order_release); /* the end of the process reads them too */
    sampling->locks.waited = ticks - runtime;
    if (switches_unread(t) || ticks > SWITCHES_WAKE_USUAL)
      end_lock_switches(t, wait, since, now);
  }
  wait->idle += ticks - runtime;
  wait->runtime += runtime;
  wait->count++;
  wait->since = 0;
  t->lockwait_ticks -= runtime;
  construct_of(t)->lock_runtime = runtime;
  trace_wait(t, now, wait, runtime);
  return now;
}

/* The same where the process has ended, or measuring was ever paused, whose pauses are taken out.  The thread waits
 * first. */
static uint64_t end_lock_otherwise(struct thread_state *t, uint64_t now) __attribute__((noinline, cold));
static uint64_t end_lock_otherwise(struct thread_state *t, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  struct format_wait *wait = sampling_of(t)->waiting_lock;
  uint64_t since = t->lock_since;
  if (ended())
    return 0;
  end_lock(t, now);
  if (!wait)
    return now;
  uint64_t acquiring = now - construct->lock_runtime;
  uint64_t paused = acquiring - since - rt_measured(since, acquiring);
  uint64_t paused_runtime = construct->lock_runtime - rt_measured(acquiring, now);
  t->lockwait_ticks -= paused;
  wait->idle -= paused;
  if (sampling_of(t)->locks.waited)
    sampling_of(t)->locks.waited -= paused;
  wait->runtime -= paused_runtime;
  construct->lock_runtime -= paused_runtime;
  return now;
}

uint64_t waiting_lock_end_at(struct thread_state *t, uint64_t now)
{
  if (__builtin_expect(atomic_load_explicit(&rt.waits, memory_order_relaxed), 0))
    return end_lock_otherwise(t, now);
  return end_lock(t, now);
}

void waiting_lock_read(struct thread_state *t)
{
  struct switches *switches = &sampling_of(t)->switches;
  struct format_wait *wait = switches->lock;
  lock_table_settle(t);
  if (wait) {
    uint64_t read = wait->preempted;
    switches_outside(t);
    read = wait->preempted - read;
    switches->lock = NULL;
    uint64_t since = switches->lock_since, until = switches->lock_until;
    uint64_t no_core = leave_held_up(t, since, until, waiting_for_posix(t));
    wait->no_core += MIN(no_core, rt_minus(until - since, read + read_before(t, since)));
    switches_limit(t);
  }
  lock_table_unnote(t);
}

uint64_t waiting_open_lock(const struct thread_state *t, uint64_t now)
{
  uint64_t since = t->lock_since;
  if (!t->activity.lockwait || since >= now || (!waiting_for_posix(t) && now - since < LOCK_COST_MOST))
    return 0;
  return rt_measured_between(since, now);
}

uint64_t waiting_lock_key(const struct thread_state *t)
{
  return sampling_of(t)->waiting_lock ? sampling_of(t)->waiting_lock->key : key_of(FORMAT_WAIT_LOCK, NULL);
}

/* Divides the records of a wait at the end of a region which is over: see leave_region_end().  Returns false if it is
 * not. */
static bool read_region_end(struct thread_state *t, struct format_wait *wait, uint64_t since, uint64_t now)
{
  const struct wait_open *open = innermost(t);
  struct region_end end;
  uint64_t base = sampling_of(t)->base_region, moments[4] = {since, since, since, since};
  if (!open || !open->as_worker || t->activity.lockwait || wait->kind == FORMAT_WAIT_PARKED)
    return false;
  if (region_find_end(base, open->team, &end)) {
    if (end.end >= now)
      return false;
    region_end_moments(&end, since, moments);
  } else if (region_open(base)) {
    return false;
  } /* else: it ended long ago, and the thread counts as parked since it waits */
  struct switched parts[5] = {{0}};
  switches_read(t, 4, moments, parts);
  add_read(t, wait, since, moments[3],
           &(struct trace_ready){.preempted = parts[1].preempted + parts[3].preempted,
                                 .of_own = parts[2].preempted,
                                 .wakes = parts[1].wakes + parts[2].wakes + parts[3].wakes});
  add_read(t, wait_at(t, 0), moments[3], now,
           &(struct trace_ready){.preempted = parts[4].preempted, .wakes = parts[4].wakes});
  return true;
}

void waiting_read_switches(struct thread_state *t)
{
  struct format_wait *wait = t->activity.idle ? sampling_of(t)->waiting : NULL;
  wait = t->activity.lockwait ? sampling_of(t)->waiting_lock : wait;
  uint64_t since = t->activity.lockwait ? t->lock_since : t->idle_since, now = rt_ticks();
  struct switched parts[2] = {{0}};
  if (wait && read_region_end(t, wait, since, now))
    return;
  switches_read(t, 1, &since, parts);
  if (wait)
    add_read(t, wait, since, now, &(struct trace_ready){.preempted = parts[1].preempted, .wakes = parts[1].wakes});
}

void waiting_in_tool(struct thread_state *t, uint64_t ns)
{
  struct format_wait *wait = t->activity.lockwait ? sampling_of(t)->waiting_lock : sampling_of(t)->waiting;
  if (wait)
    wait->tool_ns += ns;
}

/* ---- pools ---- */

struct format_wait *waiting_pool_site(struct thread_state *t, const void *code)
{
  return ended() ? NULL : site_of(t, key_of(FORMAT_WAIT_POOL, code));
}

void waiting_pool_turn(struct thread_state *t, uint64_t since)
{
  struct sampling_thread *sampling = sampling_of(t);
  if (ended() || !sampling->pool_wait.wait)
    return;
  sampling->pool_wait.wait->since = since;
  __atomic_store_n(&t->idle_since, since, __ATOMIC_RELAXED);
  set_waiting(t, sampling->pool_wait.wait);
  if (t->activity.call == RT_CALL_BLOCKS) {
    rt_set_call(t, RT_CALL_NONE);
    sampling->blocked_ticks += rt_measured_between(sampling->blocked_since, since);
  }
  rt_set_flag(&t->activity.idle, true);
  t->changes++;
}

/* Writes both parts of the wait. */
static void trace_pool(struct thread_state *t, uint64_t since, uint64_t now)
{
  if (!trace_of(t)->states || t->inside)
    return;
  if (t->record->blocked_since)
    trace_slept(t, since, TRACELOG_BLOCKED, false);
  rt_inside_inc(t);
  if (!rt_graph_suspended()) {
    trace_state(t, since, trace_open_code(t));
    trace_state(t, now, span_process.online ? PARKED_CONSTRUCT : sampling_of(t)->pool_wait.wait->site + 1);
  }
  rt_inside_dec(t);
}

void waiting_pool_end(struct thread_state *t, bool returned)
{
  const struct pool_wait *pool = &sampling_of(t)->pool_wait;
  struct switched parts[4] = {{0}};
  lock_table_settle(t);
  uint64_t since = t->idle_since, now = rt_set_idle(t, false);
  pool->wait->since = 0;
  if (ended())
    return;
  add_interval(t, pool->wait, now - since, 0);
  if (__builtin_expect(rt_ever_paused(), 0))
    leave_out_pauses(t, pool->wait, since, now - since, now);
  sampling_of(t)->locks.waited_id = pool->object;
  sampling_of(t)->locks.waited_kind = pool->kind;
  sampling_of(t)->locks.waited_at = pool->wait;
  sampling_of(t)->locks.waited = rt_measured_between(since, now);
  lock_table_settle(t);
  if (switches_unread(t)) {
    switches_read(t, 3, (const uint64_t[]){pool->since, since, now}, parts);
    t->record->call_preempted += parts[1].preempted;
    t->record->call_wakes += parts[1].wakes;
    pool->wait->preempted += parts[2].preempted;
    pool->wait->wakes += parts[2].wakes;
    switches_limit(t);
  }
  if (pool->blocked && returned)
    call_sleep_charge(t, rt_minus(rt_measured_between(pool->since, since), parts[1].preempted), (struct call_moved){0});
  trace_pool(t, since, now);
}

/* ---- shares ---- */

uint64_t waiting_device_key(uint32_t device)
{
  return key_of(FORMAT_WAIT_DEVICE, (const void *)(uintptr_t)device);
}

bool waiting_share(struct thread_state *t, uint32_t node, uint64_t key, uint64_t ns)
{
  struct format_wait *wait = site_find(t, key);
  if (!wait)
    return false;
  if (!cct_add_share(t, node, wait->site, ns))
    return false;
  __atomic_store_n(&wait->shared_ns, wait->shared_ns + ns, __ATOMIC_RELAXED);
  return true;
}
