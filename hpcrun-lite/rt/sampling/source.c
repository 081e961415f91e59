#define _GNU_SOURCE
#include "hpcrun-lite/rt/sampling/source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <time.h>

#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "hpcrun-lite/rt/span/work_clock.h"

struct sampling_process sampling_process;

const char source_request_publication;

enum { PAGE = 4096, PHASE_MIN_NS = 20000 };

/* Where in its period a thread starts: a number up to the period, from the thread's id and the time, and not much below
 * what the kernel's timers can do. */
static uint64_t random_offset(const struct thread_state *t, uint64_t period)
{
  uint64_t x = rt_ticks() ^ (uint64_t)t->tid << 32 ^ (uint64_t)t->index * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x = x % period + 1;
  return x < PHASE_MIN_NS && period > PHASE_MIN_NS ? PHASE_MIN_NS : x;
}

static int open_event(struct sys_own *own, const struct event *event, int tid, uint64_t period, bool exclude_kernel)
{
  struct perf_event_attr attr = {.size = sizeof attr,
                                 .type = event->perf_type,
                                 .config = event->perf_config,
                                 .wakeup_events = 1,
                                 .exclude_hv = 1,
                                 .exclude_kernel = exclude_kernel};
  if (period) {
    attr.sample_period = period;
  } else {
    attr.freq = 1;
    attr.sample_freq = __atomic_load_n(&event->frequency, __ATOMIC_RELAXED);
  }
  return sys_perf_event_open(own, &attr, tid);
}

void source_probe(void)
{
  static const struct event probe = {.perf_type = PERF_TYPE_SOFTWARE, .perf_config = PERF_COUNT_SW_TASK_CLOCK};
  struct sys_own own;
  sampling_process.timers_for_cpu = open_event(&own, &probe, 0, 1000000000u, false) != 0;
  sys_close_own(&own);
}

void source_reset(void)
{
  atomic_store(&sampling_process.running_timers, 0);
  atomic_store(&sampling_process.rings, 0);
}

/* Moves the descriptor to a number that no other source of the thread has.  A signal names its event by the number that
 * the descriptor had when it was armed, even after it was closed. */
static int move_apart(const struct thread_state *t, const struct source *source, struct sys_own *own)
{
  const struct sampling_thread *sampling = sampling_of(t);
  int error = 0;
  for (unsigned i = 0; i < sampling_process.event_count && !error; i++)
    if (&sampling->sources[i] != source && sampling->sources[i].how != SOURCE_OFF &&
        sampling->sources[i].own.fd == own->fd) {
      int was = own->fd;
      error = sys_move_own(own, was + 1);
      if (!error && own->fd == was) {
        sys_close_own(own);
        error = EMFILE;
      }
      i = UINT32_MAX; /* compare with all sources again */
    }
  return error;
}

/* Opens the event, directs its signal to the thread, and maps its page, which keeps the event alive: then the
 * descriptor can be closed, and a program that closes unknown descriptors cannot stop the event.  Count events keep the
 * descriptor to read the counter. */
static bool perf_start(struct thread_state *t, struct source *source, uint64_t period)
{
  const struct event *event = &sampling_process.events[source->event];
  struct sys_own own;
  int error = open_event(&own, event, t->tid, period, false);
  if ((error == EACCES || error == EPERM) && event->clock == EVENT_COUNT)
    error = open_event(&own, event, t->tid, period, true);
  if (error || move_apart(t, source, &own))
    return false;
  void *page = sys_perf_deliver(&own, t->tid, SAMPLE_SIGNAL) ? sys_perf_page(&own, PAGE) : NULL;
  bool keep = page && event->clock == EVENT_COUNT;
  if (!keep)
    sys_close_own(&own);
  if (!page)
    return false;
  if (source->page)
    sys_unmap(source->page, PAGE);
  source->own = own;
  source->fd_open = keep;
  source->page = page;
  return true;
}

/* Mean time of a sample of elapsed time in the handler, over all threads.  Any thread writes it, relaxed: a lost update
 * is one sample less in a mean. */
