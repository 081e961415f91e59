#include "hpcprof-lite/merge/construct_records.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/thread_trace.h"
#include "hpcprof-lite/merge/construct_counts.h"
#include "hpcprof-lite/model/construct_tree.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most records of a process, and the deepest nesting: far more than a run has.  They bound memory and time for a
 * hostile file, since all records are kept at once, and folding looks at all constructs around one. */
enum { RECORDS_MAX = 2 << 20, DEPTH_MAX = 256 };

enum fault { FAULT_KIND, FAULT_DIRECTIVE, FAULT_PARENT, FAULT_LINK, FAULT_CYCLE, FAULT_DEPTH, FAULT_CONTEXT, FAULTS };

static const char *const fault_text[FAULTS] = {
    [FAULT_KIND] = "constructs of a kind that does not exist, left out",
    [FAULT_DIRECTIVE] = "times of constructs that do not exist, kept without a place",
    [FAULT_PARENT] = "constructs without a valid parent, kept outside all others",
    [FAULT_LINK] = "links to constructs that do not exist, kept outside all others",
    [FAULT_CYCLE] = "constructs whose links form a circle, kept outside all others",
    [FAULT_DEPTH] = "constructs nested deeper than in any run, left out",
    [FAULT_CONTEXT] = "tasks of a construct that does not exist, left out",
};

/* States of a record before its node is known. */
enum { UNSEEN, VISITING, PLACED };

/* What is known of a record beyond what is stored. */
struct placement {
  uint32_t node;
  uint8_t state;
  bool top;      /* its time is not a part of its parent's: it is elsewhere in the tree */
  bool left_out; /* it has no figures; what is below it counts for its parent */
  bool beside;   /* its thread is not the master of its team */
};

struct thread {
  struct format_construct *records;
  struct placement *placements;
  uint32_t count;
  uint64_t *counts; /* of `counters` events: see merge/construct_counts.h */
};

struct at {
  uint32_t thread, record;
};

struct build {
  struct read_file *file;
  const struct profile_process *process;
  struct construct_times *times;
  struct problems *problems;
  struct construct_contexts *found;
  struct thread *threads; /* [position] */
  unsigned counters;
  struct hash_map map; /* nodes by their identity */
  struct at *stack;
  size_t stack_count, stack_room;
  uint32_t *depths, depths_count; /* [node] */
  size_t depths_room;
  uint64_t faults[FAULTS];
};

/* ---- nodes ---- */

/* Finds or adds a node. */
static uint32_t add_node(struct build *build, const struct construct_node *node)
{
  assert(node->parent == MODEL_NONE || node->parent < build->depths_count);
  uint32_t added = construct_times_add(build->times, &build->map, node);
  if (added < build->depths_count)
    return added;
  uint32_t depth = added ? build->depths[node->parent] + 1 : 0;
  *XAPPEND(build->depths, build->depths_count, build->depths_room) = depth;
  return added;
}

/* The directive of a record, 0 if it does not exist or is of another kind. */
static uint32_t directive_of(struct build *build, const struct format_construct *record)
{
  assert(record->kind < CONSTRUCT_KINDS);
  static const uint32_t other[CONSTRUCT_KINDS] = {[CONSTRUCT_TASK_EXEC] = DIRECTIVE_TASK,
                                                  [CONSTRUCT_DISTRIBUTE] = DIRECTIVE_FOR,
                                                  [CONSTRUCT_ATOMIC] = DIRECTIVE_CRITICAL,
                                                  [CONSTRUCT_REDUCTION] = DIRECTIVE_CRITICAL};
  const struct profile_workspan *workspan = &build->process->workspan;
  if (!record->directive)
    return 0;
  uint32_t wanted = other[record->kind] ? other[record->kind] : record->kind;
  uint32_t kind =
      record->directive < workspan->directives_count ? workspan->directives[record->directive].kind : MODEL_NONE;
  bool chunk = wanted == DIRECTIVE_TASK && kind == DIRECTIVE_TASKLOOP; /* a task that the taskloop made */
  if (kind == wanted || chunk || (construct_is_operation(wanted) && construct_is_target(kind)))
    return record->directive;
  build->faults[FAULT_DIRECTIVE]++;
  return 0;
}

