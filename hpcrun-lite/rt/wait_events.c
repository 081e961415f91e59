#include "hpcrun-lite/rt/wait_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/light_region.h"
#include "hpcrun-lite/rt/span/span.h"

static bool is_barrier(int kind)
{
  return kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup;
}

/* For the graph and constructs, where a thread waits. */
static __attribute__((noinline)) void graph_wait_begin(struct thread_state *t, int kind, const void *codeptr,
                                                       const ompt_data_t *task_data, uint64_t moment)
{
  if (!graph_enter(t))
    return;
  codeptr = codeptr ? code_of_construct(t, task_data, codeptr) : NULL;
  if (is_barrier(kind) && kind != ompt_sync_region_barrier_explicit && light_region_is_plain(t))
    light_region_wait(t, moment);
  else
    span_wait_begin(t, graph_task_of(t, task_data), kind, false, moment, codeptr);
  construct_events_wait_begin(t, kind, codeptr, moment);
  times_refresh_at(t, moment);
  graph_leave(t);
}

/* Takes the data word of a worker's task that waits at a barrier; see struct barrier_data.  Threads of libgomp have no
 * such copy. */
static void keep_word(struct thread_state *t, int kind, ompt_data_t *task_data)
{
  struct barrier_data *barrier = &measured_of(t)->barrier;
  if (!is_barrier(kind) || !t->worker || rt_gomp_task || sampling_of(t)->region_depth || barrier->place)
    return;
  barrier->place = task_data;
  barrier->word = *task_data;
  task_data->value = 0;
}

/* Gives the word back, also where libomp passes a copy.  Inside a region that the thread has begun in a task meanwhile,
 * the barrier is another one. */
static void give_word_back(struct thread_state *t, ompt_data_t *task_data)
{
  struct barrier_data *barrier = &measured_of(t)->barrier;
  if (!barrier->place || sampling_of(t)->region_depth)
    return;
  barrier->place = NULL;
  *task_data = barrier->word;
}

void wait_events_begin(struct thread_state *t, int kind, const void *codeptr, ompt_data_t *task_data)
{
  codeptr = code_past_wrapper(t, codeptr);
  if ((span_of(t)->running_data || span_of(t)->plain.data) && graph_enter(t)) {
    explicit_task_publish(t);
    graph_leave(t);
  }
  if (kind == ompt_sync_region_taskgroup)
    task_data = graph_current_data(task_data);
  if (!codeptr)
    codeptr = code_of_cleared_wait(t, task_data, kind);
  if (task_data)
    task_data->value |= RT_TASK_WAITING;
  uint64_t moment = waiting_begin(t, waiting_kind(kind), codeptr);
  if (span_process.online)
    graph_wait_begin(t, kind, codeptr, task_data, moment);
  if (task_data)
    keep_word(t, kind, task_data);
}

static __attribute__((noinline)) void graph_wait_end(struct thread_state *t, int kind, const ompt_data_t *parallel_data,
                                                     const ompt_data_t *task_data, uint64_t moment)
{
  if (!graph_enter(t))
    return;
  bool known = parallel_data && parallel_data->value;
  if (is_barrier(kind) && light_region_is_plain(t))
    light_region_go_on(t, known, moment);
  else
    span_wait_end(t, graph_task_of(t, task_data), kind, known, moment);
  construct_events_wait_end(t, moment);
  times_refresh_at(t, moment);
  graph_leave(t);
}

void wait_events_end(struct thread_state *t, int kind, const ompt_data_t *parallel_data, ompt_data_t *task_data)
{
  if (kind == ompt_sync_region_taskgroup)
    task_data = graph_current_data(task_data);
  else if (task_data && kind != ompt_sync_region_taskwait)
    give_word_back(t, task_data);
  if (task_data)
    task_data->value &= ~(uint64_t)RT_TASK_WAITING;
  uint64_t moment = waiting_end(t);
  if (span_process.online)
    graph_wait_end(t, kind, parallel_data, task_data, moment);
}

void wait_events_group(struct thread_state *t, bool begin, const ompt_data_t *task_data, const void *codeptr)
{
  if (!graph_enter(t))
    return;
  uint32_t row = 0;
  if (begin)
    row = span_taskgroup_begin(t, graph_task_of(t, task_data), FORMAT_DIRECTIVE_TASKGROUP,
                               code_of_construct(t, task_data, codeptr));
  else
    span_taskgroup_end(t, graph_task_of(t, task_data));
  construct_events_group(t, row, begin);
  graph_leave(t);
}
