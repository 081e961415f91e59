#include "hpcrun-lite/rt/construct/construct.h"

enum { RECORDS_FIRST = 16, TASKS_FIRST = 2, STACK_FIRST = 32, RECORDS_MAX = 1 << 16 };

void construct_init(struct thread_state *t)
{
  struct construct_state *state = &t->construct;
  table_init(&state->records, FORMAT_CONSTRUCTS, ARENA_CONSTRUCTS, t->index, sizeof(struct format_construct),
             RECORDS_FIRST);
  table_init(&state->tasks, FORMAT_TASKS, ARENA_TASKS, t->index, sizeof(struct format_tasks), TASKS_FIRST);
  table_init(&state->stack, FORMAT_FREE, ARENA_OPEN, t->index, sizeof(struct construct_open), STACK_FIRST);
}

void construct_release(struct thread_state *t)
{
  table_release(&t->construct.records);
  table_release(&t->construct.tasks);
  table_release(&t->construct.stack);
}

static struct format_construct *record_at(const struct thread_state *t, uint32_t record)
{
  return table_at(&t->construct.records, record);
}

/* ---- the running counter ---- */

/* From now on the thread's time goes to a column of the top's record. */
static inline void go_on(struct thread_state *t, enum format_construct_time column)
{
  struct construct_open *top = t->construct.top;
  top->column = (uint8_t)column;
  t->construct.ticks = &top->at->ticks[column];
  t->record->construct_open = (uint64_t)top->record * FORMAT_TIMES + column;
}

/* Adds the time until now to the running counter.  Returns it. */
static inline uint64_t pass(struct thread_state *t, uint64_t now)
{
  uint64_t since = t->record->construct_since, passed = now > since ? now - since : 0;
  if (atomic_load_explicit(&rt.paused, memory_order_relaxed))
    passed = 0;
  t->record->construct_since = now > since ? now : since; /* first: a kill in between must not count it twice */
  atomic_signal_fence(memory_order_seq_cst);
  *t->construct.ticks += passed;
  return passed;
}

static bool start(struct thread_state *t) __attribute__((noinline));
static bool start(struct thread_state *t)
{
  struct construct_state *state = &t->construct;
  uint32_t index;
  struct format_construct *root = state->records.count ? record_at(t, 0) : table_next(&state->records, &index);
  struct construct_open *bottom = root ? table_next(&state->stack, &index) : NULL;
  if (!bottom) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return false;
  }
  if (!state->records.count)
    table_publish(&state->records);
  table_publish(&state->stack);
  bottom->at = root;
  bottom->frame = bottom;
  if (t->worker) /* it has no task outside regions */
    bottom->task = bottom;
  state->top = state->bottom = bottom;
  go_on(t, t->worker ? FORMAT_TIME_WAIT : FORMAT_TIME_BODY);
  return true;
}

static inline bool started(struct thread_state *t)
{
  return __builtin_expect(t->construct.ticks != NULL, 1) || start(t);
}

/* ---- records ---- */

/* The list of records that a hash leads to.  parent: for links, the owner and its record. */
static uint32_t *list_of(struct thread_state *t, uint64_t parent, uint32_t kind, uint32_t directive)
{
  enum { LISTS = sizeof t->construct.heads / sizeof *t->construct.heads };
  uint64_t key = parent * 0xff51afd7ed558ccdULL + ((uint64_t)directive << 8 | kind);
  return &t->construct.heads[(key * 0x9e3779b97f4a7c15ULL >> 32) % LISTS];
}

static struct format_construct *add_record(struct thread_state *t, uint32_t *list, uint32_t parent, uint32_t kind,
                                           uint32_t directive, uint32_t flags, uint32_t *record)
{
  struct table *records = &t->construct.records;
  struct format_construct *made = records->count < RECORDS_MAX ? table_next(records, record) : NULL;
  if (!made)
    return NULL;
  made->parent = parent;
  made->kind = kind;
  made->directive = directive;
  made->flags = flags;
  made->next = *list;
  *list = *record;
  table_publish(records);
  return made;
}

