#include "hpcprof-lite/input/stitch.h"

#include "common/array.h"
#include "hpcprof-lite/input/exact_waits.h"
#include "hpcprof-lite/model/workers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Entries of a thread's map from its nodes to merged ones: UNSEEN, VISITING while the node that this one depends on is
 * resolved, ABSENT where there is no node, or the merged number + MAPPED. */
enum { MAP_UNSEEN = 0, MAP_VISITING = 1, MAP_ABSENT = 2, MAPPED = 3 };

/* The threads of a process are stitched in parts.  Each part has maps of its own, so that the threads to which all link
 * are decoded once for each part.  The parts depend on the process only: so do the limits that each part meets. */
enum { PART_THREADS = 64, PARTS_MAX = 32 };

/* The most nodes of one part: far more than its threads can write.  Bounds the maps of a hostile file. */
static const size_t part_nodes_max = 128u << 20;

enum fault {
  FAULT_PARENT,
  FAULT_CYCLE,
  FAULT_LINK,
  FAULT_REGION,
  FAULT_MODULE,
  FAULT_VALUE,
  FAULT_SHARE,
  FAULT_WAIT,
  FAULT_ROOT,
  FAULT_COUNT
};

static const struct {
  const char *what, *treatment;
} fault_text[FAULT_COUNT] = {
    [FAULT_PARENT] = {"context without a valid parent", "kept as partial"},
    [FAULT_CYCLE] = {"context whose callers form a circle", "kept as partial"},
    [FAULT_LINK] = {"link to a context that does not exist", "kept as partial"},
    [FAULT_REGION] = {"context in a parallel region that does not exist", "kept as partial"},
    [FAULT_MODULE] = {"frame in a module that does not exist", "kept as unknown"},
    [FAULT_VALUE] = {"context whose values do not exist", "left out"},
    [FAULT_SHARE] = {"context with shares in waiting that do not exist", "these are left out"},
    [FAULT_WAIT] = {"wait in a context that does not exist", "kept without a context"},
    [FAULT_ROOT] = {"tree that does not begin with its root", "read anyway"},
};

struct stitch_thread {
  struct read_node *nodes; /* NULL unless loaded */
  uint32_t *map;           /* NULL before the first load; complete once the thread was stitched */
  uint32_t count;
};

/* A node of a thread's tree. */
struct place {
  uint32_t thread, node; /* thread: position in process->threads */
};

/* Invalid records in the tables of directives and contributions; reported once for the process. */
struct workspan_faults {
  uint64_t kinds, directives, contexts, excess;
};

struct stitch {
  struct read_file *file;
  struct profile_process *process;
  struct catalog *catalog;
  struct contexts *contexts;
  struct problems *problems;
  struct stitch_thread *threads;
  uint32_t *modules;         /* the file's number → the catalog's */
  uint32_t *columns, *roles; /* [the file's column] the catalog's, MODEL_NONE if it is not kept; its role */
  enum profile_baseline baseline;
  bool only_find;             /* contexts are only looked up                                         */
  struct problems ignored;    /* problems while contexts are looked up: the first reading named them */
  uint32_t last;              /* the merged context that was found last                              */
  uint32_t idleness;          /* the catalog's column, MODEL_NONE if the file lacks its sums       */
  uint32_t shares;            /* the file's column of shares, MODEL_NONE: none, in early files     */
  struct exact_waits amounts; /* with shares: the exact amounts                                    */
  uint32_t unknown;           /* module of frames whose module is invalid, MODEL_NONE if not used  */
  struct place *stack;
  size_t stack_count, stack_room;
  size_t nodes_total;
  uint64_t faults[FAULT_COUNT];
  uint32_t fault_first[FAULT_COUNT];
  uint32_t first, end; /* positions of the threads of this part */
};

/* Whether this part reports what is wrong with a thread: others that link to it meet the same. */
static bool reports(const struct stitch *stitch, uint32_t thread)
{
  return thread >= stitch->first && thread < stitch->end;
}

static void fault(struct stitch *stitch, enum fault which, struct place place)
{
  if (reports(stitch, place.thread) && !stitch->faults[which]++)
    stitch->fault_first[which] = place.node;
}

static void report_faults(struct stitch *stitch, uint32_t thread)
{
  for (int i = 0; i < FAULT_COUNT; i++) {
    if (stitch->faults[i] && (i == FAULT_CYCLE || !read_incomplete(stitch->file)))
      problems_add(stitch->problems, "%s: thread %u: %s, %llu time%s (first: node %u): %s", stitch->process->path,
                   thread, fault_text[i].what, (unsigned long long)stitch->faults[i], stitch->faults[i] == 1 ? "" : "s",
                   stitch->fault_first[i], fault_text[i].treatment);
    stitch->faults[i] = 0;
  }
}

/* Whether a column only serves to compute idleness. */
static bool serves_idleness(uint32_t role)
{
  return role == COLUMN_PER_BUSY || role == COLUMN_IN_USE || role == COLUMN_SHARES;
}

