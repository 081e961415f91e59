#include "hpcrun-lite/rt/helper_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/span.h"

/* The thread is the runtime's, and sleeps until it has a task. */
static void be_helper(struct thread_state *t)
{
  t->helper = true;
  t->record->flags |= FORMAT_THREAD_HELPER;
  atomic_fetch_add_explicit(&sampling_process.helpers, 1, memory_order_relaxed);
  blame_blocked(t);
}

bool helper_events_thread_begin(struct thread_state *t, bool worker)
{
  if (worker && t->maker == RT_MADE_BY_HELPERS)
    be_helper(t);
  return t->helper || (!worker && t->maker == RT_MADE_BY_RUNTIME);
}

bool helper_events_region(struct thread_state *t, const void *codeptr)
{
  if (t->maker != RT_MADE_BY_RUNTIME || !code_in_runtime(codeptr))
    return false;
  be_helper(t);
  atomic_store_explicit(&sampling_process.task_words, true, memory_order_relaxed); /* before there is a target task */
  return true;
}

/* The task at which the helper waits for others is outside any region, and has no work. */
void helper_events_implicit_begin(struct thread_state *t, ompt_data_t *task_data)
{
  if (!t->helper || !task_data)
    return;
  measured_of(t)->helper_task = task_data;
  task_data->value = 0;
  if (graph_enter(t)) {
    uint32_t task = span_implicit_begin(t, 0, 0, 0);
    task_data->value = rt_task_word(task);
    if (task)
      graph_task(task)->flags |= TASK_WAITING;
    construct_events_implicit_begin(t, 0, false, task_data, 0);
    graph_leave(t);
  }
  task_data->value |= RT_TASK_WAITING;
}

/* The region in which the task was created is the one that the thread is in. */
static void enter_region(struct thread_state *t, const ompt_data_t *task)
{
  uint64_t region = span_process.online ? explicit_task_region(task->value) : region_handle(rt_task_index(task->value));
  bool known = span_process.online || !sampling_process.task_creation; /* otherwise the word has something else */
  __atomic_store_n(&sampling_of(t)->base_region, known ? region : 0, __ATOMIC_RELAXED);
}

bool helper_events_wakes(struct thread_state *t, const ompt_data_t *prior, int status, const ompt_data_t *next)
{
  if (!t->helper || status != ompt_task_switch || !next || prior != measured_of(t)->helper_task)
    return false;
  blame_unblocked(t);
  rt_set_openmp(t, true);
  enter_region(t, next);
  return true;
}

bool helper_events_ends(struct thread_state *t, const ompt_data_t *next)
{
  bool ends = next == measured_of(t)->helper_task;
  if (next && !ends)
    enter_region(t, next);
  return ends;
}

void helper_events_sleeps(struct thread_state *t)
{
  __atomic_store_n(&sampling_of(t)->base_region, 0, __ATOMIC_RELAXED);
  rt_set_openmp(t, false);
  blame_blocked(t);
}