/* Finds a construct that is open around a record, or one below that record; or adds it. */
static struct format_construct *seek(struct thread_state *t, uint32_t parent, uint32_t kind, uint32_t directive,
                                     uint32_t flags, uint32_t *record)
{
  struct format_construct *at;
  for (*record = parent; *record; *record = at->parent)
    if ((at = record_at(t, *record))->kind == kind && at->directive == directive)
      return at;
  uint32_t *list = list_of(t, parent, kind, directive);
  for (*record = *list; *record; *record = at->next)
    if ((at = record_at(t, *record))->kind == kind && at->directive == directive && at->parent == parent &&
        at->flags == flags)
      return at;
  return add_record(t, list, parent, kind, directive, flags, record);
}

/* The thread's figures of a task construct; NULL without memory. */
static struct format_tasks *seek_tasks(struct thread_state *t, uint32_t directive, uint32_t *index)
{
  struct table *tasks = &t->construct.tasks;
  for (*index = 0; *index < tasks->count; ++*index) {
    struct format_tasks *known = table_at(tasks, *index);
    if (known->directive == directive)
      return known;
  }
  struct format_tasks *made = table_next(tasks, index);
  if (!made) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return NULL;
  }
  made->directive = directive;
  table_publish(tasks);
  return made;
}

/* The same, for the record of a task construct; NULL for others. */
static struct format_tasks *tasks_of(struct thread_state *t, struct format_construct *at)
{
  if (at->kind != FORMAT_DIRECTIVE_TASK && at->kind != FORMAT_CONSTRUCT_TASK_EXEC)
    return NULL;
  if (at->tasks)
    return table_at(&t->construct.tasks, at->tasks - 1);
  uint32_t index;
  struct format_tasks *tasks = seek_tasks(t, at->directive, &index);
  at->tasks = tasks ? index + 1 : 0;
  return tasks;
}

static const struct construct_known *look_up(struct thread_state *t, struct construct_known *known, uint64_t key,
                                             uint32_t parent, uint32_t kind, uint32_t directive, bool in_wait)
    __attribute__((noinline));
static const struct construct_known *look_up(struct thread_state *t, struct construct_known *known, uint64_t key,
                                             uint32_t parent, uint32_t kind, uint32_t directive, bool in_wait)
{
  struct construct_known found = {.key = key};
  found.at = seek(t, parent, kind, directive, in_wait ? FORMAT_CONSTRUCT_IN_WAIT : 0, &found.record);
  if (!found.at) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    t->construct.unkept = (struct construct_known){.at = record_at(t, parent), .record = parent};
    return &t->construct.unkept;
  }
  found.tasks = tasks_of(t, found.at);
  *known = found;
  return known;
}

/* The record of a construct that is met below another record; most were met there before.  Without memory, the other
 * record. */
static inline const struct construct_known *find(struct thread_state *t, uint32_t parent, uint32_t kind,
                                                 uint32_t directive, bool in_wait)
{
  enum { BITS = 5 };
  _Static_assert(sizeof t->construct.known / sizeof *t->construct.known == 1 << BITS, "as many as the hash tells");
  uint64_t key = (uint64_t)parent << 32 | directive << 8 | kind << 1 | in_wait;
  struct construct_known *known = &t->construct.known[key * 0x9e3779b97f4a7c15ULL >> (64 - BITS)];
  if (__builtin_expect(known->key != key, 0))
    return look_up(t, known, key, parent, kind, directive, in_wait);
  return known;
}

/* The same below the top. */
static inline const struct construct_known *find_inside(struct thread_state *t, uint32_t kind, uint32_t directive)
{
  const struct construct_open *top = t->construct.top;
  return find(t, top->record, kind, directive, top->column == FORMAT_TIME_WAIT);
}

/* ---- the stack ---- */

static struct construct_open *add_open(struct thread_state *t) __attribute__((noinline));
static struct construct_open *add_open(struct thread_state *t)
{
  uint32_t index;
  struct construct_open *made = table_next(&t->construct.stack, &index);
  if (!made) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return NULL;
  }
  table_publish(&t->construct.stack);
  made->below = t->construct.top;
  t->construct.top->above = made;
  return made;
}

/* Puts a construct on the stack.  Returns NULL without memory: then its end finds nothing to end. */
static inline struct construct_open *push(struct thread_state *t, struct format_construct *at, uint32_t record,
                                          uint32_t kind, enum format_construct_time column)
{
  struct construct_state *state = &t->construct;
  struct construct_open *top = state->top->above;
  if (__builtin_expect(!top, 0) && !(top = add_open(t)))
    return NULL;
  top->at = at;
  top->frame = state->top->frame;
  top->record = record;
  top->kind = (uint8_t)kind;
  top->spare = false;
  state->top = top;
  go_on(t, column);
  return top;
}