/* Adds a column to the catalog; one too many is reported and gets number MODEL_NONE.  Returns 0 or ERR_NOMEM. */
static int intern_column(struct stitch *stitch, const struct catalog_column *wanted, uint32_t *number)
{
  int status = catalog_add_column(stitch->catalog, wanted, number);
  if (status == ERR_INPUT)
    problems_add(stitch->problems, "%s: event '%s' is one more than the %d that can be reported: left out",
                 stitch->process->path, wanted->name, CATALOG_COLUMNS_MAX - CATALOG_COLUMNS_OWN);
  return status == ERR_NOMEM ? status : 0;
}

/* Adds the file's columns to the catalog, and idleness if the file has the sums for it. */
static int intern_columns(struct stitch *stitch)
{
  uint32_t needed = stitch->baseline == BASELINE_SHARED ? COLUMN_IN_USE : COLUMN_PER_BUSY;
  bool found = false;
  stitch->idleness = stitch->shares = MODEL_NONE;
  for (uint32_t i = 0; i < read_columns_count(stitch->file); i++) {
    struct read_column column = read_column(stitch->file, i);
    struct catalog_column wanted = {
        .name = (char *)column.name, .unit = (char *)column.unit, .role = column.role, .period = column.period};
    found = found || column.role == needed;
    stitch->roles[i] = column.role;
    stitch->shares = column.role == COLUMN_SHARES ? i : stitch->shares;
    stitch->columns[i] = MODEL_NONE;
    if (!serves_idleness(column.role) && intern_column(stitch, &wanted, &stitch->columns[i]))
      return ERR_NOMEM;
  }
  struct catalog_column idleness = {.name = "idleness", .unit = "ns", .role = COLUMN_IDLENESS};
  return found ? intern_column(stitch, &idleness, &stitch->idleness) : 0;
}

/* Adds the file's modules and columns to the catalog. */
static int intern_tables(struct stitch *stitch)
{
  uint32_t modules = read_modules_count(stitch->file);
  stitch->modules = calloc(modules + 1, sizeof *stitch->modules);
  stitch->columns = calloc(read_columns_count(stitch->file) + 1, sizeof *stitch->columns);
  stitch->roles = calloc(read_columns_count(stitch->file) + 1, sizeof *stitch->roles);
  if (!stitch->modules || !stitch->columns || !stitch->roles)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < modules; i++) {
    struct read_module module = read_module(stitch->file, i);
    const char *path = *module.path ? module.path : "[unknown]";
    stitch->modules[i] = catalog_add_module(stitch->catalog, path, module.build_id, module.build_id_size, module.flags);
    if (stitch->modules[i] == MODEL_NONE)
      return ERR_NOMEM;
  }
  stitch->unknown = MODEL_NONE;
  return intern_columns(stitch);
}

/* The position of the thread with that index, MODEL_NONE if the process has no such thread. */
static uint32_t thread_position(const struct stitch *stitch, uint32_t index)
{
  const struct profile_thread *threads = stitch->process->threads;
  uint32_t low = 0, high = stitch->process->threads_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (threads[middle].index < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low < stitch->process->threads_count && threads[low].index == index ? low : MODEL_NONE;
}

/* Loads a thread's nodes and creates its map, unless it has a map: a stitched thread needs no nodes any more. */
static int load_thread(struct stitch *stitch, uint32_t position)
{
  struct stitch_thread *thread = &stitch->threads[position];
  if (thread->map)
    return 0;
  uint32_t index = stitch->process->threads[position].index;
  struct problems *problems = reports(stitch, position) ? stitch->problems : &stitch->ignored;
  if (read_nodes(stitch->file, index, problems, &thread->nodes, &thread->count))
    return ERR_NOMEM;
  if (thread->count > part_nodes_max - stitch->nodes_total) {
    problems_add(problems, "%s: thread %u: more contexts than any run has: left out", stitch->process->path, index);
    thread->count = 0;
  }
  stitch->nodes_total += thread->count;
  thread->map = calloc((size_t)thread->count + 1, sizeof *thread->map);
  if (!thread->map)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < thread->count; i++)
    if (thread->nodes[i].kind == CONTEXT_FREE)
      thread->map[i] = MAP_ABSENT;
  if (thread->count && thread->nodes[0].kind != CONTEXT_ROOT)
    fault(stitch, FAULT_ROOT, (struct place){.thread = position});
  return 0;
}

static void unload_thread(struct stitch_thread *thread)
{
  free(thread->nodes);
  thread->nodes = NULL;
}

static int push(struct stitch *stitch, uint32_t thread, uint32_t node)
{
  if (!array_reserve(&stitch->stack, &stitch->stack_room, stitch->stack_count + 1, sizeof *stitch->stack))
    return ERR_NOMEM;
  stitch->stack[stitch->stack_count++] = (struct place){.thread = thread, .node = node};
  return 0;
}

