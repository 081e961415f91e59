#include "hpcrun-lite/rt/sampling/times.h"

#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/core/sys.h"

/* Ticks between two updates: 10 to 30 ms, and 0.3 to 1 s, depending on the length of a tick. */
enum { THREAD_TICKS = 1 << 25, PROCESS_TICKS = 1 << 30 };

static struct {
  uint64_t ns, ticks, cpu_ns;
} start;
static _Atomic uint64_t process_due; /* time-stamp counter; the thread that advances it writes the record */

void times_start(uint64_t start_ns, uint64_t start_ticks, uint64_t start_cpu_ns)
{
  start.ns = start_ns;
  start.ticks = start_ticks;
  start.cpu_ns = start_cpu_ns;
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

static struct rate rate_at(uint64_t now_ns)
{
  return (struct rate){now_ns - start.ns, rt_ticks() - start.ticks};
}

uint64_t times_elapsed_ns(void)
{
  return sys_monotonic_ns() - start.ns;
}

uint64_t times_ticks_to_ns(uint64_t ticks)
{
  struct rate rate = rate_at(sys_monotonic_ns());
  return rt_scale(ticks, rate.ns, rate.ticks);
}

/* Ticks spent in a state, including the current interval if it lasts. */
static uint64_t state_ticks(const uint64_t *sum, const uint64_t *since, const bool *lasts)
{
  uint64_t began = __atomic_load_n(since, __ATOMIC_ACQUIRE), ticks = __atomic_load_n(sum, __ATOMIC_ACQUIRE);
  int64_t more = __atomic_load_n(lasts, __ATOMIC_ACQUIRE) ? (int64_t)(rt_ticks() - began) : 0;
  return ticks + (more > 0 ? (uint64_t)more : 0);
}

void times_thread(struct thread_state *t, uint64_t cpu_ns)
{
  struct format_thread *record = t->record;
  const struct activity *is = &t->activity;
  bool open = t->region_depth && !t->base_region;
  uint64_t now_ns = sys_monotonic_ns();
  struct rate rate = rate_at(now_ns);
  record->wall_ns = now_ns - start.ns - record->start_ns;
  if (cpu_ns > t->cpu_start_ns)
    record->cpu_ns = cpu_ns - t->cpu_start_ns;
  record->idle_ns = rt_scale(state_ticks(&t->idle_ticks, &t->idle_since, &is->idle), rate.ns, rate.ticks);
  record->lockwait_ns = rt_scale(state_ticks(&t->lockwait_ticks, &t->lock_since, &is->lockwait), rate.ns, rate.ticks);
  record->blocked_ns = rt_scale(state_ticks(&t->blocked_ticks, &t->blocked_since, &is->blocked), rate.ns, rate.ticks);
  record->region_ns = rt_scale(state_ticks(&t->region_ticks, &t->region_since, &open), rate.ns, rate.ticks);
}

void times_process(struct format_process *process)
{
  process->wall_ns = sys_monotonic_ns() - start.ns;
  process->cpu_ns = sys_process_cpu_ns() - start.cpu_ns;
  process->tick_scale = times_ticks_to_ns(1ull << 32);
  process->threads_max = (uint32_t)atomic_load(&rt.in_use_max);
  if (!process->threads_max)
    process->threads_max = 1;
  process->flags |= (rt.ompt ? FORMAT_PROCESS_OMPT : 0) | (rt.timers_for_cpu ? FORMAT_PROCESS_TIMERS : 0);
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
  if (now < t->record_due)
    return;
  t->record_due = now + THREAD_TICKS;
  times_thread(t, sys_thread_cpu_ns());
  if (now < due || !atomic_compare_exchange_strong(&process_due, &due, now + PROCESS_TICKS))
    return;
  struct format_process *process = atomic_load(&rt.record);
  if (process)
    times_process(process);
}

/* The number after the first space of /proc/self/task/TID/schedstat. */
uint64_t times_run_delay_ns(int tid)
{
  char text[64];
  sys_read_thread_file(tid, "/schedstat", text, sizeof text);
  const char *at = text;
  while (*at && *at != ' ')
    at++;
  uint64_t delay = 0;
  for (at += *at == ' '; *at >= '0' && *at <= '9'; at++)
    delay = delay * 10 + (uint64_t)(*at - '0');
  return delay;
}
