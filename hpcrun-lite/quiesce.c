#include "hpcrun-lite/quiesce.h"

#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/sample.h"

enum { WAIT_MAX_NS = 100000000 };

/* Waits until a condition holds for every other live thread. */
static void wait_until(bool (*done)(const struct thread_state *t))
{
  uint64_t deadline = sys_monotonic_ns() + WAIT_MAX_NS;
  for (const struct thread_state *t = process.threads; t; t = t->next)
    while (t != rt_self && !done(t) && sys_monotonic_ns() < deadline)
      sys_yield();
}

static bool outside(const struct thread_state *t)
{
  return !__atomic_load_n(&t->inside, __ATOMIC_ACQUIRE);
}

void quiesce_wait(void)
{
  atomic_thread_fence(memory_order_seq_cst); /* what stops threads is stored before `inside` is read: rt_stopped() */
  wait_until(outside);
}

static bool nothing_wanted(const struct thread_state *t)
{
  return !region_wanted(t);
}

void quiesce_publish_regions(void)
{
  struct thread_state *self = rt_self;
  bool requested = false;
  if (self && span_of(self)->open_region && rt_enter(self)) {
    context_publish_open(self);
    rt_leave(self);
  }
  for (struct thread_state *t = process.threads; t; t = t->next)
    if (t != self && region_wanted(t)) {
      sys_signal_thread(rt.pid, t->tid, SAMPLE_SIGNAL, (void *)&source_request_publication);
      requested = true;
    }
  if (requested)
    wait_until(nothing_wanted);
}

void quiesce_close(bool ends)
{
  if (ends)
    atomic_fetch_or(&rt.waits, RT_WAITS_ENDED);
  else
    atomic_fetch_and(&rt.waits, ~(unsigned)RT_WAITS_ENDED);
  atomic_store(&rt.closed, true);
  atomic_store(&rt.graph_suspended, true);
  sys_barrier_all();
  quiesce_wait();
}

void quiesce_reopen(bool graph)
{
  if (graph)
    atomic_store(&rt.graph_suspended, false);
  atomic_store(&rt.closed, false);
}