/* Fills in the node that a link names.  False if it does not exist, or with *status set. */
static bool link_target(struct stitch *stitch, uint32_t index, uint32_t node, struct place *target, int *status)
{
  target->thread = thread_position(stitch, index);
  target->node = node;
  if (target->thread == MODEL_NONE)
    return false;
  *status = load_thread(stitch, target->thread);
  const struct stitch_thread *thread = &stitch->threads[target->thread];
  return !*status && node < thread->count && thread->map[node] != MAP_ABSENT;
}

/* Fills in the node that must be resolved before this one: its parent, or the node that it links to.  False if it has
 * none or an invalid one, so that the node goes below PARTIAL, or with *status set. */
static bool find_dependency(struct stitch *stitch, struct place place, struct place *dependency, int *status)
{
  const struct stitch_thread *thread = &stitch->threads[place.thread];
  struct read_node node = thread->nodes[place.node];
  *dependency = (struct place){.thread = place.thread, .node = node.parent};
  if (node.kind == CONTEXT_LINK) {
    bool found = link_target(stitch, node.what, node.offset, dependency, status);
    if (!found)
      fault(stitch, FAULT_LINK, place);
    return found;
  }
  if (node.kind == CONTEXT_PLACEHOLDER) {
    if (node.offset >= read_regions_count(stitch->file)) {
      fault(stitch, FAULT_REGION, place);
      return false;
    }
    struct read_region region = read_region(stitch->file, node.offset);
    if (!region.linked)
      return false;
    bool found = link_target(stitch, region.owner, region.link_node, dependency, status);
    if (!found)
      fault(stitch, FAULT_LINK, place);
    return found;
  }
  if (node.parent < thread->count && node.parent != place.node && thread->map[node.parent] != MAP_ABSENT)
    return true;
  fault(stitch, FAULT_PARENT, place);
  return false;
}

/* Finds or adds a context.  Threads that run the same code meet its contexts in much the same order: the context that
 * was added after the last one is tried first, which saves most searches.  If contexts are only looked up, one that
 * does not exist counts as the root. */
static uint32_t add_context(struct stitch *stitch, uint32_t parent, enum context_kind kind, uint32_t module,
                            uint32_t offset)
{
  uint32_t found = stitch->last + 1;
  if (!contexts_is(stitch->contexts, found, parent, kind, module, offset))
    found = stitch->only_find ? contexts_find(stitch->contexts, parent, kind, module, offset)
                              : contexts_add(stitch->contexts, parent, kind, module, offset);
  if (found == MODEL_NONE)
    return stitch->only_find ? 0 : found;
  stitch->last = found;
  return found;
}

static uint32_t partial_node(struct stitch *stitch)
{
  return add_context(stitch, 0, CONTEXT_PARTIAL, 0, 0);
}

/* The catalog's module of a frame, MODEL_NONE without memory. */
static uint32_t frame_module(struct stitch *stitch, const struct read_node *node, struct place place)
{
  if (node->what < read_modules_count(stitch->file))
    return stitch->modules[node->what];
  fault(stitch, FAULT_MODULE, place);
  if (stitch->unknown == MODEL_NONE)
    stitch->unknown = catalog_add_module(stitch->catalog, "[unknown]", (const uint8_t *)"", 0, MODULE_ANON);
  return stitch->unknown;
}

/* The merged node of a node whose parent or link is merged into `above`; MODEL_NONE without memory. */
static uint32_t merged_node(struct stitch *stitch, const struct read_node *node, struct place place, uint32_t above)
{
  switch (node->kind) {
  case CONTEXT_ROOT:
    return 0;
  case CONTEXT_LINK:
  case CONTEXT_PLACEHOLDER:
    return above;
  case CONTEXT_FRAME: {
    uint32_t module = frame_module(stitch, node, place);
    return module == MODEL_NONE ? MODEL_NONE : add_context(stitch, above, CONTEXT_FRAME, module, node->offset);
  }
  case CONTEXT_USER_REGION: {
    uint32_t name = catalog_add_module(stitch->catalog, read_string(stitch->file, node->offset), (const uint8_t *)"", 0,
                                       MODULE_USER_REGION);
    return name == MODEL_NONE ? MODEL_NONE : add_context(stitch, above, CONTEXT_USER_REGION, name, 0);
  }
  default:
    return add_context(stitch, above, node->kind, 0, 0);
  }
}

/* Takes the node on top of the stack off it, as a child of `above`. */
static int finish_top(struct stitch *stitch, uint32_t above)
{
  struct place place = stitch->stack[stitch->stack_count - 1];
  struct stitch_thread *thread = &stitch->threads[place.thread];
  uint32_t merged = above == MODEL_NONE ? above : merged_node(stitch, &thread->nodes[place.node], place, above);
  if (merged == MODEL_NONE)
    return ERR_NOMEM;
  thread->map[place.node] = merged + MAPPED;
  stitch->stack_count--;
  return 0;
}