/* Ends an open construct, and those above it. */
static inline void cut(struct thread_state *t, struct construct_open *open)
{
  t->construct.top = open->below;
  go_on(t, open->below->column);
}

/* Ends what is above. */
static inline void cut_above(struct thread_state *t, struct construct_open *open)
{
  if (t->construct.top != open) {
    t->construct.top = open;
    go_on(t, open->column);
  }
}

/* The innermost open construct of that kind in the current task; NULL: none. */
static inline struct construct_open *innermost(const struct thread_state *t, uint32_t kind)
{
  struct construct_open *open = t->construct.top, *frame = open->frame;
  while (open != frame && open->kind != kind)
    open = open->below;
  return open != frame ? open : NULL;
}

static inline struct format_construct *enter(struct thread_state *t, uint32_t kind, uint32_t directive,
                                             enum format_construct_time column)
{
  const struct construct_known *known = find_inside(t, kind, directive);
  known->at->count++;
  push(t, known->at, known->record, kind, column);
  return known->at;
}

struct format_construct *construct_begin(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now)
{
  if (!started(t))
    return NULL;
  pass(t, now);
  return enter(t, kind, directive, FORMAT_TIME_BODY);
}

void construct_end(struct thread_state *t, uint32_t kind, uint64_t now)
{
  if (!started(t))
    return;
  pass(t, now);
  struct construct_open *open = innermost(t, kind);
  if (open)
    cut(t, open);
}

/* ---- taskgroups and taskloops ---- */

struct format_construct *construct_group_begin(struct thread_state *t, uint32_t directive, uint64_t now)
{
  struct format_construct *at = construct_begin(t, FORMAT_DIRECTIVE_TASKGROUP, directive, now);
  if (at)
    t->construct.top->begun = now;
  return at;
}

struct format_construct *construct_taskloop_begin(struct thread_state *t, uint32_t directive, uint64_t now)
{
  if (!started(t))
    return NULL;
  struct construct_open *group = t->construct.top;
  if (group->kind != FORMAT_DIRECTIVE_TASKGROUP || group->begun != t->record->construct_since)
    return construct_begin(t, FORMAT_DIRECTIVE_TASKLOOP, directive, now);
  group->at->count--;
  cut(t, group);
  pass(t, group->begun); /* its time so far belongs to the taskloop */
  struct format_construct *at = enter(t, FORMAT_DIRECTIVE_TASKLOOP, directive, FORMAT_TIME_BODY);
  t->construct.top->spare = true;
  pass(t, now);
  return at;
}

void construct_taskloop_end(struct thread_state *t, uint64_t now)
{
  if (!started(t))
    return;
  pass(t, now);
  struct construct_open *open = innermost(t, FORMAT_DIRECTIVE_TASKLOOP);
  if (open && !open->spare)
    cut(t, open);
}

void construct_group_end(struct thread_state *t, uint64_t now)
{
  if (!started(t))
    return;
  pass(t, now);
  struct construct_open *open = t->construct.top, *frame = open->frame;
  while (open != frame && open->kind != FORMAT_DIRECTIVE_TASKGROUP &&
         !(open->kind == FORMAT_DIRECTIVE_TASKLOOP && open->spare))
    open = open->below;
  if (open != frame)
    cut(t, open);
}

/* ---- worksharing ---- */

static bool is_worksharing(uint32_t kind)
{
  return kind == FORMAT_DIRECTIVE_FOR || kind == FORMAT_DIRECTIVE_SECTIONS || kind == FORMAT_DIRECTIVE_SINGLE;
}

/* A construct ends; its barrier may follow. */
static void work_ended(struct thread_state *t, struct construct_open *open)
{
  open->frame->ended = open->record;
  open->frame->ended_code = NULL;
  open->frame->spare = open->spare;
  cut(t, open);
}

/* The task goes on to something else. */
static void close_work(struct thread_state *t)
{
  while (t->construct.top != t->construct.top->frame && is_worksharing(t->construct.top->kind))
    work_ended(t, t->construct.top);
}

struct format_construct *construct_work_begin(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now)
{
  if (!started(t))
    return NULL;
  pass(t, now);
  close_work(t);
  t->construct.top->frame->ended = 0;
  struct format_construct *at = enter(t, kind, directive, FORMAT_TIME_BODY);
  at->chosen += kind == FORMAT_DIRECTIVE_SINGLE;
  /* libomp does not tell which threads execute sections */
  t->construct.top->spare = kind == FORMAT_DIRECTIVE_SECTIONS && rt_gomp_task;
  return at;
}

