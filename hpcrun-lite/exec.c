#include "hpcrun-lite/exec.h"

#include <errno.h>

#include "hpcrun-lite/lock.h"
#include "hpcrun-lite/measurement.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/quiesce.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/kernel_usage.h"
#include "hpcrun-lite/rt/sampling/waiting.h"

static int exec_pid; /* of the process that is in an exec; 0 = none */

bool exec_under_way(void)
{
  return exec_pid == rt.pid;
}

/* A vfork child lives in its parent's memory. */
static bool measured_here(void)
{
  return process.active && rt.pid == sys_pid();
}

void exec_begin(void)
{
  if (!measured_here())
    return;
  lock_take();
  if (!process.finished && !exec_pid) {
    measurement_write_for_exec();
    exec_pid = rt.pid;
  }
  lock_lend();
}

/* Measures again.  The graph lacks what the other threads have done meanwhile, and so do states of the trace that come
 * from constructs; those that come from waits go on. */
static void go_on(void)
{
  bool whole = !span_process.online || (process.threads && !process.threads->next);
  if (!whole) {
    rt_lost(NULL, FORMAT_LOST_GRAPH);
    trace_end_states(process.threads);
  }
  if (!span_process.online)
    for (struct thread_state *t = process.threads; t; t = t->next)
      waiting_go_on(t);
  quiesce_reopen(whole);
  if (rt_self)
    kernel_usage_start(rt_self);
}

void exec_failed(void)
{
  int saved_errno = errno;
  if (!measured_here())
    return;
  if (exec_pid && !lock_nested()) {
    if (!process.finished && exec_under_way()) /* else a handler has forked, and this is the child */
      measurement_take_back();
    exec_pid = 0;
    if (!process.finished)
      go_on();
  }
  lock_drop();
  errno = saved_errno;
}
