/* Explicit tasks.  Context: RT (construct.h). */
#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/construct_tasks.h"

/* What was spent since the last callback is added to the construct around the creation before it is taken from there.
 */
void construct_creation(struct thread_state *t, uint32_t directive, uint64_t count, uint64_t ticks, uint64_t now)
{
  if (!construct_started(t) || !count || !directive)
    return;
  const struct construct_known *known = construct_find_inside(t, FORMAT_DIRECTIVE_TASK, directive);
  trace_state(t, now - ticks, t->record->construct_open);
  trace_state(t, now, construct_code(known->record, FORMAT_TIME_ENTER));
  construct_pass(t, now);
  uint64_t *from = construct_of(t)->ticks, moved = ticks < *from ? ticks : *from;
  if (from != known->at->ticks) {
    *from -= moved;
    known->at->ticks[FORMAT_TIME_ENTER] += moved;
  }
  if (known->tasks) {
    known->tasks->create_ticks += ticks;
    known->tasks->create_timed += count;
  }
}

/* The task in the stack, below an entry; NULL if it is not there.  The one outside any region may not have been
 * announced. */
static inline struct construct_open *find_below(const struct thread_state *t, struct construct_open *frame,
                                                const void *task)
{
  struct construct_open *bottom = construct_of(t)->bottom;
  while (frame != bottom) {
    frame = frame->below->frame;
    if (frame->task == task)
      return frame;
  }
  return bottom->task ? NULL : bottom;
}

/* LLVM's runtime does not announce that a thread leaves an untied task which another one has completed, or completes
 * later.  Then events name another task than the innermost one, which ends here for this thread. */
static struct construct_open *resume(struct thread_state *t, const void *task, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  struct construct_open *frame = construct->top->frame;
  if (__builtin_expect(frame->task == task, 1) || frame->kind != FORMAT_CONSTRUCT_TASK_EXEC)
    return frame;
  struct construct_open *below = find_below(t, frame, task);
  if (!below || below->task != task)
    return frame;
  construct_pass(t, now);
  construct_cut_above(t, below);
  while (construct->top->frame != below)
    construct_cut(t, construct->top->frame);
  return below;
}

void construct_task_begin(struct thread_state *t, const void *prior, const void *task, uint32_t directive, bool first,
                          bool elsewhere, uint64_t ran, uint64_t now)
{
  if (!construct_started(t))
    return;
  if (prior)
    resume(t, prior, now);
  construct_task_enter(t, task, directive, first, elsewhere, ran, now);
}

void construct_task_delayed(struct thread_state *t, bool first, uint64_t now)
{
  struct construct_open *made = construct_of(t)->top, *below = made->below;
  if (made->kind != FORMAT_CONSTRUCT_TASK_EXEC || made != made->frame || now < made->begun)
    return;
  bool begun = trace_of(t)->begun;
  trace_of(t)->begun = false;
  construct_of(t)->top = below;
  construct_go_on(t, below->column);
  uint64_t passed = construct_pass(t, now);
  if (below->column == FORMAT_TIME_WAIT) {
    below->frame->apart += passed;
    construct_of(t)->waits += passed;
  }
  construct_of(t)->top = made;
  construct_go_on(t, FORMAT_TIME_BODY);
  trace_of(t)->begun = begun;
  if (made->tasks && first)
    made->tasks->started_at += now - made->begun;
  made->begun = now;
}

void construct_task_count_bundled(struct thread_state *t, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  struct bundled_tasks *bundled = &span_of(t)->bundled_tasks;
  struct format_construct *at = construct->bundled_tasks.at;
  struct construct_open *frame = construct->top->frame;
  if (!bundled->uncounted)
    return;
  construct_pass(t, now);
  uint64_t *from = construct->ticks, moved = bundled->ticks < *from ? bundled->ticks : *from;
  *from -= moved;
  at->ticks[FORMAT_TIME_BODY] += moved;
  at->count += bundled->uncounted;
  frame->apart += moved;
  if (frame->kind == FORMAT_CONSTRUCT_TASK_EXEC && frame->tasks)
    frame->tasks->suspended += bundled->uncounted;
  bundled->uncounted = 0;
  bundled->ticks = 0;
}

void construct_task_allow_bundled(struct thread_state *t, bool elsewhere)
{
  const struct construct_open *ended = construct_of(t)->top->above;
  construct_of(t)->bundled_tasks = (struct construct_bundled_tasks){ended->at, ended->tasks, elsewhere};
  span_of(t)->bundled_tasks.open = construct_code(ended->record, FORMAT_TIME_BODY);
  span_of(t)->bundled_tasks.outer = t->record->construct_open;
}

void construct_task_ended(struct thread_state *t, uint32_t directive, uint64_t ran)
{
  uint32_t index;
  struct format_tasks *tasks = construct_started(t) ? construct_find_tasks(t, directive, &index) : NULL;
  if (tasks)
    construct_task_count_end(tasks, ran);
}

bool construct_runs(struct thread_state *t, const void *task, uint64_t now)
{
  return construct_started(t) && resume(t, task, now)->task == task;
}

bool construct_task_leave(struct thread_state *t, const void *next, bool ended, uint64_t *ran, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  *ran = 0;
  if (!construct_started(t))
    return true;
  struct construct_open *frame = construct->top->frame;
  if (frame->task == next)
    return true;
  struct construct_open *below = find_below(t, frame, next);
  bool explicit = frame->kind == FORMAT_CONSTRUCT_TASK_EXEC;
  if (!explicit || (!below && !ended))
    return below;
  construct_pass(t, now);
  uint64_t elapsed = rt_measured_between(frame->begun, now);
  *ran = elapsed - frame->apart;
  if (frame->tasks && ended)
    construct_task_count_end(frame->tasks, *ran);
  else if (frame->tasks)
    frame->tasks->suspended++;
  construct_cut(t, frame);
  construct->top->frame->apart += elapsed;
  while (below && (frame = construct->top->frame) != below)
    construct_cut(t, frame);
  return below;
}