static _Atomic uint64_t mean_ns;

/* The period of samples of elapsed time: the requested one, or a longer one if many threads have timers.  Threads that
 * have a core are awake, and throttling limits them anyway (source_sample_taken()).  All others together
 * may use a quarter of the machine. */
static uint64_t min_period(uint64_t requested_ns)
{
  enum { DELIVERY_NS = 20000, SHARE = 4 };
  uint64_t running = atomic_load_explicit(&sampling_process.running_timers, memory_order_relaxed);
  uint64_t cpus = sampling_process.cpus ? sampling_process.cpus : 1;
  if (running <= cpus)
    return requested_ns;
  uint64_t each = DELIVERY_NS + atomic_load_explicit(&mean_ns, memory_order_relaxed);
  uint64_t least = (running - cpus) * each * SHARE / cpus;
  return least > requested_ns ? least : requested_ns;
}

/* Takes what a sample of elapsed time has taken into the mean, and adapts the period. */
static void adapt_period(struct source *source, uint64_t took)
{
  enum { SAMPLES = 64, LONGEST_NS = 1000000 }; /* longer: the thread was switched out */
  uint64_t mean = atomic_load_explicit(&mean_ns, memory_order_relaxed);
  took = took < LONGEST_NS ? took : LONGEST_NS;
  atomic_store_explicit(&mean_ns, mean - mean / SAMPLES + took / SAMPLES, memory_order_relaxed);
  uint64_t period = min_period(source->nominal_period);
  if (!source->suspended && (period > source->period + source->period / 4 || period + period / 4 < source->period)) {
    source->period = period;
    sys_timer_set(source->timer, period, period);
  }
}

static bool timer_start(struct thread_state *t, struct source *source, int clock)
{
  source->timer =
      sys_timer_start(clock, t->tid, SAMPLE_SIGNAL, source, random_offset(t, source->period), source->period);
  source->how = source->timer < 0 ? SOURCE_OFF : SOURCE_TIMER;
  return source->timer >= 0;
}

/* With a frequency each thread has its own period, 1 to 4 % shorter than the nominal one.  With exactly 5 ms, for
 * example, a program that does something every 5 ms would always be sampled at the same point. */
static uint64_t own_period(const struct thread_state *t, const struct event *event)
{
  uint64_t period = __atomic_load_n(&event->period, __ATOMIC_RELAXED);
  if (!__atomic_load_n(&event->frequency, __ATOMIC_RELAXED) || event->clock == EVENT_COUNT)
    return period;
  return period - period / 1000 * (10 + random_offset(t, period) % 31);
}

/* The handler accepts the event's signals from now on, since all other fields are set. */
static void perf_armed(struct source *source)
{
  atomic_signal_fence(memory_order_release);
  source->how = SOURCE_PERF;
}

static bool start_one(struct thread_state *t, struct source *source)
{
  const struct event *event = &sampling_process.events[source->event];
  source->first = true;
  source->nominal_period = source->period = own_period(t, event);
  switch (event->clock) {
  case EVENT_WALL_TIME:
    source->last = sys_monotonic_ns();
    atomic_fetch_add(&sampling_process.running_timers, 1);
    source->period = min_period(source->nominal_period);
    source->suspended = !timer_start(t, source, CLOCK_MONOTONIC);
    if (source->suspended)
      atomic_fetch_sub(&sampling_process.running_timers, 1);
    return !source->suspended;
  case EVENT_CPU_TIME:
    source->initial_period =
        !sampling_process.timers_for_cpu && perf_start(t, source, random_offset(t, source->period));
    /* Opening an event takes long while other threads fork or map memory; that is not the program's time. */
    source->last = sys_thread_cpu_ns();
    if ((int)source->event == sampling_process.time_event)
      t->cpu_start_ns = source->last;
    if (!source->initial_period)
      return timer_start(t, source, CLOCK_THREAD_CPUTIME_ID);
    perf_armed(source);
    return true;
  case EVENT_COUNT:
    source->last = 0;
    source->first = false;
    if (!perf_start(t, source, source->nominal_period))
      return false;
    perf_armed(source);
    return true;
  }
  return false;
}