/* Puts a record below a node, or where the same construct is already open. */
static void place_below(struct build *build, struct at at, uint32_t parent)
{
  assert(parent < build->times->nodes_count);
  const struct format_construct *record = &build->threads[at.thread].records[at.record];
  struct placement *placement = &build->threads[at.thread].placements[at.record];
  const struct construct_node *nodes = build->times->nodes;
  placement->state = PLACED;
  placement->node = parent;
  placement->left_out = record->kind == DIRECTIVE_PROGRAM || record->kind >= CONSTRUCT_KINDS;
  if (placement->left_out) {
    build->faults[FAULT_KIND]++;
    return;
  }
  uint32_t directive = directive_of(build, record);
  for (uint32_t up = parent; up; up = nodes[up].parent)
    if (nodes[up].kind == record->kind && nodes[up].directive == directive) {
      placement->node = up;
      placement->top = true;
      return;
    }
  if (build->depths[parent] >= DEPTH_MAX) {
    placement->left_out = true;
    build->faults[FAULT_DEPTH]++;
    return;
  }
  placement->node =
      add_node(build, &(struct construct_node){.parent = parent,
                                               .kind = record->kind,
                                               .directive = directive,
                                               .in_wait = record->flags & FORMAT_CONSTRUCT_IN_WAIT && !placement->top,
                                               .context = MODEL_NONE});
}

/* Fills in the record that a link names; false if it does not exist or is another construct. */
static bool link_target(struct build *build, const struct format_construct *record, struct at *target)
{
  assert(read_is_link(record));
  target->thread = profile_thread_position(build->process, record->owner);
  target->record = record->link;
  if (target->thread == MODEL_NONE || !record->link || record->link >= build->threads[target->thread].count)
    return false;
  const struct format_construct *to = &build->threads[target->thread].records[record->link];
  return to->kind == record->kind && to->directive == record->directive;
}

static void push(struct build *build, struct at at)
{
  *XAPPEND(build->stack, build->stack_count, build->stack_room) = at;
}

/* Places each record of a circle outside all others, wherever the circle was entered: `last` is the one to enter
 * last. */
static void break_circle(struct build *build, struct at last)
{
  assert(build->stack_count);
  struct at at;
  do {
    at = build->stack[--build->stack_count];
    build->faults[FAULT_CYCLE]++;
    build->threads[at.thread].placements[at.record].top = true;
    place_below(build, at, 0);
  } while (at.thread != last.thread || at.record != last.record);
}

/* Places the record on top of the stack, or pushes the one that it depends on. */
static void place_top(struct build *build)
{
  assert(build->stack_count);
  struct at at = build->stack[build->stack_count - 1], to = {at.thread, 0};
  struct thread *thread = &build->threads[at.thread];
  const struct format_construct *record = &thread->records[at.record];
  struct placement *placement = &thread->placements[at.record];
  bool linked = false;
  placement->state = VISITING;
  if (read_is_link(record)) {
    linked = link_target(build, record, &to);
    build->faults[FAULT_LINK] += !linked && record->link; /* 0: it could not be kept */
    placement->top = true;
  } else {
    bool valid = record->parent < at.record;
    build->faults[FAULT_PARENT] += !valid;
    to.record = valid ? record->parent : 0;
  }
  if (read_is_link(record) && !linked) {
    build->stack_count--;
    place_below(build, at, 0);
    return;
  }
  const struct placement *target = &build->threads[to.thread].placements[to.record];
  if (target->state == UNSEEN) {
    push(build, to);
  } else if (target->state == VISITING) {
    break_circle(build, to);
  } else if (!linked) {
    build->stack_count--;
    place_below(build, at, target->node);
  } else {
    build->stack_count--;
    placement->state = PLACED;
    placement->node = target->node;
    placement->left_out = target->left_out;
  }
}