void construct_work_end(struct thread_state *t, uint32_t kind, uint64_t now)
{
  if (!started(t))
    return;
  pass(t, now);
  struct construct_open *open = innermost(t, kind);
  if (open)
    work_ended(t, open);
}

void construct_section(struct thread_state *t)
{
  if (!started(t) || t->construct.top->kind != FORMAT_DIRECTIVE_SECTIONS || !rt_gomp_task)
    return;
  t->construct.top->at->chosen++;
  t->construct.top->spare = false;
}

struct format_construct *construct_single_other(struct thread_state *t, uint32_t directive, uint64_t now)
{
  if (!started(t))
    return NULL;
  pass(t, now);
  close_work(t);
  const struct construct_known *known = find_inside(t, FORMAT_DIRECTIVE_SINGLE, directive);
  struct construct_open *frame = t->construct.top->frame;
  known->at->count++;
  frame->ended = known->record;
  frame->ended_code = NULL;
  frame->spare = false;
  return known->at;
}

/* ---- waiting ---- */

/* The innermost taskgroup or taskloop of the current task; NULL: none. */
static struct construct_open *innermost_group(const struct thread_state *t)
{
  struct construct_open *open = t->construct.top, *frame = open->frame;
  while (open != frame && open->kind != FORMAT_DIRECTIVE_TASKGROUP && open->kind != FORMAT_DIRECTIVE_TASKLOOP)
    open = open->below;
  return open != frame ? open : NULL;
}

/* The top begins to wait. */
static struct format_construct *top_waits(struct thread_state *t)
{
  struct construct_open *top = t->construct.top;
  top->waited = top->at->ticks[FORMAT_TIME_WAIT];
  go_on(t, FORMAT_TIME_WAIT);
  return top->at;
}

/* The open construct at whose end the task waits; NULL: none. */
static struct construct_open *waits_at(const struct thread_state *t, enum construct_wait how)
{
  if (how == CONSTRUCT_WAIT_REGION && t->construct.top->frame != t->construct.bottom)
    return t->construct.top->frame;
  return how == CONSTRUCT_WAIT_GROUP ? innermost_group(t) : NULL;
}

/* The record of the construct that the wait follows; 0: none.  Copyprivate has two barriers at one address. */
static uint32_t followed(const struct thread_state *t, enum construct_wait how, const void *code)
{
  const struct construct_open *frame = t->construct.top->frame;
  return how == CONSTRUCT_WAIT_OWN || (frame->ended_code && frame->ended_code != code) ? 0 : frame->ended;
}

bool construct_wait_is_known(struct thread_state *t, enum construct_wait how, const void *code, uint64_t now)
{
  if (how == CONSTRUCT_WAIT_OWN)
    return false;
  if (!started(t))
    return true;
  pass(t, now);
  if (how == CONSTRUCT_WAIT_WORKSHARING)
    close_work(t);
  return waits_at(t, how) || followed(t, how, code);
}

/* Puts the construct on the stack at which the thread waits.  Only those that the program names are counted. */
static void push_waiting(struct thread_state *t, enum construct_wait how, uint32_t kind, uint32_t directive,
                         const void *code)
{
  struct construct_open *frame = t->construct.top->frame, *top;
  uint32_t record = followed(t, how, code);
  if (record) {
    struct format_construct *at = record_at(t, record);
    frame->ended_code = code;
    top = push(t, at, record, at->kind, FORMAT_TIME_BODY);
    if (top)
      top->spare = frame->spare;
  } else {
    const struct construct_known *known = find_inside(t, kind, directive);
    frame->ended = 0;
    known->at->count += how == CONSTRUCT_WAIT_OWN;
    push(t, known->at, known->record, kind, FORMAT_TIME_BODY);
  }
}

struct format_construct *construct_wait_begin(struct thread_state *t, enum construct_wait how, uint32_t kind,
                                              uint32_t directive, const void *code, uint64_t now)
{
  if (!started(t))
    return NULL;
  pass(t, now);
  struct construct_open *open = waits_at(t, how);
  if (open) {
    cut_above(t, open);
  } else {
    if (kind == FORMAT_DIRECTIVE_BARRIER)
      close_work(t);
    push_waiting(t, how, kind, directive, code);
  }
  return top_waits(t);
}

