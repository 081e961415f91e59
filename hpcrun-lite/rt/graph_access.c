#include "hpcrun-lite/rt/graph_access.h"

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/span/plain_task.h"
#include "hpcrun-lite/rt/span/span.h"

/* CTL reads the graph for a moment while the process goes on: the callback of a thread that leaves its last region just
 * then waits for that, for a bounded time; what it gives up is counted as a loss.  Ends like graph_enter(). */
bool graph_enter_after_flush(struct thread_state *t)
{
  if (!atomic_load(&rt.flushing))
    return false;
  rt_await_flush();
  rt_inside_inc(t);
  if (!rt_graph_suspended()) {
    governor_enter(t);
    return true;
  }
  rt_inside_dec(t);
  if (!atomic_load(&rt.flushing))
    return false;
  rt_lost(t, FORMAT_LOST_GRAPH);
  span_of(t)->repeated = (struct repeated_creation){0};
  if (span_of(t)->plain.data)
    span_of(t)->work.done += span_of(t)->plain.before;
  span_of(t)->plain.bundled = false;
  span_of(t)->bundled_tasks.prior = NULL;
  span_of(t)->bundled_tasks.data = NULL;
  span_of(t)->plain.data = span_of(t)->running_data = NULL; /* perhaps it is that task which ends: its word goes, too */
  return false;
}

void graph_count_bundled(struct thread_state *t)
{
  struct bundled_tasks *bundled = &span_of(t)->bundled_tasks;
  const struct plain_task *plain = &span_of(t)->plain;
  const ompt_data_t *data = bundled->data;
  construct_task_count_bundled(t, data ? bundled->begun : rt_ticks());
  if (!data || t != rt_self) /* only the thread itself changes its stack: at its next event */
    return;
  bundled->data = NULL;
  construct_task_begin(t, plain->prior, data, plain->batch->row, true, plain->batch->thread != t->index, 0,
                       bundled->begun);
}

void graph_report(struct thread_state *t)
{
  span_report(t);
  if (span_of(t)->bundled_tasks.uncounted || span_of(t)->bundled_tasks.data)
    graph_count_bundled(t);
}

uint32_t graph_any_task_of(struct thread_state *t, ompt_data_t *data)
{
  if (!data)
    return 0;
  uint64_t word = __atomic_load_n(&data->value, __ATOMIC_ACQUIRE);
  if (!word && span_of(t)->running)
    return span_of(t)->running->dependent_wait;
  return word & RT_TASK_NEW ? explicit_task_index(t, data) : rt_task_index(word);
}

ompt_data_t *graph_current_data(ompt_data_t *otherwise)
{
  enum { LOWEST_POINTER = 65536 };
  int flags;
  ompt_data_t *data = NULL;
  ompt_frame_t *frame = NULL;
  return rt_task_info(0, &flags, &data, &frame) && (uint64_t)data >= LOWEST_POINTER ? data : otherwise;
}
