#include "hpcrun-lite/rt/task_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct/construct_tasks.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/helper_events.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/task_creation.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/bundled_task.h"
#include "hpcrun-lite/rt/span/plain_task.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/worksharing.h"

void task_events_creation_ended(struct thread_state *t)
{
  struct creation_time *creation = &span_of(t)->log.creation;
  uint64_t moment = rt_ticks();
  graph_log_creation_end(t, moment);
  construct_creation(t, creation->directive, creation->timed, creation->sum, moment);
  creation->timed = creation->sum = 0;
}

/* The creation of an undeferred task has ended, which begins. */
static __attribute__((noinline)) void creation_end_undeferred(struct thread_state *t)
{
  struct creation_time *creation = &span_of(t)->log.undeferred;
  construct_creation(t, creation->directive, creation->timed, creation->sum, rt_ticks());
  creation->timed = 0;
}

/* Clang's code waits for the dependences of an undeferred task as if by a taskwait, and then has the task created
 * without them: at the address of that wait, if there was one. */
static const void *take_undeferred_code(struct thread_state *t, int flags, const void *codeptr, bool *dependent)
{
  struct task *running = span_of(t)->running;
  if (!(flags & ompt_task_undeferred) || !running || !running->undeferred_code)
    return codeptr;
  codeptr = (const void *)running->undeferred_code;
  running->undeferred_code = 0;
  *dependent = true;
  return codeptr;
}

/* Where the task is created, if that is wanted; 0: it is not known. */
static __attribute__((noinline)) uint32_t creation_context_of(struct thread_state *t, const ompt_data_t *creator,
                                                              const ompt_frame_t *frame, const void *codeptr)
{
  if (rt_stopped())
    return 0;
  rt_inside_inc(t);
  uint32_t found =
      task_creation_context(t, task_creation_known(creator), frame ? frame->enter_frame.value : 0, (uint64_t)codeptr);
  rt_inside_dec(t);
  return found;
}

/* task: the new task's data word.  Its creation has ended a fragment, or cut one.  Returns whether it is in a record.
 */
static inline __attribute__((always_inline)) bool created(struct thread_state *t, const ompt_data_t *task, uint32_t row,
                                                          int flags, bool dependent)
{
  const struct span_thread *span = span_of(t);
  if (!row)
    return false;
  uint64_t now = work_clock_is_time() && span->task ? span->work.since : rt_ticks();
  struct format_construct *at = construct_task_created(t, task, row, flags, dependent, now);
  if (at && __builtin_expect(!at->context_sought, 0))
    construct_events_keep_context(t, at);
  return at;
}

/* Before other creations: adds the estimated moments of those that are known by now. */
static inline void add_later(struct thread_state *t)
{
  uint64_t *later = &span_of(t)->repeated.later;
  if (__builtin_expect(*later == 0, 1))
    return;
  construct_task_created_later(t, work_clock_is_time() ? *later : 0);
  *later = 0;
}

/* The data word of a new task: names its batch (span/explicit_task.h) or, without a graph, its creation context. */
static uint64_t new_task_word(struct thread_state *t, const ompt_data_t *creator, const ompt_frame_t *frame,
                              const ompt_data_t *made, int flags, bool dependent, const void *codeptr)
{
  uint32_t creation_context = 0;
  uint64_t word = 0;
  if (sampling_process.task_creation)
    creation_context = creation_context_of(t, creator, frame, codeptr);
  if (!span_process.online) {
    uint64_t region = sampling_process.task_creation ? 0 : region_current(t);
    return rt_task_word(creation_context | (region == REGION_NO_RECORD ? 0 : (uint32_t)region));
  }
  if (graph_enter_schedule(t)) {
    graph_settle_here(t);
    add_later(t);
    explicit_task_publish(t);
    codeptr = take_undeferred_code(t, flags, codeptr, &dependent);
    bool serial = flags & ompt_task_undeferred && frame && frame->enter_frame_flags == ompt_frame_serial;
    uint32_t row;
    word = explicit_task_create(t, graph_creator_of(t, creator), flags, serial, codeptr, creation_context, &row);
    if (!(flags & ompt_task_taskwait))
      created(t, made, row, flags, dependent);
    if (span_of(t)->log.creation.caller)
      span_of(t)->log.creation.directive = row;
    graph_leave(t);
  }
  return word;
}

/* The next creation may be as this one, by the address that the runtime passes: not where anything but the parent, its
 * clock and that address decides about it. */
static inline void may_repeat(struct thread_state *t, const ompt_data_t *creator, int flags)
{
  bool simple = !(flags & (ompt_task_undeferred | ompt_task_taskwait)) && !sampling_process.task_creation;
  if (simple && work_clock_is_quick() && !graph_log_on())
    span_of(t)->repeated.creator = creator;
}