void construct_wait_end(struct thread_state *t, uint64_t now)
{
  if (!started(t))
    return;
  struct construct_open *top = t->construct.top;
  uint64_t passed = pass(t, now);
  if (top->column != FORMAT_TIME_WAIT || top == t->construct.bottom)
    return;
  top->frame->apart += passed;
  top->at->wait_own += t->waited_runtime < passed ? t->waited_runtime : passed;
  if (top->spare)
    top->at->wait_spare += top->at->ticks[FORMAT_TIME_WAIT] - top->waited;
  if (top == top->frame)
    go_on(t, FORMAT_TIME_EXIT);
  else if (top->kind == FORMAT_DIRECTIVE_TASKGROUP || top->kind == FORMAT_DIRECTIVE_TASKLOOP)
    go_on(t, FORMAT_TIME_BODY);
  else
    cut(t, top);
}

/* ---- regions ---- */

struct format_construct *construct_region_begin(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now)
{
  if (!started(t))
    return NULL;
  pass(t, now);
  return enter(t, kind, directive, FORMAT_TIME_ENTER);
}

struct construct_place construct_region_place(const struct thread_state *t)
{
  return t->construct.ticks ? (struct construct_place){t->index, t->construct.top->record}
                            : (struct construct_place){0};
}

static bool is_region(const struct construct_open *open)
{
  return open->kind == FORMAT_DIRECTIVE_PARALLEL || open->kind == FORMAT_DIRECTIVE_TEAMS;
}

/* The top is a task from now on. */
static void top_runs(struct thread_state *t, const void *task, uint64_t now)
{
  struct construct_open *top = t->construct.top;
  top->task = task;
  top->frame = top;
  top->begun = now;
  top->apart = 0;
  top->ended = 0;
  go_on(t, FORMAT_TIME_BODY);
}

void construct_region_body(struct thread_state *t, const void *task, uint64_t now)
{
  if (!started(t))
    return;
  pass(t, now);
  /* a league's teams may run one after another */
  if (is_region(t->construct.top) && t->construct.top->column != FORMAT_TIME_BODY)
    top_runs(t, task, now);
}

void construct_region_end(struct thread_state *t, uint64_t now)
{
  if (!started(t))
    return;
  pass(t, now);
  struct construct_open *open = t->construct.top;
  while (open != t->construct.bottom && !is_region(open))
    open = open->below;
  if (open != t->construct.bottom)
    cut(t, open);
}

/* The record of a region that another thread has created. */
static struct format_construct *find_link(struct thread_state *t, uint32_t kind, uint32_t directive,
                                          struct construct_place place, uint32_t *record)
{
  struct format_construct *at;
  uint32_t *list = list_of(t, (uint64_t)place.owner << 32 | place.record, kind, directive);
  for (*record = *list; *record; *record = at->next)
    if ((at = record_at(t, *record))->flags == FORMAT_CONSTRUCT_LINK && at->owner == place.owner &&
        at->link == place.record && at->kind == kind && at->directive == directive)
      return at;
  at = add_record(t, list, 0, kind, directive, FORMAT_CONSTRUCT_LINK, record);
  if (at) {
    at->owner = place.owner;
    at->link = place.record;
  }
  return at;
}

void construct_join(struct thread_state *t, uint32_t kind, uint32_t directive, struct construct_place place,
                    const void *task, uint64_t begun, uint64_t now)
{
  uint32_t record;
  if (!started(t))
    return;
  cut_above(t, t->construct.bottom);
  go_on(t, FORMAT_TIME_WAIT);
  pass(t, begun < now ? begun : now);
  struct format_construct *at = place.owner ? find_link(t, kind, directive, place, &record) : NULL;
  if (!at) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return;
  }
  at->count++;
  if (!push(t, at, record, kind, FORMAT_TIME_ENTER))
    return;
  pass(t, now);
  top_runs(t, task, now);
}

/* The end of a region of another thread, at whose end this one waits. */
static void settle(struct thread_state *t, struct construct_open *region, uint64_t now)
{
  cut_above(t, region);
  if (region->column != FORMAT_TIME_WAIT) {
    pass(t, now);
  } else if (t->region_end) {
    uint64_t passed = pass(t, t->region_left), own = t->waited_runtime;
    region->at->wait_own += own < passed ? own : passed;
    go_on(t, FORMAT_TIME_EXIT);
    pass(t, t->region_end);
  } else {
    region->at->unended++;
  }
}