/* ---- figures ---- */

static uint64_t to_ns(const struct build *build, uint64_t ticks)
{
  assert(build->process->workspan.tick_ns > 0);
  return model_rounded((double)ticks * build->process->workspan.tick_ns);
}

/* Constructs that all threads of a team execute together. */
static bool is_shared(uint32_t kind)
{
  return kind == DIRECTIVE_PARALLEL || kind == DIRECTIVE_TEAMS || kind == DIRECTIVE_FOR || kind == DIRECTIVE_SECTIONS ||
         kind == DIRECTIVE_SINGLE || kind == DIRECTIVE_BARRIER || kind == CONSTRUCT_DISTRIBUTE;
}

/* The square of the standard error, in ns, of the time that light executions of a record have added.  An execution that
 * stands for v of them gives their sum, v times its own time, with a variance of v (v + 1) times that of one. */
static uint64_t error_squares(const struct build *build, const struct format_construct *record)
{
  enum { LEAST = 8 }; /* executions from which the variance is known */
  double stood = (double)record->stood, light = (double)record->light, tick_ns = build->process->workspan.tick_ns;
  double squares = (double)record->stood_spread - stood; /* sum of v * v */
  if (!record->light)
    return 0;
  if (!record->stood || record->stood_squares == UINT64_MAX || stood * stood < LEAST * squares)
    return UINT64_MAX;
  double mean = (double)record->stood_ticks / stood;
  double variance = fmax(0, (double)record->stood_squares / stood - mean * mean);
  return model_rounded(variance * (double)record->stood_spread * (light / stood) * (light / stood) * tick_ns * tick_ns);
}

/* Sets what a record of a loop has of its chunks. */
static void chunk_figures(const struct build *build, const struct format_construct *record,
                          struct construct_figures *figures)
{
  bool known = record->schedule < SCHEDULES;
  figures->longest_ns = to_ns(build, record->longest);
  figures->longest_first = record->longest_first;
  figures->longest_iterations = record->longest_iterations;
  figures->chunk_least = record->chunk_least;
  figures->chunk_most = record->chunk_most;
  figures->schedule = known ? record->schedule : SCHEDULE_UNKNOWN;
  figures->chunk_size = known ? record->chunk_size : 0;
}

/* What devices have recorded. */
static void device_figures(const struct build *build, const struct format_construct *record,
                           struct construct_figures *figures)
{
  const struct format_device_times *times = read_records(build->file, FORMAT_DEVICE_TIMES);
  if (!record->device_times || record->device_times >= read_count(build->file, FORMAT_DEVICE_TIMES))
    return;
  figures->device_ns = to_ns(build, times[record->device_times].ticks);
  figures->device_operations = times[record->device_times].operations;
  figures->device_expected = record->count;
}

