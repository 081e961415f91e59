#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/construct_stack.h"
#include "hpcrun-lite/rt/span/governor.h"

enum { RECORDS_FIRST = 16, TASKS_FIRST = 2, STACK_FIRST = 32 };

void construct_init(struct thread_state *t)
{
  struct construct_thread *state = construct_of(t);
  table_init(&state->records, FORMAT_CONSTRUCTS, ARENA_CONSTRUCTS, t->index, sizeof(struct format_construct),
             RECORDS_FIRST);
  table_init(&state->tasks, FORMAT_TASKS, ARENA_TASKS, t->index, sizeof(struct format_tasks), TASKS_FIRST);
  table_init(&state->stack, FORMAT_FREE, ARENA_OPEN, t->index, sizeof(struct construct_open), STACK_FIRST);
}

void construct_release(struct thread_state *t)
{
  struct construct_thread *construct = construct_of(t);
  table_release(&construct->records);
  table_release(&construct->tasks);
  table_release(&construct->stack);
}

struct format_construct *construct_begin(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now)
{
  if (!construct_started(t))
    return NULL;
  construct_pass(t, now);
  struct format_construct *at = construct_enter(t, kind, directive, FORMAT_TIME_BODY);
  construct_of(t)->top->body = at->ticks[FORMAT_TIME_BODY];
  return at;
}

void construct_end(struct thread_state *t, uint32_t kind, uint64_t now)
{
  if (!construct_started(t))
    return;
  construct_pass(t, now);
  struct construct_open *open = construct_innermost(t, kind);
  if (!open)
    return;
  if (kind == FORMAT_DIRECTIVE_MASKED)
    construct_stand(t, open);
  construct_cut(t, open);
}

struct format_construct *construct_open_target(const struct thread_state *t)
{
  struct format_construct *at = construct_of(t)->ticks ? construct_of(t)->top->at : NULL;
  return at && at->kind >= FORMAT_DIRECTIVE_TARGET && at->kind <= FORMAT_DIRECTIVE_TARGET_UPDATE ? at : NULL;
}

struct format_construct *construct_open_operation(const struct thread_state *t)
{
  struct format_construct *at = construct_of(t)->ticks ? construct_of(t)->top->at : NULL;
  return at && at->kind >= FORMAT_CONSTRUCT_DEVICE_ALLOC && at->kind <= FORMAT_CONSTRUCT_SUBMIT ? at : NULL;
}

/* ---- taskgroups and taskloops ---- */

struct format_construct *construct_group_begin(struct thread_state *t, uint32_t directive, uint64_t now)
{
  struct format_construct *at = construct_begin(t, FORMAT_DIRECTIVE_TASKGROUP, directive, now);
  if (at && construct_of(t)->top->at == at)
    construct_of(t)->top->begun = now;
  return at;
}

uint32_t construct_new_group(const struct thread_state *t)
{
  const struct construct_open *top = construct_of(t)->top;
  bool new =
      construct_of(t)->ticks && top->kind == FORMAT_DIRECTIVE_TASKGROUP && top->begun == t->record->construct_since;
  return new ? top->at->directive : 0;
}

struct format_construct *construct_taskloop_begin(struct thread_state *t, uint32_t directive, bool own_group,
                                                  uint64_t now)
{
  if (!own_group)
    return construct_begin(t, FORMAT_DIRECTIVE_TASKLOOP, directive, now);
  struct construct_open *group = construct_of(t)->top;
  group->at->count -= group->at->kind == FORMAT_DIRECTIVE_TASKGROUP; /* otherwise it has no record */
  trace_of(t)->begun = false;
  construct_cut(t, group);
  construct_pass(t, group->begun); /* its time so far belongs to the taskloop */
  struct format_construct *at = construct_enter(t, FORMAT_DIRECTIVE_TASKLOOP, directive, FORMAT_TIME_BODY);
  construct_of(t)->top->spare = true;
  construct_pass(t, now);
  return at;
}

void construct_taskloop_end(struct thread_state *t, uint64_t now)
{
  if (!construct_started(t))
    return;
  construct_pass(t, now);
  struct construct_open *open = construct_innermost(t, FORMAT_DIRECTIVE_TASKLOOP);
  if (open && !open->spare)
    construct_cut(t, open);
}