/* The task of the thread in the region that it has created last. */
static struct construct_open *own_part(const struct thread_state *t)
{
  struct construct_open *frame = t->construct.top->frame;
  while (frame != t->construct.bottom && !is_region(frame))
    frame = frame->below->frame;
  return frame != t->construct.bottom ? frame : NULL;
}

void construct_part(struct thread_state *t, bool creator, uint64_t now)
{
  if (!started(t))
    return;
  struct construct_open *bottom = t->construct.bottom, *part = creator ? own_part(t) : bottom->above;
  if (!part || t->construct.top == bottom)
    return;
  if (creator) {
    pass(t, now);
    cut_above(t, part);
    go_on(t, FORMAT_TIME_EXIT);
  } else if (part->at->flags & FORMAT_CONSTRUCT_LINK) {
    settle(t, part, now);
    cut(t, part);
    go_on(t, FORMAT_TIME_WAIT);
  }
}

void construct_initial(struct thread_state *t, const void *task)
{
  if (started(t))
    t->construct.bottom->task = task;
}

/* ---- mutual exclusion ---- */

void construct_acquire(struct thread_state *t, uint64_t now)
{
  if (!started(t))
    return;
  pass(t, now);
  t->construct.acquiring = now;
}

void construct_held_already(struct thread_state *t)
{
  t->construct.acquiring = 0;
}

