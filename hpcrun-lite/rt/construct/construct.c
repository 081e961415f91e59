#include "hpcrun-lite/rt/construct/construct.h"

enum { RECORDS_FIRST = 16, TASKS_FIRST = 2, STACK_FIRST = 32, RECORDS_MAX = 1 << 16 };

void construct_init(struct thread_state *t)
{
  struct construct_state *state = &t->construct;
  table_init(&state->records, FORMAT_CONSTRUCTS, ARENA_CONSTRUCTS, t->index, sizeof(struct format_construct),
             RECORDS_FIRST);
  table_init(&state->tasks, FORMAT_TASKS, ARENA_TASKS, t->index, sizeof(struct format_tasks), TASKS_FIRST);
  table_init(&state->stack, FORMAT_FREE, ARENA_OPEN, t->index, sizeof(struct construct_open), STACK_FIRST);
  t->record->construct_since = rt_ticks();
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

static struct construct_open *open_at(const struct thread_state *t, uint32_t depth)
{
  return table_at(&t->construct.stack, depth);
}

/* The innermost task. */
static struct construct_open *frame_of(const struct thread_state *t)
{
  return open_at(t, t->construct.top->frame);
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
  *t->construct.ticks += passed;
  t->record->construct_since = now > since ? now : since;
  return passed;
}

static bool start(struct thread_state *t) __attribute__((noinline));
static bool start(struct thread_state *t)
{
  struct construct_state *state = &t->construct;
  uint32_t index;
  struct format_construct *root = state->records.count ? record_at(t, 0) : table_next(&state->records, &index);
  struct construct_open *bottom = table_next(&state->stack, &index);
  if (!root || !bottom) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return false;
  }
  if (!state->records.count)
    table_publish(&state->records);
  table_publish(&state->stack);
  *bottom = (struct construct_open){.at = root};
  state->top = bottom;
  go_on(t, t->worker ? FORMAT_TIME_WAIT : FORMAT_TIME_BODY);
  return true;
}

static inline bool started(struct thread_state *t)
{
  return __builtin_expect(t->construct.ticks != NULL, 1) || start(t);
}

/* ---- records ---- */

static struct format_construct *add_record(struct thread_state *t, uint32_t parent, uint32_t kind, uint32_t directive,
                                           uint32_t flags, uint32_t *record)
{
  struct table *records = &t->construct.records;
  struct format_construct *made = records->count < RECORDS_MAX ? table_next(records, record) : NULL;
  if (!made)
    return NULL;
  made->parent = parent;
  made->kind = kind;
  made->directive = directive;
  made->flags = flags;
  made->next = record_at(t, parent)->child;
  record_at(t, parent)->child = *record;
  table_publish(records);
  return made;
}

/* Finds a construct that is open around a record, or one below that record; or adds it. */
static struct format_construct *seek(struct thread_state *t, uint32_t parent, uint32_t kind, uint32_t directive,
                                     uint32_t flags, uint32_t *record) __attribute__((noinline));
static struct format_construct *seek(struct thread_state *t, uint32_t parent, uint32_t kind, uint32_t directive,
                                     uint32_t flags, uint32_t *record)
{
  struct format_construct *at;
  for (*record = parent; *record; *record = at->parent)
    if ((at = record_at(t, *record))->kind == kind && at->directive == directive)
      return at;
  for (*record = record_at(t, parent)->child; *record; *record = at->next)
    if ((at = record_at(t, *record))->kind == kind && at->directive == directive && at->flags == flags)
      return at;
  return add_record(t, parent, kind, directive, flags, record);
}