/* Puts each node of a circle below PARTIAL, wherever the circle was entered: `last` is the one to enter last. */
static int break_circle(struct stitch *stitch, struct place last)
{
  struct place place;
  int status;
  do {
    place = stitch->stack[stitch->stack_count - 1];
    fault(stitch, FAULT_CYCLE, place);
    status = finish_top(stitch, partial_node(stitch));
  } while (!status && (place.thread != last.thread || place.node != last.node));
  return status;
}

/* Resolves the node on top of the stack, or pushes the one that it depends on. */
static int resolve_top(struct stitch *stitch)
{
  struct place place = stitch->stack[stitch->stack_count - 1], dependency;
  struct stitch_thread *thread = &stitch->threads[place.thread];
  int status = 0;
  if (thread->nodes[place.node].kind == CONTEXT_ROOT)
    return finish_top(stitch, 0);
  thread->map[place.node] = MAP_VISITING;
  bool sound = find_dependency(stitch, place, &dependency, &status);
  if (status)
    return status;
  if (!sound)
    return finish_top(stitch, partial_node(stitch));
  uint32_t state = stitch->threads[dependency.thread].map[dependency.node];
  if (state == MAP_UNSEEN)
    return push(stitch, dependency.thread, dependency.node);
  return state == MAP_VISITING ? break_circle(stitch, dependency) : finish_top(stitch, state - MAPPED);
}

/* Finds the merged node of one node and of all nodes that it depends on. */
static int resolve(struct stitch *stitch, uint32_t thread, uint32_t node)
{
  if (stitch->threads[thread].map[node] >= MAPPED)
    return 0;
  int status = push(stitch, thread, node);
  while (!status && stitch->stack_count)
    status = resolve_top(stitch);
  return status;
}

/* The sums of one node of one thread from which idleness is computed: P, per_busy and in_use of stitch.h. */
struct idleness_sums {
  uint64_t own_ns, per_busy_ns, in_use_ns;
};

static void add(uint64_t *sum, uint64_t amount)
{
  *sum = model_sum(*sum, amount);
}

/* Adds one value to the sums of its thread and node. */
static void add_to_sums(struct profile_thread *thread, struct idleness_sums *sums, uint32_t role, uint64_t amount)
{
  if (role == COLUMN_WORK)
    add(&thread->work_ns, amount);
  else if (role == COLUMN_OVERHEAD)
    add(&thread->overhead_ns, amount);
  else if (role == COLUMN_LOCKWAIT)
    add(&thread->caused_lock_ns, amount);
  if (role == COLUMN_WORK || role == COLUMN_OVERHEAD || role == COLUMN_LOCKWAIT)
    add(&sums->own_ns, amount);
  else if (role == COLUMN_PER_BUSY)
    add(&sums->per_busy_ns, amount);
  else if (role == COLUMN_IN_USE)
    add(&sums->in_use_ns, amount);
}

/* The idleness of other threads that is charged to a node of this thread, in a file without shares.  0 for a thread
 * that no OpenMP runtime knows: it counts neither as busy nor as idle, so its sums mean nothing. */
static uint64_t counted_idleness(const struct stitch *stitch, const struct profile_thread *thread,
                                 const struct idleness_sums *sums)
{
  const struct profile_process *process = stitch->process;
  if (!(process->flags & PROCESS_OMPT) || !(thread->flags & THREAD_OPENMP))
    return 0;
  uint64_t all_ns = sums->in_use_ns, baseline = process->threads_max;
  if (stitch->baseline == BASELINE_CORE)
    baseline = process->cpus;
  if (stitch->baseline != BASELINE_SHARED && __builtin_mul_overflow(sums->per_busy_ns, baseline, &all_ns))
    all_ns = UINT64_MAX;
  return all_ns > sums->own_ns ? all_ns - sums->own_ns : 0;
}

/* The values of one thread of the file. */
struct thread_values {
  uint64_t *values;
  struct read_share *shares;
  uint32_t count, shares_count;
  uint32_t shares_unread; /* see exact_waits_of() */
};

static int load_values(struct stitch *stitch, uint32_t position, struct thread_values *values)
{
  uint32_t index = stitch->process->threads[position].index;
  *values = (struct thread_values){0};
  int status = read_values(stitch->file, index, stitch->problems, &values->values, &values->count);
  if (!status && stitch->shares != MODEL_NONE)
    status = read_shares(stitch->file, index, stitch->problems, &values->shares, &values->shares_count);
  values->shares_unread = values->shares_count;
  return status;
}

static void release_values(struct thread_values *values)
{
  free(values->values);
  free(values->shares);
}

/* What others waited for the node of a value record. */
static struct exact_waits_amount waiting_of(const struct stitch *stitch, uint32_t position,
                                            struct thread_values *values, const uint64_t *cells)
{
  return exact_waits_of(&stitch->amounts, position, values->shares, values->shares_count, cells[stitch->shares],
                        &values->shares_unread);
}

