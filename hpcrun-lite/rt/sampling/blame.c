#include "hpcrun-lite/rt/sampling/blame.h"

#include "common/order.h"
#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/sampling/call_sleep.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "hpcrun-lite/rt/sampling/waiting.h"

enum { WAIT_TRIES = 100, TAKE_TRIES = 2, COUNTED_MAX = 512 };

struct blame_entry blame_entries[1 << BLAME_ENTRIES_BITS];
static atomic_bool entries_used; /* a thread has waited for a lock; any thread, relaxed */

void blame_start(void)
{
  atomic_store(&sampling_process.in_use, 0);
  atomic_store(&sampling_process.in_use_max, 0);
  for (unsigned i = 0; entries_used && i < sizeof blame_entries / sizeof *blame_entries; i++)
    blame_entries[i] = (struct blame_entry){0};
  entries_used = false;
  sampling_process.openmp = false;
}

void blame_in_use(int threads)
{
  if (!threads)
    return;
  int now = atomic_fetch_add(&sampling_process.in_use, threads) + threads;
  int most = atomic_load(&sampling_process.in_use_max);
  if (now <= most)
    return;
  while (now > most && !atomic_compare_exchange_weak(&sampling_process.in_use_max, &most, now))
    ;
  struct format_process *record = atomic_load(&rt.record); /* has it at once: the process may be killed soon */
  if (record)
    __atomic_store_n(&record->threads_max, (uint32_t)atomic_load(&sampling_process.in_use_max), __ATOMIC_RELAXED);
}

void blame_openmp_begin(struct thread_state *t, bool worker)
{
  if (t->activity.openmp)
    return;
  t->record->flags |= FORMAT_THREAD_OPENMP;
  t->worker = worker;
  if (!atomic_load_explicit(&sampling_process.openmp, memory_order_relaxed))
    atomic_store_explicit(&sampling_process.openmp, true, memory_order_relaxed);
  blame_unblocked(t);
  blame_in_use(!worker);
  rt_set_openmp(t, true);
}

void blame_openmp_end(struct thread_state *t)
{
  if (!t->activity.openmp)
    return;
  blame_unblocked(t);
  blame_in_use(-!t->worker);
  rt_set_openmp(t, false);
}

bool blame_blocked(struct thread_state *t)
{
  struct activity *activity = &t->activity;
  if (activity->idle || activity->lockwait || activity->call)
    return false;
  sampling_of(t)->blocked_since = rt_ticks();
  trace_sleeps(t, sampling_of(t)->blocked_since);
  rt_set_call(t, RT_CALL_BLOCKS);
  if (!sampling_process.wall && activity->openmp)
    blame_in_use(-1);
  t->changes++;
  return true;
}

/* What the thread's records of switches say about the call that ends. */
static struct switched place_call(struct thread_state *t, uint64_t now)
{
  struct switched parts[3] = {{0}};
  switches_read(t, 2, (const uint64_t[]){sampling_of(t)->blocked_since, now}, parts);
  t->record->call_preempted += parts[1].preempted;
  t->record->call_wakes += parts[1].wakes;
  switches_limit(t);
  return parts[1];
}

/* inside: in the tool's handler.  moved: of a call that returns; NULL: the thread has left it in another way. */
static void unblocked(struct thread_state *t, bool inside, const struct call_moved *moved)
{
  if (t->activity.call != RT_CALL_BLOCKS)
    return;
  if (!sampling_process.wall && t->activity.openmp)
    blame_in_use(1);
  rt_set_call(t, RT_CALL_NONE);
  struct switched switched = {0};
  bool recorded = sampling_of(t)->switches.ring;
  uint64_t now = rt_ticks();
  uint64_t ticks = rt_measured_between(sampling_of(t)->blocked_since, now);
  sampling_of(t)->blocked_ticks += ticks;
  if (switches_unread(t))
    switched = place_call(t, now);
  if (moved) /* a call that did not sleep has only its time charged */
    call_sleep_charge(t, rt_minus(ticks, switched.preempted),
                      (struct call_moved){moved->code, switched.slept || !recorded ? moved->bytes : 0});
  trace_slept(t, now, TRACELOG_BLOCKED, inside);
  t->changes++;
}

void blame_unblocked(struct thread_state *t)
{
  time_filter_check(); /* its signal was held back meanwhile */
  unblocked(t, false, NULL);
}

void blame_returned(struct thread_state *t, struct call_moved moved)
{
  time_filter_check();
  unblocked(t, false, &moved);
}

static bool in_region(const struct thread_state *t)
{
  return __atomic_load_n(&span_of(t)->open_region, __ATOMIC_RELAXED) ||
         region_open(__atomic_load_n(&sampling_of(t)->base_region, __ATOMIC_RELAXED));
}

/* The site at which a thread is idle.  A worker whose region has ended waits for the next one; a thread that OpenMP
 * does not know is idle in a pool. */
