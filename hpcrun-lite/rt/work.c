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

static uint32_t sequence_of(const struct thread_state *t)
{
  const struct perf_event_mmap_page *page =
      t->work.source < 0 ? NULL : (const struct perf_event_mmap_page *)t->sources[t->work.source].page;
  return page ? __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE) : 1;
}

/* The kernel knows the thread's CPU time: a base from which ticks count again. */
static void ask_kernel(struct work *work, uint32_t sequence)
{
  work->base_ns = sys_thread_cpu_ns();
  work->base_ticks = rt_ticks();
  work->sequence = sequence;
}

void work_start(struct thread_state *t)
{
  t->work = (struct work){.source = -1, .since = rt_ticks()};
  for (unsigned i = 0; i < rt.event_count && t->work.source < 0; i++)
    if (t->sources[i].how == SOURCE_PERF && rt.events[i].clock == EVENT_CPU_TIME)
      t->work.source = (int)i;
  if (rt.work_unit == WORK_USER)
    t->work.since = 0;
  else
    ask_kernel(&t->work, sequence_of(t));
}

static uint64_t to_ticks(uint64_t ns)
{
  uint64_t rate = atomic_load_explicit(&ns_per_tick, memory_order_relaxed);
  return rate ? (uint64_t)((double)ns * 4294967296.0 / (double)rate) : 0;
}

uint64_t work_until(struct thread_state *t, uint64_t moment)
{
  struct work *work = &t->work;
  if (rt.work_unit == WORK_USER)
    return moment - work->since;
  uint32_t sequence = sequence_of(t);
  if (sequence == work->sequence && !(sequence & 1))
    return moment > work->since ? moment - work->since : 0;
  /* Switched out in between: CPU time until the begin was the base's and the ticks since. */
  uint64_t before = work->base_ticks, before_ns = work->base_ns;
  uint64_t begin = work->since > before ? work->since - before : 0;
  ask_kernel(work, sequence);
  uint64_t used = to_ticks(work->base_ns - before_ns), late = work->base_ticks > moment ? work->base_ticks - moment : 0;
  used = used > begin ? used - begin : 0;
  return used > late ? used - late : 0;
}
