#include "hpcrun-lite/rt/sampling/device_waits.h"

#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/worksharing.h"

static uint64_t sum_of(const struct switches_interval *intervals, unsigned count)
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < count; i++)
    sum += intervals[i].to - intervals[i].from;
  return sum;
}

uint64_t device_waits_slept(struct thread_state *t)
{
  enum { MOST = 32 };
  struct switches_interval off[MOST];
  struct sys_moment moment = sys_moment();
  uint64_t from = switches_ns_at(t, &moment, sampling_of(t)->device_wait.since),
           to = switches_ns_at(t, &moment, rt_ticks());
  unsigned count = switches_off(t, from, to, true, off, MOST);
  if (!count)
    return 0;
  uint64_t all = sum_of(off, count);
  from = off[0].from;
  count = switches_off(t, from, to, false, off, MOST);
  return rt_minus(all, sum_of(off, count));
}

void device_waits_begin(struct thread_state *t, struct format_device *device)
{
  struct device_wait *wait = &sampling_of(t)->device_wait;
  if (device->flags & FORMAT_DEVICE_ON_HOST || wait->depth++ || t->activity.idle || t->activity.lockwait ||
      t->activity.call)
    return;
  __atomic_fetch_or(&device->flags, FORMAT_DEVICE_AWAITED, __ATOMIC_RELAXED);
  wait->since = rt_ticks();
  wait->position = switches_position(t);
  wait->work_stopped = span_process.online && span_of(t)->end_slot;
  wait->strand_since = wait->since;
  if (wait->work_stopped)
    span_device_begin(t, wait->since);
  rt_set_call(t, RT_CALL_DEVICE);
  t->changes++;
}

void device_waits_end(struct thread_state *t, uint32_t node)
{
  struct device_wait *wait = &sampling_of(t)->device_wait;
  if (!wait->depth || --wait->depth || !device_waits_in(t))
    return;
  uint64_t now = rt_ticks();
  wait->ticks += rt_measured_between(wait->since, now);
  rt_set_call(t, RT_CALL_NONE);
  if (wait->work_stopped)
    span_device_end(t, wait->strand_since, now, node);
  t->changes++;
}

/* What the task has waited until now is in the graph then.  Returns whether it waits. */
static bool cut_wait(struct thread_state *t, uint32_t node)
{
  struct device_wait *wait = &sampling_of(t)->device_wait;
  if (!device_waits_in(t) || !wait->work_stopped)
    return false;
  uint64_t now = rt_ticks();
  span_device_cut(t, wait->strand_since, now, node);
  wait->strand_since = now;
  return true;
}

void device_waits_copy_begin(struct thread_state *t, uint32_t row, uint32_t node)
{
  struct device_wait *wait = &sampling_of(t)->device_wait;
  device_waits_copy_end(t); /* of one whose end was not followed */
  if (cut_wait(t, node))
    worksharing_block_in_wait(t, row);
  else
    worksharing_block(t, row);
  struct task *task = span_of(t)->running;
  wait->copy_task = task;
  wait->copy_scopes = task ? task->scopes_open : 0;
  wait->copy_node = node;
}

void device_waits_copy_end(struct thread_state *t)
{
  struct device_wait *wait = &sampling_of(t)->device_wait;
  const struct task *task = wait->copy_task;
  wait->copy_task = NULL;
  /* What is innermost may be another construct, if the end was not followed. */
  if (!task || task != span_of(t)->running || task->scopes_open != wait->copy_scopes)
    return;
  if (cut_wait(t, wait->copy_node))
    worksharing_block_end_in_wait(t);
  else
    worksharing_block_end(t);
}

void device_waits_sampled(struct thread_state *t, uint64_t ns)
{
  t->record->samples_device++;
  t->record->device_sampled_ns += ns;
}