static uint64_t idle_site(const struct thread_state *t, struct activity is)
{
  return !is.openmp || in_region(t) ? __atomic_load_n(&sampling_of(t)->waiting_key, __ATOMIC_RELAXED) : WAITING_PARKED;
}

/* Adds to a site of the list; the last one takes what does not fit. */
static void add_wait(struct blame *blame, uint64_t key, uint64_t ns)
{
  unsigned i = 0;
  while (i < BLAME_SITES - 1 && blame->waits[i].ns && blame->waits[i].key != key)
    i++;
  if (!blame->waits[i].ns)
    blame->waits[i].key = key;
  blame->waits[i].ns += ns;
}

/* amount * share / all, rounded to the nearest integer. */
static uint64_t part(uint64_t amount, uint64_t share, uint64_t all)
{
  return (rt_scale(2 * amount, share, all) + 1) / 2;
}

/* How much of the time that ends now an idle thread was idle. */
static uint64_t idle_of(const struct thread_state *t, uint64_t time_ns)
{
  uint64_t now = rt_ticks(), since = __atomic_load_n(&t->idle_since, __ATOMIC_RELAXED);
  return MIN(time_ns, rt_ticks_to_ns(rt_minus(now, since)));
}

/* Whether a thread in a call that blocks was woken: it runs there, or is ready to.  Callers read rings. */
static bool is_woken(const struct thread_state *t)
{
  enum switches_state state = switches_state(t);
  return state == SWITCHES_RUNS || state == SWITCHES_READY;
}

/* Whether a thread that OpenMP does not know runs: it is no worker while it waits for anything.  In MPI it runs while
 * it polls. */
static bool runs_outside(const struct thread_state *t, struct activity is)
{
  return !is.lockwait && (is.call ? is_woken(t) : switches_state(t) != SWITCHES_SLEEPS);
}

/* Whether a thread, which may be the caller, is none that sleeps.  Callers read rings. */
static bool is_awake(const struct thread_state *self, const struct thread_state *t, struct activity is)
{
  if (t == self)
    return true;
  if (is.call == RT_CALL_BLOCKS && !sampling_process.wall && !is_woken(t))
    return false;
  return is.openmp || is.idle || runs_outside(t, is);
}

/* Of very many threads, every so many stand for all; which is the first of these changes. */
static uint32_t step_of(uint32_t all, uint32_t *first)
{
  uint32_t step = all / COUNTED_MAX + 1;
  *first = step > 1 ? (uint32_t)rt_ticks() % step : 0;
  return step;
}

static struct blame share_of(struct thread_state *self, uint64_t time_ns, bool slept)
{
  struct blame share = {.time_ns = time_ns, .samples = 1};
  uint32_t all = live_threads(), busy = 0, present = 0, others = 0, outside = 0, first, step = step_of(all, &first);
  bool region = false, idle = self->activity.idle && !self->activity.lockwait;
  switches_readers(1);
  for (uint32_t i = first; i < all; i += step) {
    struct thread_state *t = live_thread(i);
    if (!t)
      continue;
    struct activity is;
    __atomic_load(&t->activity, &is, __ATOMIC_ACQUIRE); /* then `helper` */
    region = region || (is.openmp && in_region(t));
    *(is.openmp && !t->helper ? &present : &others) += step;
    if (!is_awake(self, t, is))
      continue;
    outside += (is.openmp && !t->helper) || is.idle ? 0 : step;
    if (is.idle && !is.lockwait)
      add_wait(&share, idle_site(t, is), step * (slept ? idle_of(t, time_ns) : time_ns));
    else
      busy += step;
  }
  switches_readers(-1);
  busy += busy == 0;
  if (!region && !idle && blame_works(self->activity)) {
    uint64_t ns = part(time_ns, 1, busy);
    self->record->outside_ns += ns;
    self->record->beside_ns += outside && busy > step ? ns : 0;
  }
  present = present ? present : others; /* no thread has called the runtime yet */
  for (unsigned i = 0; i < BLAME_SITES; i++)
    share.waits[i].ns = part(share.waits[i].ns, 1, busy);
  share.per_busy_ns = part(time_ns, 1, busy);
  share.in_use_ns = part(time_ns, present, busy);
  return share;
}

uint64_t blame_work_share(const struct thread_state *self, uint64_t time_ns)
{
  uint32_t all = live_threads(), working = 0, first, step = step_of(all, &first);
  switches_readers(1);
  for (uint32_t i = first; i < all; i += step) {
    const struct thread_state *t = live_thread(i);
    struct activity is;
    if (!t)
      continue;
    __atomic_load(&t->activity, &is, __ATOMIC_RELAXED);
    working += !is.idle && !is.lockwait && blame_works(is) && is_awake(self, t, is) ? step : 0;
  }
  switches_readers(-1);
  return part(time_ns, 1, working ? working : 1);
}

struct blame blame_share(struct thread_state *t, uint64_t time_ns)
{
  return share_of(t, time_ns, false);
}

struct blame blame_slept(struct thread_state *t, uint64_t time_ns)
{
  return share_of(t, time_ns, true);
}