void construct_group_end(struct thread_state *t, uint64_t now)
{
  if (!construct_started(t))
    return;
  construct_pass(t, now);
  struct construct_open *open = construct_of(t)->top, *frame = open->frame;
  while (open != frame && open->kind != FORMAT_DIRECTIVE_TASKGROUP &&
         !(open->kind == FORMAT_DIRECTIVE_TASKLOOP && open->spare))
    open = open->below;
  if (open != frame)
    construct_cut(t, open);
}

void construct_group_reopen(struct thread_state *t, uint32_t kind, uint32_t directive)
{
  if (!construct_started(t))
    return;
  const struct construct_known *known = construct_find_inside(t, kind, directive);
  struct construct_open *open = construct_push(t, known->at, known->record, kind, FORMAT_TIME_BODY);
  if (open)
    open->spare = kind == FORMAT_DIRECTIVE_TASKLOOP;
}

/* ---- worksharing ---- */

static bool is_worksharing(uint32_t kind)
{
  return kind == FORMAT_DIRECTIVE_FOR || kind == FORMAT_DIRECTIVE_SECTIONS || kind == FORMAT_DIRECTIVE_SINGLE;
}

void construct_chunk_longest(struct thread_state *t, struct construct_open *loop, uint64_t now)
{
  struct format_construct *at = loop->at;
  uint64_t waits = construct_of(t)->waits, begun = loop->begun + waits; /* as if it had waited before the chunk */
  uint64_t ticks = rt_measured_between(begun, now);
  if (ticks <= at->longest)
    return;
  at->longest = ticks;
  at->longest_first = loop->first;
  at->longest_iterations = loop->iterations;
}

void construct_chunk_size(struct format_construct *at, uint64_t iterations)
{
  if (iterations > at->chunk_most)
    at->chunk_most = iterations;
  if (iterations < at->chunk_least || !at->chunk_least)
    at->chunk_least = iterations;
}

void construct_schedule(struct thread_state *t, enum format_schedule schedule, uint64_t size, bool strides)
{
  struct construct_open *loop = construct_open_loop(t);
  if (!loop)
    return;
  loop->strides = strides;
  if (!schedule)
    return;
  struct format_construct *at = loop->at;
  bool first = at->schedule == FORMAT_SCHEDULE_UNKNOWN;
  if (!first && at->schedule != schedule)
    schedule = FORMAT_SCHEDULE_MIXED;
  if (!first && at->chunk_size != size)
    size = FORMAT_CHUNKS_DIFFER;
  at->schedule = schedule;
  at->chunk_size = size;
}

/* A construct ends; its barrier may follow. */
static void work_ended(struct thread_state *t, struct construct_open *open)
{
  if (open->chunks)
    construct_chunk_end(t, open, t->record->construct_since);
  construct_stand(t, open);
  open->frame->ended = open->record;
  open->frame->ended_code = NULL;
  open->frame->spare = open->spare;
  construct_cut(t, open);
}

/* The task goes on to something else. */
static void close_work(struct thread_state *t)
{
  struct construct_thread *construct = construct_of(t);
  while (construct->top != construct->top->frame && is_worksharing(construct->top->kind))
    work_ended(t, construct->top);
}

struct format_construct *construct_work_begin(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now)
{
  if (!construct_started(t))
    return NULL;
  construct_pass(t, now);
  close_work(t);
  construct_of(t)->top->frame->ended = 0;
  struct format_construct *at = construct_enter(t, kind, directive, FORMAT_TIME_BODY);
  at->chosen += at->kind == FORMAT_DIRECTIVE_SINGLE;
  struct construct_open *top = construct_of(t)->top;
  top->spare = kind == FORMAT_DIRECTIVE_SECTIONS && rt_gomp_task;
  top->chunks = kind == FORMAT_DIRECTIVE_FOR && at->kind == FORMAT_DIRECTIVE_FOR; /* otherwise it has no record */
  top->strides = false;
  top->iterations = 0;
  top->body = at->ticks[FORMAT_TIME_BODY];
  return at;
}

/* Counts an execution that has no body.  Returns its record. */
static struct format_construct *light_count(struct thread_state *t, uint32_t kind, uint32_t directive, uint32_t *record)
{
  const struct construct_known *known = construct_find_inside(t, kind, directive);
  construct_count(t, known);
  known->at->light += known != &construct_of(t)->unkept;
  *record = known->record;
  return known->at;
}

