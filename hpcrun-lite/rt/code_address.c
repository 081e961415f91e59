#include "hpcrun-lite/rt/code_address.h"

#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/task_creation.h"
#include "hpcrun-lite/rt/sampling/unwind.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/explicit_task.h"

const void *code_of_directive(const struct thread_state *t)
{
  uint64_t code = span_of(t)->running ? explicit_task_code(span_of(t)->running) : 0;
  const struct region_team *team = code ? NULL : region_team((uint32_t)region_current(t));
  return (const void *)(team ? team->code : code);
}

const void *code_of_caller(struct thread_state *t, const ompt_data_t *data, const void *code, const void *otherwise)
{
  int flags;
  ompt_data_t *current;
  ompt_frame_t *frame = NULL;
  if (rt_stopped())
    return code;
  uint64_t begin = span_of(t)->log.creation.since ? rt_ticks() : 0;
  uint64_t end = rt_task_info(0, &flags, &current, &frame) && frame ? frame->exit_frame.value : 0;
  const void *found = task_creation_caller(t, task_creation_known(data), code, end);
  if (begin) /* a walk of the stack is not part of a task's creation */
    span_of(t)->log.creation.since += rt_ticks() - begin;
  if (found)
    return found;
  return otherwise ? otherwise : code;
}

/* The address of a region whose code jumped into the runtime. */
static __attribute__((noinline, cold)) const void *code_of_jump(struct thread_state *t, const void *code,
                                                                uint64_t enter_frame)
{
  uint64_t function = rt_stopped() ? 0 : unwind_called(t, (uint64_t)code, enter_frame, sampling_of(t)->frames);
  return function ? (const char *)function + 1 : code;
}

const void *code_of_region(struct thread_state *t, const void *code, uint64_t enter_frame)
{
  const struct region_team *league = code ? NULL : region_team((uint32_t)region_current(t));
  if (league)
    return (const void *)league->code;
  if (code_in_runtime(code))
    return code_of_jump(t, code, enter_frame);
  return code_after_jump(code);
}

const void *code_of_task_call(struct thread_state *t, const ompt_data_t *creator, const void *code)
{
  struct span_thread *span = span_of(t);
  if (!graph_enter(t))
    return code_after_jump(code);
  bool of_taskloop =
      span->running && (graph_creator_of(t, creator) != span->task || directive_taskloop(span->running->scope.row));
  if (!of_taskloop)
    code = code_of_caller(t, creator, code,
                          span->running && explicit_task_code(span->running) ? NULL : code_of_directive(t));
  graph_leave(t);
  return code;
}

const void *code_of_cleared_wait(struct thread_state *t, const ompt_data_t *task_data, int kind)
{
  bool named = kind == ompt_sync_region_barrier_explicit || kind == ompt_sync_region_barrier_implicit_workshare ||
               kind == ompt_sync_region_taskwait;
  if (!named || !span_of(t)->open_region)
    return NULL;
  rt_inside_inc(t);
  const void *found = code_of_caller(t, task_data, NULL, NULL);
  rt_inside_dec(t);
  return found;
}
