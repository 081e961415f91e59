#include "hpcrun-lite/rt/span/explicit_task.h"

#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/plain_task.h"

enum { BATCH_REFS = 1024, TASK_REFS = 1024, SLOTS_FIRST = 64, LAST_BIT = 63 };

struct pool task_batches;
static struct table slots; /* by thread_state.live_slot */
static atomic_flag slots_lock = ATOMIC_FLAG_INIT;

static struct task_batch *at(uint32_t index)
{
  return task_batch(index);
}

static struct end_slot *slot_at(uint32_t slot)
{
  return table_at(&slots, slot);
}

void explicit_task_start(void)
{
  pool_init(&task_batches, sizeof(struct task_batch));
  atomic_flag_clear(&slots_lock);
  table_init(&slots, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct end_slot), SLOTS_FIRST);
}

bool explicit_task_start_thread(struct thread_state *t)
{
  bool room = table_reach(&slots, &slots_lock, t->live_slot);
  span_of(t)->end_slot = room ? slot_at(t->live_slot) : NULL;
  return room;
}

void explicit_task_stop_thread(struct thread_state *t)
{
  explicit_task_report(t);
  pool_flush(&task_batches, &span_of(t)->free_batches);
}

/* ---- struct task ---- */

/* Leaves the clock uninitialised.  A free item is zero from `depend` to `fulfilled`, because task_clear() clears what
 * was used there. */
static inline uint32_t task_new(struct thread_state *t, struct task **made)
{
  void *item;
  uint32_t index = pool_take(&graph_tasks, &span_of(t)->free_tasks, &item);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return 0;
  }
  struct task *task = *made = item;
  enum { NOW = offsetof(struct task, now), SCOPE = offsetof(struct task, scope), END = offsetof(struct task, depend) };
  __builtin_memset((char *)task + sizeof task->pool, 0, NOW - sizeof task->pool);
  __builtin_memset((char *)task + SCOPE, 0, END - SCOPE);
  task->refs = task->own_refs = TASK_REFS;
  return index;
}

uint32_t explicit_task_new(struct thread_state *t)
{
  struct task *task;
  uint32_t index = task_new(t, &task);
  if (index)
    task->now = (struct clock){0};
  return index;
}

uint32_t task_batch_release(struct thread_state *t, uint32_t index, uint32_t refs)
{
  struct task_batch *batch = at(index);
  RT_ASSERT(refs && __atomic_load_n(&batch->refs, __ATOMIC_RELAXED) >= refs);
  if (__atomic_load_n(&batch->refs, __ATOMIC_ACQUIRE) != refs &&
      __atomic_sub_fetch(&batch->refs, refs, __ATOMIC_ACQ_REL) > 0)
    return 0;
  uint32_t parent = batch->parent;
  if (!batch->borrows)
    critical_path_drop(t, &batch->at.path);
  directive_leave(t, batch->outer_instance);
  pool_put(&task_batches, &span_of(t)->free_batches, index);
  return parent;
}

/* Most joins of tasks stay zero. */
static inline void clear_join(struct thread_state *t, struct join *join)
{
  if (join->latest.burdened | join->name | join->within)
    join_clear(t, join);
}

/* Frees what the task holds, and zeroes the fields that must be zero in a free item. */
static void task_clear(struct thread_state *t, struct task *task)
{
  critical_path_drop(t, &task->now.path);
  clear_join(t, &task->children.join);
  task->children.holders = 0;
  if (task->earlier.burdened)
    clock_clear(t, &task->earlier);
  clear_join(t, &task->fulfilled);
  if (task->flags & TASK_HAD_LOOP) {
    clock_clear(t, &task->loop_entry);
    clock_clear(t, &task->loop_end);
  }
  if (depend_used(&task->depend)) {
    depend_end(t, &task->depend, NULL, 0);
    depend_clear(t, &task->depend);
  }
}

/* Releases references to a task; the last one frees it. */
static void release(struct thread_state *t, uint32_t index, uint32_t refs)
{
  while (index) {
    struct task *task = graph_task(index);
    RT_ASSERT(refs && __atomic_load_n(&task->refs, __ATOMIC_RELAXED) >= refs);
    if (__atomic_load_n(&task->refs, __ATOMIC_ACQUIRE) != refs &&
        __atomic_sub_fetch(&task->refs, refs, __ATOMIC_ACQ_REL) > 0)
      return;
    task_clear(t, task);
    uint32_t batch = task->batch;
    pool_put(&graph_tasks, &span_of(t)->free_tasks, index);
    index = batch ? task_batch_release(t, batch, 1) : 0;
    refs = 1;
  }
}

void explicit_task_unref(struct thread_state *t, uint32_t index)
{
  release(t, index, graph_task(index)->own_refs);
}

/* ---- creation ---- */