static void start_all(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  for (unsigned i = 0; i < sampling_process.event_count; i++) {
    sampling->sources[i] = (struct source){.event = (uint8_t)i, .own.fd = -1};
    if (!sampling->quiet && !start_one(t, &sampling->sources[i]))
      rt_lost(t, FORMAT_LOST_EVENTS);
  }
}

/* The page of an event that samples the thread's CPU time.  The kernel updates it when it switches the thread in. */
static const void *sampled_page(const struct thread_state *t)
{
  const struct sampling_thread *sampling = sampling_of(t);
  for (unsigned i = 0; i < sampling_process.event_count; i++)
    if (sampling->sources[i].how == SOURCE_PERF && sampling_process.events[i].clock == EVENT_CPU_TIME &&
        sampling->sources[i].page)
      return sampling->sources[i].page;
  return NULL;
}

/* The pages of the thread's events have changed. */
static void show_switches(struct thread_state *t)
{
  span_of(t)->sampled_page = sampled_page(t);
  work_clock_choose_indicator(t);
}

void source_start(struct thread_state *t)
{
  sampling_of(t)->quiet = atomic_load(&sampling_process.unsampled) || !filter_thread(t->index);
  if (filter_thread(t->index))
    switches_start(t);
  start_all(t);
  span_of(t)->sampled_page = sampled_page(t); /* before the work clock starts */
}

/* Sets the flag of a timer of elapsed time, and counts the running ones (min_period()). */
static void set_suspended(struct source *source, bool suspended)
{
  if (source->how != SOURCE_TIMER || sampling_process.events[source->event].clock != EVENT_WALL_TIME ||
      source->suspended == suspended)
    return;
  source->suspended = suspended;
  /* Nothing moves across: the handler sees the flag. */
  atomic_fetch_add(&sampling_process.running_timers, suspended ? -1u : 1u);
}

static void stop_all(struct thread_state *t)
{
  for (unsigned i = 0; i < sampling_process.event_count; i++) {
    struct source *source = &sampling_of(t)->sources[i];
    if (source->how == SOURCE_TIMER)
      sys_timer_stop(source->timer);
    set_suspended(source, true);
    if (source->how == SOURCE_PERF) {
      sys_unmap(source->page, PAGE);
      if (source->fd_open)
        sys_close_own(&source->own);
    }
    *source = (struct source){.event = (uint8_t)i, .own.fd = -1};
  }
}

void source_stop(struct thread_state *t)
{
  stop_all(t);
  switches_stop(t);
  if (span_process.online)
    work_clock_stop(t);
}

/* The handler must not take a source for armed whose page is gone. */
void source_quiet(struct thread_state *t)
{
  if (sampling_of(t)->quiet)
    return;
  sampling_of(t)->quiet = true;
  stop_all(t);
  show_switches(t);
}

void source_wake(struct thread_state *t)
{
  uint64_t cpu_start_ns = t->cpu_start_ns; /* of the thread, not of its sources */
  if (!sampling_of(t)->quiet || !filter_thread(t->index))
    return;
  sampling_of(t)->quiet = false;
  start_all(t);
  t->cpu_start_ns = cpu_start_ns;
  show_switches(t);
}

void source_suspend(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  for (unsigned i = 0; i < sampling_process.event_count; i++)
    if (sampling->sources[i].how == SOURCE_TIMER) {
      set_suspended(&sampling->sources[i],
                    true); /* first: a sample that still arrives must not start the timer again */
      sys_timer_set(sampling->sources[i].timer, 0, 0);
    }
}

void source_resume(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  for (unsigned i = 0; i < sampling_process.event_count; i++)
    if (sampling->sources[i].how == SOURCE_TIMER) {
      set_suspended(&sampling->sources[i], false);
      sys_timer_set(sampling->sources[i].timer, 1, sampling->sources[i].period);
    }
}