struct format_construct *construct_light_single_other(struct thread_state *t, uint32_t directive)
{
  close_work(t);
  struct construct_open *frame = construct_of(t)->top->frame;
  struct format_construct *at = light_count(t, FORMAT_DIRECTIVE_SINGLE, directive, &frame->ended);
  frame->ended_code = NULL;
  return at;
}

struct format_construct *construct_light_begin(struct thread_state *t, uint32_t kind, uint32_t directive)
{
  if (is_worksharing(kind)) {
    close_work(t);
    construct_of(t)->top->frame->ended = 0;
  }
  uint64_t *light = construct_of(t)->top->light;
  const struct construct_known *known = construct_find_inside(t, kind, directive);
  construct_count(t, known);
  known->at->light += known != &construct_of(t)->unkept;
  known->at->chosen += known->at->kind == FORMAT_DIRECTIVE_SINGLE;
  if (construct_push(t, known->at, known->record, kind, FORMAT_TIME_BODY))
    construct_be_light(t, light);
  return known->at;
}

void construct_light_end(struct thread_state *t, uint32_t kind)
{
  struct construct_open *open = construct_innermost(t, kind);
  if (open && is_worksharing(kind))
    work_ended(t, open);
  else if (open)
    construct_cut(t, open);
}

void construct_work_end(struct thread_state *t, uint32_t kind, uint64_t now)
{
  if (!construct_started(t))
    return;
  construct_pass(t, now);
  struct construct_open *open = construct_innermost(t, kind);
  if (open)
    work_ended(t, open);
}

void construct_sections(struct thread_state *t, uint64_t number)
{
  struct construct_open *top = construct_started(t) ? construct_of(t)->top : NULL;
  if (!top || top->kind != FORMAT_DIRECTIVE_SECTIONS)
    return;
  top->at->chosen += number;
  top->spare = !number;
}

void construct_chunk(struct thread_state *t, uint64_t now)
{
  if (!construct_started(t))
    return;
  construct_pass(t, now);
  trace_chunk(t);
}

struct format_construct *construct_single_other(struct thread_state *t, uint32_t directive, uint64_t now)
{
  if (!construct_started(t))
    return NULL;
  construct_pass(t, now);
  close_work(t);
  const struct construct_known *known = construct_find_inside(t, FORMAT_DIRECTIVE_SINGLE, directive);
  struct construct_open *frame = construct_of(t)->top->frame;
  construct_count_instant(t, known);
  frame->ended = known->record;
  frame->ended_code = NULL;
  frame->spare = false;
  return known->at;
}

/* ---- waiting ---- */

/* The innermost taskgroup or taskloop of the current task; NULL: none. */
static struct construct_open *innermost_group(const struct thread_state *t)
{
  struct construct_open *open = construct_of(t)->top, *frame = open->frame;
  while (open != frame && open->kind != FORMAT_DIRECTIVE_TASKGROUP && open->kind != FORMAT_DIRECTIVE_TASKLOOP)
    open = open->below;
  return open != frame ? open : NULL;
}

/* The top begins to wait. */
static struct format_construct *top_waits(struct thread_state *t)
{
  struct construct_open *top = construct_of(t)->top;
  top->waited = top->at->ticks[FORMAT_TIME_WAIT];
  construct_go_on(t, FORMAT_TIME_WAIT);
  return top->at;
}

/* The open construct at whose end the task waits; NULL: none. */
static struct construct_open *waits_at(const struct thread_state *t, enum construct_wait how)
{
  const struct construct_thread *construct = construct_of(t);
  if (how == CONSTRUCT_WAIT_REGION && construct->top->frame != construct->bottom)
    return construct->top->frame;
  return how == CONSTRUCT_WAIT_GROUP ? innermost_group(t) : NULL;
}

/* The record of the construct that the wait follows; 0: none.  Copyprivate has two barriers at one address. */
static uint32_t followed(const struct thread_state *t, enum construct_wait how, const void *code)
{
  const struct construct_open *frame = construct_of(t)->top->frame;
  return how == CONSTRUCT_WAIT_OWN || (frame->ended_code && frame->ended_code != code) ? 0 : frame->ended;
}

bool construct_light_wait_is_known(struct thread_state *t, enum construct_wait how, const void *code)
{
  close_work(t);
  if (how == CONSTRUCT_WAIT_REGION)
    return true;
  struct construct_open *frame = construct_of(t)->top->frame;
  bool known = followed(t, how, code);
  if (known)
    frame->ended_code = code;
  return known || !code;
}