/* Can the next child belong to that batch? */
static bool fits(const struct task_batch *batch, const struct task *parent, uint32_t flags, const void *code,
                 uint32_t creation_context, uint32_t thread)
{
  return batch->code == (uint64_t)code && batch->flags == flags && batch->creation_context == creation_context &&
         batch->group == parent->group && batch->interval == parent->interval && batch->chunk == parent->chunk &&
         batch->depth == parent->scopes_open && batch->scope_row == parent->scope.row &&
         batch->scope_instance == parent->scope.instance && batch->thread == thread &&
         clock_moved_on(&batch->at, &parent->now) && parent->now.base - batch->at.base < 1ull << MOVED_BITS;
}

/* A batch that outlives its parent needs a reference of its own to the path. */
static void close_batch(struct thread_state *t, struct task *parent, struct open_batch *open)
{
  struct task_batch *batch = open->at;
  if (!batch)
    return;
  if (batch->borrows && __atomic_load_n(&batch->refs, __ATOMIC_ACQUIRE) != open->refs) {
    if (batch->at.path.tail)
      critical_path_share_tail(t, batch->at.path.tail);
    batch->borrows = false;
  }
  parent->own_refs += task_batch_release(t, open->index, open->refs) != 0;
  open->at = NULL;
}

void explicit_task_close(struct thread_state *t, struct task *parent)
{
  close_batch(t, parent, &parent->open[0]);
  close_batch(t, parent, &parent->open[1]);
}

/* The row of a new task; flags: OMPT's.  OMPT reports a taskwait with dependences as a task, which never runs:
 * it has no row, 0. */
static uint32_t row_of(struct thread_state *t, const struct task *parent, int flags, const void *code)
{
  if (flags & ompt_task_taskwait)
    return 0;
  /* tasks of a taskloop have an address in the runtime */
  const void *taskloop = parent->scopes_open ? directive_taskloop(parent->scope.row) : NULL;
  return directive_row(t, FORMAT_DIRECTIVE_TASK, taskloop ? taskloop : code);
}

/* graph_instance(), where it takes no search: the task belongs to the instance around it, like most recursive ones. */
static inline uint32_t instance_of(struct thread_state *t, struct task *task)
{
  if (!task->scopes_open && !task->scope.instance && task->flags & TASK_NESTED) {
    RT_ASSERT(directive_contains(task->outer_instance, task->scope.row));
    task->scope.instance = directive_share(t, task->outer_instance);
  }
  return !task->scopes_open && task->scope.instance ? task->scope.instance : graph_instance(t, task);
}

/* Opens a batch; the older one of two is closed.  NULL without memory. */
static struct open_batch *batch_new(struct thread_state *t, struct task *parent, uint32_t kind, int flags,
                                    const void *code, uint32_t creation_context)
{
  void *item;
  uint32_t index = pool_take(&task_batches, &span_of(t)->free_batches, &item);
  close_batch(t, parent, &parent->open[1]);
  parent->open[1] = parent->open[0];
  parent->open[0].at = NULL;
  if (!index)
    return NULL;
  struct task_batch *batch = item;
  uint32_t row = row_of(t, parent, flags, code);
  if (!critical_path_has(&parent->now.path, CRITICAL_PATH_KEY(row, 0, 0)))
    critical_path_make_room(t, &parent->now.path);
  uint32_t outer = directive_share(t, instance_of(t, parent));
  batch->refs = BATCH_REFS; /* one by one: a cleared structure costs as much as the rest */
  batch->parent = span_of(t)->task;
  batch->group = parent->group;
  batch->interval = parent->interval;
  batch->flags = kind;
  batch->row = row;
  batch->thread = t->index;
  batch->chunk = parent->chunk;
  batch->outer_instance = outer;
  batch->creation_context = creation_context;
  batch->scope_row = parent->scope.row;
  batch->scope_instance = parent->scope.instance;
  batch->depth = parent->scopes_open;
  batch->nested = !row || directive_contains(outer, row);
  batch->region = parent->region;
  batch->code = (uint64_t)code;
  batch->borrows = parent->now.path.borrowed;
  batch->at = batch->borrows ? parent->now : clock_copy(t, &parent->now);
  if (parent->own_refs == 1) { /* one stays with the task until it ends */
    __atomic_fetch_add(&parent->refs, TASK_REFS, __ATOMIC_RELAXED);
    parent->own_refs += TASK_REFS;
  }
  parent->own_refs--;
  parent->open[0] = (struct open_batch){batch, index, BATCH_REFS};
  return &parent->open[0];
}

/* The open batch that the next child can belong to; NULL: none. */
static inline struct open_batch *fitting_batch(struct task *parent, uint32_t kind, const void *code,
                                               uint32_t creation_context, uint32_t thread)
{
  for (int i = 0; i < 2; i++) {
    struct open_batch *open = &parent->open[i];
    if (open->at && fits(open->at, parent, kind, code, creation_context, thread))
      return open;
  }
  return NULL;
}