/* Adds one value record to the merged node of its node, with the idleness computed from it. */
static int add_record(struct stitch *stitch, uint32_t position, uint32_t node, struct thread_values *values,
                      const uint64_t *cells)
{
  uint32_t merged = stitch->threads[position].map[node] - MAPPED;
  struct profile_thread *thread = &stitch->process->threads[position];
  bool shared = stitch->shares != MODEL_NONE;
  struct exact_waits_amount waiting = {0};
  struct idleness_sums sums = {0};
  int status = 0;
  if (shared)
    waiting = waiting_of(stitch, position, values, cells);
  if (waiting.damaged)
    fault(stitch, FAULT_SHARE, (struct place){position, node});
  for (uint32_t i = 0; i < read_columns_count(stitch->file) && !status; i++) {
    uint32_t role = stitch->roles[i];
    uint64_t amount = role == COLUMN_LOCKWAIT && shared ? waiting.lock_ns : cells[i];
    if (!serves_idleness(role) && stitch->columns[i] == MODEL_NONE)
      continue;
    add_to_sums(thread, &sums, role, amount);
    if (stitch->columns[i] != MODEL_NONE)
      status = contexts_value(stitch->contexts, merged, stitch->columns[i], amount);
  }
  if (status || stitch->idleness == MODEL_NONE)
    return status;
  uint64_t amount = counted_idleness(stitch, thread, &sums);
  if (shared && !stitch->amounts.counted)
    amount =
        model_sum(waiting.idle_ns, exact_waits_elsewhere(&stitch->amounts, position, sums.per_busy_ns, sums.in_use_ns));
  add(&thread->caused_idle_ns, amount);
  return contexts_value(stitch->contexts, merged, stitch->idleness, amount);
}

/* The catalog's column of a role in the file; MODEL_NONE: none. */
static uint32_t column_of(const struct stitch *stitch, uint32_t role)
{
  for (uint32_t i = 0; i < read_columns_count(stitch->file); i++)
    if (stitch->roles[i] == role)
      return stitch->columns[i];
  return MODEL_NONE;
}

static int add_amount(struct stitch *stitch, uint32_t merged, uint32_t column, uint64_t amount, uint64_t *sum)
{
  if (!amount || column == MODEL_NONE)
    return 0;
  add(sum, amount);
  return contexts_value(stitch->contexts, merged, column, amount);
}

/* The merged node in which a thread waited. */
static uint32_t waiting_node(struct stitch *stitch, uint32_t position, const struct exact_wait *wait)
{
  const struct stitch_thread *thread = &stitch->threads[position];
  if (wait->node < thread->count && thread->map[wait->node] >= MAPPED)
    return thread->map[wait->node] - MAPPED;
  if (wait->node)
    fault(stitch, FAULT_WAIT, (struct place){position, wait->node});
  return 0;
}

/* Adds what is charged to the contexts in which the thread waited: the runtime's own work, and waiting that no sample
 * has seen. */
static int add_waits(struct stitch *stitch, uint32_t position)
{
  struct profile_thread *thread = &stitch->process->threads[position];
  const struct exact_waits_thread *waits = &stitch->amounts.threads[position];
  if (waits->timed) {
    thread->idle_ns = waits->idle_ns;
    thread->lockwait_ns = waits->lock_ns;
  }
  uint32_t overhead = column_of(stitch, COLUMN_OVERHEAD), lockwait = column_of(stitch, COLUMN_LOCKWAIT);
  int status = 0;
  for (uint32_t i = 0; i < waits->count && !status; i++) {
    const struct exact_wait *wait = &waits->waits[i];
    uint32_t merged = waiting_node(stitch, position, wait);
    status = add_amount(stitch, merged, overhead, wait->runtime_ns, &thread->overhead_ns);
    if (!status)
      status = wait->lock ? add_amount(stitch, merged, lockwait, wait->unseen_ns, &thread->caused_lock_ns)
                          : add_amount(stitch, merged, stitch->idleness, wait->unseen_ns, &thread->caused_idle_ns);
  }
  return status;
}

/* Splits the part of a thread's life that is in no category so far: it waited for a processor, as far as the kernel
 * says so, or it slept in a call that is not intercepted, as far as it slept at all.  With samples of elapsed time,
 * work contains the time of blocking calls. */
static void split_rest(struct profile_thread *thread, bool by_wall)
{
  uint64_t waits_ns = model_sum(thread->idle_ns, thread->lockwait_ns);
  uint64_t known_ns = model_sum(model_sum(waits_ns, thread->tool_ns), model_sum(thread->work_ns, thread->overhead_ns));
  uint64_t ran_ns = model_sum(thread->cpu_ns, thread->run_delay_ns);
  if (!by_wall) {
    add(&waits_ns, thread->blocked_ns);
    add(&known_ns, thread->blocked_ns);
  }
  uint64_t rest_ns = thread->wall_ns > known_ns ? thread->wall_ns - known_ns : 0;
  uint64_t slept_ns = thread->wall_ns > ran_ns ? thread->wall_ns - ran_ns : 0;
  thread->core_wait_ns = rest_ns < thread->run_delay_ns ? rest_ns : thread->run_delay_ns;
  rest_ns -= thread->core_wait_ns;
  slept_ns -= slept_ns < waits_ns ? slept_ns : waits_ns;
  if (!by_wall)
    add(&thread->blocked_ns, rest_ns < slept_ns ? rest_ns : slept_ns);
}