/* The figures of a record without those of the constructs in it. */
static struct construct_figures own_figures(const struct build *build, const struct format_construct *record,
                                            const struct placement *placement)
{
  struct construct_figures figures = {.count = record->count,
                                      .executions = is_shared(record->kind) && placement->beside ? 0 : record->count,
                                      .chosen = record->chosen,
                                      .unended = record->unended,
                                      .cut = (record->flags & READ_CUT) != 0,
                                      .light = record->light,
                                      .error_squares = error_squares(build, record),
                                      .enter = to_ns(build, record->ticks[CONSTRUCT_TIME_ENTER]),
                                      .own_body = to_ns(build, record->ticks[CONSTRUCT_TIME_BODY]),
                                      .wait = to_ns(build, record->ticks[CONSTRUCT_TIME_WAIT]),
                                      .exit = to_ns(build, record->ticks[CONSTRUCT_TIME_EXIT])};
  if (placement->left_out)
    figures = (struct construct_figures){0};
  figures.system_cpu = record->usage[FORMAT_USAGE_SYSTEM];
  figures.page_faults = model_sum(record->usage[FORMAT_USAGE_MINOR_FAULTS], record->usage[FORMAT_USAGE_MAJOR_FAULTS]);
  figures.switches = model_sum(record->usage[FORMAT_USAGE_GIVEN_UP], record->usage[FORMAT_USAGE_SWITCHED_OUT]);
  figures.created = record->usage[FORMAT_USAGE_CREATED];
  figures.creating = record->usage[FORMAT_USAGE_CREATING];
  if (placement->left_out)
    return figures; /* the parent gets what the kernel counted */
  figures.body = figures.own_body;
  figures.bytes = record->bytes;
  device_figures(build, record, &figures);
  figures.teams = record->teams;
  figures.team_threads = record->team_threads;
  if (record->kind == DIRECTIVE_FOR)
    chunk_figures(build, record, &figures);
  figures.wait_own = MIN(to_ns(build, record->wait_own), figures.wait);
  figures.wait_spare = MIN(to_ns(build, record->wait_spare), figures.wait - figures.wait_own);
  return figures;
}

/* The parent of a record in its own thread; 0 also if its time is elsewhere in the tree than its parent's. */
static uint32_t part_of(const struct thread *thread, uint32_t record)
{
  assert(record && record < thread->count);
  uint32_t parent = thread->records[record].parent;
  return thread->placements[record].top || parent >= record ? 0 : parent;
}

/* Sets sums[] to what was counted in the records of a thread. */
static void sum_counts(const struct build *build, const struct thread *thread, struct construct_counts *sums)
{
  assert(build->counters <= COUNTERS_MAX);
  memset(sums, 0, thread->count * sizeof *sums);
  for (uint32_t i = 0; i < thread->count && thread->counts; i++) {
    const uint64_t *counts = &thread->counts[(size_t)i * (2 * build->counters + 1)];
    if (thread->placements[i].left_out)
      continue;
    for (unsigned k = 0; k < build->counters; k++)
      sums[i].counted[k] = sums[i].counted_own[k] = counts[k];
    sums[i].unread = sums[i].unread_own = to_ns(build, counts[2 * build->counters]);
  }
  for (uint32_t i = thread->count; i-- > 1;) {
    struct construct_counts *into = &sums[part_of(thread, i)];
    model_add(&into->unread, sums[i].unread);
    for (unsigned k = 0; k < build->counters; k++)
      model_add(&into->counted[k], sums[i].counted[k]);
  }
}

/* Whether the nearest region around a record, or the record itself, was created by another thread. */
static void set_masters(struct thread *thread)
{
  for (uint32_t i = 1; i < thread->count; i++) {
    const struct format_construct *record = &thread->records[i];
    bool region = record->kind == DIRECTIVE_PARALLEL || record->kind == DIRECTIVE_TEAMS;
    uint32_t parent = record->parent < i && !read_is_link(record) ? record->parent : 0;
    thread->placements[i].beside = region ? read_is_link(record) : thread->placements[parent].beside;
  }
}