/* The same without reading the clock, if that is wanted. */
static inline bool create_untimed(struct thread_state *t, const ompt_data_t *creator, ompt_data_t *made, int flags,
                                  bool dependent, const void *codeptr)
{
  uint64_t word = dependent ? 0 : plain_task_repeat_untimed(t, creator, made, flags, codeptr);
  if (!word)
    return false;
  construct_task_created_untimed(t, made, flags, work_clock_is_time() ? span_of(t)->work.since : rt_ticks());
  made->value = word;
  return true;
}

/* A task is created as the one before (plain_task_repeat()).  Returns false if it is another case. */
static inline bool create_again(struct thread_state *t, const ompt_data_t *creator, ompt_data_t *made, int flags,
                                bool dependent, const void *codeptr)
{
  struct repeated_creation *last = &span_of(t)->repeated;
  uint32_t row;
  if (!last->open || last->code != codeptr || last->creator != creator || !creator || !graph_enter_schedule(t))
    return false;
  if (last->skip && create_untimed(t, creator, made, flags, dependent, codeptr)) {
    graph_leave(t);
    return true;
  }
  uint64_t word = plain_task_repeat(t, creator, flags, codeptr, &row);
  if (__builtin_expect(!word, 0)) {
    graph_leave_event(t);
    return false;
  }
  add_later(t);
  if (__builtin_expect(!created(t, made, row, flags, dependent), 0))
    last->skip = 0; /* untimed ones are only added to the record of the last one */
  graph_leave(t);
  made->value = word;
  return true;
}

/* A taskwait with dependences appears as a task that is created and completes.  The data word of that task belongs to
 * the thread and has to stay 0, since taskwaits may nest.  undeferred: it waits for an undeferred task's dependences.
 */
static void dependent_wait(struct thread_state *t, ompt_data_t *task_data, uint64_t word, const void *codeptr,
                           bool undeferred)
{
  task_data->value |= RT_TASK_WAITING;
  uint64_t moment = waiting_begin(t, FORMAT_WAIT_TASKS, codeptr);
  if (!graph_enter(t))
    return;
  ompt_data_t own = {.value = word};
  struct task *running = span_of(t)->running;
  if (running) {
    running->dependent_wait = explicit_task_index(t, &own);
    running->undeferred_code = undeferred ? (uint64_t)codeptr : 0;
  }
  span_wait_begin(t, graph_task_of(t, task_data), ompt_sync_region_taskwait, true, moment, codeptr);
  construct_events_wait_begin(t, ompt_sync_region_taskwait, codeptr, moment);
  graph_leave(t);
}

void task_events_create(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *new_data, int flags,
                        bool dependent, const void *codeptr)
{
  struct thread_state *t = rt_openmp_thread();
  if (t)
    lock_events_before_other(t);
  /* both also for a thread that is not known: what the entry points have noted must not stay */
  if (flags & ompt_task_undeferred)
    codeptr = code_take_undeferred(codeptr);
  bool undeferred = flags & ompt_task_taskwait && rt_noted.allocation && !rt_gomp_task;
  rt_noted.allocation = NULL; /* tasks that the thread runs meanwhile may wait, too */
  if (!t || !new_data)
    return;
  if (create_again(t, task_data, new_data, flags, dependent, codeptr))
    return;
  const void *passed = codeptr;
  codeptr = code_of_task(t, task_data, passed);
  uint64_t word = 0;
  if (task_events_follow(0))
    word = new_task_word(t, task_data, frame, new_data, flags, dependent, codeptr);
  if (codeptr == passed)
    may_repeat(t, task_data, flags);
  if (flags & ompt_task_taskwait) {
    if (task_data)
      dependent_wait(t, task_data, word, codeptr, undeferred);
  } else if (word) {
    new_data->value = word;
  }
}

struct creation_time task_events_creation_begin(struct thread_state *t, const void *caller, uint64_t ticks)
{
  if (!graph_enter(t))
    return graph_log_creation_begin(t, caller, 0, 0);
  struct creation_time outer =
      graph_log_creation_begin(t, caller, span_of(t)->running ? span_of(t)->running->name : 0, ticks);
  graph_leave(t);
  return outer;
}

void task_events_creation_undeferred(struct thread_state *t, const void *caller, uint64_t ticks)
{
  if (!graph_enter(t))
    return;
  graph_log_creation_undeferred(t, caller, span_of(t)->running ? span_of(t)->running->name : 0, ticks);
  graph_leave(t);
}

