#include "hpcrun-lite/rt/work.h"

#include <linux/perf_event.h>

#include "hpcrun-lite/rt/sys.h"

/* Nanoseconds for a tick of the time-stamp counter, 32 bits of fraction; and the time that it was measured over. */
static _Atomic uint64_t ns_per_tick, calibrated_ns;

void work_calibrate(uint64_t start_ticks, uint64_t start_ns)
{
  uint64_t passed_ns = sys_monotonic_ns() - start_ns, passed_ticks = rt_ticks() - start_ticks;
  if (passed_ticks == 0 || passed_ns < 2 * atomic_load_explicit(&calibrated_ns, memory_order_relaxed))
    return;
  atomic_store_explicit(&calibrated_ns, passed_ns, memory_order_relaxed);
  atomic_store_explicit(&ns_per_tick, (uint64_t)((double)passed_ns / (double)passed_ticks * 4294967296.0),
                        memory_order_relaxed);
}

void work_start(struct thread_state *t)
{
  t->work = (struct work){.source = -1};
  for (unsigned i = 0; i < rt.event_count && t->work.source < 0; i++)
    if (t->sources[i].how == SOURCE_PERF && rt.events[i].clock == EVENT_CPU_TIME)
      t->work.source = (int)i;
}

static uint64_t ask_kernel(struct work *work, uint32_t sequence)
{
  work->base_ns = sys_thread_cpu_ns();
  work->base_ticks = rt_ticks();
  work->sequence = sequence;
  return work->base_ns;
}

static uint64_t cpu_time(struct thread_state *t)
{
  struct work *work = &t->work;
  const struct perf_event_mmap_page *page =
      work->source < 0 ? NULL : (const struct perf_event_mmap_page *)t->sources[work->source].page;
  uint32_t sequence = page ? __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE) : 1;
  if (sequence != work->sequence || sequence & 1 || !work->base_ns)
    return ask_kernel(work, sequence);
  uint64_t ticks = rt_ticks() - work->base_ticks, rate = atomic_load_explicit(&ns_per_tick, memory_order_relaxed);
  return work->base_ns + (uint64_t)(((unsigned __int128)ticks * rate) >> 32);
}

uint64_t work_now(struct thread_state *t)
{
  if (rt.work_unit == WORK_USER)
    return t->work.units;
  uint64_t now = cpu_time(t);
  if (now > t->work.last)
    t->work.last = now;
  return t->work.last;
}
