#include "hpcrun-lite/fork.h"

#include <pthread.h>

#include "hpcrun-lite/lock.h"
#include "hpcrun-lite/measurement.h"
#include "hpcrun-lite/output/writer.h"
#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/quiesce.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/unwind.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/thread.h"

static bool locked;
__thread bool fork_runs __attribute__((tls_model("initial-exec"), visibility("hidden")));

static void prepare(void)
{
  locked = process.active && rt_home.ours;
  if (!locked)
    return;
  lock_take();
  atomic_store(&rt.forking, true);
  fork_runs = true;
  if (!process.finished)
    quiesce_wait();
}

static void in_parent(void)
{
  if (!locked)
    return;
  atomic_store(&rt.forking, false);
  fork_runs = false;
  lock_drop();
}

/* Measures the forking thread, which alone exists in the child.  old: its state in the parent, NULL = not measured. */
static void measure_child(const struct thread_state *old)
{
  uint64_t floating = machine_default_floating();
  unwind_restart();
  process.forked = sampling_process.forked = true;
  thread_forget_ended();
  measurement_begin();
  if (!time_filter_continue())
    writer_notes();
  rt_home.measuring = true;
  thread_start(old ? old->top_sp : 0, 0, RT_MADE_BY_PROGRAM);
  if (rt_self && old) {
    if (old->activity.openmp)
      blame_openmp_begin(rt_self, false);
    rt_self->stack_low = old->stack_low;
    rt_self->stack_high = old->stack_high;
  }
  machine_restore_floating(floating);
}

/* The parent keeps its sources and what was measured until now.  The child shares the parent's tables, in the live
 * file: it lets go of them before any code of RT runs. */
static void in_child(void)
{
  if (!locked)
    return;
  static struct thread_state old;
  fork_runs = false;
  lock_inherit();
  bool measured = process.active && !process.finished, known = measured && rt_self;
  for (struct thread_state *t = process.threads; t; t = t->next) {
    graph_log_forget_thread(t);
    trace_forget_thread(t);
    counts_forget(t);
  }
  trace_forget_devices();
  if (known)
    old = *rt_self;
  if (measured) {
    rt_self = NULL;
    arena_reset();
  }
  atomic_store(&rt.forking, false);
  lock_drop();
  if (measured)
    measure_child(known ? &old : NULL);
}

void fork_start(void)
{
  pthread_atfork(prepare, in_parent, in_child);
}
