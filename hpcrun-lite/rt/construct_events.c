#include "hpcrun-lite/rt/construct_events.h"

#include "hpcrun-lite/rt/construct/construct_stack.h"
#include "hpcrun-lite/rt/construct/construct_tasks.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/span.h"

/* The time-stamp counter, after an event that ends a fragment: there the graph has just read it if it counts CPU time.
 */
static inline uint64_t ticks(const struct thread_state *t, uint64_t read)
{
  if (read)
    return read;
  const struct task *running = span_of(t)->running;
  bool cut = running && !(running->flags & TASK_LIGHT); /* a light region's constructs end no fragment */
  return work_clock_is_time() && cut ? span_of(t)->work.since : rt_ticks();
}

void construct_events_keep_context(struct thread_state *t, struct format_construct *at)
{
  if (rt_stopped())
    return;
  at->context_sought = 1;
  uint32_t node = context_met(t);
  at->node = node == CCT_NONE ? 0 : node;
}

static inline void met(struct thread_state *t, struct format_construct *at)
{
  if (at && __builtin_expect(!at->context_sought, 0))
    construct_events_keep_context(t, at);
}

/* ---- regions ---- */

void construct_events_region_begin(struct thread_state *t, uint64_t region, bool league, bool again, uint64_t read)
{
  uint32_t kind = league ? FORMAT_DIRECTIVE_TEAMS : FORMAT_DIRECTIVE_PARALLEL;
  struct span_entry entry = span_entry(region);
  struct construct_part part = {entry.light, entry.stands_for};
  met(t, construct_region_begin(t, kind, span_region_row(region), part, again, read));
  struct construct_record_id at_record = construct_region_record(t);
  uint32_t row = 0;
  if (filter_now()->constructs)
    kind = construct_region_kind(t, &row);
  span_set_entry(region,
                 (struct span_entry){.owner = at_record.owner, .record = at_record.record, .kind = kind, .row = row});
}

void construct_events_region_end(struct thread_state *t, uint64_t read)
{
  construct_region_end(t, read);
}

void construct_events_implicit_begin(struct thread_state *t, uint64_t region, bool creator, const void *task,
                                     uint64_t read)
{
  uint64_t now = ticks(t, read);
  if (!region) {
    construct_initial(t, task);
    return;
  }
  if (creator) {
    construct_region_body(t, task, now);
    return;
  }
  struct span_entry entry = span_entry(region);
  struct construct_record_id at_record = {.owner = entry.owner, .record = entry.record};
  at_record.around = filter_now()->constructs && entry.row != span_region_row(region);
  struct construct_part part = {entry.light, entry.stands_for};
  construct_join(t, entry.kind, entry.row, at_record, part, task, region_beginning(region).at, now);
}

void construct_events_implicit_end(struct thread_state *t, bool creator)
{
  construct_part(t, creator, 0);
}

/* ---- waiting ---- */

/* Clang's code has another barrier before the end of a region that is cancelled; libomp may name its address for the
 * barrier that ends the region, too. */
static bool at_cancelled_end(const struct thread_state *t, int kind)
{
  uint64_t cancelled = measured_of(t)->cancelled;
  return cancelled && cancelled == region_current(t) && kind != ompt_sync_region_taskgroup &&
         kind != ompt_sync_region_taskwait && kind != ompt_sync_region_barrier_explicit;
}

/* The thread, which begins to wait at that address, has called libomp for a reduction: since then it has combined its
 * part with that of others, unless libomp does so in the barrier that is a part of the call. */
static __attribute__((noinline)) void end_reduction(struct thread_state *t, int kind, const void *code, uint64_t now)
{
  const void *caller = rt_noted.reduction;
  rt_noted.reduction = NULL;
  if (caller == code || kind == ompt_sync_region_taskwait || kind == ompt_sync_region_taskgroup)
    return;
  met(t, construct_reduced(t, directive_row(t, FORMAT_DIRECTIVE_CRITICAL, caller), rt_noted.reduction_since, now));
}

static bool is_barrier(int kind)
{
  return kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup;
}

/* At what the thread begins to wait. */
static enum construct_wait wait_at(struct thread_state *t, int kind)
{
  if (waiting_at_region_end(t) || at_cancelled_end(t, kind))
    return CONSTRUCT_WAIT_REGION;
  if (kind == ompt_sync_region_taskgroup)
    return CONSTRUCT_WAIT_GROUP;
  return kind != ompt_sync_region_taskwait && kind != ompt_sync_region_barrier_explicit ? CONSTRUCT_WAIT_WORKSHARING
                                                                                        : CONSTRUCT_WAIT_OWN;
}

