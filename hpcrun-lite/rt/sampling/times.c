#include "hpcrun-lite/rt/sampling/times.h"

#include "common/order.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/kernel_usage.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/span/governor.h"

/* Ticks between two updates: 10 to 30 ms, and 0.3 to 1 s, depending on the length of a tick. */
enum { THREAD_TICKS = 1 << 25, PROCESS_TICKS = 1 << 30 };

static struct {
  uint64_t ns, ticks, cpu_ns, measured;
} start;
static _Atomic uint64_t process_due; /* time-stamp counter; the thread that advances it writes the record */

void times_start(uint64_t start_ns, uint64_t start_ticks, uint64_t start_cpu_ns)
{
  start.ns = start_ns;
  start.ticks = start_ticks;
  start.cpu_ns = start_cpu_ns;
  rt.start_ticks = start_ticks;
  rt.start_ns = start_ns;
  start.measured = rt_measured_clock(start_ticks);
  atomic_store(&sampling_process.sampled, !atomic_load(&sampling_process.unsampled));
  atomic_store(&sampling_process.unsampled_ticks, atomic_load(&sampling_process.unsampled) ? -start.measured : 0);
  times_keep(NULL);
}

void times_keep(struct format_process *process)
{
  atomic_store(&rt.record, process);
}

/* Elapsed time and ticks since the start, to convert ticks. */
struct rate {
  uint64_t ns, ticks;
};

static struct rate rate_now(void)
{
  struct sys_moment now = sys_moment();
  return (struct rate){now.ns - start.ns, now.ticks - start.ticks};
}

uint64_t times_elapsed_ns(void)
{
  return sys_monotonic_ns() - start.ns;
}

/* Measured ticks spent in a state, including the current interval if it lasts. */
static uint64_t state_ticks(const uint64_t *sum, const uint64_t *since, const bool *lasts)
{
  uint64_t began = __atomic_load_n(since, __ATOMIC_ACQUIRE), ticks = __atomic_load_n(sum, __ATOMIC_ACQUIRE);
  return ticks + (__atomic_load_n(lasts, __ATOMIC_ACQUIRE) ? rt_measured_between(began, rt_ticks()) : 0);
}

/* The same for calls. */
static uint64_t call_ticks(const uint64_t *sum, const uint64_t *since, const struct activity *is, enum rt_call call)
{
  uint64_t began = __atomic_load_n(since, __ATOMIC_ACQUIRE), ticks = __atomic_load_n(sum, __ATOMIC_ACQUIRE);
  bool lasts = __atomic_load_n(&is->call, __ATOMIC_ACQUIRE) == call;
  return ticks + (lasts ? rt_measured_between(began, rt_ticks()) : 0);
}

/* The measured ticks until now in which the thread did not wait, but for a constant.  What the runtime did within waits
 * is not part of them, and neither are blocking calls, unless samples of elapsed time would count them as work. */
static uint64_t busy_clock(const struct thread_state *t)
{
  const struct sampling_thread *sampling = sampling_of(t);
  const struct activity *is = &t->activity;
  uint64_t waits = state_ticks(&t->idle_ticks, &t->idle_since, &is->idle) +
                   state_ticks(&t->lockwait_ticks, &t->lock_since, &is->lockwait);
  for (uint32_t i = 0; i < sampling->waits.count; i++)
    waits += ((const struct format_wait *)table_at(&sampling->waits, i))->runtime;
  if (!sampling_process.wall)
    waits += call_ticks(&sampling->blocked_ticks, &sampling->blocked_since, is, RT_CALL_BLOCKS);
  waits += call_ticks(&sampling->mpi.ticks, &sampling->mpi.since, is, RT_CALL_MPI);
  waits += call_ticks(&sampling->device_wait.ticks, &sampling->device_wait.since, is, RT_CALL_DEVICE);
  return rt_measured_clock(rt_ticks()) - waits;
}