/* Adds a thread's values to the merged nodes of its contexts. */
static int add_values(struct stitch *stitch, uint32_t position)
{
  struct stitch_thread *thread = &stitch->threads[position];
  uint32_t columns = read_columns_count(stitch->file);
  struct thread_values values;
  int status = load_values(stitch, position, &values);
  for (uint32_t i = 0; i < thread->count && !status; i++) {
    uint32_t value = thread->nodes[i].value;
    if (!value || thread->nodes[i].kind == CONTEXT_FREE)
      continue;
    if (value >= values.count) {
      fault(stitch, FAULT_VALUE, (struct place){position, i});
      continue;
    }
    status = add_record(stitch, position, i, &values, values.values + (size_t)value * columns);
  }
  if (!status && stitch->shares != MODEL_NONE)
    status = add_waits(stitch, position);
  if (stitch->shares != MODEL_NONE)
    split_rest(&stitch->process->threads[position], profile_by_wall(stitch->process));
  release_values(&values);
  return status;
}

/* Completes a thread's map; its nodes are still loaded. */
static int resolve_thread(struct stitch *stitch, uint32_t position)
{
  int status = load_thread(stitch, position);
  const struct stitch_thread *thread = &stitch->threads[position];
  for (uint32_t i = 0; !status && i < thread->count; i++)
    if (thread->nodes[i].kind != CONTEXT_FREE)
      status = resolve(stitch, position, i);
  return status;
}

static int stitch_thread(struct stitch *stitch, uint32_t position)
{
  int status = resolve_thread(stitch, position);
  if (!status)
    status = add_values(stitch, position);
  unload_thread(&stitch->threads[position]);
  report_faults(stitch, stitch->process->threads[position].index);
  return status;
}

/* Copies the file's directives.  An invalid record keeps its number and counts as the program. */
static int take_directives(struct stitch *stitch, struct workspan_faults *faults)
{
  struct profile_workspan *workspan = &stitch->process->workspan;
  uint32_t count = read_directives_count(stitch->file);
  workspan->directives = calloc((size_t)count + 1, sizeof *workspan->directives);
  if (!workspan->directives)
    return ERR_NOMEM;
  workspan->directives_count = count ? count : 1;
  for (uint32_t i = 0; i < workspan->directives_count; i++) {
    struct read_directive from = {.name = ""};
    if (i)
      from = read_directive(stitch->file, i);
    bool valid = i && from.kind > DIRECTIVE_PROGRAM && from.kind < DIRECTIVE_KINDS;
    bool placed = from.module && from.module < read_modules_count(stitch->file);
    faults->kinds += i && (!valid || (from.module && !placed));
    workspan->directives[i] = (struct profile_directive){.kind = valid ? from.kind : DIRECTIVE_PROGRAM,
                                                         .module = placed ? stitch->modules[from.module] : MODEL_NONE,
                                                         .offset = from.offset,
                                                         .name = strdup(valid ? from.name : ""),
                                                         .flags = from.flags,
                                                         .instances = from.instances,
                                                         .work = from.work,
                                                         .span = from.span,
                                                         .iterations = from.iterations,
                                                         .lock_bound = from.lock_bound};
    if (!workspan->directives[i].name)
      return ERR_NOMEM;
  }
  return 0;
}

/* The merged context of a contribution, MODEL_NONE if it has none or is at the root. */
static uint32_t contribution_context(struct stitch *stitch, const struct read_contribution *from, uint32_t position,
                                     struct workspan_faults *faults)
{
  if (!from->thread)
    return MODEL_NONE;
  const struct stitch_thread *thread = position == MODEL_NONE ? NULL : &stitch->threads[position];
  if (thread && from->node < thread->count && thread->map[from->node] >= MAPPED)
    return thread->map[from->node] > MAPPED ? thread->map[from->node] - MAPPED : MODEL_NONE;
  faults->contexts++;
  return MODEL_NONE;
}

/* Copies the contributions of this part's threads to the span, cut off where the sum of all exceeds it.  The first part
 * takes those without a thread as well; what is missing becomes a share of the program.  Invariant: sum of the shares
 * of all parts = span. */