static uint32_t task_flags(const struct thread_state *t, const struct task *parent, int flags, bool serial)
{
  uint32_t direct = 0;
  if (flags & ompt_task_undeferred) {
    const struct team *team = graph_team(parent->region);
    serial |=
        team && __atomic_load_n(&team->size, __ATOMIC_RELAXED) > 1; /* in a team of one thread every task is flagged */
    direct = rt_begins_undeferred(t, (uint64_t)__builtin_frame_address(0)) ? TASK_DIRECT : 0;
  }
  bool final = flags & ompt_task_final || parent->flags & TASK_FINAL;
  return (serial || parent->flags & TASK_FINAL ? TASK_SERIAL : 0) | (final ? TASK_FINAL : 0) | direct;
}

/* Makes the struct task of a new task; moved: from its data word.  0 without memory. */
static inline uint32_t task_from_batch(struct thread_state *t, uint32_t index, uint64_t moved, struct task **result)
{
  const struct task_batch *batch = at(index);
  struct task *task;
  uint32_t made = task_new(t, &task);
  if (!made)
    return 0;
  *result = task;
  task->flags = batch->flags | (batch->nested && batch->row ? TASK_NESTED : 0);
  task->batch = index;
  task->parent = batch->parent;
  task->group = batch->group;
  task->interval = batch->interval;
  task->region = batch->region;
  task->creator_thread = batch->thread;
  task->outer_instance = batch->outer_instance;
  task->creation_context = batch->creation_context;
  task->now.base = batch->at.base + moved;
  task->now.burdened = batch->at.burdened + moved;
  task->now.path = critical_path_borrow(&batch->at.path); /* the task holds a reference to the batch */
  task->now.path.items[0].amount += moved;
  task->scope.row = batch->row;
  task->scope.begin = task->now.base;
  return made;
}

/* flags: OMPT's. */
static void log_creation(struct thread_state *t, struct task *task, int flags)
{
  const struct task *parent = graph_task(task->parent);
  uint64_t log_flags =
      (task->flags & TASK_SERIAL ? GRAPHLOG_SERIAL : 0) | (task->flags & TASK_FINAL ? GRAPHLOG_FINAL : 0) |
      (flags & ompt_task_untied ? GRAPHLOG_UNTIED : 0) | (flags & ompt_task_mergeable ? GRAPHLOG_MERGEABLE : 0) |
      (directive_taskloop(parent->scope.row) ? GRAPHLOG_LOOP_TASK : 0) |
      (parent != span_of(t)->running ? GRAPHLOG_FOR_PARENT : 0);
  task->name = graph_log_put_task(t, parent->name, task->scope.row, log_flags);
}

/* The data word of a new task.  Without room in the word, and with a log, which needs the task's name, its struct task
 * is made at once. */
static inline uint64_t word_of(struct thread_state *t, uint32_t index, uint64_t moved, int flags)
{
  if (!graph_log_on() && index >> INDEX_BITS == 0 && moved >> MOVED_BITS == 0)
    return task_batch_word(index, moved);
  struct task *task;
  uint32_t made = task_from_batch(t, index, moved, &task);
  if (!made)
    task_batch_release(t, index, 1);
  else if (graph_log_on())
    log_creation(t, task, flags);
  return rt_task_word(made);
}

/* libomp splits a large taskloop by helper tasks, which create tasks in the name of their own parent while that one
 * runs on.  Such a task starts at the clock of its helper. */
static uint64_t create_for_parent(struct thread_state *t, int flags, uint32_t *row)
{
  uint32_t index = span_of(t)->running->batch;
  if (!index)
    return rt_task_word(0);
  *row = at(index)->row;
  __atomic_fetch_add(&at(index)->refs, 1, __ATOMIC_RELAXED);
  return word_of(t, index, span_of(t)->running->now.base - at(index)->at.base, flags);
}

uint64_t explicit_task_create(struct thread_state *t, uint32_t parent_index, int flags, bool serial, const void *code,
                              uint32_t creation_context, uint32_t *row)
{
  uint64_t moment = work_clock_value(t), word = rt_task_word(0);
  *row = 0;
  graph_fragment_end_inline(t, moment);
  struct task *parent = span_of(t)->running;
  if (__builtin_expect(parent_index != span_of(t)->task, 0) || !parent) {
    if (parent)
      word = create_for_parent(t, flags, row);
    graph_fragment_begin_after(t, moment);
    return word;
  }
  uint32_t kind = task_flags(t, parent, flags, serial);
  struct open_batch *open = fitting_batch(parent, kind, code, creation_context, t->index);
  if (!open)
    open = batch_new(t, parent, kind, flags, code, creation_context);
  if (open) {
    struct task_batch *batch = open->at;
    if (open->refs == 1) { /* one reference stays with the parent */
      __atomic_fetch_add(&batch->refs, BATCH_REFS, __ATOMIC_RELAXED);
      open->refs += BATCH_REFS;
    }
    open->refs--;
    span_of(t)->repeated = (struct repeated_creation){.open = open, .code = code, .flags = flags};
    *row = batch->row;
    word = word_of(t, open->index, parent->now.base - batch->at.base, flags);
  } else {
    rt_lost(t, FORMAT_LOST_GRAPH);
    word = rt_task_word(0);
  }
  graph_fragment_begin_after(t, moment);
  return word;
}