/* The same; most constructs were met there before.  Without memory, the parent's record. */
static inline struct format_construct *find(struct thread_state *t, uint32_t parent, uint32_t kind, uint32_t directive,
                                            bool in_wait, uint32_t *record)
{
  enum { PLACES = sizeof t->construct.cache / sizeof *t->construct.cache };
  uint64_t key = (uint64_t)parent << 32 | (uint64_t)directive << 8 | kind << 1 | in_wait;
  struct construct_cache *cache = &t->construct.cache[(key ^ key >> 8 ^ key >> 32) % PLACES];
  if (__builtin_expect(!cache->at || cache->key != key, 0)) {
    struct format_construct *at =
        seek(t, parent, kind, directive, in_wait ? FORMAT_CONSTRUCT_IN_WAIT : 0, &cache->record);
    cache->at = at;
    cache->key = key;
    if (!at) {
      rt_lost(t, FORMAT_LOST_DIRECTIVES);
      *record = parent;
      return record_at(t, parent);
    }
  }
  *record = cache->record;
  return cache->at;
}

/* ---- the stack ---- */

/* Puts a construct on the stack.  Returns NULL without memory: then its end finds nothing to end. */
static inline struct construct_open *push(struct thread_state *t, struct format_construct *at, uint32_t record,
                                          uint32_t kind, enum format_construct_time column)
{
  struct construct_state *state = &t->construct;
  uint32_t depth = state->depth + 1, frame = state->top->frame, index;
  if (__builtin_expect(depth >= state->stack.count, 0)) {
    if (!table_next(&state->stack, &index)) {
      rt_lost(t, FORMAT_LOST_DIRECTIVES);
      return NULL;
    }
    table_publish(&state->stack);
  }
  struct construct_open *top = open_at(t, depth);
  top->at = at;
  top->task = NULL;
  top->record = record;
  top->frame = frame;
  top->kind = (uint8_t)kind;
  top->spare = false;
  state->top = top;
  state->depth = depth;
  go_on(t, column);
  return top;
}

/* The stack ends below that depth from now on. */
static inline void cut(struct thread_state *t, uint32_t depth)
{
  t->construct.depth = depth - 1;
  t->construct.top = open_at(t, depth - 1);
  go_on(t, t->construct.top->column);
}

/* The depth of the innermost open construct of that kind in the current task; 0: none. */
static inline uint32_t depth_of(const struct thread_state *t, uint32_t kind)
{
  uint32_t depth = t->construct.depth, frame = t->construct.top->frame;
  while (depth > frame && open_at(t, depth)->kind != kind)
    depth--;
  return depth > frame ? depth : 0;
}

static inline struct format_construct *enter(struct thread_state *t, uint32_t kind, uint32_t directive,
                                             enum format_construct_time column)
{
  const struct construct_open *top = t->construct.top;
  uint32_t record;
  struct format_construct *at = find(t, top->record, kind, directive, top->column == FORMAT_TIME_WAIT, &record);
  at->count++;
  push(t, at, record, kind, column);
  return at;
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
  uint32_t depth = depth_of(t, kind);
  if (depth)
    cut(t, depth);
}

/* ---- worksharing ---- */

static bool is_worksharing(uint32_t kind)
{
  return kind == FORMAT_DIRECTIVE_FOR || kind == FORMAT_DIRECTIVE_SECTIONS || kind == FORMAT_DIRECTIVE_SINGLE;
}

/* The construct at that depth ends; its barrier may follow. */
static void work_ended(struct thread_state *t, uint32_t depth)
{
  const struct construct_open *open = open_at(t, depth);
  struct construct_open *frame = frame_of(t);
  frame->ended = open->record;
  frame->spare = open->spare;
  cut(t, depth);
}

/* The task goes on to something else. */
static void close_work(struct thread_state *t)
{
  while (t->construct.depth > t->construct.top->frame && is_worksharing(t->construct.top->kind))
    work_ended(t, t->construct.depth);
}

struct format_construct *construct_work_begin(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now)
{
  if (!started(t))
    return NULL;
  pass(t, now);
  close_work(t);
  frame_of(t)->ended = 0;
  struct format_construct *at = enter(t, kind, directive, FORMAT_TIME_BODY);
  at->chosen += kind == FORMAT_DIRECTIVE_SINGLE;
  t->construct.top->spare = kind == FORMAT_DIRECTIVE_SECTIONS;
  return at;
}

void construct_work_end(struct thread_state *t, uint32_t kind, uint64_t now)
{
  if (!started(t))
    return;
  pass(t, now);
  uint32_t depth = depth_of(t, kind);
  if (depth)
    work_ended(t, depth);
}