/* The thread begins to wait at a barrier in a light region. */
static void light_wait_begin(struct thread_state *t, int kind, const void *code, uint64_t read)
{
  struct construct_open *top = construct_of(t)->top;
  bool follows = top == top->frame && top->ended && (!top->ended_code || top->ended_code == code);
  if (__builtin_expect(follows && !rt_noted.reduction && kind != ompt_sync_region_barrier_explicit, 1)) {
    top->ended_code = code; /* as below: most barriers follow a loop */
    return;
  }
  if (__builtin_expect(rt_noted.reduction != NULL, 0))
    end_reduction(t, kind, code, ticks(t, read));
  if (!construct_light_wait_is_known(t, wait_at(t, kind), code))
    met(t, construct_light_wait(t, directive_row(t, FORMAT_DIRECTIVE_BARRIER, code)));
}

void construct_events_wait_begin(struct thread_state *t, int kind, const void *code, uint64_t read)
{
  if (construct_in_light_region(t) && is_barrier(kind)) {
    light_wait_begin(t, kind, code, read);
    return;
  }
  enum construct_wait how = wait_at(t, kind);
  uint32_t own = FORMAT_DIRECTIVE_BARRIER, row = 0;
  const struct task *running = span_of(t)->running;
  if (kind == ompt_sync_region_taskwait && running && running->undeferred_code)
    own = FORMAT_DIRECTIVE_TASK;
  else if (kind == ompt_sync_region_taskwait)
    own = FORMAT_DIRECTIVE_TASKWAIT;
  else if (kind == ompt_sync_region_taskgroup) /* of copyprivate: hpcrun-lite/gomp/barriers.c */
    own = FORMAT_DIRECTIVE_SINGLE;
  uint64_t now = ticks(t, read);
  if (__builtin_expect(rt_noted.reduction != NULL, 0))
    end_reduction(t, kind, code, now);
  if (!construct_wait_is_known(t, how, code, now))
    row = directive_row(t, own, code);
  met(t, construct_wait_begin(t, how, own, row, code, now));
}

void construct_events_wait_end(struct thread_state *t, uint64_t read)
{
  if (!t->activity.idle &&
      !construct_in_light_region(t)) /* otherwise a worker whose region has ended already: construct_part() */
    construct_wait_end(t, read ? read : rt_ticks());
}

void construct_events_group(struct thread_state *t, uint32_t row, bool begin)
{
  uint64_t now = ticks(t, 0);
  if (begin)
    met(t, construct_group_begin(t, row, now));
  else
    construct_group_end(t, now);
}

/* ---- constructs ---- */

/* Is the taskgroup the taskloop's own?  GCC's runtime makes it; clang's code does so itself, as if the program had, and
 * names the taskloop's place in the source for both. */
static bool is_own_group(uint32_t group, uint32_t loop)
{
  const struct format_directive *a = table_at(directive_table(), group), *b = table_at(directive_table(), loop);
  if (!rt_gomp_task)
    return group && (!rt_noted.taskloop || rt_noted.group == rt_noted.taskloop);
  return group && a->module == b->module && a->offset == b->offset;
}

/* A taskloop begins.  Its own taskgroup is a part of it. */
static struct format_construct *taskloop_begin(struct thread_state *t, uint32_t row, uint64_t now)
{
  bool own_group = is_own_group(construct_new_group(t), row);
  const struct task *running = span_of(t)->running;
  if (own_group && running && running->group)
    graph_group(running->group)->row = row;
  return construct_taskloop_begin(t, row, own_group, now);
}

static uint32_t work_kind(int kind)
{
  switch (kind) {
  case ompt_work_sections:
    return FORMAT_DIRECTIVE_SECTIONS;
  case ompt_work_single_executor:
    return FORMAT_DIRECTIVE_SINGLE;
  case ompt_work_distribute:
    return FORMAT_CONSTRUCT_DISTRIBUTE;
  default:
    return FORMAT_DIRECTIVE_FOR;
  }
}

/* The same in a light region. */
static void light_work(struct thread_state *t, int kind, uint32_t row, bool begin)
{
  if (kind == ompt_work_single_other && begin && row)
    met(t, construct_light_single_other(t, row));
  else if (kind != ompt_work_single_other && begin)
    met(t, construct_light_begin(t, work_kind(kind), row));
  else if (kind != ompt_work_single_other)
    construct_light_end(t, work_kind(kind));
}

void construct_events_work(struct thread_state *t, int kind, uint32_t row, bool begin)
{
  uint32_t construct = work_kind(kind);
  if (kind == ompt_work_scope)
    return;
  if (construct_in_light_region(t) && kind != ompt_work_taskloop) {
    light_work(t, kind, row, begin);
    return;
  }
  uint64_t now = ticks(t, 0);
  if (kind == ompt_work_single_other) {
    if (begin && row)
      met(t, construct_single_other(t, row, rt_ticks()));
  } else if (kind == ompt_work_taskloop) {
    if (begin)
      met(t, taskloop_begin(t, row, now));
    else
      construct_taskloop_end(t, now);
  } else if (kind == ompt_work_distribute) {
    construct_events_scope(t, construct, row, begin);
  } else if (begin) {
    met(t, construct_work_begin(t, construct, row, now));
  } else {
    construct_work_end(t, construct, now);
  }
}