/* Makes the word name the task.  Returns false if it names another one already: the thread that fulfils a detached task
 * makes a struct task, too. */
static bool name_task(ompt_data_t *data, uint32_t index)
{
  uint64_t word = __atomic_load_n(&data->value, __ATOMIC_ACQUIRE);
  while (word & RT_TASK_NEW)
    if (__atomic_compare_exchange_n(&data->value, &word, rt_task_word(index) | (word & RT_TASK_WAITING), false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return true;
  return false;
}

/* Frees a struct task that is not needed; returns the index that the word names. */
static uint32_t discard_task(struct thread_state *t, uint32_t index, const ompt_data_t *data)
{
  graph_task(index)->batch = 0;
  explicit_task_unref(t, index);
  return rt_task_index(data->value);
}

uint32_t explicit_task_index(struct thread_state *t, ompt_data_t *data)
{
  uint64_t word = __atomic_load_n(&data->value, __ATOMIC_ACQUIRE);
  uint32_t batch = word & RT_TASK_NEW ? task_batch_of(word) : 0;
  struct task *task;
  if (!batch)
    return rt_task_index(word);
  uint32_t made = task_from_batch(t, batch, task_batch_moved(word), &task);
  if (made && !name_task(data, made))
    return discard_task(t, made, data);
  return made;
}

static inline uint32_t begin(struct thread_state *t, ompt_data_t *data, struct task **task)
{
  uint64_t word = __atomic_load_n(&data->value, __ATOMIC_ACQUIRE);
  uint32_t batch = word & RT_TASK_NEW ? task_batch_of(word) : 0, made;
  if (!batch) {
    made = rt_task_index(word);
    *task = made ? graph_task(made) : NULL;
    return made;
  }
  made = task_from_batch(t, batch, task_batch_moved(word), task);
  span_of(t)->running_data = made ? data : NULL;
  return made;
}

uint32_t explicit_task_begin(struct thread_state *t, ompt_data_t *data)
{
  struct task *task;
  return begin(t, data, &task);
}

void explicit_task_start_new(struct thread_state *t, ompt_data_t *data, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  graph_fragment_end_inline(t, moment);
  struct task *task;
  uint32_t made = begin(t, data, &task);
  if (made) {
    span->previous_task = span->task;
    span->previous_running = span->running;
    span->task = made;
    span->running = task;
    explicit_task_started(t, task, moment);
    graph_log_task_op(t, GRAPHLOG_SWITCH, task->name);
  }
  graph_fragment_begin_after(t, moment);
}

void plain_task_early(struct thread_state *t, uint64_t work)
{
  struct span_thread *span = span_of(t);
  span->repeated.total->early += work - span->creations.early;
  span->creations.early = work;
}

/* The fragment goes on.  The CPU time of another thread, or without pauses, is not known here: it is at most the time
 * that has passed. */
void explicit_task_read_clock(struct thread_state *t)
{
  const struct work *work = &span_of(t)->work;
  uint64_t moment = work_clock_value(t);
  bool known = t == rt_self && !rt_ever_paused();
  plain_task_read(t, known ? work_clock_until(t, moment) : work->done + rt_minus(moment, work->since));
}

void explicit_task_record_bundled(struct thread_state *t)
{
  struct bundled_tasks *bundled = &span_of(t)->bundled_tasks;
  struct unreported_ends *ends = &span_of(t)->unreported;
  RT_ASSERT(ends->batch == task_batch_index(bundled->word));
  struct plain_end end = plain_task_end_of(t, &at(ends->batch)->at, bundled->moved, bundled->last);
  plain_task_raise_slot(t, &end);
  ends->refs += bundled->count;
  ends->count += bundled->count;
  ends->work += bundled->work;
  ends->span += bundled->work;
  bundled->count = 0;
  bundled->work = bundled->moved = bundled->last = 0;
}

/* The fragment that has begun with the task goes on.  It may create tasks from now on: a sequence of its own. */
void explicit_task_settle_plain(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  struct plain_task *plain = &span->plain;
  struct task *task;
  if (plain->bundled)
    plain->moved = task_batch_moved(plain->word);
  plain->bundled = false;
  span->bundled_tasks.prior = NULL;
  if (plain->before)
    graph_add_work(t, span->running, plain->before);
  uint32_t made = task_from_batch(t, plain->index, plain->moved, &task);
  if (made) {
    task->flags |= TASK_STARTED;
    task->now.burdened += span->costs[GRAPH_TASK];
    span->running_data = plain->data;
    span->previous_task = span->task;
    span->previous_running = span->running;
    span->task = made;
    span->running = task;
  }
  plain->data = NULL;
  span->creations = (struct creation_sequence){0};
}

void plain_task_set_other_path(struct thread_state *t, struct clock *clock, const struct task_batch *batch,
                               const struct plain_end *end)
{
  const struct critical_path *path = &batch->at.path;
  if (path->tail != clock->path.tail) {
    struct critical_path copy = critical_path_copy(t, path);
    critical_path_drop(t, &clock->path);
    clock->path = copy;
  } else {
    clock_take_items(clock, &batch->at);
  }
  clock->path.items[0].amount += end->moved;
  critical_path_add(t, &clock->path, CRITICAL_PATH_KEY(batch->row, 0, 0), end->work);
}

/* If another thread has fulfilled the task meanwhile, the data word names the struct that it has made; that thread
 * writes to `fulfilled` only.  All other fields are moved there.  The task has no children yet, so nothing refers to
 * its own struct. */
void explicit_task_publish_begun(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  explicit_task_settle(t);
  ompt_data_t *data = span->running_data;
  span->running_data = NULL;
  if (!data || name_task(data, span->task))
    return;
  uint32_t index = rt_task_index(data->value);
  struct task *task = index ? graph_task(index) : NULL, *own = span->running;
  if (!task)
    return;
  __builtin_memcpy(&task->flags, &own->flags, offsetof(struct task, fulfilled) - offsetof(struct task, flags));
  __builtin_memcpy(&task->loop_entry, &own->loop_entry, sizeof *task - offsetof(struct task, loop_entry));
  own->flags &= ~(uint32_t)TASK_HAD_LOOP;
  own->now = (struct clock){0};
  own->depend = (struct depend){0};
  discard_task(t, span->task, data);
  graph_run(t, index);
}

uint64_t explicit_task_code(const struct task *task)
{
  return task->batch ? at(task->batch)->code : 0;
}

uint32_t explicit_task_row(const struct task *task)
{
  return task->batch ? at(task->batch)->row : 0;
}

uint32_t explicit_task_directive(uint64_t word)
{
  uint32_t task = rt_task_index(word), batch = 0;
  if (word & RT_TASK_NEW)
    batch = task_batch_of(word);
  else if (task)
    batch = graph_task(task)->batch;
  return batch ? at(batch)->row : 0;
}

bool explicit_task_direct(uint64_t word)
{
  uint32_t batch = word & RT_TASK_NEW ? task_batch_of(word) : 0, task = rt_task_index(word);
  if (batch)
    return at(batch)->flags & TASK_DIRECT;
  return !(word & RT_TASK_NEW) && task && graph_task(task)->flags & TASK_DIRECT;
}

uint32_t explicit_task_called(struct thread_state *t)
{
  explicit_task_settle(t);
  uint32_t index = span_of(t)->task;
  const struct task *task = span_of(t)->running;
  for (int level = 0; level < DIRECT_LEVELS && task && task->flags & TASK_DIRECT; level++) {
    index = task->parent;
    task = index ? graph_task(index) : NULL;
  }
  return index;
}

uint64_t explicit_task_region(uint64_t word)
{
  uint32_t batch = word & RT_TASK_NEW ? task_batch_of(word) : 0, task = rt_task_index(word);
  if (batch)
    return at(batch)->region;
  return task ? graph_task(task)->region : 0;
}

uint32_t explicit_task_creation_context(uint64_t word)
{
  uint32_t batch = word & RT_TASK_NEW ? task_batch_of(word) : 0, task = rt_task_index(word);
  if (batch)
    return at(batch)->creation_context;
  return task ? graph_task(task)->creation_context : 0;
}

/* ---- ends ---- */

static void set_bit(uint64_t *holders, uint64_t bit)
{
  if (!(__atomic_load_n(holders, __ATOMIC_RELAXED) & bit))
    __atomic_fetch_or(holders, bit, __ATOMIC_SEQ_CST);
}

/* The last bit is shared by many threads: it stays set. */
static void clear_bit(uint64_t *holders, uint64_t bit)
{
  if (bit != 1ull << LAST_BIT)
    __atomic_fetch_and(holders, ~bit, __ATOMIC_SEQ_CST);
}

static uint64_t bit_of(const struct thread_state *t)
{
  return 1ull << (t->live_slot < LAST_BIT ? t->live_slot : LAST_BIT);
}

/* The lazy join, besides the parent's, that waits for a child's end: its taskgroup's, or its interval's.  NULL if the
 * region has ended. */
static struct lazy_join *pending_join(uint32_t group, uint64_t region, uint32_t interval)
{
  if (group)
    return &graph_group(group)->ends;
  struct team *team = graph_open_team(region);
  return team ? &team->intervals[interval & 1].ends : NULL;
}

static void offer_to_parent(struct thread_state *t, struct task *parent, uint32_t chunk, const struct clock *latest)
{
  clock_lock(&parent->children.join.lock);
  clock_raise(t, chunk == parent->chunk ? &parent->children.join.latest : &parent->earlier, latest);
  clock_unlock(&parent->children.join.lock);
}

void explicit_task_chunk_of_parent(struct thread_state *t, struct task *parent)
{
  explicit_task_close(t, parent);
  struct join *join = &parent->children.join;
  clock_lock(&join->lock);
  clock_raise_move(t, &parent->earlier, &join->latest);
  join->latest = (struct clock){0};
  parent->chunk++;
  clock_unlock(&join->lock);
}

/* Offers the slot's end to the joins that wait for it: the parent's, and `ends` (NULL: none).  The slot is locked. */
static void slot_offer(struct thread_state *t, const struct end_slot *slot, const struct task_batch *batch,
                       struct lazy_join *ends)
{
  if (!slot->collected)
    offer_to_parent(t, graph_task(batch->parent), batch->chunk, &slot->latest);
  if (ends)
    join_offer(t, &ends->join, &slot->latest);
  else if (!batch->region && !batch->group) /* outside any region: it ends a chain of the program */
    join_offer(t, &graph_program, &slot->latest);
}

/* The slot's next ends belong to that batch, of that index; NULL: none.  The slot is locked. */
static void slot_begin(struct end_slot *slot, uint32_t index, const struct task_batch *batch)
{
  slot->latest = (struct clock){0};
  slot->plain = (struct plain_end){0};
  slot->batch = index;
  slot->collected = false;
  slot->parent = batch ? batch->parent : 0;
  slot->group = batch ? batch->group : 0;
  slot->region = batch ? batch->region : 0;
  slot->interval = batch ? batch->interval : 0;
  slot->chunk = batch ? batch->chunk : 0;
}

/* Moves the thread's bit from the join of a group or interval to the one that waits for the thread's next ends; mostly
 * they are the same.  In the join of a parent it stays: few threads run children of one task, and the parent finds
 * nothing of its own in their slots. */
static void move_bit(struct thread_state *t, struct lazy_join *from, struct lazy_join *to)
{
  if (from && from != to)
    clear_bit(&from->holders, bit_of(t));
  if (to)
    set_bit(&to->holders, bit_of(t));
}

/* Reports the unreported ends; the next ones belong to that batch (0: none yet).  The slot is locked.  Returns what the
 * caller must give to reported(). */
static struct unreported_ends report_locked(struct thread_state *t, struct end_slot *slot, uint32_t next,
                                            struct clock *latest)
{
  struct unreported_ends unreported = span_of(t)->unreported;
  const struct task_batch *batch = unreported.batch ? at(unreported.batch) : NULL, *to = next ? at(next) : NULL;
  struct lazy_join *ends = NULL, *next_ends = to ? pending_join(to->group, to->region, to->interval) : NULL;
  if (batch) {
    plain_task_raise(t, &slot->latest, batch, &slot->plain);
    ends = slot->collected ? NULL : pending_join(batch->group, batch->region, batch->interval);
    slot_offer(t, slot, batch, ends);
  }
  *latest = slot->latest;
  slot_begin(slot, next, to);
  move_bit(t, ends, next_ends);
  if (to)
    set_bit(&graph_task(to->parent)->children.holders, bit_of(t));
  span_of(t)->unreported = (struct unreported_ends){.batch = next};
  return unreported;
}

/* Adds reported ends to their row and instance, and releases what they held. */
static void reported(struct thread_state *t, struct unreported_ends unreported, struct clock *latest)
{
  const struct task_batch *batch = at(unreported.batch);
  if (!batch->nested)
    directive_ended(t, batch->row, unreported.count, unreported.work, unreported.span);
  directive_work(t, batch->outer_instance, unreported.work, latest->base);
  critical_path_drop(t, &latest->path);
  release(t, task_batch_release(t, unreported.batch, unreported.refs), 1);
}

void task_batch_report(struct thread_state *t, uint32_t next)
{
  struct end_slot *slot = span_of(t)->end_slot;
  struct clock latest;
  if (span_of(t)->unreported.batch == next)
    return;
  clock_lock(&slot->lock);
  struct unreported_ends unreported = report_locked(t, slot, next, &latest);
  clock_unlock(&slot->lock);
  if (unreported.batch)
    reported(t, unreported, &latest);
}

void explicit_task_report(struct thread_state *t)
{
  explicit_task_settle(t);
  task_batch_report(t, 0);
}

/* Adds what the task has done to the thread's unreported ends, or to its instance if it has one. */
static void end_scopes(struct thread_state *t, struct task *task)
{
  struct span_thread *span = span_of(t);
  while (task->scopes_open)
    graph_construct_end(t, task);
  struct scope *scope = &task->scope;
  if (scope->instance) {
    directive_work(t, scope->instance, scope->pending, task->now.base);
    directive_leave(t, scope->instance);
    scope->instance = 0;
    return;
  }
  span->unreported.count++;
  span->unreported.work += scope->pending;
  span->unreported.span += graph_own_span(scope->pending, scope->begin, task->now.base);
}

/* The task's reference to its batch becomes the thread's. */
static void end_task(struct thread_state *t, uint32_t index)
{
  explicit_task_close(t, graph_task(index));
  graph_task(index)->batch = 0;
  span_of(t)->unreported.refs++;
  explicit_task_unref(t, index);
}

/* Has the task done nothing but work? */
static bool is_plain(const struct task *task)
{
  return __atomic_load_n(&task->refs, __ATOMIC_ACQUIRE) == task->own_refs && !task->open[0].at && !task->open[1].at &&
         !task->scopes_open && !task->scope.instance && !task->depend.end && !task->fulfilled.latest.burdened &&
         !(task->flags & (TASK_SERIAL | TASK_HAD_LOOP));
}

/* Raises the thread's slot to the task's clock, whose path is not used afterwards.  If the task belongs to another
 * batch than the unreported ends, these are reported. */
static inline void keep_end(struct thread_state *t, struct task *task)
{
  struct end_slot *slot = span_of(t)->end_slot;
  struct unreported_ends unreported = {0};
  struct clock latest;
  clock_lock(&slot->lock);
  if (span_of(t)->unreported.batch != task->batch)
    unreported = report_locked(t, slot, task->batch, &latest);
  clock_raise_move(t, &slot->latest, &task->now);
  clock_unlock(&slot->lock);
  task->now.path.tail = 0;
  if (unreported.batch)
    reported(t, unreported, &latest);
}

/* Adds what an ended task has done to its instance, or to its row and the instance around it. */
static void count_end(struct thread_state *t, struct task *task)
{
  const struct task_batch *batch = at(task->batch);
  const struct scope *scope = &task->scope;
  while (task->scopes_open)
    graph_construct_end(t, task);
  if (scope->instance) {
    directive_work(t, scope->instance, scope->pending, task->now.base);
    directive_leave(t, scope->instance);
    return;
  }
  if (!batch->nested)
    directive_ended(t, batch->row, 1, scope->pending, graph_own_span(scope->pending, scope->begin, task->now.base));
  directive_work(t, batch->outer_instance, scope->pending, task->now.base);
}

/* The ended task's parent, if the thread goes on with it, and it waits for the task; otherwise NULL. */
static inline struct task *waiting_parent(const struct task *task, uint32_t next)
{
  struct task *parent = next && next == task->parent && !(task->flags & TASK_SERIAL) ? graph_task(next) : NULL;
  return parent && parent->flags & TASK_JOINS ? parent : NULL;
}

/* The same without the slot, for the thread that runs the waiting parent. */
static void end_to_parent(struct thread_state *t, uint32_t index, struct task *task, struct task *parent)
{
  explicit_task_close(t, task);
  clock_raise(t, &parent->now, &task->now);
  count_end(t, task);
  task_batch_return(t, parent, task->batch);
  task->batch = 0;
  explicit_task_unref(t, index);
}

static inline void end(struct thread_state *t, uint32_t index, struct task *task, uint32_t next)
{
  struct span_thread *span = span_of(t);
  struct task *parent = waiting_parent(task, next);
  if (!parent && is_plain(task)) {
    graph_log_task_op(t, GRAPHLOG_TASK_END, task->name);
    keep_end(t, task);
    span->unreported.refs++;
    span->unreported.count++;
    span->unreported.work += task->scope.pending;
    span->unreported.span += graph_own_span(task->scope.pending, task->scope.begin, task->now.base);
    pool_return(&graph_tasks, &span->free_tasks, index, task);
    return;
  }
  join_take(t, &task->now, &task->fulfilled);
  graph_log_take(t, task->name, &task->fulfilled);
  if (depend_used(&task->depend))
    depend_end(t, &task->depend, &task->now, task->name);
  graph_log_task_op(t, GRAPHLOG_TASK_END, task->name);
  if (task->flags & TASK_SERIAL)
    clock_set(t, &graph_task(task->parent)->now, &task->now);
  if (parent) {
    end_to_parent(t, index, task, parent);
    return;
  }
  keep_end(t, task);
  end_scopes(t, task);
  end_task(t, index);
}

void explicit_task_end(struct thread_state *t, uint32_t index, uint32_t next)
{
  end(t, index, graph_task(index), next);
}

void explicit_task_end_begun(struct thread_state *t, const ompt_data_t *next, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  graph_fragment_end_inline(t, moment);
  uint32_t index = next ? rt_task_index(next->value) : 0;
  span->running_data = NULL;
  span->task_ended = moment;
  end(t, span->task, span->running, index);
  span->task = index;
  if (index == span->previous_task)
    span->running = span->previous_running;
  else
    span->running = index ? graph_task(index) : NULL;
  if (index)
    graph_log_task_op(t, GRAPHLOG_SWITCH, span->running->name);
  graph_fragment_begin_after(t, moment);
}

void explicit_task_drop(struct thread_state *t, uint32_t index)
{
  struct task *task = graph_task(index);
  depend_end(t, &task->depend, NULL, 0);
  graph_log_task_op(t, GRAPHLOG_TASK_DROP, task->name);
  task_batch_report(t, task->batch);
  end_scopes(t, task);
  end_task(t, index);
}

/* ---- waiting ---- */

/* Which slots a waiting thread collects: by parent task, by taskgroup, or by interval of a region.  Intervals of one
 * parity are not distinguished: all threads have joined the older ones. */
struct slot_filter {
  uint32_t task, group, interval, chunk;
  bool all_chunks;
  uint64_t region;
};

static bool slot_matches(const struct end_slot *slot, const struct slot_filter *filter)
{
  if (filter->task)
    return slot->parent == filter->task && (slot->chunk == filter->chunk || filter->all_chunks);
  if (filter->group)
    return slot->group == filter->group && !slot->collected;
  return slot->region == filter->region && (slot->interval & 1) == (filter->interval & 1) && !slot->group;
}

/* Raises the clock to the end of plain tasks in a slot, which is locked.  Its thread may just write that of a task for
 * which the clock's task does not wait: then the end is read again, a bounded number of times. */
static void collect_plain(struct thread_state *t, struct clock *clock, const struct end_slot *slot)
{
  enum { TRIES = 1000 };
  for (int i = 0; i < TRIES; i++) {
    uint32_t version = __atomic_load_n(&slot->version, __ATOMIC_ACQUIRE);
    struct plain_end end = {
        __atomic_load_n(&slot->plain.base, __ATOMIC_RELAXED), __atomic_load_n(&slot->plain.burdened, __ATOMIC_RELAXED),
        __atomic_load_n(&slot->plain.moved, __ATOMIC_RELAXED), __atomic_load_n(&slot->plain.work, __ATOMIC_RELAXED)};
    atomic_thread_fence(memory_order_acquire);
    if (version % 2 || version != __atomic_load_n(&slot->version, __ATOMIC_RELAXED))
      continue;
    if (end.burdened)
      plain_task_raise(t, clock, at(slot->batch), &end);
    return;
  }
}

static void collect_slot(struct thread_state *t, struct clock *clock, uint32_t index, const struct slot_filter *filter)
{
  struct end_slot *slot = slot_at(index);
  clock_lock(&slot->lock);
  if (slot_matches(slot, filter)) {
    clock_raise(t, clock, &slot->latest);
    collect_plain(t, clock, slot);
    slot->collected |= filter->group != 0; /* the group's item may be used for another group afterwards */
  }
  clock_unlock(&slot->lock);
}

/* Raises the clock to all ends that the lazy join waits for. */
static void collect(struct thread_state *t, struct clock *clock, struct lazy_join *ends,
                    const struct slot_filter *filter)
{
  uint64_t holders = __atomic_load_n(&ends->holders, __ATOMIC_SEQ_CST);
  for (; holders; holders &= holders - 1) {
    uint32_t slot = (uint32_t)__builtin_ctzll(holders), all = __atomic_load_n(&slots.count, __ATOMIC_ACQUIRE);
    collect_slot(t, clock, slot, filter);
    for (slot++; slot > LAST_BIT && slot < all; slot++)
      collect_slot(t, clock, slot, filter);
  }
  join_take(t, clock, &ends->join); /* last: a thread offers its end before it clears its slot */
}

void explicit_task_join_children(struct thread_state *t, struct clock *clock, uint32_t task)
{
  struct task *parent = graph_task(task);
  bool all = !(parent->flags & TASK_IN_LOOP);
  collect(t, clock, &parent->children, &(struct slot_filter){.task = task, .chunk = parent->chunk, .all_chunks = all});
  if (!all || !parent->chunk) /* then nothing is kept apart */
    return;
  clock_lock(&parent->children.join.lock);
  clock_raise(t, clock, &parent->earlier);
  clock_unlock(&parent->children.join.lock);
}

void explicit_task_join_group(struct thread_state *t, struct clock *clock, uint32_t group)
{
  collect(t, clock, &graph_group(group)->ends, &(struct slot_filter){.group = group});
}

void explicit_task_join_interval(struct thread_state *t, struct clock *clock, uint64_t region, uint32_t interval)
{
  collect(t, clock, &graph_team(region)->intervals[interval & 1].ends,
          &(struct slot_filter){.region = region, .interval = interval});
}