/* The event's own clock: time in which a thread does not run does not count towards its samples of CPU time. */
static uint64_t clock_ns(const struct source *source)
{
  return sampling_process.events[source->event].clock == EVENT_CPU_TIME ? sys_thread_cpu_ns() : sys_monotonic_ns();
}

/* Samples that take longer than the period (deep stacks at high rates) would stop the program's progress. */
bool source_too_early(const struct source *source)
{
  return source->throttled_until && clock_ns(source) < source->throttled_until;
}

bool source_missed_core(const struct source *source)
{
  enum { LATE_NS = 100000 };
  if (source->first || sampling_process.events[source->event].clock != EVENT_WALL_TIME)
    return false;
  uint64_t passed = rt_minus(sys_monotonic_ns(), source->last);
  return rt_minus(passed, rt_minus(sys_thread_cpu_ns(), source->weighed_cpu_ns)) > LATE_NS;
}

uint64_t source_throttled_ns(const struct source *source, uint64_t cpu_ns)
{
  uint64_t now = sampling_process.events[source->event].clock == EVENT_CPU_TIME ? cpu_ns : sys_monotonic_ns();
  return source->throttled_until && !source->suspended && now > source->last ? now - source->last : 0;
}

/* The thread's CPU time since the sample was weighed: less than the elapsed time if the thread lost its processor
 * meanwhile, as it may in a long sample. */
static uint64_t ran_ns(const struct source *source)
{
  bool by_wall = sampling_process.events[source->event].clock == EVENT_WALL_TIME;
  uint64_t now = sys_thread_cpu_ns(), then = by_wall ? source->weighed_cpu_ns : source->last;
  return now > then ? now - then : 0;
}

/* Most samples are short, and then the clock need not be read: a tick is at most one nanosecond. */
static void throttle_after(struct source *source, uint64_t began)
{
  enum { THROTTLE_SHARE = 3 };
  source->throttled_until = 0;
  if ((rt_ticks() - began) * (THROTTLE_SHARE + 1) < source->period ||
      sampling_process.events[source->event].clock == EVENT_COUNT)
    return;
  uint64_t spent = ran_ns(source);
  if (spent * (THROTTLE_SHARE + 1) >= source->period)
    source->throttled_until = clock_ns(source) + THROTTLE_SHARE * spent;
}

/* What a sample has taken: a long one may have waited for a processor. */
static uint64_t spent_of(const struct source *source, uint64_t elapsed_ns)
{
  enum { LONG_NS = 100000 };
  if (elapsed_ns < LONG_NS || sampling_process.events[source->event].clock == EVENT_COUNT)
    return elapsed_ns;
  uint64_t spent = ran_ns(source);
  return spent < elapsed_ns ? spent : elapsed_ns;
}

void source_sample_taken(struct thread_state *t, struct source *source, uint64_t began, uint64_t elapsed_ns)
{
  throttle_after(source, began);
  uint64_t spent_ns = spent_of(source, elapsed_ns);
  if ((int)source->event == sampling_process.time_event && !t->activity.idle && !t->activity.lockwait) {
    /* otherwise it is part of the time of waiting */
    source->last += spent_ns;
    source->weighed_cpu_ns += spent_ns;
    t->record->tool_ns += spent_ns;
  }
  if (sampling_process.events[source->event].clock != EVENT_WALL_TIME)
    return;
  if (source->period > source->nominal_period)
    t->record->lost[FORMAT_LOST_RATE] += source->period / source->nominal_period - 1;
  adapt_period(source, spent_ns);
}

struct source *source_of(struct thread_state *t, const siginfo_t *info)
{
  struct source *first = &sampling_of(t)->sources[0], *end = &sampling_of(t)->sources[sampling_process.event_count];
  if (info->si_code == SI_TIMER) {
    struct source *source = info->si_value.sival_ptr;
    return source >= first && source < end && source->how == SOURCE_TIMER ? source : NULL;
  }
  bool perf = info->si_code >= POLL_IN && info->si_code <= POLL_HUP;
  bool stripped = info->si_code == SI_USER && info->si_pid == 0; /* the kernel had no memory for the details */
  for (struct source *source = first; source < end; source++)
    if (source->how != SOURCE_OFF && ((perf && info->si_fd == source->own.fd) || stripped))
      return source; /* including the last signal of an event that a timer has replaced */
  return NULL;
}