static int take_contributions(struct stitch *stitch, struct workspan_faults *faults)
{
  const struct profile_workspan *workspan = &stitch->process->workspan;
  uint64_t remaining = workspan->span;
  int status = 0;
  for (uint32_t i = 0; i < read_contributions_count(stitch->file) && !status; i++) {
    struct read_contribution from = read_contribution(stitch->file, i);
    uint64_t amount = from.amount < remaining ? from.amount : remaining;
    uint32_t position = from.thread ? thread_position(stitch, from.thread) : MODEL_NONE;
    remaining -= amount;
    if (position == MODEL_NONE ? stitch->first : !reports(stitch, position))
      continue;
    bool known = from.directive < workspan->directives_count &&
                 (!from.directive || workspan->directives[from.directive].kind != DIRECTIVE_PROGRAM);
    faults->directives += !known;
    faults->excess += from.amount > amount;
    struct context_share share = {.owner = stitch->process->number,
                                  .directive = known ? from.directive : 0,
                                  .context = contribution_context(stitch, &from, position, faults),
                                  .place = i,
                                  .amount = amount};
    status = share.amount ? contexts_add_share(stitch->contexts, &share) : 0;
  }
  struct context_share unattributed = {
      .owner = stitch->process->number, .context = MODEL_NONE, .place = MODEL_NONE, .amount = remaining};
  return status || !remaining || stitch->first ? status : contexts_add_share(stitch->contexts, &unattributed);
}

static void report_workspan_faults(const struct stitch *stitch, const struct workspan_faults *faults)
{
  const struct {
    uint64_t count;
    const char *text;
  } all[] = {{faults->kinds, "constructs of a kind or module that does not exist, kept as unknown"},
             {faults->directives, "parts of the critical path in constructs that do not exist, kept as the program's"},
             {faults->contexts, "parts of the critical path in contexts that do not exist, kept without a context"},
             {faults->excess, "parts of the critical path that exceed the span, left out"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].count)
      problems_add(stitch->problems, "%s: %s: %llu", stitch->process->path, all[i].text,
                   (unsigned long long)all[i].count);
}

/* Takes over work and constructs. */
static int stitch_workspan(struct stitch *stitch, struct workspan_faults *faults)
{
  struct profile_workspan *workspan = &stitch->process->workspan;
  if (!workspan->known)
    return 0;
  for (uint32_t i = 0; i < stitch->process->threads_count; i++)
    add(&workspan->work, stitch->process->threads[i].work);
  return take_directives(stitch, faults);
}

static void release_threads(struct stitch *stitch)
{
  for (uint32_t i = 0; stitch->threads && i < stitch->process->threads_count; i++) {
    unload_thread(&stitch->threads[i]);
    free(stitch->threads[i].map);
  }
  free(stitch->threads);
  free(stitch->stack);
  problems_release(&stitch->ignored);
}

static void release(struct stitch *stitch)
{
  release_threads(stitch);
  free(stitch->modules);
  free(stitch->columns);
  free(stitch->roles);
  exact_waits_close(&stitch->amounts);
}

/* What is wrong with the threads of a part. */
struct part_faults {
  struct problems problems;
  struct workspan_faults workspan;
};

/* What the workers share that stitch the parts of a process. */
struct run {
  const struct stitch *stitch; /* without threads */
  struct contexts *contexts;   /* [worker] */
  struct part_faults faults[PARTS_MAX];
  uint32_t parts;
  atomic_bool failed; /* out of memory */
};

static void stitch_part(void *argument, uint32_t number, unsigned worker)
{
  struct run *run = argument;
  struct stitch part = *run->stitch;
  uint64_t threads = part.process->threads_count;
  part.file = read_another(part.file);
  part.threads = calloc(threads + 1, sizeof *part.threads);
  part.contexts = &run->contexts[worker];
  part.problems = &run->faults[number].problems;
  part.first = (uint32_t)(threads * number / run->parts);
  part.end = (uint32_t)(threads * (number + 1) / run->parts);
  int status = part.file && part.threads && !atomic_load(&run->failed) ? 0 : ERR_NOMEM;
  for (uint32_t i = part.first; i < part.end && !status; i++)
    status = stitch_thread(&part, i);
  if (!status && part.process->workspan.known)
    status = take_contributions(&part, &run->faults[number].workspan);
  if (status)
    atomic_store(&run->failed, true);
  release_threads(&part);
  free(part.file);
}

static int stitch_parts(struct stitch *stitch, struct contexts *contexts, unsigned workers)
{
  struct run run = {.stitch = stitch, .contexts = contexts, .parts = stitch->process->threads_count / PART_THREADS};
  run.parts = run.parts > PARTS_MAX ? PARTS_MAX : run.parts ? run.parts : 1;
  int status = stitch_workspan(stitch, &run.faults[0].workspan);
  if (!status)
    workers_run(workers, run.parts, stitch_part, &run);
  struct workspan_faults *sum = &run.faults[0].workspan;
  for (uint32_t i = 0; i < run.parts; i++) {
    const struct workspan_faults *faults = &run.faults[i].workspan;
    problems_append(stitch->problems, &run.faults[i].problems);
    sum->directives += i ? faults->directives : 0;
    sum->contexts += i ? faults->contexts : 0;
    sum->excess += i ? faults->excess : 0;
  }
  report_workspan_faults(stitch, sum);
  return status || atomic_load(&run.failed) ? ERR_NOMEM : 0;
}

