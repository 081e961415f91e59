/* Barriers, and the constructs that end with one: loops, sections, single.  Context: CTL (gomp.h).
 *
 * GCC's code calls GOMP_barrier() for an explicit barrier, and at the end of single and of loops that it has divided
 * itself.  After a single construct the call counts as the end of that, unless other calls show that the construct has
 * ended before (gomp_past_single()); otherwise it counts as an explicit barrier, and reports state what else it may be.
 */
#include <stddef.h>

#include "hpcrun-lite/gomp/gomp.h"

/* The kind of the barrier that begins; forgets that a single construct came before it.  Directly in a target region it
 * waits for no thread, but for all tasks that the region has created: the region is their taskgroup. */
static inline int take_barrier_kind(struct rt_gomp_task *task)
{
  if (task->in_target)
    return ompt_sync_region_taskgroup;
  bool known = task->single != RT_SINGLE_NONE;
  task->single = RT_SINGLE_NONE;
  return known ? ompt_sync_region_barrier_implicit_workshare : ompt_sync_region_barrier_explicit;
}

GOMP_CODE void wrap_GOMP_barrier(void)
{
  GOMP_ENTER(runtime, task);
  int kind = task ? take_barrier_kind(task) : 0;
  const void *code = GOMP_CALLER;
  if (task)
    gomp_wait_begin(task, kind, code);
  GOMP_NEXT(runtime, GOMP_barrier)();
  if (task)
    gomp_wait_end(task, kind, code);
}

GOMP_CODE bool wrap_GOMP_barrier_cancel(void)
{
  GOMP_ENTER(runtime, task);
  int kind = task ? take_barrier_kind(task) : 0;
  const void *code = GOMP_CALLER;
  if (task)
    gomp_wait_begin(task, kind, code);
  bool cancelled = GOMP_NEXT(runtime, GOMP_barrier_cancel)();
  if (task)
    gomp_wait_end(task, kind, code);
  return cancelled;
}

static inline int end_wait_kind(const struct rt_gomp_task *task)
{
  return task->in_target ? ompt_sync_region_taskgroup : ompt_sync_region_barrier_implicit_workshare;
}

/* The end of a loop, of sections, or of another construct with task reductions. */
static inline void end_wait_begin(struct rt_gomp_task *task, const void *code)
{
  if (!task)
    return;
  if (!task->in_target) {
    if (task->work)
      gomp_work_end(task);
    task->single = RT_SINGLE_NONE;
  }
  gomp_wait_begin(task, end_wait_kind(task), code);
}

static inline void end_wait_end(struct rt_gomp_task *task, const void *code)
{
  if (task)
    gomp_wait_end(task, end_wait_kind(task), code);
}

#define END(name)                                                                                                      \
  GOMP_CODE void wrap_##name(void)                                                                                     \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    const void *code = GOMP_CALLER;                                                                                    \
    end_wait_begin(task, code);                                                                                        \
    GOMP_NEXT(runtime, name)();                                                                                        \
    end_wait_end(task, code);                                                                                          \
  }
END(GOMP_loop_end)
END(GOMP_sections_end)

#define END_CANCEL(name)                                                                                               \
  GOMP_CODE bool wrap_##name(void)                                                                                     \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    const void *code = GOMP_CALLER;                                                                                    \
    end_wait_begin(task, code);                                                                                        \
    bool cancelled = GOMP_NEXT(runtime, name)();                                                                       \
    end_wait_end(task, code);                                                                                          \
    return cancelled;                                                                                                  \
  }
END_CANCEL(GOMP_loop_end_cancel)
END_CANCEL(GOMP_sections_end_cancel)

#define END_NOWAIT(name)                                                                                               \
  GOMP_CODE void wrap_##name(void)                                                                                     \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    if (task && task->work)                                                                                            \
      gomp_work_end(task);                                                                                             \
    GOMP_NEXT(runtime, name)();                                                                                        \
  }
END_NOWAIT(GOMP_loop_end_nowait)
END_NOWAIT(GOMP_sections_end_nowait)