bool blame_any_ready(const struct thread_state *self)
{
  uint32_t all = live_threads(), first, step = step_of(all, &first);
  bool found = false;
  switches_readers(1);
  for (uint32_t i = first; i < all && !found; i += step) {
    struct thread_state *t = live_thread(i);
    struct activity is;
    if (!t || t == self)
      continue;
    __atomic_load(&t->activity, &is, __ATOMIC_RELAXED);
    found = !is.idle && !is.lockwait && switches_state(t) == SWITCHES_READY; /* also in a call in which it was woken */
  }
  switches_readers(-1);
  return found;
}

/* States of the runtime for a thread that waits at a barrier (0x010 to 0x01f) or for work. */
static bool runtime_waits(int state)
{
  return (state >= ompt_state_wait_barrier && state < ompt_state_wait_taskwait) || state == ompt_state_idle;
}

/* Is the address in code of the program, which a waiting thread does not run? */
static bool in_program(struct thread_state *t, uint64_t pc)
{
  uint32_t index;
  const struct format_module *module = modules_find(t, pc, &index);
  return module && !(module->flags & (FORMAT_MODULE_RUNTIME | FORMAT_MODULE_SYSTEM | FORMAT_MODULE_TOOL |
                                      FORMAT_MODULE_VDSO | FORMAT_MODULE_ANON));
}

void blame_check(struct thread_state *t, uint64_t pc)
{
  struct activity *activity = &t->activity;
  uint64_t wait_id;
  bool blocked = activity->call == RT_CALL_BLOCKS && !sampling_process.wall;
  bool waits = activity->idle || activity->lockwait || blocked, wrong = false;
  bool posix = activity->lockwait && waiting_for_posix(t); /* a handler of the program runs */
  if (!activity->openmp || !sampling_process.runtime_apart || posix)
    return;
  if (waits)
    wrong = in_program(t, pc);
  else if (sampling_process.get_state)
    wrong = runtime_waits(sampling_process.get_state(&wait_id));
  bool again = wrong && sampling_of(t)->contradicted_at == t->changes + 1;
  sampling_of(t)->contradicted_at = wrong ? t->changes + 1 : 0;
  if (!again)
    return;
  if (blocked) { /* it left the call by longjmp(): no error */
    unblocked(t, true, NULL);
    return;
  }
  rt_lost(t, FORMAT_LOST_STATES);
  waiting_lock_end(t);
  if (waits)
    waiting_end(t);
  else
    waiting_task(t, true);
}

static bool entry_take(struct blame_entry *entry, int tries)
{
  for (int i = 0; i < tries; i++) {
    if (!__atomic_exchange_n(&entry->lock, 1, __ATOMIC_ACQUIRE))
      return true;
    machine_relax();
  }
  return false;
}

static void entry_drop(struct blame_entry *entry)
{
  __atomic_store_n(&entry->lock, 0, __ATOMIC_RELEASE);
}

bool blame_wait(uint64_t wait_id, uint64_t key, const struct blame *blame)
{
  struct blame_entry *entry = blame_entry(wait_id);
  if (!wait_id || !entry_take(entry, WAIT_TRIES))
    return false;
  if (!atomic_load_explicit(&entries_used, memory_order_relaxed))
    atomic_store_explicit(&entries_used, true, memory_order_relaxed);
  bool ours = !entry->id || entry->id == wait_id;
  if (ours) {
    entry->blame.time_ns += blame->time_ns;
    entry->blame.per_busy_ns += blame->per_busy_ns;
    entry->blame.in_use_ns += blame->in_use_ns;
    entry->blame.samples += blame->samples;
    add_wait(&entry->blame, key, blame->time_ns);
    for (unsigned i = 0; i < BLAME_SITES && blame->waits[i].ns; i++)
      add_wait(&entry->blame, blame->waits[i].key, blame->waits[i].ns);
    __atomic_store_n(&entry->id, wait_id, __ATOMIC_RELEASE);
  }
  entry_drop(entry);
  return ours;
}

struct blame blame_take(uint64_t wait_id)
{
  struct blame_entry *entry = blame_entry(wait_id);
  struct blame taken = {0};
  if (!entry_take(entry, TAKE_TRIES))
    return taken; /* left for the next release */
  if (entry->id == wait_id) {
    taken = entry->blame;
    entry->blame = (struct blame){0};
    __atomic_store_n(&entry->id, 0, __ATOMIC_RELEASE);
  }
  entry_drop(entry);
  return taken;
}

uint64_t blame_left(void)
{
  uint64_t samples = 0;
  bool used = atomic_load_explicit(&entries_used, memory_order_relaxed); /* otherwise the table was never touched */
  for (unsigned i = 0; used && i < sizeof blame_entries / sizeof *blame_entries; i++)
    samples += blame_entries[i].blame.samples;
  for (uint32_t i = 0; used && i < live_threads(); i++)
    samples += live_thread(i) ? sampling_of(live_thread(i))->released.samples : 0;
  return samples;
}