void task_events_creation_end(struct thread_state *t, const struct creation_time *outer)
{
  if (graph_log_on() && graph_enter(t)) {
    task_events_creation_ended(t);
    graph_leave(t);
  }
  span_of(t)->log.creation = *outer;
}

/* A task ends that has a structure, and the thread goes on with the one below it, as after most tasks that have waited.
 */
static bool end_innermost(struct thread_state *t, const ompt_data_t *prior, const ompt_data_t *next, uint64_t moment)
{
  const struct span_thread *span = span_of(t);
  bool runs = prior && next && !((prior->value | next->value) & RT_TASK_NEW) && span->running &&
              rt_task_index(prior->value) == span->task && !(span->running->flags & TASK_IMPLICIT);
  if (!runs || graph_log_on() || !work_clock_is_time() || !construct_task_is_innermost(t, prior) ||
      !construct_task_return(t, next, moment))
    return false;
  explicit_task_end_begun(t, next, moment);
  return true;
}

/* The other events. */
static __attribute__((noinline)) void schedule_other(struct thread_state *t, ompt_data_t *prior, int status,
                                                     ompt_data_t *next, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  graph_settle(t);
  /* Many tasks begin and end on one thread before another thread refers to them: the short forms (explicit_task.h). */
  if (status == ompt_task_complete && prior && prior == span->running_data && prior->value & RT_TASK_NEW) {
    explicit_task_end_begun(t, next, moment);
    construct_events_task_end(t, next, moment);
    return;
  }
  explicit_task_publish(t);
  if (status == ompt_task_complete && end_innermost(t, prior, next, moment))
    return;
  if (status == ompt_task_switch && next && next->value & RT_TASK_NEW) {
    explicit_task_start_new(t, next, moment);
    if (span->log.undeferred.timed)
      creation_end_undeferred(t);
    construct_events_task_begin(t, prior, next, moment);
  } else {
    uint32_t from = graph_any_task_of(t, prior), to = next ? explicit_task_begin(t, next) : 0;
    bool first = to && !(graph_task(to)->flags & TASK_STARTED);
    bool begun = from && graph_task(from)->flags & TASK_STARTED;
    struct construct_prior left = {prior, from, begun ? explicit_task_directive(rt_task_word(from)) : 0,
                                   begun ? graph_task(from)->ran : 0};
    span_task_schedule(t, from, status, to, moment);
    if (span->log.undeferred.timed)
      creation_end_undeferred(t);
    construct_events_schedule(t, left, status, next, first, moment);
  }
}

/* A plain task (span/plain_task.h) begins or ends, or it is another event after all.  They end what the caller has
 * begun with graph_enter_schedule(), so that it has nothing to keep meanwhile. */
static __attribute__((noinline)) void begin_plain(struct thread_state *t, ompt_data_t *prior, ompt_data_t *next,
                                                  uint64_t moment)
{
  if (__builtin_expect(span_of(t)->bundled_tasks.count != 0, 0))
    explicit_task_record_bundled(t);
  if (construct_task_is_innermost(t, prior) && plain_task_begin(t, prior, next, moment)) {
    const struct plain_task *plain = &span_of(t)->plain;
    uint32_t records = construct_of(t)->records.count;
    uint64_t now = work_clock_is_time() ? moment : rt_ticks();
    if (__builtin_expect(span_of(t)->bundled_tasks.uncounted != 0, 0))
      construct_task_count_bundled(t, now);
    construct_task_enter(t, next, plain->batch->row, true, plain->batch->thread != t->index, 0, now);
    if (__builtin_expect(construct_of(t)->records.count != records, 0))
      construct_task_delayed(t, true, rt_ticks());
  } else {
    schedule_other(t, prior, ompt_task_switch, next, moment);
  }
  graph_leave(t);
}

/* A plain task has ended which the thread has run while it did not wait: the next ones may be bundled. */
static void allow_bundled(struct thread_state *t)
{
  bundled_task_allow(t);
  construct_task_allow_bundled(t, span_of(t)->plain.batch->thread != t->index);
}

/* Or the stack of constructs is another one than that of bundled tasks before. */
static void end_below(struct thread_state *t, const ompt_data_t *next, uint64_t moment)
{
  span_of(t)->bundled_tasks.prior = NULL;
  construct_events_task_end(t, next, moment);
}

static __attribute__((noinline)) void end_plain(struct thread_state *t, ompt_data_t *prior, ompt_data_t *next,
                                                uint64_t moment)
{
  uint64_t now = work_clock_is_time() ? moment : rt_ticks();
  if (!plain_task_end(t, prior, next, moment))
    schedule_other(t, prior, ompt_task_complete, next, moment);
  else if (!construct_task_return(t, next, now))
    end_below(t, next, moment);
  else if (!(span_of(t)->running->flags & TASK_WAITING))
    allow_bundled(t);
  graph_leave(t);
}