/* The time since the last sample; for the first sample at least a period. */
static uint64_t time_weight(struct source *source, uint64_t now)
{
  uint64_t passed = now > source->last ? now - source->last : 0;
  source->last = now;
  if (!source->first)
    return passed;
  source->first = false;
  return passed > source->period ? passed : source->period;
}

/* An event that samples makes each switch of its thread about 4 us slower, because the kernel programs the processor's
 * timer again.  A timer of the thread's CPU time costs a switch nothing, but expires only at ticks of the system clock.
 * So a thread that is switched often gets a timer for good.  The page's sequence advances by two with each switch. */
static bool switches_often(struct source *source, uint64_t weight_ns)
{
  enum { SWITCH_NS = 4000, SHARE_MAX = 100, IN_A_ROW = 3, TICK_MAX_NS = 4000000 };
  uint32_t sequence = __atomic_load_n(&((const struct perf_event_mmap_page *)source->page)->lock, __ATOMIC_RELAXED);
  uint32_t switches = (sequence - source->switches) / 2;
  source->switches = sequence;
  bool often = source->period >= TICK_MAX_NS && (uint64_t)switches * SWITCH_NS * SHARE_MAX > weight_ns;
  source->high_switch_samples = often ? source->high_switch_samples + 1 : 0;
  return source->high_switch_samples >= IN_A_ROW;
}

static void change_to_timer(struct thread_state *t, struct source *source)
{
  void *page = source->page;
  if (!timer_start(t, source, CLOCK_THREAD_CPUTIME_ID)) {
    source->how = SOURCE_PERF;
    source->high_switch_samples = 0;
    return;
  }
  source->page = NULL;
  show_switches(t);
  sys_unmap(page, PAGE);
}

/* The random first period is over. */
static void end_initial_period(struct thread_state *t, struct source *source)
{
  source->initial_period = false;
  if (!perf_start(t, source, source->period)) {
    sys_unmap(source->page, PAGE); /* it would continue with its random first period */
    source->page = NULL;
    if (!timer_start(t, source, CLOCK_THREAD_CPUTIME_ID))
      rt_lost(t, FORMAT_LOST_EVENTS);
  }
  show_switches(t);
}

/* Re-arms the thread's event.  This takes long while other threads fork or map memory. */
static void rearm(struct thread_state *t, struct source *source)
{
  uint64_t began = source->last;
  if (source->initial_period)
    end_initial_period(t, source);
  else
    change_to_timer(t, source);
  source->last = sys_thread_cpu_ns();
  if ((int)source->event == sampling_process.time_event && !rt_paused())
    t->record->tool_ns += source->last - began;
}

uint64_t source_weight(struct thread_state *t, struct source *source, bool entered)
{
  uint64_t count;
  switch (sampling_process.events[source->event].clock) {
  case EVENT_WALL_TIME:
    source->weighed_cpu_ns = sys_thread_cpu_ns();
    return time_weight(source, sys_monotonic_ns());
  case EVENT_CPU_TIME: {
    /* interrupted code of the tool may be reading the page (span/work_clock.c): then at the next sample */
    bool may_unmap = source->how == SOURCE_PERF && entered;
    uint64_t weight = time_weight(source, sys_thread_cpu_ns());
    if (may_unmap && (source->initial_period || switches_often(source, weight)))
      rearm(t, source);
    return weight;
  }
  case EVENT_COUNT:
    break;
  }
  if (!source->fd_open || !sys_perf_read(&source->own, &count))
    return source->period ? source->period : 1;
  uint64_t passed = count - source->last;
  source->last = count;
  return passed;
}