/* Waits for the tasks of the construct, and then, unless it was cancelled, at a barrier. */
GOMP_CODE void wrap_GOMP_workshare_task_reduction_unregister(bool cancelled)
{
  GOMP_ENTER(runtime, task);
  const void *code = GOMP_CALLER;
  if (cancelled)
    task = NULL;
  end_wait_begin(task, code);
  GOMP_NEXT(runtime, GOMP_workshare_task_reduction_unregister)(cancelled);
  end_wait_end(task, code);
}

/* ---- sections ---- */

/* A section counts as a chunk of one iteration. */
static inline unsigned section(struct rt_gomp_task *task, unsigned number)
{
  if (task && number && task->parallel.value) {
    ompt_dispatch_chunk_t chunk = {number, 1};
    ompt_on_dispatch(&task->parallel, task->data, ompt_dispatch_ws_loop_chunk, (ompt_data_t){.ptr = &chunk});
  }
  return number;
}

GOMP_CODE unsigned wrap_GOMP_sections_start(unsigned count)
{
  GOMP_ENTER_SHARED(runtime, task);
  if (task)
    gomp_work_begin(task, ompt_work_sections, count, GOMP_CALLER);
  return section(task, GOMP_NEXT(runtime, GOMP_sections_start)(count));
}

GOMP_CODE unsigned wrap_GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
  GOMP_ENTER_SHARED(runtime, task);
  if (task)
    gomp_work_begin(task, ompt_work_sections, count, GOMP_CALLER);
  return section(task, GOMP_NEXT(runtime, GOMP_sections2_start)(count, reductions, memory));
}

GOMP_CODE unsigned wrap_GOMP_sections_next(void)
{
  GOMP_ENTER_SHARED(runtime, task);
  return section(task, GOMP_NEXT(runtime, GOMP_sections_next)());
}

/* ---- single ---- */

static inline void single_begin(struct rt_gomp_task *task, bool executes, const void *code)
{
  int kind = executes ? ompt_work_single_executor : ompt_work_single_other;
  if (span_process.online)
    ompt_on_work(kind, ompt_scope_begin, &task->parallel, task->data, 1, code);
}

GOMP_CODE bool wrap_GOMP_single_start(void)
{
  GOMP_ENTER_SHARED(runtime, task);
  bool executes = GOMP_NEXT(runtime, GOMP_single_start)();
  if (!task)
    return executes;
  task->single = executes ? RT_SINGLE_EXECUTES : RT_SINGLE_OTHER;
  task->groups = 0;
  single_begin(task, executes, GOMP_CALLER);
  return executes;
}

/* The wait of copyprivate.  Only afterwards is it known which thread executes the block.  It is reported as the
 * wait of a taskgroup, not as a barrier: explicit tasks need not end here, and the barrier follows. */
static inline void copy_wait_begin(struct rt_gomp_task *task, const void *code)
{
  if (task)
    gomp_wait_begin(task, ompt_sync_region_taskgroup, code);
}

static inline void copy_wait_end(struct rt_gomp_task *task, const void *code)
{
  if (!task)
    return;
  gomp_wait_end(task, ompt_sync_region_taskgroup, code);
  task->single = RT_SINGLE_EXECUTES; /* it has a barrier in any case */
  task->groups = 0;
}

GOMP_CODE void *wrap_GOMP_single_copy_start(void)
{
  GOMP_ENTER_SHARED(runtime, task);
  const void *code = GOMP_CALLER;
  copy_wait_begin(task, code);
  void *copies = GOMP_NEXT(runtime, GOMP_single_copy_start)();
  copy_wait_end(task, code);
  if (task)
    single_begin(task, !copies, code);
  return copies;
}

GOMP_CODE void wrap_GOMP_single_copy_end(void *data)
{
  GOMP_ENTER_SHARED(runtime, task);
  const void *code = GOMP_CALLER;
  if (task)
    ompt_on_work(ompt_work_single_executor, ompt_scope_end, &task->parallel, task->data, 0, NULL);
  copy_wait_begin(task, code);
  GOMP_NEXT(runtime, GOMP_single_copy_end)(data);
  copy_wait_end(task, code);
}