/* Adds the rows of a thread.  Children have larger numbers than their parents. */
static void add_rows(struct build *build, uint32_t position)
{
  assert(position < build->process->threads_count);
  struct thread *thread = &build->threads[position];
  struct construct_times *times = build->times;
  uint32_t first = times->rows_count;
  struct construct_figures *figures = xcalloc(thread->count, sizeof *figures);
  if (times->counts)
    sum_counts(build, thread, &times->counts[first]);
  set_masters(thread);
  for (uint32_t i = 0; i < thread->count; i++)
    figures[i] = own_figures(build, &thread->records[i], &thread->placements[i]);
  for (uint32_t i = thread->count; i-- > 1;) {
    const struct format_construct *record = &thread->records[i];
    struct construct_figures *into = &figures[part_of(thread, i)];
    uint64_t all = construct_exec(&figures[i]);
    all -= record->kind == DIRECTIVE_LOCK ? MIN(figures[i].own_body, all) : 0; /* that is in another body, too */
    if (figures[i].light && record->kind != DIRECTIVE_LOCK && construct_is_lock(record->kind)) {
      model_add(&into->light_inside, figures[i].light);
      model_add(&into->error_squares, figures[i].error_squares);
    }
    construct_usage_add(into, &figures[i]);
    uint64_t *sum = record->flags & FORMAT_CONSTRUCT_IN_WAIT && !thread->placements[i].top ? &into->task : &into->body;
    model_add(sum, all);
  }
  for (uint32_t i = 0; i < thread->count; i++) {
    if (thread->placements[i].left_out || (i && !figures[i].count && !construct_exec(&figures[i])))
      continue;
    if (times->counts)
      times->counts[times->rows_count] = times->counts[first + i];
    times->rows[times->rows_count++] =
        (struct construct_row){.node = thread->placements[i].node, .thread = position, .figures = figures[i]};
  }
  free(figures);
}

/* Notes where the constructs of a thread were met, unless an earlier thread has met them. */
static void add_contexts(struct build *build, uint32_t position, bool *met)
{
  assert(position < build->process->threads_count);
  const struct thread *thread = &build->threads[position];
  struct construct_contexts *found = build->found;
  for (uint32_t i = 1; i < thread->count; i++) {
    uint32_t node = thread->placements[i].node;
    if (!thread->records[i].node || met[node] || thread->placements[i].left_out)
      continue;
    *XAPPEND(found->all, found->count, found->room) =
        (struct construct_context){node, position, thread->records[i].node};
    met[node] = true;
  }
}

/* ---- tasks ---- */

/* Sums of ticks over the threads; sums of moments wrap around. */
struct task_sums {
  uint64_t created_at, started_at;
};

static void add_tasks(const struct build *build, const struct format_tasks *from, struct construct_tasks *into,
                      struct task_sums *sums)
{
  model_add(&into->created, from->created);
  model_add(&into->undeferred, from->undeferred);
  model_add(&into->untied, from->untied);
  model_add(&into->dependent, from->dependent);
  model_add(&into->create_ns, to_ns(build, from->create_ticks));
  model_add(&into->create_timed, from->create_timed);
  model_add(&into->started, from->started);
  model_add(&into->elsewhere, from->elsewhere);
  model_add(&into->suspended, from->suspended);
  sums->created_at += from->created_at;
  sums->started_at += from->started_at;
  if (from->ended) {
    uint64_t shortest = to_ns(build, from->shortest), longest = to_ns(build, from->longest);
    into->shortest_ns = into->ended ? MIN(shortest, into->shortest_ns) : shortest;
    into->longest_ns = MAX(longest, into->longest_ns);
  }
  model_add(&into->ended, from->ended);
  model_add(&into->exec_ns, to_ns(build, from->ticks));
  into->cut += from->reserved == READ_CUT;
  for (uint32_t i = 0; i < CONSTRUCT_TASK_BUCKETS; i++)
    model_add(&into->histogram[i], from->histogram[i]);
}

static bool makes_tasks(const struct profile_workspan *workspan, uint32_t directive)
{
  if (!directive || directive >= workspan->directives_count)
    return !directive; /* 0: their place is not known */
  return workspan->directives[directive].kind == DIRECTIVE_TASK ||
         workspan->directives[directive].kind == DIRECTIVE_TASKLOOP;
}