static void hold(struct thread_state *t, uint64_t wait_id, struct format_construct *at, uint64_t now)
{
  enum { PLACES = sizeof t->construct.held / sizeof *t->construct.held };
  struct construct_held *free = NULL;
  for (unsigned i = 0; i < PLACES; i++) {
    struct construct_held *held = &t->construct.held[i];
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

struct format_construct *construct_acquired(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t wait_id,
                                            uint64_t now)
{
  if (!started(t))
    return NULL;
  const struct construct_known *known = find_inside(t, kind, directive);
  struct format_construct *at = known->at;
  at->count++;
  if (t->construct.acquiring) {
    uint64_t *ticks = t->construct.ticks;
    t->construct.ticks = &at->ticks[FORMAT_TIME_ENTER];
    pass(t, now);
    t->construct.ticks = ticks;
    t->construct.acquiring = 0;
  } else {
    pass(t, now);
  }
  if (kind == FORMAT_DIRECTIVE_LOCK)
    hold(t, wait_id, at, now);
  else
    push(t, at, known->record, kind, FORMAT_TIME_BODY);
  return at;
}

void construct_released(struct thread_state *t, uint32_t kind, uint64_t wait_id, uint64_t now)
{
  enum { PLACES = sizeof t->construct.held / sizeof *t->construct.held };
  if (kind != FORMAT_DIRECTIVE_LOCK) {
    construct_end(t, kind, now);
    return;
  }
  for (unsigned i = 0; i < PLACES; i++) {
    struct construct_held *held = &t->construct.held[i];
    if (!held->since || held->wait_id != wait_id)
      continue;
    held->at->ticks[FORMAT_TIME_BODY] += now > held->since ? now - held->since : 0;
    held->since = 0;
  }
}

/* ---- explicit tasks ---- */

struct format_construct *construct_task_created(struct thread_state *t, const void *task, uint32_t directive, int flags,
                                                bool dependent, uint64_t now)
{
  if (!started(t))
    return NULL;
  const struct construct_known *known = find_inside(t, FORMAT_DIRECTIVE_TASK, directive);
  struct format_tasks *tasks = known->tasks;
  known->at->count++;
  t->construct.created = task;
  t->construct.created_record = known->record;
  if (t->construct.top->kind == FORMAT_DIRECTIVE_TASKGROUP)
    t->construct.top->begun = 0; /* a taskloop in it is another construct */
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

/* What was spent since the last callback is added to the construct around the creation before it is taken from there.
 */
void construct_creation(struct thread_state *t, uint32_t directive, uint64_t count, uint64_t ticks, uint64_t now)
{
  if (!started(t) || !count || !directive)
    return;
  pass(t, now);
  const struct construct_known *known = find_inside(t, FORMAT_DIRECTIVE_TASK, directive);
  uint64_t *from = t->construct.ticks, moved = ticks < *from ? ticks : *from;
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
  struct construct_open *bottom = t->construct.bottom;
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
  struct construct_open *frame = t->construct.top->frame;
  if (__builtin_expect(frame->task == task, 1) || frame->kind != FORMAT_CONSTRUCT_TASK_EXEC)
    return frame;
  struct construct_open *below = find_below(t, frame, task);
  if (!below || below->task != task)
    return frame;
  pass(t, now);
  cut_above(t, below);
  while (t->construct.top->frame != below)
    cut(t, t->construct.top->frame);
  return below;
}

void construct_task_begin(struct thread_state *t, const void *prior, const void *task, uint32_t directive, bool first,
                          bool elsewhere, uint64_t ran, uint64_t now)
{
  if (!started(t))
    return;
  if (prior)
    resume(t, prior, now);
  uint64_t passed = pass(t, now);
  const struct construct_open *top = t->construct.top;
  struct construct_open *outer = top->frame;
  bool waits = top->column == FORMAT_TIME_WAIT, at_once = !waits && task == t->construct.created;
  if (waits)
    outer->apart += passed;
  if (outer->kind == FORMAT_CONSTRUCT_TASK_EXEC && outer->tasks)
    outer->tasks->suspended++;
  uint32_t parent = at_once ? t->construct.created_record : top->record;
  const struct construct_known *known = find(t, parent, FORMAT_CONSTRUCT_TASK_EXEC, directive, waits);
  struct format_tasks *tasks = known->tasks;
  if (first)
    known->at->count++;
  struct construct_open *made = push(t, known->at, known->record, FORMAT_CONSTRUCT_TASK_EXEC, FORMAT_TIME_BODY);
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

static inline unsigned bucket_of(uint64_t ticks)
{
  if (ticks < 8)
    return (unsigned)ticks;
  unsigned high = 63 - (unsigned)__builtin_clzll(ticks);
  unsigned bucket = (high - 2) * 8 + (unsigned)(ticks >> (high - 3) & 7);
  return bucket < FORMAT_TASK_BUCKETS ? bucket : FORMAT_TASK_BUCKETS - 1;
}

static inline void task_ended(struct format_tasks *tasks, uint64_t ticks)
{
  uint32_t *bucket = &tasks->histogram[bucket_of(ticks)];
  *bucket += *bucket != UINT32_MAX;
  if (!tasks->ended || ticks < tasks->shortest)
    tasks->shortest = ticks;
  if (ticks > tasks->longest)
    tasks->longest = ticks;
  tasks->ended++;
  tasks->ticks += ticks;
}

void construct_task_ended(struct thread_state *t, uint32_t directive, uint64_t ran)
{
  uint32_t index;
  struct format_tasks *tasks = started(t) ? seek_tasks(t, directive, &index) : NULL;
  if (tasks)
    task_ended(tasks, ran);
}

bool construct_runs(struct thread_state *t, const void *task, uint64_t now)
{
  return started(t) && resume(t, task, now)->task == task;
}

bool construct_task_leave(struct thread_state *t, const void *next, bool ended, uint64_t *ran, uint64_t now)
{
  *ran = 0;
  if (!started(t))
    return true;
  struct construct_open *frame = t->construct.top->frame;
  if (frame->task == next)
    return true;
  struct construct_open *below = find_below(t, frame, next);
  bool explicit = frame->kind == FORMAT_CONSTRUCT_TASK_EXEC;
  if (!explicit || (!below && !ended))
    return below;
  pass(t, now);
  uint64_t elapsed = now - frame->begun;
  *ran = elapsed - frame->apart;
  if (frame->tasks && ended)
    task_ended(frame->tasks, *ran);
  else if (frame->tasks)
    frame->tasks->suspended++;
  cut(t, frame);
  t->construct.top->frame->apart += elapsed;
  while (below && (frame = t->construct.top->frame) != below)
    cut(t, frame);
  return below;
}

void construct_pause(struct thread_state *t, uint64_t now)
{
  if (t->construct.ticks)
    pass(t, now);
}

struct construct_interval construct_open_interval(const struct thread_state *t, uint64_t now)
{
  uint64_t since = t->record->construct_since, open = t->record->construct_open;
  return (struct construct_interval){(uint32_t)(open / FORMAT_TIMES), open % FORMAT_TIMES,
                                     t->construct.ticks && now > since ? now - since : 0};
}