void construct_section(struct thread_state *t)
{
  if (!started(t) || t->construct.top->kind != FORMAT_DIRECTIVE_SECTIONS)
    return;
  t->construct.top->at->chosen++;
  t->construct.top->spare = false;
}

struct format_construct *construct_single_other(struct thread_state *t, uint32_t directive, uint64_t now)
{
  uint32_t record;
  if (!started(t))
    return NULL;
  pass(t, now);
  close_work(t);
  const struct construct_open *top = t->construct.top;
  struct format_construct *at =
      find(t, top->record, FORMAT_DIRECTIVE_SINGLE, directive, top->column == FORMAT_TIME_WAIT, &record);
  at->count++;
  frame_of(t)->ended = record;
  frame_of(t)->spare = false;
  return at;
}

/* ---- waiting ---- */

static uint32_t group_depth(const struct thread_state *t)
{
  uint32_t group = depth_of(t, FORMAT_DIRECTIVE_TASKGROUP), loop = depth_of(t, FORMAT_DIRECTIVE_TASKLOOP);
  return group > loop ? group : loop;
}

/* The top begins to wait. */
static struct format_construct *top_waits(struct thread_state *t)
{
  struct construct_open *top = t->construct.top;
  top->waited = top->at->ticks[FORMAT_TIME_WAIT];
  go_on(t, FORMAT_TIME_WAIT);
  return top->at;
}

/* The depth of the construct at whose end the task waits; 0: that is not on the stack. */
static uint32_t waiting_depth(const struct thread_state *t, enum construct_wait how)
{
  if (how == CONSTRUCT_WAIT_REGION)
    return t->construct.top->frame;
  return how == CONSTRUCT_WAIT_GROUP ? group_depth(t) : 0;
}

bool construct_wait_is_known(struct thread_state *t, enum construct_wait how)
{
  if (!started(t))
    return true;
  if (how == CONSTRUCT_WAIT_WORKSHARING)
    close_work(t);
  return waiting_depth(t, how) || (how != CONSTRUCT_WAIT_OWN && frame_of(t)->ended);
}

bool construct_in_taskloop(const struct thread_state *t)
{
  return t->construct.ticks && t->construct.top->kind == FORMAT_DIRECTIVE_TASKLOOP;
}

/* Puts the construct on the stack at which the thread waits. */
static void push_waiting(struct thread_state *t, enum construct_wait how, uint32_t kind, uint32_t directive)
{
  struct construct_open *frame = frame_of(t), *top = t->construct.top;
  uint32_t record = how == CONSTRUCT_WAIT_OWN ? 0 : frame->ended;
  bool spare = record && frame->spare;
  struct format_construct *at = record ? record_at(t, record) : NULL;
  frame->ended = 0;
  if (!at) {
    at = find(t, top->record, kind, directive, top->column == FORMAT_TIME_WAIT, &record);
    at->count += kind != FORMAT_DIRECTIVE_SINGLE;
  }
  top = push(t, at, record, kind, FORMAT_TIME_BODY);
  if (top)
    top->spare = spare;
}

struct format_construct *construct_wait_begin(struct thread_state *t, enum construct_wait how, uint32_t kind,
                                              uint32_t directive, uint64_t now)
{
  if (!started(t))
    return NULL;
  pass(t, now);
  uint32_t depth = waiting_depth(t, how);
  if (depth && depth < t->construct.depth)
    cut(t, depth + 1);
  if (!depth) {
    if (kind == FORMAT_DIRECTIVE_BARRIER)
      close_work(t);
    push_waiting(t, how, kind, directive);
  }
  return top_waits(t);
}