struct format_construct *construct_light_wait(struct thread_state *t, uint32_t directive)
{
  uint32_t record;
  construct_of(t)->top->frame->ended = 0;
  return light_count(t, FORMAT_DIRECTIVE_BARRIER, directive, &record);
}

bool construct_wait_is_known(struct thread_state *t, enum construct_wait how, const void *code, uint64_t now)
{
  if (how == CONSTRUCT_WAIT_OWN)
    return false;
  if (!construct_started(t))
    return true;
  construct_pass(t, now);
  if (how == CONSTRUCT_WAIT_WORKSHARING)
    close_work(t);
  return waits_at(t, how) || followed(t, how, code);
}

/* Puts the construct on the stack at which the thread waits.  A task is counted when it is created. */
static void push_waiting(struct thread_state *t, enum construct_wait how, uint32_t kind, uint32_t directive,
                         const void *code)
{
  struct construct_open *frame = construct_of(t)->top->frame, *top;
  uint32_t record = followed(t, how, code);
  if (record) {
    struct format_construct *at = construct_record(t, record);
    frame->ended_code = code;
    top = construct_push(t, at, record, at->kind, FORMAT_TIME_BODY);
    if (top)
      top->spare = frame->spare;
  } else {
    const struct construct_known *known = construct_find_inside(t, kind, directive);
    frame->ended = 0;
    if (kind != FORMAT_DIRECTIVE_TASK && (how == CONSTRUCT_WAIT_OWN || (how == CONSTRUCT_WAIT_WORKSHARING && code)))
      construct_count(t, known);
    construct_push(t, known->at, known->record, kind, FORMAT_TIME_BODY);
  }
}

struct format_construct *construct_wait_begin(struct thread_state *t, enum construct_wait how, uint32_t kind,
                                              uint32_t directive, const void *code, uint64_t now)
{
  if (!construct_started(t))
    return NULL;
  construct_pass(t, now);
  struct construct_open *open = waits_at(t, how);
  if (open) {
    construct_cut_above(t, open);
  } else {
    if (kind == FORMAT_DIRECTIVE_BARRIER)
      close_work(t);
    push_waiting(t, how, kind, directive, code);
  }
  return top_waits(t);
}

void construct_wait_end(struct thread_state *t, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  if (!construct_started(t))
    return;
  RT_CHECK(construct_check(t));
  struct construct_open *top = construct->top;
  if (top->column == FORMAT_TIME_WAIT)
    trace_own(t, construct->waited_runtime);
  uint64_t passed = construct_pass(t, now);
  if (top->column != FORMAT_TIME_WAIT || top == construct->bottom)
    return;
  top->frame->apart += passed;
  construct->waits += passed;
  top->at->wait_own += construct->waited_runtime < passed ? construct->waited_runtime : passed;
  if (top->spare)
    top->at->wait_spare += top->at->ticks[FORMAT_TIME_WAIT] - top->waited;
  if (top == top->frame)
    construct_go_on(t, FORMAT_TIME_EXIT);
  else if (top->kind == FORMAT_DIRECTIVE_TASKGROUP || top->kind == FORMAT_DIRECTIVE_TASKLOOP)
    construct_go_on(t, FORMAT_TIME_BODY);
  else
    construct_cut(t, top);
}

/* ---- mutual exclusion ---- */

void construct_acquire(struct thread_state *t, uint64_t now)
{
  if (!construct_started(t))
    return;
  construct_of(t)->acquiring = now;
  construct_pass(t, now);
  trace_lock_wait(t, t->wait_id);
}

void construct_held_already(struct thread_state *t)
{
  construct_of(t)->acquiring = 0;
}

static void hold(struct thread_state *t, uint64_t wait_id, struct format_construct *at, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  enum { PLACES = sizeof construct->held / sizeof *construct->held };
  struct construct_held *free = NULL;
  if (at->kind != FORMAT_DIRECTIVE_LOCK) /* the lock has no record, and its body is not part of what is around it */
    return;
  for (unsigned i = 0; i < PLACES; i++) {
    struct construct_held *held = &construct->held[i];
    if (held->since && held->wait_id == wait_id) { /* its release was not seen */
      free = held;
      break;
    }
    if (!held->since)
      free = held;
  }
  if (free) {
    *free = (struct construct_held){wait_id, now, at};
    return;
  }
  at->unended++;
}