static __attribute__((noinline)) void schedule_any(struct thread_state *t, ompt_data_t *prior, int status,
                                                   ompt_data_t *next, uint64_t moment)
{
  schedule_other(t, prior, status, next, moment);
  graph_leave(t);
}

/* So many bundled tasks are recorded together. */
static __attribute__((noinline)) void record_bundled(struct thread_state *t, uint64_t now)
{
  explicit_task_record_bundled(t);
  construct_task_count_bundled(t, now);
}

/* A bundled task begins or ends (span/bundled_task.h), or it is another event after all; likewise. */
static __attribute__((noinline)) void begin_bundled(struct thread_state *t, ompt_data_t *prior, ompt_data_t *next,
                                                    uint64_t moment)
{
  if (!bundled_task_enter(t, prior, next, moment, work_clock_is_time() ? moment : rt_ticks()))
    begin_plain(t, prior, next, moment);
  else
    graph_leave(t);
}

static __attribute__((noinline)) void end_bundled(struct thread_state *t, ompt_data_t *prior, ompt_data_t *next,
                                                  uint64_t moment)
{
  uint64_t now = work_clock_is_time() ? moment : rt_ticks(), ticks;
  if (!bundled_task_leave(t, prior, next, moment, now, &ticks)) {
    schedule_any(t, prior, ompt_task_complete, next, moment);
    return;
  }
  construct_task_bundled_ended(t, span_of(t)->bundled_tasks.begun, ticks);
  if (__builtin_expect(span_of(t)->bundled_tasks.count >= BUNDLED_TASKS_MOST, 0))
    record_bundled(t, now);
  graph_leave(t);
}

/* For the graph: the thread switches tasks; moment: the time-stamp counter if it was read, else 0. */
static inline __attribute__((always_inline)) void schedule(struct thread_state *t, ompt_data_t *prior, int status,
                                                           ompt_data_t *next, uint64_t moment)
{
  if (!graph_enter_schedule(t))
    return;
  bool waited = moment;
  moment = graph_moment(t, moment);
  if (status == ompt_task_complete && span_of(t)->plain.bundled)
    end_bundled(t, prior, next, moment);
  else if (status == ompt_task_complete && span_of(t)->plain.data)
    end_plain(t, prior, next, moment);
  else if (status == ompt_task_switch && next && prior && !waited && span_of(t)->bundled_tasks.prior == prior)
    begin_bundled(t, prior, next, moment);
  else if (status == ompt_task_switch && next && work_clock_is_quick() && !rt_ever_paused())
    begin_plain(t, prior, next, moment);
  else
    schedule_any(t, prior, status, next, moment);
}

void task_events_switch(struct thread_state *t, ompt_data_t *prior, int status, ompt_data_t *next)
{
  schedule(t, prior, status, next, 0);
}

/* See task_events_switch_wait(): with a graph, or at the end of a wait with dependences. */
static __attribute__((noinline)) void switch_wait(struct thread_state *t, ompt_data_t *prior, int status,
                                                  ompt_data_t *next)
{
  uint64_t moment;
  if (status == ompt_taskwait_complete) {
    if ((next = graph_current_data(NULL)))
      next->value &= ~(uint64_t)RT_TASK_WAITING;
    moment = waiting_end(t);
  } else {
    moment = waiting_task(t, next->value & RT_TASK_WAITING);
  }
  if (span_process.online)
    schedule(t, prior, status, next, moment);
  if (status == ompt_taskwait_complete && graph_enter(t)) {
    construct_events_wait_end(t, moment);
    graph_leave(t);
  }
}

void task_events_switch_wait(struct thread_state *t, ompt_data_t *prior, int status, ompt_data_t *next)
{
  if (prior && prior == measured_of(t)->barrier.place)
    *prior = measured_of(t)->barrier.word;
  if (__builtin_expect(t->helper, 0) && helper_events_ends(t, next)) {
    if (span_process.online)
      task_events_switch(t, prior, status, next);
    helper_events_sleeps(t);
    return;
  }
  if (span_process.online || status == ompt_taskwait_complete)
    switch_wait(t, prior, status, next);
  else
    waiting_task(t, next->value & RT_TASK_WAITING);
}

void task_events_dependences(struct thread_state *t, ompt_data_t *task_data, const ompt_dependence_t *dependences,
                             int count)
{
  if (!graph_enter(t))
    return;
  worksharing_dependences(t, graph_any_task_of(t, task_data), dependences, count);
  graph_leave(t);
}