void construct_wait_end(struct thread_state *t, uint64_t now)
{
  if (!started(t))
    return;
  struct construct_open *top = t->construct.top;
  bool waits = top->column == FORMAT_TIME_WAIT && t->construct.depth;
  uint64_t passed = pass(t, now);
  if (!waits)
    return;
  frame_of(t)->apart += passed;
  top->at->wait_own += t->waited_runtime < passed ? t->waited_runtime : passed;
  if (top->spare)
    top->at->wait_spare += top->at->ticks[FORMAT_TIME_WAIT] - top->waited;
  if (t->construct.depth == top->frame)
    go_on(t, FORMAT_TIME_EXIT);
  else if (top->kind == FORMAT_DIRECTIVE_TASKGROUP || top->kind == FORMAT_DIRECTIVE_TASKLOOP)
    go_on(t, FORMAT_TIME_BODY);
  else
    cut(t, t->construct.depth);
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
  top->frame = t->construct.depth;
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
  uint32_t depth = t->construct.depth;
  while (depth && !is_region(open_at(t, depth)))
    depth--;
  if (depth)
    cut(t, depth);
}

/* The record of a region that another thread has created. */
static struct format_construct *find_link(struct thread_state *t, uint32_t kind, uint32_t directive,
                                          struct construct_place place, uint32_t *record)
{
  struct format_construct *at;
  for (*record = record_at(t, 0)->child; *record; *record = at->next)
    if ((at = record_at(t, *record))->flags == FORMAT_CONSTRUCT_LINK && at->owner == place.owner &&
        at->link == place.record && at->directive == directive)
      return at;
  at = add_record(t, 0, kind, directive, FORMAT_CONSTRUCT_LINK, record);
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
  if (t->construct.depth)
    cut(t, 1);
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
static void settle(struct thread_state *t, uint64_t now)
{
  struct construct_open *region = open_at(t, 1);
  if (t->construct.depth > 1)
    cut(t, 2);
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

void construct_part(struct thread_state *t, bool creator, uint64_t now)
{
  if (!started(t))
    return;
  struct construct_state *state = &t->construct;
  if (!creator) {
    if (state->depth && open_at(t, 1)->at->flags & FORMAT_CONSTRUCT_LINK) {
      settle(t, now);
      cut(t, 1);
      go_on(t, FORMAT_TIME_WAIT);
    }
    return;
  }
  while (state->top->frame && !is_region(frame_of(t)))
    cut(t, state->top->frame);
  if (!state->top->frame)
    return;
  pass(t, now);
  if (state->depth > state->top->frame)
    cut(t, state->top->frame + 1);
  go_on(t, FORMAT_TIME_EXIT);
}

void construct_initial(struct thread_state *t, const void *task)
{
  if (started(t))
    open_at(t, 0)->task = task;
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
  for (unsigned i = 0; i < PLACES; i++) {
    struct construct_held *held = &t->construct.held[i];
    if (held->since && held->wait_id != wait_id)
      continue;
    *held = (struct construct_held){wait_id, now, at};
    return;
  }
  at->unended++;
}

struct format_construct *construct_acquired(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t wait_id,
                                            uint64_t now)
{
  uint32_t record;
  if (!started(t))
    return NULL;
  const struct construct_open *top = t->construct.top;
  struct format_construct *at = find(t, top->record, kind, directive, top->column == FORMAT_TIME_WAIT, &record);
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
    push(t, at, record, kind, FORMAT_TIME_BODY);
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

/* The thread's figures of a task construct. */
static struct format_tasks *add_tasks(struct thread_state *t, struct format_construct *at) __attribute__((noinline));
static struct format_tasks *add_tasks(struct thread_state *t, struct format_construct *at)
{
  struct table *tasks = &t->construct.tasks;
  uint32_t index;
  for (index = 0; index < tasks->count; index++) {
    struct format_tasks *known = table_at(tasks, index);
    if (known->directive == at->directive) {
      at->tasks = index + 1;
      return known;
    }
  }
  struct format_tasks *made = table_next(tasks, &index);
  if (!made) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return NULL;
  }
  made->directive = at->directive;
  table_publish(tasks);
  at->tasks = index + 1;
  return made;
}

static inline struct format_tasks *tasks_of(struct thread_state *t, struct format_construct *at)
{
  return __builtin_expect(at->tasks != 0, 1) ? table_at(&t->construct.tasks, at->tasks - 1) : add_tasks(t, at);
}

struct format_construct *construct_task_created(struct thread_state *t, const void *task, uint32_t directive, int flags,
                                                bool dependent, uint64_t now)
{
  uint32_t record;
  if (!started(t))
    return NULL;
  const struct construct_open *top = t->construct.top;
  struct format_construct *at =
      find(t, top->record, FORMAT_DIRECTIVE_TASK, directive, top->column == FORMAT_TIME_WAIT, &record);
  struct format_tasks *tasks = tasks_of(t, at);
  at->count++;
  t->construct.created = task;
  t->construct.created_record = record;
  if (tasks) {
    tasks->created++;
    tasks->created_at += now;
    tasks->undeferred += (flags & ompt_task_undeferred) != 0;
    tasks->untied += (flags & ompt_task_untied) != 0;
    tasks->dependent += dependent;
  }
  return at;
}

void construct_task_begin(struct thread_state *t, const void *task, uint32_t directive, bool first, bool elsewhere,
                          uint64_t ran, uint64_t now)
{
  uint32_t record;
  if (!started(t))
    return;
  uint64_t passed = pass(t, now);
  const struct construct_open *top = t->construct.top;
  struct construct_open *outer = frame_of(t);
  bool waits = top->column == FORMAT_TIME_WAIT, at_once = !waits && task == t->construct.created;
  if (waits)
    outer->apart += passed;
  if (outer->kind == FORMAT_CONSTRUCT_TASK_EXEC && outer->at->tasks)
    ((struct format_tasks *)table_at(&t->construct.tasks, outer->at->tasks - 1))->suspended++;
  struct format_construct *at = find(t, at_once ? t->construct.created_record : top->record, FORMAT_CONSTRUCT_TASK_EXEC,
                                     directive, waits, &record);
  struct construct_open *made = push(t, at, record, FORMAT_CONSTRUCT_TASK_EXEC, FORMAT_TIME_BODY);
  if (!made)
    return;
  made->task = task;
  made->frame = t->construct.depth;
  made->begun = now;
  made->apart = -ran;
  made->ended = 0;
  struct format_tasks *tasks = tasks_of(t, at);
  if (tasks && first) {
    at->count++;
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
  tasks->shortest = tasks->ended && tasks->shortest < ticks ? tasks->shortest : ticks;
  tasks->longest = tasks->longest > ticks ? tasks->longest : ticks;
  tasks->ended++;
  tasks->ticks += ticks;
}

/* The depth of the task in the stack, outside the innermost one; UINT32_MAX if it is not there. */
static inline uint32_t task_depth(const struct thread_state *t, const void *task)
{
  uint32_t frame = t->construct.top->frame;
  while (frame) {
    const struct construct_open *around = open_at(t, frame - 1);
    frame = around->frame;
    const void *known = open_at(t, frame)->task;
    if (known == task || (!frame && !known))
      return frame;
  }
  return UINT32_MAX;
}

bool construct_task_leave(struct thread_state *t, const void *next, bool ended, uint64_t *ran, uint64_t now)
{
  *ran = 0;
  if (!started(t))
    return true;
  const struct construct_open *frame = frame_of(t);
  if (frame->task == next)
    return true;
  pass(t, now);
  if (frame->kind != FORMAT_CONSTRUCT_TASK_EXEC)
    return task_depth(t, next) != UINT32_MAX;
  uint32_t depth = task_depth(t, next);
  if (depth == UINT32_MAX && !ended)
    return false;
  uint64_t elapsed = now - frame->begun;
  *ran = elapsed - frame->apart;
  if (frame->at->tasks) {
    struct format_tasks *tasks = table_at(&t->construct.tasks, frame->at->tasks - 1);
    if (ended)
      task_ended(tasks, *ran);
    else
      tasks->suspended++;
  }
  cut(t, t->construct.top->frame);
  frame_of(t)->apart += elapsed;
  if (depth == UINT32_MAX)
    return false;
  while (t->construct.top->frame > depth)
    cut(t, t->construct.top->frame);
  return true;
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