/* The time until now belongs to a column of that record.  Returns it. */
static inline __attribute__((always_inline)) uint64_t pass_to(struct thread_state *t, struct format_construct *at,
                                                              enum format_construct_time column, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  uint64_t *ticks = construct->ticks;
  construct->ticks = &at->ticks[column];
  uint64_t passed = construct_pass(t, now);
  construct->ticks = ticks;
  return passed;
}

/* The time until now belongs to what comes before a lock's body. */
static inline __attribute__((always_inline)) void pass_enter(struct thread_state *t, struct format_construct *at,
                                                             uint64_t now)
{
  construct_of(t)->waits += pass_to(t, at, FORMAT_TIME_ENTER, now);
}

/* Counts an execution.  The time for which the thread has waited belongs to it. */
static inline __attribute__((always_inline)) void count_acquired(struct thread_state *t,
                                                                 const struct construct_known *known, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  if (!construct->acquiring) { /* a lock that was only tested */
    construct_pass(t, now);
    construct_count_instant(t, known);
    return;
  }
  if (construct->acquiring > t->record->construct_since)
    construct_pass(t, construct->acquiring); /* what the thread did before it began to wait */
  construct_count(t, known);
  trace_own(t, construct->lock_runtime);
  trace_state(t, now, construct_code(known->record, FORMAT_TIME_ENTER));
  construct->counted = known->record + 1;
  pass_enter(t, known->at, now);
  construct->counted = 0;
  construct->acquiring = 0;
}

struct format_construct *construct_acquired(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t wait_id,
                                            uint64_t now)
{
  if (!construct_started(t))
    return NULL;
  const struct construct_known *known = construct_find_inside(t, kind, directive);
  struct format_construct *at = known->at;
  count_acquired(t, known, now);
  if (kind == FORMAT_DIRECTIVE_LOCK) {
    hold(t, wait_id, at, now);
  } else {
    struct construct_open *open = construct_push(t, at, known->record, kind, FORMAT_TIME_BODY);
    if (open)
      open->begun = at->ticks[FORMAT_TIME_BODY];
  }
  return at;
}

struct format_construct *construct_awaited(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now)
{
  if (!construct_started(t))
    return NULL;
  const struct construct_known *known = construct_find_inside(t, kind, directive);
  count_acquired(t, known, now);
  return known->at;
}

struct format_construct *construct_reduced(struct thread_state *t, uint32_t directive, uint64_t since, uint64_t now)
{
  if (!construct_started(t) || since < t->record->construct_since || now < since)
    return NULL;
  construct_pass(t, since);
  const struct construct_known *known = construct_find_inside(t, FORMAT_CONSTRUCT_REDUCTION, directive);
  construct_count(t, known);
  trace_state(t, now, construct_code(known->record, FORMAT_TIME_BODY));
  construct_of(t)->counted = known->record + 1;
  pass_to(t, known->at, FORMAT_TIME_BODY, now);
  construct_of(t)->counted = 0;
  return known->at;
}

/* ---- light instances ---- */

void construct_acquired_late(struct thread_state *t, uint32_t kind, uint64_t wait_id, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  enum { PLACES = sizeof construct->held / sizeof *construct->held };
  const struct construct_open *top = construct->top;
  if (kind != FORMAT_DIRECTIVE_LOCK && top->kind == kind)
    pass_enter(t, top->at, now);
  for (unsigned i = 0; i < PLACES && kind == FORMAT_DIRECTIVE_LOCK; i++)
    if (construct->held[i].since && construct->held[i].wait_id == wait_id)
      construct->held[i].since = now;
}

/* Whether the construct's next instance is light.  Otherwise *stands_for: how many it stands for. */
static bool is_light(struct thread_state *t, struct format_construct *at, uint64_t *stands_for)
{
  if (at->count == at->light || at->flags & FORMAT_CONSTRUCT_WHOLE) /* none was followed yet */
    return false;
  if (at->skip) {
    at->skip--;
    return true;
  }
  *stands_for = at->gap;
  at->gap = at->skip = governor_gap(t);
  return false;
}

