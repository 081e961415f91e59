/* The begin and the end of explicit tasks, inline for the callback of schedule events.
 *
 * Context: RT (construct.h). */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_TASKS_H
#define HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_TASKS_H

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/construct_stack.h"

static inline unsigned construct_task_bucket(uint64_t ticks)
{
  if (ticks < 8)
    return (unsigned)ticks;
  unsigned high = 63 - (unsigned)__builtin_clzll(ticks);
  unsigned bucket = (high - 2) * 8 + (unsigned)(ticks >> (high - 3) & 7);
  return bucket < FORMAT_TASK_BUCKETS ? bucket : FORMAT_TASK_BUCKETS - 1;
}

static inline void construct_task_count_end(struct format_tasks *tasks, uint64_t ticks)
{
  uint32_t *bucket = &tasks->histogram[construct_task_bucket(ticks)];
  *bucket += *bucket != UINT32_MAX;
  if (!tasks->ended || ticks < tasks->shortest)
    tasks->shortest = ticks;
  if (ticks > tasks->longest)
    tasks->longest = ticks;
  tasks->ended++;
  tasks->ticks += ticks;
}

/* A task was created; flags: OMPT's.  task: the address of its data word, which identifies it. */
static inline struct format_construct *construct_task_created(struct thread_state *t, const void *task,
                                                              uint32_t directive, int flags, bool dependent,
                                                              uint64_t now)
{
  if (!construct_started(t))
    return NULL;
  const struct construct_known *known = construct_find_inside(t, FORMAT_DIRECTIVE_TASK, directive);
  struct format_tasks *tasks = known->tasks;
  construct_count_instant(t, known);
  construct_of(t)->created = task;
  construct_of(t)->created_record = known->record;
  construct_of(t)->created_at = known->at;
  construct_of(t)->created_tasks = tasks;
  if (construct_of(t)->top->kind == FORMAT_DIRECTIVE_TASKGROUP)
    construct_of(t)->top->begun = 0; /* a taskloop in it is another construct */
  if (tasks) {
    tasks->created++;
    tasks->created_at += now;
    if (flags & (ompt_task_undeferred | ompt_task_untied)) {
      tasks->undeferred += (flags & ompt_task_undeferred) != 0;
      tasks->untied += (flags & ompt_task_untied) != 0;
    }
    tasks->dependent += dependent;
  }
  return known->at;
}

/* The same for an untimed creation (span/plain_task.h) behind another one by the same construct.  now: the last moment
 * before it that is known. */
static inline void construct_task_created_untimed(struct thread_state *t, const void *task, int flags, uint64_t now)
{
  struct format_tasks *tasks = construct_of(t)->created_tasks;
  construct_of(t)->created = task;
  construct_of(t)->created_at->count++;
  if (!tasks)
    return;
  tasks->created++;
  tasks->created_at += now;
  tasks->untied += (flags & ompt_task_untied) != 0;
}

/* The moments of those together were so much later than the last ones before. */
static inline void construct_task_created_later(struct thread_state *t, uint64_t ticks)
{
  if (construct_of(t)->created_tasks)
    construct_of(t)->created_tasks->created_at += ticks;
}

/* A bundled task has ended, which has begun at that moment and run so long.  The rest is up to
 * construct_task_count_bundled(). */
static inline void construct_task_bundled_ended(struct thread_state *t, uint64_t begun, uint64_t ticks)
{
  struct format_tasks *tasks = construct_of(t)->bundled_tasks.tasks;
  if (!tasks)
    return;
  tasks->started++;
  tasks->started_at += begun;
  tasks->elsewhere += construct_of(t)->bundled_tasks.elsewhere;
  construct_task_count_end(tasks, ticks);
}

/* construct_task_begin(), where the thread runs the task that it leaves. */
static inline void construct_task_enter(struct thread_state *t, const void *task, uint32_t directive, bool first,
                                        bool elsewhere, uint64_t ran, uint64_t now)
{
  const struct construct_open *top = construct_of(t)->top;
  if (top->column == FORMAT_TIME_WAIT)
    trace_own(t, construct_of(t)->waited_runtime);
  uint64_t passed = construct_pass(t, now);
  struct construct_open *outer = top->frame;
  bool waits = top->column == FORMAT_TIME_WAIT, at_once = !waits && task == construct_of(t)->created;
  if (waits) {
    outer->apart += passed;
    construct_of(t)->waits += passed;
  }
  if (outer->kind == FORMAT_CONSTRUCT_TASK_EXEC && outer->tasks)
    outer->tasks->suspended++;
  uint32_t parent = at_once ? construct_of(t)->created_record : top->record;
  const struct construct_known *known = construct_find(t, parent, FORMAT_CONSTRUCT_TASK_EXEC, directive, waits);
  struct format_tasks *tasks = known->tasks;
  if (first)
    construct_count(t, known);
  struct construct_open *made =
      construct_push(t, known->at, known->record, FORMAT_CONSTRUCT_TASK_EXEC, FORMAT_TIME_BODY);
  if (!made)
    return;
  made->frame = made;
  made->tasks = tasks;
  made->task = task;
  made->begun = now;
  made->apart = -ran;
  made->ended = 0;
  if (tasks && first) {
    tasks->started++;
    tasks->started_at += now;
    tasks->elsewhere += elsewhere;
  }
}

/* Whether construct_task_enter() is all that there is to do, and the innermost task is that one. */
static inline bool construct_task_is_innermost(const struct thread_state *t, const void *task)
{
  return construct_of(t)->ticks && construct_of(t)->top->frame->task == task;
}

/* construct_task_leave() for a task that has ended, where the thread goes on with the one below it; otherwise false. */
static inline bool construct_task_return(struct thread_state *t, const void *next, uint64_t now)
{
  struct construct_open *frame = construct_of(t)->top, *below = frame->below;
  if (frame->frame != frame || frame->kind != FORMAT_CONSTRUCT_TASK_EXEC || below->frame->task != next)
    return false;
  construct_pass(t, now);
  uint64_t elapsed = rt_measured_between(frame->begun, now);
  if (frame->tasks)
    construct_task_count_end(frame->tasks, elapsed - frame->apart);
  construct_cut(t, frame);
  below->frame->apart += elapsed;
  return true;
}

#endif