/* Finds or adds the tasks of a directive; row_of[directive] is their number + 1. */
static struct construct_tasks *tasks_of(struct build *build, uint32_t directive, uint32_t *row_of,
                                        struct task_sums **sums)
{
  assert(directive < build->process->workspan.directives_count || !directive);
  struct construct_times *times = build->times;
  if (!row_of[directive]) {
    size_t needed = (size_t)times->tasks_count + 1;
    times->tasks = xrealloc(times->tasks, needed * sizeof *times->tasks);
    *sums = xrealloc(*sums, needed * sizeof **sums);
    (*sums)[times->tasks_count] = (struct task_sums){0};
    times->tasks[times->tasks_count] =
        (struct construct_tasks){.directive = directive, .tick_ns = build->process->workspan.tick_ns};
    if (directive)
      times->tasks[times->tasks_count].untimed = build->process->workspan.directives[directive].untimed;
    row_of[directive] = ++times->tasks_count;
  }
  return &times->tasks[row_of[directive] - 1];
}

static void read_all_tasks(struct build *build)
{
  const struct profile_process *process = build->process;
  struct construct_times *times = build->times;
  uint32_t *row_of = xcalloc((size_t)process->workspan.directives_count + 1, sizeof *row_of);
  struct task_sums *sums = NULL;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    uint32_t count;
    struct format_tasks *tasks =
        read_table(build->file, process->threads[i].index, FORMAT_TASKS, build->problems, &count);
    for (uint32_t j = 0; j < count; j++) {
      if (!makes_tasks(&process->workspan, tasks[j].directive)) {
        build->faults[FAULT_CONTEXT]++;
        continue;
      }
      struct construct_tasks *into = tasks_of(build, tasks[j].directive, row_of, &sums);
      add_tasks(build, &tasks[j], into, &sums[row_of[tasks[j].directive] - 1]);
    }
    free(tasks);
  }
  for (uint32_t i = 0; i < times->tasks_count; i++) {
    struct construct_tasks *tasks = &times->tasks[i];
    uint64_t waited = sums[i].started_at - sums[i].created_at;
    tasks->waits_known = tasks->started && tasks->started == tasks->created && waited < UINT64_MAX / 2 && !tasks->cut;
    tasks->wait_ns = tasks->waits_known ? to_ns(build, waited) : 0;
  }
  free(row_of);
  free(sums);
}

/* ---- all ---- */

/* The construct in which a thread was when the process was killed. */
static uint32_t open_record(const struct profile_thread *thread)
{
  return (uint32_t)(thread->construct_open / CONSTRUCT_TIMES);
}

/* Whether the region of another thread, to which a record links, has ended. */
static bool region_ended(const struct build *build, const struct format_construct *record)
{
  assert(read_is_link(record));
  uint32_t owner = profile_thread_position(build->process, record->owner);
  if (owner == MODEL_NONE)
    return false;
  uint32_t open = open_record(&build->process->threads[owner]);
  const struct thread *thread = &build->threads[owner];
  while (open && open < thread->count && open != record->link && thread->records[open].parent < open)
    open = thread->records[open].parent;
  return open != record->link;
}

/* Returns when the open interval ended: a lock for which the thread waited was not part of it. */
static uint64_t open_end(const struct build *build, const struct profile_thread *thread)
{
  struct problems ignored = {0}; /* exact_waits.c reports them */
  uint32_t count;
  struct format_wait *waits = read_table(build->file, thread->index, FORMAT_WAITS, &ignored, &count);
  const struct thread_life life = thread_life_of(build->file, build->process, thread, waits, count);
  free(waits);
  problems_release(&ignored);
  return life.open.lock ? MIN(life.open.since, life.end) : life.end;
}

/* Adds the interval that was open when the process was killed.  A worker that still waits in a region which has ended
 * waits outside any. */