void construct_events_scope(struct thread_state *t, uint32_t kind, uint32_t row, bool begin)
{
  if (construct_in_light_region(t) && kind == FORMAT_DIRECTIVE_MASKED) {
    if (begin)
      met(t, construct_light_begin(t, kind, row));
    else
      construct_light_end(t, kind);
    return;
  }
  uint64_t now = ticks(t, 0);
  if (begin)
    met(t, construct_begin(t, kind, row, now));
  else
    construct_end(t, kind, now);
}

void construct_events_operation(struct thread_state *t, uint32_t kind, uint32_t row, bool begin, uint64_t bytes)
{
  uint64_t now = rt_ticks(); /* no fragment ends here */
  if (!begin) {
    construct_end(t, kind, now);
    return;
  }
  struct format_construct *at = construct_begin(t, kind, row, now);
  met(t, at);
  if (at)
    at->bytes += bytes;
}

/* ---- mutual exclusion ---- */

uint32_t construct_events_mutex_kind(int kind)
{
  switch (kind) {
  case ompt_mutex_ordered:
    return FORMAT_DIRECTIVE_ORDERED;
  case ompt_mutex_atomic:
    return FORMAT_CONSTRUCT_ATOMIC;
  case ompt_mutex_critical:
    return FORMAT_DIRECTIVE_CRITICAL;
  default:
    return FORMAT_DIRECTIVE_LOCK;
  }
}

void construct_events_acquired(struct thread_state *t, int kind, uint32_t row, uint64_t wait_id, uint64_t read)
{
  met(t, construct_acquired(t, construct_events_mutex_kind(kind), row, wait_id, ticks(t, read)));
}

void construct_events_awaited(struct thread_state *t, uint32_t row, uint64_t moment)
{
  met(t, construct_awaited(t, FORMAT_DIRECTIVE_ORDERED, row, moment));
}

bool construct_events_light(struct thread_state *t, int kind, uint32_t row, uint64_t wait_id, uint64_t read,
                            uint64_t *stands_for)
{
  return construct_light(t, construct_events_mutex_kind(kind), row, wait_id, read ? read : t->record->construct_since,
                         stands_for);
}

void construct_events_released(struct thread_state *t, int kind, uint64_t wait_id, uint64_t read)
{
  construct_released(t, construct_events_mutex_kind(kind), wait_id, ticks(t, read));
}

/* ---- explicit tasks ---- */

/* `running` begins, or goes on.  A new record may have taken long, if many threads obtain memory. */
static inline void task_begin(struct thread_state *t, const ompt_data_t *prior, const ompt_data_t *task, uint32_t row,
                              bool first, uint64_t now)
{
  const struct task *running = span_of(t)->running;
  uint32_t records = construct_of(t)->records.count;
  construct_task_begin(t, prior, task, row, first, running->creator_thread != t->index, first ? 0 : running->ran, now);
  if (__builtin_expect(construct_of(t)->records.count != records, 0))
    construct_task_delayed(t, first, rt_ticks());
}

void construct_events_task_begin(struct thread_state *t, const ompt_data_t *prior, const ompt_data_t *task,
                                 uint64_t moment)
{
  const struct task *running = span_of(t)->running;
  if (running)
    task_begin(t, prior, task, running->scope.row, true, work_clock_is_time() ? moment : rt_ticks());
}

void construct_events_task_end(struct thread_state *t, const ompt_data_t *next, uint64_t moment)
{
  uint64_t ran;
  construct_task_leave(t, next, true, &ran, work_clock_is_time() ? moment : rt_ticks());
}

/* A task goes on in which these taskgroups are open: the group, and those around it. */
static void reopen_groups(struct thread_state *t, uint32_t group)
{
  const struct group *open = group ? graph_group(group) : NULL;
  if (!open || open->task != span_of(t)->task)
    return;
  reopen_groups(t, open->outer);
  construct_group_reopen(t, ((const struct format_directive *)table_at(directive_table(), open->row))->kind, open->row);
}

void construct_events_schedule(struct thread_state *t, struct construct_prior prior, int status,
                               const ompt_data_t *next, bool first, uint64_t moment)
{
  bool ended = status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
  uint64_t now = work_clock_is_time() ? moment : rt_ticks(), ran;
  const struct task *running = span_of(t)->running;
  if (status == ompt_task_early_fulfill || status == ompt_task_late_fulfill || status == ompt_taskwait_complete)
    return;
  if (!construct_runs(t, prior.data, now) && ended && prior.directive) {
    construct_task_ended(t, prior.directive, prior.ran);
    ended = false;
  }
  if ((!first || ended) && construct_task_leave(t, next, ended, &ran, now)) {
    if (!ended && prior.number && ran)
      graph_task(prior.number)->ran = ran;
  } else if (running && !(running->flags & TASK_IMPLICIT)) {
    /* a task that was left inside a construct goes on in that one's scope */
    task_begin(t, NULL, next, explicit_task_row(running), first, now);
    if (!first)
      reopen_groups(t, running->group);
  }
}