int stitch_file(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                enum profile_baseline baseline, struct contexts *contexts, unsigned workers, struct problems *problems)
{
  struct stitch stitch = {
      .file = file, .process = process, .catalog = catalog, .baseline = baseline, .problems = problems};
  int status = intern_tables(&stitch);
  if (!status && stitch.shares != MODEL_NONE)
    status = exact_waits_open(file, process, baseline, problems, &stitch.amounts);
  if (!status && stitch.idleness != MODEL_NONE && stitch.amounts.unseen_ns)
    status = contexts_value(contexts, 0, stitch.idleness, stitch.amounts.unseen_ns);
  if (!status)
    status = stitch_parts(&stitch, contexts, workers);
  release(&stitch);
  return status;
}

struct stitch *stitch_open(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                           struct contexts *contexts)
{
  struct stitch *stitch = calloc(1, sizeof *stitch);
  if (!stitch)
    return NULL;
  *stitch = (struct stitch){.file = file,
                            .process = process,
                            .catalog = catalog,
                            .contexts = contexts,
                            .problems = &stitch->ignored,
                            .only_find = true};
  stitch->threads = calloc((size_t)process->threads_count + 1, sizeof *stitch->threads);
  if (stitch->threads && !intern_tables(stitch))
    return stitch;
  stitch_close(stitch);
  return NULL;
}

void stitch_close(struct stitch *stitch)
{
  release(stitch);
  free(stitch);
}

/* Appends the values of a thread's nodes in one of the file's columns. */
static int take_amounts(struct stitch *stitch, uint32_t position, struct thread_values *values, uint32_t column,
                        struct stitch_amounts *amounts)
{
  values->shares_unread = values->shares_count;
  const struct stitch_thread *thread = &stitch->threads[position];
  const struct exact_waits_thread *waits = stitch->shares == MODEL_NONE ? NULL : &stitch->amounts.threads[position];
  bool lockwait = waits && stitch->roles[column] == COLUMN_LOCKWAIT;
  bool overhead = waits && stitch->roles[column] == COLUMN_OVERHEAD;
  uint32_t columns = read_columns_count(stitch->file);
  size_t needed = (size_t)amounts->count + thread->count + (waits ? waits->count : 0);
  if (!array_reserve(&amounts->amounts, &amounts->room, needed, sizeof *amounts->amounts))
    return ERR_NOMEM;
  for (uint32_t i = 0; i < thread->count; i++) {
    uint32_t value = thread->nodes[i].value;
    const uint64_t *cells = value && value < values->count ? values->values + (size_t)value * columns : NULL;
    uint64_t amount = !cells ? 0 : lockwait ? waiting_of(stitch, position, values, cells).lock_ns : cells[column];
    if (amount && thread->map[i] >= MAPPED)
      amounts->amounts[amounts->count++] = (struct stitch_amount){.context = thread->map[i] - MAPPED, .amount = amount};
  }
  for (uint32_t i = 0; (lockwait || overhead) && i < waits->count; i++) {
    const struct exact_wait *wait = &waits->waits[i];
    uint64_t amount = overhead ? wait->runtime_ns : wait->lock ? wait->unseen_ns : 0;
    if (amount)
      amounts->amounts[amounts->count++] =
          (struct stitch_amount){.context = waiting_node(stitch, position, wait), .amount = amount};
  }
  return 0;
}

int stitch_amounts(struct stitch *stitch, uint32_t position, uint32_t column, struct stitch_amounts *amounts)
{
  struct thread_values values = {0};
  amounts->count = 0;
  int status = resolve_thread(stitch, position);
  if (!status && stitch->shares != MODEL_NONE && !stitch->amounts.threads)
    status = exact_waits_open(stitch->file, stitch->process, BASELINE_THREAD, stitch->problems, &stitch->amounts);
  if (!status)
    status = load_values(stitch, position, &values);
  for (uint32_t i = 0; i < read_columns_count(stitch->file) && !status; i++)
    if (stitch->columns[i] == column)
      status = take_amounts(stitch, position, &values, i, amounts);
  release_values(&values);
  unload_thread(&stitch->threads[position]);
  return status;
}

int stitch_find(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                struct contexts *contexts, const struct stitch_node *nodes, uint32_t count, uint32_t *found)
{
  struct stitch *stitch = stitch_open(file, process, catalog, contexts);
  int status = stitch ? 0 : ERR_NOMEM;
  for (uint32_t i = 0; i < count && !status; i++) {
    uint32_t position = thread_position(stitch, nodes[i].thread);
    const struct stitch_thread *thread = position == MODEL_NONE ? NULL : &stitch->threads[position];
    found[i] = MODEL_NONE;
    status = thread ? load_thread(stitch, position) : 0;
    if (status || !thread || nodes[i].node >= thread->count || thread->map[nodes[i].node] == MAP_ABSENT)
      continue;
    status = resolve(stitch, position, nodes[i].node);
    if (!status && thread->map[nodes[i].node] > MAPPED)
      found[i] = thread->map[nodes[i].node] - MAPPED;
  }
  if (stitch)
    stitch_close(stitch);
  return status;
}