/* The thread's place of a light instance of that lock, or for one; NULL: there is none. */
static struct construct_light *light_place(struct thread_state *t, uint64_t wait_id)
{
  struct construct_thread *construct = construct_of(t);
  enum { PLACES = sizeof construct->light / sizeof *construct->light };
  unsigned i = 0;
  while (i < construct->light_count && construct->light[i].wait_id != wait_id)
    i++;
  return i < PLACES ? &construct->light[i] : NULL;
}

bool construct_light(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t wait_id, uint64_t now,
                     uint64_t *stands_for)
{
  struct construct_thread *construct = construct_of(t);
  *stands_for = 0;
  if (!construct_started(t))
    return false;
  const struct construct_known *known = construct_find_inside(t, kind, directive);
  struct construct_light *place = light_place(t, wait_id);
  if (known == &construct->unkept || !place || !is_light(t, known->at, stands_for))
    return false;
  if (construct->acquiring)
    count_acquired(t, known, now);
  else
    construct_count_instant(t, known);
  known->at->light++;
  construct->light_count += place == &construct->light[construct->light_count];
  *place = (struct construct_light){wait_id, governor_events(t), known->at};
  return true;
}

bool construct_light_ends(struct thread_state *t, uint64_t wait_id)
{
  struct construct_thread *construct = construct_of(t);
  struct construct_light *place = light_place(t, wait_id), *end = &construct->light[construct->light_count];
  if (!place || place == end)
    return false;
  if (governor_events(t) != place->begun + 1)
    place->at->flags |= FORMAT_CONSTRUCT_WHOLE;
  *place = end[-1];
  construct->light_count--;
  return true;
}

void construct_stand_for(struct format_construct *at, uint64_t light, uint64_t ticks)
{
  uint64_t square;
  at->stood += light;
  at->stood_ticks += light * ticks;
  at->stood_spread += light * (light + 1);
  if (__builtin_mul_overflow(ticks, light * ticks, &square) ||
      __builtin_add_overflow(at->stood_squares, square, &at->stood_squares))
    at->stood_squares = UINT64_MAX;
}

/* An instance of so many ticks stands for light ones, unless it contains others. */
static void stand_for(struct thread_state *t, struct format_construct *at, uint64_t ticks) __attribute__((noinline));
static void stand_for(struct thread_state *t, struct format_construct *at, uint64_t ticks)
{
  if (!governor_is_leaf(t))
    at->flags |= FORMAT_CONSTRUCT_WHOLE;
  else
    construct_stand_for(at, span_of(t)->governor.stands_for, ticks);
}

void construct_released(struct thread_state *t, uint32_t kind, uint64_t wait_id, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  enum { PLACES = sizeof construct->held / sizeof *construct->held };
  if (!construct_started(t))
    return;
  if (kind != FORMAT_DIRECTIVE_LOCK) {
    construct_pass(t, now);
    struct construct_open *open = construct_innermost(t, kind);
    if (!open)
      return;
    if (governor_is_on() && kind != FORMAT_DIRECTIVE_ORDERED)
      stand_for(t, open->at, open->at->ticks[FORMAT_TIME_BODY] - open->begun);
    construct_cut(t, open);
    return;
  }
  for (unsigned i = 0; i < PLACES; i++) {
    struct construct_held *held = &construct->held[i];
    if (!held->since || held->wait_id != wait_id)
      continue;
    uint64_t ticks = rt_measured_between(held->since, now);
    held->at->ticks[FORMAT_TIME_BODY] += ticks;
    if (governor_is_on())
      stand_for(t, held->at, ticks);
    held->since = 0;
  }
}

/* ---- pauses ---- */

void construct_pause(struct thread_state *t, uint64_t now)
{
  if (construct_of(t)->ticks)
    construct_pass(t, now);
}

struct format_construct *construct_open_record(const struct thread_state *t)
{
  uint64_t record = t->record->construct_open / FORMAT_TIMES;
  const struct table *records = &construct_of(t)->records;
  return record < records->count ? table_at(records, (uint32_t)record) : NULL;
}

uint32_t construct_open_node(const struct thread_state *t)
{
  const struct format_construct *record = construct_open_record(t);
  return record ? record->node : 0;
}

struct construct_interval construct_open_interval(const struct thread_state *t, uint64_t now)
{
  uint64_t since = t->record->construct_since, open = t->record->construct_open;
  return (struct construct_interval){(uint32_t)(open / FORMAT_TIMES), open % FORMAT_TIMES,
                                     construct_of(t)->ticks ? rt_measured_between(since, now) : 0};
}