static void add_open_interval(struct build *build, uint32_t position)
{
  const struct profile_process *process = build->process;
  const struct profile_thread *thread = &process->threads[position];
  struct thread *of = &build->threads[position];
  if (!process->unfinished || thread->end_ns || process->workspan.tick_ns <= 0)
    return;
  uint64_t end = open_end(build, thread);
  uint32_t open = open_record(thread), time = thread->construct_open % CONSTRUCT_TIMES;
  if (!thread->construct_since || thread->construct_since >= end || open >= of->count)
    return;
  bool waits = time == CONSTRUCT_TIME_WAIT && read_is_link(&of->records[open]);
  uint64_t *ticks = &of->records[waits && region_ended(build, &of->records[open]) ? 0 : open].ticks[time];
  model_add(ticks, end - thread->construct_since);
}

/* Reads what a thread has counted.  Its constructs without a record of counts have counted nothing. */
static void load_counts(struct build *build, struct thread *thread, uint32_t index)
{
  size_t size = (2 * build->counters + 1) * sizeof *thread->counts;
  uint32_t count;
  if (!build->counters)
    return;
  uint64_t *stored = read_table(build->file, index, FORMAT_COUNTS, build->problems, &count);
  if (count) {
    thread->counts = xcalloc((size_t)thread->count + 1, size);
    memcpy(thread->counts, stored, MIN(count, thread->count) * size);
    construct_counts_divide(thread->records, thread->count, build->counters, thread->counts);
  }
  free(stored);
}

/* Sets the names of what is counted. */
static void load_counters(struct build *build)
{
  const char *names[COUNTERS_MAX];
  struct counter_names *counters = &build->times->counters;
  build->counters = read_counters(build->file, names);
  for (unsigned i = 0; i < build->counters; i++)
    if (counter_names_add(counters, names[i]) < i) /* twice the same: damaged */
      build->counters = counters->count = 0;
  if (read_replaced(build->file)) /* of a part of the run they are not known */
    build->counters = 0;
}

/* Reads the records of all threads.  Returns their number. */
static size_t load(struct build *build)
{
  const struct profile_process *process = build->process;
  size_t all = 0;
  build->threads = xcalloc(process->threads_count, sizeof *build->threads);
  for (uint32_t i = 0; i < process->threads_count; i++) {
    struct thread *thread = &build->threads[i];
    const struct profile_thread *record = &process->threads[i];
    thread->records = read_table(build->file, record->index, FORMAT_CONSTRUCTS, build->problems, &thread->count);
    if (thread->count > RECORDS_MAX - all) {
      problems_add(build->problems, "%s: thread %u: more constructs than any run has: left out", process->path,
                   record->index);
      thread->count = 0;
    }
    all += thread->count;
    thread->placements = xcalloc((size_t)thread->count + 1, sizeof *thread->placements);
    if (thread->count)
      thread->placements[0].state = PLACED; /* what is outside all constructs is node 0 */
  }
  for (uint32_t i = 0; i < process->threads_count && !read_replaced(build->file); i++)
    add_open_interval(build, i); /* those of a part contain it */
  load_counters(build);
  for (uint32_t i = 0; i < process->threads_count; i++)
    load_counts(build, &build->threads[i], process->threads[i].index);
  return all;
}

/* Finds the nodes of all records. */
static void place_all(struct build *build)
{
  add_node(build, &construct_outside);
  for (uint32_t i = 0; i < build->process->threads_count; i++)
    for (uint32_t j = 1; j < build->threads[i].count; j++) {
      if (build->threads[i].placements[j].state != UNSEEN)
        continue;
      push(build, (struct at){i, j});
      while (build->stack_count)
        place_top(build);
    }
}

/* Fills in the times of `records` constructs of all threads. */
static void build_times(struct build *build, size_t records)
{
  assert(records && !build->times->rows);
  struct construct_times *times = build->times;
  times->rows = xmalloc(records * sizeof *times->rows);
  times->counts = build->counters ? xmalloc(records * sizeof *times->counts) : NULL;
  place_all(build);
  bool *met = xcalloc(times->nodes_count, sizeof *met);
  for (uint32_t i = 0; i < build->process->threads_count; i++) {
    add_rows(build, i);
    add_contexts(build, i, met);
  }
  free(met);
  construct_times_set_counts(times);
  construct_times_join_rows(times);
  read_all_tasks(build);
}