/* What a clock of the thread has advanced since it is at level summary, without the share of pauses. */
static uint64_t unsampled_part(const struct thread_state *t, uint64_t clock_ns, uint64_t since_ns)
{
  uint64_t now = rt_ticks(), since = sampling_of(t)->unsampled.since, passed = now > since ? now - since : 0;
  if (!sampling_of(t)->unsampled.on || clock_ns <= since_ns || !passed)
    return 0;
  return rt_scale(clock_ns - since_ns, rt_measured_between(since, now), passed);
}

void times_unsampled(struct thread_state *t, bool unsampled)
{
  struct sampling_thread *sampling = sampling_of(t);
  if (sampling->unsampled.on == unsampled)
    return;
  uint64_t cpu_ns = sys_thread_cpu_ns(), delay_ns = times_run_delay_ns(t), busy = busy_clock(t);
  kernel_usage_charge_open(t);
  sampling->unsampled.cpu_ns += unsampled_part(t, cpu_ns, sampling->unsampled.since_cpu_ns);
  sampling->unsampled.delay_ns += unsampled_part(t, delay_ns, sampling->unsampled.since_delay_ns);
  sampling->unsampled.ticks += unsampled ? -busy : busy;
  sampling->unsampled.since_cpu_ns = cpu_ns;
  sampling->unsampled.since_delay_ns = delay_ns;
  sampling->unsampled.since = rt_ticks();
  sampling->unsampled.on = unsampled;
}

void times_process_unsampled(bool unsampled)
{
  uint64_t measured = rt_measured_clock(rt_ticks());
  if (atomic_exchange(&sampling_process.unsampled, unsampled) != unsampled)
    atomic_fetch_add(&sampling_process.unsampled_ticks, unsampled ? -measured : measured);
  if (!unsampled)
    atomic_store(&sampling_process.sampled, true);
}

void times_thread(struct thread_state *t, uint64_t cpu_ns)
{
  struct sampling_thread *sampling = sampling_of(t);
  struct format_thread *record = t->record;
  const struct activity *is = &t->activity;
  bool open = sampling->region_depth && !sampling->base_region;
  struct rate rate = rate_now();
  record->wall_ns = rate.ns - record->start_ns;
  uint64_t measured =
      rt_scale(rt_measured_clock(start.ticks + rate.ticks) - sampling->measured_since, rate.ns, rate.ticks);
  record->paused_ns = rt_ever_paused() && record->wall_ns > measured ? record->wall_ns - measured : 0;
  if (cpu_ns > t->cpu_start_ns)
    record->cpu_ns = cpu_ns - t->cpu_start_ns;
  record->idle_ns = rt_scale(state_ticks(&t->idle_ticks, &t->idle_since, &is->idle), rate.ns, rate.ticks);
  record->lockwait_ns = rt_scale(state_ticks(&t->lockwait_ticks, &t->lock_since, &is->lockwait), rate.ns, rate.ticks);
  record->blocked_ns =
      rt_scale(call_ticks(&sampling->blocked_ticks, &sampling->blocked_since, is, RT_CALL_BLOCKS), rate.ns, rate.ticks);
  record->mpi_ns =
      rt_scale(call_ticks(&sampling->mpi.ticks, &sampling->mpi.since, is, RT_CALL_MPI), rate.ns, rate.ticks);
  record->device_ns = rt_scale(
      call_ticks(&sampling->device_wait.ticks, &sampling->device_wait.since, is, RT_CALL_DEVICE), rate.ns, rate.ticks);
  record->region_ns =
      rt_scale(state_ticks(&sampling->region_ticks, &sampling->region_since, &open), rate.ns, rate.ticks);
  if (sampling->switches.ring)
    record->switched_seen = sampling->switches.seen + rt_measured_between(sampling->switches.seen_since, rt_ticks());
  record->events = governor_events(t);
  record->events_ns = rt_scale(span_of(t)->governor.spent, rate.ns, rate.ticks);
  record->period = span_of(t)->governor.period_most;
  int64_t busy = (int64_t)(sampling->unsampled.ticks + (sampling->unsampled.on ? busy_clock(t) : 0));
  record->unsampled_ns = busy > 0 ? rt_scale((uint64_t)busy, rate.ns, rate.ticks) : 0;
  record->unsampled_cpu_ns = sampling->unsampled.cpu_ns + unsampled_part(t, cpu_ns, sampling->unsampled.since_cpu_ns);
}

void times_thread_delay(struct thread_state *t)
{
  uint64_t delay_ns = times_run_delay_ns(t);
  if (delay_ns) /* otherwise it may be that it cannot be read: the last sample's stays */
    t->record->run_delay_ns = delay_ns;
  t->record->unsampled_delay_ns =
      sampling_of(t)->unsampled.delay_ns + unsampled_part(t, delay_ns, sampling_of(t)->unsampled.since_delay_ns);
}

void times_process(struct format_process *process)
{
  process->wall_ns = sys_monotonic_ns() - start.ns;
  process->cpu_ns = sys_process_cpu_ns() - start.cpu_ns;
  process->tick_scale = rt_ticks_to_ns(1ull << 32);
  uint64_t now = rt_ticks(), measured = rt_measured_clock(now);
  uint64_t unsampled =
      atomic_load(&sampling_process.unsampled_ticks) + (atomic_load(&sampling_process.unsampled) ? measured : 0);
  process->paused_ns = rt_ticks_to_ns(now - start.ticks - (measured - start.measured));
  process->unsampled_ns = (int64_t)unsampled > 0 ? rt_ticks_to_ns(unsampled) : 0;
  uint32_t in_use = (uint32_t)atomic_load(&sampling_process.in_use_max);
  __atomic_store_n(&process->threads_max, MAX(in_use, 1), __ATOMIC_RELAXED);
  process->flags |= (rt.ompt ? FORMAT_PROCESS_OMPT : 0) | (sampling_process.timers_for_cpu ? FORMAT_PROCESS_TIMERS : 0);
  for (unsigned i = 0; i < FORMAT_LOST_MAX; i++) {
    uint64_t lost = atomic_load(&rt.lost[i]);
    if (i != FORMAT_LOST_UNKEPT || lost > process->lost[i]) /* the arena may have stored a higher number */
      process->lost[i] = lost;
  }
  process->lost[FORMAT_LOST_BLAME] += blame_left();
}

void times_refresh(struct thread_state *t)
{
  uint64_t now = rt_ticks(), due = atomic_load_explicit(&process_due, memory_order_relaxed);
  if (now < sampling_of(t)->record_due)
    return;
  sampling_of(t)->record_due = now + THREAD_TICKS;
  times_thread(t, sys_thread_cpu_ns());
  if (now < due || !atomic_compare_exchange_strong(&process_due, &due, now + PROCESS_TICKS))
    return;
  struct format_process *process = atomic_load(&rt.record);
  if (process)
    times_process(process);
}

static uint64_t take_number(const char **at)
{
  uint64_t number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at)
    number = number * 10 + (uint64_t)(**at - '0');
  *at += **at == ' ';
  return number;
}

/* The first numbers of /proc/self/task/TID/schedstat. */
struct times_schedule times_schedule(int tid)
{
  char text[64];
  struct times_schedule schedule;
  sys_read_thread_file(tid, "/schedstat", text, sizeof text);
  const char *at = text;
  schedule.cpu_ns = take_number(&at);
  schedule.delay_ns = take_number(&at);
  return schedule;
}

uint64_t times_run_delay_ns(const struct thread_state *t)
{
  uint64_t before = t->tid == rt.pid ? t->record->initial_delay_ns : 0;
  return rt_minus(times_schedule(t->tid).delay_ns, before);
}