static void report_faults(const struct build *build)
{
  for (int i = 0; i < FAULTS; i++)
    if (build->faults[i] && !read_incomplete(build->file))
      problems_add(build->problems, "%s: %s: %llu", build->process->path, fault_text[i],
                   (unsigned long long)build->faults[i]);
}

static void release(struct build *build)
{
  for (uint32_t i = 0; i < build->process->threads_count; i++) {
    free(build->threads[i].records);
    free(build->threads[i].counts);
    free(build->threads[i].placements);
  }
  free(build->threads);
  free(build->stack);
  free(build->depths);
  hash_map_release(&build->map);
}

void construct_records_read(struct read_file *file, struct profile_process *process, struct problems *problems,
                            struct construct_contexts *contexts)
{
  struct build build = {
      .file = file, .process = process, .times = &process->constructs, .problems = problems, .found = contexts};
  size_t all = load(&build);
  if (all && process->workspan.tick_ns > 0)
    build_times(&build, all);
  else if (all && !process->unfinished) /* a kill at the start is reported as such */
    problems_add(problems, "%s: the rate of the time-stamp counter is not known: times of constructs are left out",
                 process->path);
  report_faults(&build);
  release(&build);
}

/* ---- the records of a process that has been merged ---- */

void construct_record_map_release(struct construct_record_map *map)
{
  for (uint32_t i = 0; map->nodes && i < map->threads; i++)
    free(map->nodes[i]);
  free(map->nodes);
  free(map->counts);
  *map = (struct construct_record_map){0};
}

/* Sets of_run[] to the nodes of the run that equal those of the process; if one is not there, to its parent's. */
static void find_in_run(const struct build *build, const struct construct_times *run, uint32_t *of_run)
{
  struct construct_times copy = {0};
  struct hash_map map = {0};
  for (uint32_t i = 0; i < run->nodes_count; i++)
    construct_times_add(&copy, &map, &run->nodes[i]);
  for (uint32_t i = 1; i < build->times->nodes_count; i++) {
    struct construct_node node = build->times->nodes[i];
    node.parent = of_run[node.parent];
    node.directive = build->process->directive_map[node.directive];
    uint32_t found = construct_times_add(&copy, &map, &node);
    of_run[i] = found < run->nodes_count ? found : node.parent;
  }
  construct_times_release(&copy);
  hash_map_release(&map);
}

static void fill_map(const struct build *build, const struct construct_times *run, struct construct_record_map *map)
{
  assert(map->threads == build->process->threads_count);
  uint32_t *of_run = xcalloc(build->times->nodes_count, sizeof *of_run);
  find_in_run(build, run, of_run);
  for (uint32_t i = 0; i < map->threads; i++) {
    const struct thread *thread = &build->threads[i];
    map->nodes[i] = xcalloc((size_t)thread->count + 1, sizeof **map->nodes);
    map->counts[i] = thread->count;
    for (uint32_t j = 1; j < thread->count; j++)
      map->nodes[i][j] = of_run[thread->placements[j].node];
  }
  free(of_run);
}

void construct_records_map(struct read_file *file, const struct profile_process *process,
                           const struct construct_times *run, struct construct_record_map *map)
{
  struct problems ignored = {0};
  struct construct_times times = {0};
  struct build build = {.file = file, .process = process, .times = &times, .problems = &ignored};
  *map = (struct construct_record_map){.nodes = xcalloc(process->threads_count, sizeof *map->nodes),
                                       .counts = xcalloc(process->threads_count, sizeof *map->counts),
                                       .threads = process->threads_count};
  load(&build);
  place_all(&build);
  if (run->nodes_count && process->directive_map)
    fill_map(&build, run, map);
  release(&build);
  construct_times_release(&times);
  problems_release(&ignored);
}
