#include "hpcprof-lite/merge/stitch.h"

#include "common/mpi_functions.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/merge/construct_records.h"
#include "hpcprof-lite/input/exact_waits.h"
#include "hpcprof-lite/merge/node_map.h"
#include "hpcprof-lite/model/workers.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The threads of a process are stitched in parts.  Each part has maps of its own, so that the threads to which all link
 * are decoded once for each part.  The parts depend on the process only: so do the limits that each part meets. */
enum { PART_THREADS = 64, PARTS_MAX = 32 };

/* Invalid records in the tables of directives and contributions; reported once for the process. */
enum fault { FAULT_KIND, FAULT_DIRECTIVE, FAULT_CONTEXT, FAULT_EXCESS, FAULTS };

static const char *const fault_text[FAULTS] = {
    [FAULT_KIND] = "constructs of a kind or module that does not exist, kept as unknown",
    [FAULT_DIRECTIVE] = "parts of the critical path in constructs that do not exist, kept as the program's",
    [FAULT_CONTEXT] = "parts of the critical path in contexts that do not exist, kept without a context",
    [FAULT_EXCESS] = "parts of the critical path that exceed the span, left out",
};

/* Columns of the program's counters that are known. */
struct user_columns {
  uint32_t names[CATALOG_COLUMNS_MAX], columns[CATALOG_COLUMNS_MAX], count;
};

struct stitch {
  struct node_map map;
  uint32_t *columns, *roles; /* [the file's column] the catalog's, MODEL_NONE if it is not kept; its role */
  enum profile_baseline baseline;
  uint32_t idleness;                    /* the catalog's column, MODEL_NONE if the file lacks its sums       */
  uint32_t mpi;                         /* the catalog's column of time in MPI, MODEL_NONE if there is none  */
  uint32_t shares;                      /* the file's column of shares, MODEL_NONE: none, in early files     */
  struct exact_waits amounts;           /* with shares: the exact amounts                                    */
  struct construct_contexts constructs; /* where constructs were met */
  struct user_columns user;             /* of a part's threads */
};

/* Whether a column only serves to compute idleness. */
static bool serves_idleness(uint32_t role)
{
  return role == COLUMN_PER_BUSY || role == COLUMN_IN_USE || role == COLUMN_SHARES;
}

/* Adds a column to the catalog; one too many is reported and gets number MODEL_NONE. */
static void intern_column(struct stitch *stitch, const struct catalog_column *wanted, uint32_t *number)
{
  struct catalog_column column = *wanted;
  column.role |= stitch->map.process->of_whole ? COLUMN_OF_WHOLE : 0;
  if (!catalog_add_column(stitch->map.catalog, &column, number))
    return;
  if (wanted->role == COLUMN_USER)
    problems_add(
        stitch->map.problems,
        "%s: contexts do not have the program's counter '%s': the run has more than %d; see view user-counters",
        stitch->map.process->path, wanted->name, CATALOG_COLUMNS_USER);
  else
    problems_add(stitch->map.problems, "%s: event '%s' is one more than the %d that can be reported: left out",
                 stitch->map.process->path, wanted->name, CATALOG_COLUMNS_MAX - CATALOG_COLUMNS_OWN);
}

static bool has_calls(const struct profile_process *process)
{
  bool found = false;
  for (uint32_t i = 0; i < process->threads_count; i++)
    found |= process->threads[i].mpi_calls > 0;
  return found;
}

/* Adds the file's modules and columns to the catalog, and idleness if the file has the sums for it. */
static void intern_tables(struct stitch *stitch)
{
  uint32_t needed = stitch->baseline == BASELINE_SHARED ? COLUMN_IN_USE : COLUMN_PER_BUSY;
  uint32_t columns = read_columns_count(stitch->map.file);
  bool found = false;
  node_map_init(&stitch->map);
  stitch->columns = xcalloc(columns, sizeof *stitch->columns);
  stitch->roles = xcalloc(columns, sizeof *stitch->roles);
  stitch->idleness = stitch->shares = stitch->mpi = MODEL_NONE;
  for (uint32_t i = 0; i < columns; i++) {
    struct read_column column = read_column(stitch->map.file, i);
    struct catalog_column wanted = {
        .name = (char *)column.name, .unit = (char *)column.unit, .role = column.role, .period = column.period};
    found = found || column.role == needed;
    stitch->roles[i] = column.role;
    stitch->shares = column.role == COLUMN_SHARES ? i : stitch->shares;
    stitch->columns[i] = MODEL_NONE;
    if (!serves_idleness(column.role))
      intern_column(stitch, &wanted, &stitch->columns[i]);
  }
  struct catalog_column idleness = {.name = "idleness", .unit = "ns", .role = COLUMN_IDLENESS};
  if (found)
    intern_column(stitch, &idleness, &stitch->idleness);
  struct catalog_column mpi = {.name = "mpi", .unit = "ns", .role = COLUMN_MPI};
  if (has_calls(stitch->map.process))
    intern_column(stitch, &mpi, &stitch->mpi);
}

/* The sums of one node of one thread from which idleness is computed: P, per_busy and in_use of stitch.h. */
struct idleness_sums {
  uint64_t own_ns, per_busy_ns, in_use_ns;
};

/* Adds one value to the sums of its thread and node. */
static void add_to_sums(struct profile_thread *thread, struct idleness_sums *sums, uint32_t role, uint64_t amount)
{
  if (role == COLUMN_WORK)
    model_add(&thread->work_ns, amount);
  else if (role == COLUMN_OVERHEAD)
    model_add(&thread->overhead_ns, amount);
  else if (role == COLUMN_LOCKWAIT)
    model_add(&thread->caused_lock_ns, amount);
  if (role == COLUMN_WORK || role == COLUMN_OVERHEAD || role == COLUMN_LOCKWAIT)
    model_add(&sums->own_ns, amount);
  else if (role == COLUMN_PER_BUSY)
    model_add(&sums->per_busy_ns, amount);
  else if (role == COLUMN_IN_USE)
    model_add(&sums->in_use_ns, amount);
}

/* The idleness of other threads that is charged to a node of this thread, in a file without shares.  0 for a thread
 * that no OpenMP runtime knows: it counts neither as busy nor as idle, so its sums mean nothing. */
static uint64_t counted_idleness(const struct stitch *stitch, const struct profile_thread *thread,
                                 const struct idleness_sums *sums)
{
  const struct profile_process *process = stitch->map.process;
  if (!(process->flags & PROCESS_OMPT) || !(thread->flags & THREAD_OPENMP))
    return 0;
  uint64_t all_ns = sums->in_use_ns, baseline = process->threads_max;
  if (stitch->baseline == BASELINE_CORE)
    baseline = process->cpus;
  if (stitch->baseline != BASELINE_SHARED && __builtin_mul_overflow(sums->per_busy_ns, baseline, &all_ns))
    all_ns = UINT64_MAX;
  return model_difference(all_ns, sums->own_ns);
}

/* The values of one thread of the file. */
struct thread_values {
  uint64_t *values;
  struct format_share *shares;
  uint32_t count, shares_count;
  uint32_t shares_unread; /* see exact_waits_of() */
};

static void load_values(struct stitch *stitch, uint32_t position, struct thread_values *values)
{
  uint32_t index = stitch->map.process->threads[position].index;
  *values = (struct thread_values){0};
  values->values = read_table(stitch->map.file, index, FORMAT_VALUES, stitch->map.problems, &values->count);
  if (stitch->shares != MODEL_NONE)
    values->shares = read_table(stitch->map.file, index, FORMAT_SHARES, stitch->map.problems, &values->shares_count);
  values->shares_unread = values->shares_count;
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
  assert(stitch->shares != MODEL_NONE);
  return exact_waits_of(&stitch->amounts, position, values->shares, values->shares_count, cells[stitch->shares],
                        &values->shares_unread);
}

/* A context that works while devices are idle. */
struct idle_for {
  struct stitch *stitch;
  uint32_t context;
};

static void add_idle_device(void *to, uint32_t device, uint64_t ns)
{
  const struct idle_for *idle = to;
  contexts_add_device(idle->stitch->map.contexts, &(struct context_device){.owner = idle->stitch->map.process->number,
                                                                           .device = device,
                                                                           .context = idle->context,
                                                                           .ns = ns});
}

/* Adds one value record to the merged node of its node, with the idleness computed from it. */
static void add_record(struct stitch *stitch, uint32_t position, uint32_t node, struct thread_values *values,
                       const uint64_t *cells)
{
  assert(position < stitch->map.process->threads_count && cells);
  uint32_t merged = node_map_context(&stitch->map, position, node);
  struct profile_thread *thread = &stitch->map.process->threads[position];
  bool shared = stitch->shares != MODEL_NONE, helper = thread->flags & THREAD_HELPER;
  struct exact_waits_amount waiting = {0};
  struct idleness_sums sums = {0};
  if (shared)
    waiting = waiting_of(stitch, position, values, cells);
  if (waiting.damaged)
    node_map_fault(&stitch->map, NODE_MAP_FAULT_SHARE, (struct node_id){position, node});
  else if (shared)
    exact_waits_devices(&stitch->amounts, position, values->shares, cells[stitch->shares], add_idle_device,
                        &(struct idle_for){stitch, merged});
  for (uint32_t i = 0; i < read_columns_count(stitch->map.file); i++) {
    uint32_t role = stitch->roles[i];
    uint64_t amount = role == COLUMN_LOCKWAIT && shared ? waiting.lock_ns : cells[i];
    if (!serves_idleness(role) && stitch->columns[i] == MODEL_NONE)
      continue;
    if (helper && role >= COLUMN_BLOCKED && role <= COLUMN_BLOCKED_BYTES)
      continue;
    add_to_sums(thread, &sums, role, amount);
    if (stitch->columns[i] != MODEL_NONE)
      contexts_value(stitch->map.contexts, merged, stitch->columns[i], amount);
  }
  if (stitch->idleness == MODEL_NONE)
    return;
  uint64_t amount = counted_idleness(stitch, thread, &sums);
  if (shared && !stitch->amounts.counted)
    amount =
        model_sum(waiting.idle_ns, exact_waits_elsewhere(&stitch->amounts, position, sums.per_busy_ns, sums.in_use_ns));
  model_add(&thread->caused_idle_ns, amount);
  contexts_value(stitch->map.contexts, merged, stitch->idleness, amount);
}

/* The catalog's column of a role in the file; MODEL_NONE: none. */
static uint32_t column_of(const struct stitch *stitch, uint32_t role)
{
  for (uint32_t i = 0; i < read_columns_count(stitch->map.file); i++)
    if (stitch->roles[i] == role)
      return stitch->columns[i];
  return MODEL_NONE;
}

static void add_amount(struct stitch *stitch, uint32_t merged, uint32_t column, uint64_t amount, uint64_t *sum)
{
  if (!amount || column == MODEL_NONE)
    return;
  model_add(sum, amount);
  contexts_value(stitch->map.contexts, merged, column, amount);
}

/* The merged node in which a thread waited. */
static uint32_t waiting_node(struct stitch *stitch, uint32_t position, const struct exact_wait *wait)
{
  uint32_t merged = node_map_context(&stitch->map, position, wait->node);
  if (merged != MODEL_NONE)
    return merged;
  if (wait->node)
    node_map_fault(&stitch->map, NODE_MAP_FAULT_WAIT, (struct node_id){position, wait->node});
  return 0;
}

/* Adds what is charged to the contexts in which the thread waited: the runtime's own work, and waiting that no sample
 * has seen. */
static void add_waits(struct stitch *stitch, uint32_t position)
{
  assert(position < stitch->amounts.threads_count);
  struct profile_thread *thread = &stitch->map.process->threads[position];
  const struct exact_waits_thread *waits = &stitch->amounts.threads[position];
  if (waits->timed) {
    thread->idle_ns = waits->idle_ns;
    thread->lockwait_ns = waits->lock_ns;
    thread->no_core_ns = model_sum(thread->no_core_ns, waits->no_core_ns);
    thread->estimated_delay_ns = waits->estimated_ns;
    thread->held_up_ns = waits->held_up_ns;
    thread->recorded = waits->recorded;
  }
  thread->run_delay_ns = MAX(thread->run_delay_ns, waits->preempted_ns); /* of a killed process, the total is older */
  thread->blocked_ns -= MIN(thread->blocked_ns, waits->call_ready_ns);
  thread->mpi_ns -= MIN(thread->mpi_ns, waits->mpi_ready_ns);
  uint32_t overhead = column_of(stitch, COLUMN_OVERHEAD), lockwait = column_of(stitch, COLUMN_LOCKWAIT);
  for (uint32_t i = 0; i < waits->count; i++) {
    const struct exact_wait *wait = &waits->waits[i];
    uint32_t merged = waiting_node(stitch, position, wait);
    add_amount(stitch, merged, overhead, wait->runtime_ns, &thread->overhead_ns);
    if (wait->lock)
      add_amount(stitch, merged, lockwait, wait->unseen_ns, &thread->caused_lock_ns);
    else
      add_amount(stitch, merged, stitch->idleness, wait->unseen_ns, &thread->caused_idle_ns);
  }
}

/* What a thread worked while it was not sampled, in the part of its life that is in no other category: it had no
 * processor in the same share of it as in all of that time.  With samples of elapsed time, all of it is work. */
static uint64_t unsampled_work(const struct profile_thread *thread, uint64_t rest_ns, bool by_wall, bool unsampled)
{
  uint64_t cpu_ns = unsampled ? thread->cpu_ns : thread->unsampled_cpu_ns;
  uint64_t delay_ns = unsampled ? thread->run_delay_ns : thread->unsampled_delay_ns;
  if (!unsampled)
    rest_ns = MIN(rest_ns, thread->unsampled_ns);
  if (by_wall)
    return rest_ns;
  double ran = (double)cpu_ns, wanted = ran + (double)delay_ns;
  uint64_t work_ns = wanted > 0 ? (uint64_t)((double)rest_ns * (ran / wanted)) : 0;
  return MIN(work_ns, cpu_ns);
}

/* Where the time without a processor in waits is an estimate, corrects it for the thread, whose total is known: rest_ns
 * is the time in no category, missing the time without a processor that waits still contain.  So contexts have the
 * estimate, and the thread the right sum. */
static void correct_estimate(struct profile_thread *thread, uint64_t *rest_ns, uint64_t slept_ns, uint64_t estimated_ns)
{
  uint64_t known_ns = model_sum(thread->run_delay_ns, slept_ns);
  if (!estimated_ns)
    return;
  if (*rest_ns < thread->run_delay_ns) {
    uint64_t missing_ns = MIN(thread->run_delay_ns - *rest_ns, thread->idle_ns);
    thread->idle_ns -= missing_ns;
    *rest_ns += missing_ns;
  } else if (*rest_ns > known_ns) {
    uint64_t excess_ns = MIN(*rest_ns - known_ns, estimated_ns);
    model_add(&thread->idle_ns, excess_ns);
    *rest_ns -= excess_ns;
  }
}

/* Splits the part of a thread's life that is in no category so far: it waited for a processor, as far as the kernel
 * says so, or it slept in a call that is not intercepted, as far as it slept at all.  With samples of elapsed time,
 * work contains the time of blocking calls.  Returns the work of that part, which is only known here while no samples
 * are taken; unsampled: none were. */
static uint64_t split_rest(struct profile_thread *thread, bool by_wall, bool unsampled, uint64_t estimated_ns)
{
  uint64_t waits_ns = model_sum(model_sum(thread->idle_ns, thread->lockwait_ns), thread->no_core_ns);
  uint64_t known_ns = model_sum(model_sum(waits_ns, thread->tool_ns), model_sum(thread->work_ns, thread->overhead_ns));
  model_add(&known_ns, thread->mpi_ns);
  model_add(&known_ns, thread->device_ns);
  uint64_t ran_ns = model_sum(thread->cpu_ns, thread->run_delay_ns);
  if (!by_wall) {
    model_add(&waits_ns, thread->blocked_ns);
    model_add(&waits_ns, model_difference(thread->mpi_ns, thread->mpi_sampled_ns)); /* asleep in MPI */
    model_add(&waits_ns, model_difference(thread->device_ns, thread->device_sampled_ns));
    model_add(&known_ns, thread->blocked_ns);
  }
  uint64_t measured_ns = profile_measured_ns(thread->wall_ns, thread->paused_ns);
  uint64_t rest_ns = model_difference(measured_ns, known_ns);
  uint64_t slept_ns = model_difference(thread->wall_ns, ran_ns);
  uint64_t work_ns = unsampled_work(thread, rest_ns, by_wall, unsampled);
  rest_ns -= work_ns;
  correct_estimate(thread, &rest_ns, model_difference(slept_ns, waits_ns), estimated_ns);
  thread->core_wait_ns = MIN(rest_ns, thread->run_delay_ns);
  rest_ns -= thread->core_wait_ns;
  slept_ns -= MIN(slept_ns, waits_ns);
  if (!by_wall)
    model_add(&thread->blocked_ns, MIN(rest_ns, slept_ns));
  return work_ns;
}

/* The catalog's column of a counter of the program; MODEL_NONE: one too many. */
static uint32_t user_column(struct stitch *stitch, uint32_t name)
{
  struct user_columns *known = &stitch->user;
  for (uint32_t i = 0; i < known->count; i++)
    if (known->names[i] == name)
      return known->columns[i];
  const struct catalog_column wanted = {
      .name = (char *)read_string(stitch->map.file, name), .unit = "", .role = COLUMN_USER};
  uint32_t column;
  intern_column(stitch, &wanted, &column);
  if (known->count < CATALOG_COLUMNS_MAX) {
    known->names[known->count] = name;
    known->columns[known->count++] = column;
  }
  return column;
}

/* Adds what the thread counted by counters of the program. */
static void add_user_counts(struct stitch *stitch, uint32_t position)
{
  uint32_t count, index = stitch->map.process->threads[position].index;
  struct format_user_count *counts =
      read_table(stitch->map.file, index, FORMAT_USER_COUNTS, stitch->map.problems, &count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t context = node_map_context(&stitch->map, position, counts[i].node);
    if (context == MODEL_NONE)
      node_map_fault(&stitch->map, NODE_MAP_FAULT_COUNT, (struct node_id){position, counts[i].node});
    uint32_t column = user_column(stitch, counts[i].name);
    if (column != MODEL_NONE)
      contexts_value(stitch->map.contexts, context == MODEL_NONE ? 0 : context, column, counts[i].sum);
  }
  free(counts);
}

/* Adds a thread's values to the merged nodes of its contexts. */
static void add_values(struct stitch *stitch, uint32_t position)
{
  struct node_map_thread *thread = &stitch->map.threads[position];
  uint32_t columns = read_columns_count(stitch->map.file);
  struct thread_values values;
  load_values(stitch, position, &values);
  for (uint32_t i = 0; i < thread->count; i++) {
    uint32_t value = thread->nodes[i].value;
    if (!value || thread->nodes[i].kind == CONTEXT_FREE)
      continue;
    if (value >= values.count) {
      node_map_fault(&stitch->map, NODE_MAP_FAULT_VALUE, (struct node_id){position, i});
      continue;
    }
    add_record(stitch, position, i, &values, values.values + (size_t)value * columns);
  }
  if (stitch->shares != MODEL_NONE) {
    add_waits(stitch, position);
    const struct profile_process *process = stitch->map.process;
    struct profile_thread *record = &process->threads[position];
    bool unsampled = profile_unsampled(process) && !record->samples;
    uint64_t work_ns = 0;
    if (record->flags & THREAD_HELPER)
      record->blocked_ns = 0; /* in a part of the run it was read from the trace */
    else
      work_ns = split_rest(record, profile_by_wall(process), unsampled, stitch->amounts.threads[position].estimated_ns);
    add_amount(stitch, 0, column_of(stitch, COLUMN_WORK), work_ns, &record->work_ns); /* where is not known */
  }
  release_values(&values);
}

/* Marks the contexts in which the thread was the first one to meet a construct. */
static void add_marks(struct stitch *stitch, uint32_t position)
{
  const struct construct_contexts *found = &stitch->constructs;
  size_t first = FIRST_WHERE(i, found->count, found->all[i].thread >= position);
  for (size_t i = first; i < found->count && found->all[i].thread == position; i++) {
    const struct construct_context *met = &found->all[i];
    uint32_t context = node_map_context(&stitch->map, position, met->tree);
    if (context == MODEL_NONE)
      node_map_fault(&stitch->map, NODE_MAP_FAULT_CONSTRUCT, (struct node_id){position, met->tree});
    else if (context)
      contexts_add_construct(stitch->map.contexts, &(struct context_construct){.owner = stitch->map.process->number,
                                                                               .construct = met->node,
                                                                               .context = context});
  }
}

/* The context in which a thread did something that a record tells; MODEL_NONE if it is not known. */
static uint32_t met_context(struct stitch *stitch, uint32_t position, uint32_t node, enum node_map_fault fault)
{
  if (!node)
    return MODEL_NONE;
  uint32_t context = node_map_context(&stitch->map, position, node);
  if (context == MODEL_NONE)
    node_map_fault(&stitch->map, fault, (struct node_id){position, node});
  return context;
}

/* The wait for the lock that was open when the process was killed. */
static double open_ticks(const struct profile_process *process, const struct format_lock *lock)
{
  double end = (double)process->start_ticks + (double)process->wall_ns / process->workspan.tick_ns;
  return process->unfinished && lock->since && (double)lock->since < end ? end - (double)lock->since : 0;
}

/* Adds what the thread did with one lock. */
static void add_lock(struct stitch *stitch, uint32_t position, const struct format_lock *from)
{
  double tick_ns = stitch->map.process->workspan.tick_ns;
  bool placed = from->module && from->module < read_count(stitch->map.file, FORMAT_MODULES);
  const struct context_lock lock = {.owner = stitch->map.process->number,
                                    .thread = position,
                                    .context = met_context(stitch, position, from->node, NODE_MAP_FAULT_LOCK),
                                    .module = placed ? stitch->map.modules[from->module] : MODEL_NONE,
                                    .offset = from->offset,
                                    .id = from->id,
                                    .kind = from->kind};
  struct context_lock used = lock;
  double open = open_ticks(stitch->map.process, from);
  used.waits = from->waits;
  model_add(&used.waits, open > 0);
  used.wait_ns = model_rounded(((double)from->ticks + open) * tick_ns);
  used.longest_ns = model_rounded(fmax((double)from->longest, open) * tick_ns);
  used.acquired = from->acquisitions;
  used.held_ns = model_rounded((double)from->held * tick_ns);
  if (used.waits || used.acquired || used.held_ns)
    contexts_add_lock(stitch->map.contexts, &used);
  for (unsigned i = 0; i < FORMAT_LOCK_HOLDERS; i++) {
    struct context_lock released = lock;
    released.context = met_context(stitch, position, from->holder[i], NODE_MAP_FAULT_LOCK);
    released.released_ns = from->holder_ns[i];
    if (released.released_ns)
      contexts_add_lock(stitch->map.contexts, &released);
  }
}

/* In a part of the run they are not known: the records are those of the whole run. */
static void add_locks(struct stitch *stitch, uint32_t position)
{
  uint32_t count, unknown = 0, index = stitch->map.process->threads[position].index;
  if (stitch->map.process->in_part)
    return;
  struct format_lock *locks = read_table(stitch->map.file, index, FORMAT_LOCKS, stitch->map.problems, &count);
  for (uint32_t i = 0; i < count && stitch->map.process->workspan.tick_ns > 0; i++) {
    if (locks[i].kind < FORMAT_LOCK_KINDS)
      add_lock(stitch, position, &locks[i]);
    unknown += locks[i].kind >= FORMAT_LOCK_KINDS;
  }
  if (unknown)
    problems_add(stitch->map.problems, "%s: thread %u: locks of a kind that does not exist, left out: %u",
                 stitch->map.process->path, index, unknown);
  free(locks);
}

/* The call that was open when the process was killed. */
static double open_call_ticks(const struct profile_process *process, const struct format_mpi *calls)
{
  double end = (double)process->start_ticks + (double)process->wall_ns / process->workspan.tick_ns;
  return process->unfinished && calls->since && (double)calls->since < end ? end - (double)calls->since : 0;
}

/* A thread's calls of one function in one context. */
static struct context_mpi calls_of(struct stitch *stitch, uint32_t position, const struct format_mpi *from)
{
  double tick_ns = stitch->map.process->workspan.tick_ns, open = open_call_ticks(stitch->map.process, from);
  const struct profile_thread *thread = &stitch->map.process->threads[position];
  struct context_mpi calls = {.owner = stitch->map.process->number,
                              .thread = position,
                              .context = met_context(stitch, position, from->node, NODE_MAP_FAULT_MPI),
                              .function = from->function < MPI_FUNCTIONS ? from->function : MPI_FUNCTION_NONE,
                              .calls = from->calls,
                              .ns = MIN(model_rounded(((double)from->ticks + open) * tick_ns), thread->wall_ns),
                              .decoded = MIN(from->decoded, from->calls),
                              .sent = from->sent,
                              .received = from->received};
  calls.longest_ns = MIN(model_rounded(fmax((double)from->longest, open) * tick_ns), calls.ns);
  model_add(&calls.calls, open > 0);
  calls.preempted_ns = MIN(model_rounded((double)from->preempted * tick_ns), calls.ns);
  return calls;
}

/* Adds the thread's time in calls to their contexts, so that all together are what it was in MPI with a core: what it
 * waited for a core after it was woken is only known in sum. */
static void charge_calls(struct stitch *stitch, struct profile_thread *thread, const struct context_mpi *calls,
                         uint32_t count)
{
  double sum_ns = 0, before = 0;
  uint64_t charged = 0;
  for (uint32_t i = 0; i < count; i++)
    sum_ns += (double)(calls[i].ns - calls[i].preempted_ns);
  double part = sum_ns > (double)thread->mpi_ns ? (double)thread->mpi_ns / sum_ns : 1;
  for (uint32_t i = 0; i < count; i++) {
    before += (double)(calls[i].ns - calls[i].preempted_ns);
    uint64_t own_ns = model_rounded(before * part) - charged;
    uint32_t context = calls[i].context == MODEL_NONE ? 0 : calls[i].context;
    charged += own_ns;
    if (stitch->mpi != MODEL_NONE)
      contexts_value(stitch->map.contexts, context, stitch->mpi, own_ns);
    if (!contexts_in_region(stitch->map.contexts, context))
      model_add(&thread->mpi_outside_ns, own_ns);
  }
}

/* Adds a thread's calls of MPI. */
static void add_mpi(struct stitch *stitch, uint32_t position)
{
  struct profile_thread *thread = &stitch->map.process->threads[position];
  uint32_t count, kept = 0;
  if (stitch->map.process->in_part)
    return;
  struct format_mpi *from = read_table(stitch->map.file, thread->index, FORMAT_MPI, stitch->map.problems, &count);
  struct context_mpi *calls = xcalloc(count, sizeof *calls);
  for (uint32_t i = 0; i < count && stitch->map.process->workspan.tick_ns > 0; i++) {
    calls[kept] = calls_of(stitch, position, &from[i]);
    if (!calls[kept].calls)
      continue;
    contexts_add_mpi(stitch->map.contexts, &calls[kept]);
    kept++;
  }
  charge_calls(stitch, thread, calls, kept);
  thread->mpi_outside_ns = MIN(thread->mpi_outside_ns, thread->mpi_ns);
  free(calls);
  free(from);
}

static void stitch_thread(struct stitch *stitch, uint32_t position)
{
  assert(node_map_owns(&stitch->map, position));
  node_map_resolve_thread(&stitch->map, position);
  add_values(stitch, position);
  add_user_counts(stitch, position);
  add_marks(stitch, position);
  add_locks(stitch, position);
  add_mpi(stitch, position);
  node_map_unload(&stitch->map, position);
  node_map_report(&stitch->map, position);
}

/* The square of the standard error of the span that light regions, or executions in them, add: see
 * merge/construct_records.c. */
static uint64_t light_error(const struct profile_directive *directive)
{
  enum { LEAST = 8 }; /* executions from which the variance is known */
  double stood = (double)directive->stood, factor = (double)directive->light / stood;
  double squares = (double)directive->stood_spread - stood; /* sum of v * v */
  if (!directive->stood || directive->stood_squares == UINT64_MAX || stood * stood < LEAST * squares)
    return UINT64_MAX;
  double mean = (double)directive->stood_span / stood;
  double variance = fmax(0, (double)directive->stood_squares / stood - mean * mean);
  return model_rounded(variance * (double)directive->stood_spread * factor * factor);
}

/* Adds what light instances have done, by those that stand for them.  The span of mutual exclusion is its work; the
 * work of regions is known. */
static void add_light(struct profile_directive *directive)
{
  bool exclusive = directive->kind == DIRECTIVE_LOCK || directive->kind == DIRECTIVE_CRITICAL;
  uint64_t followed = model_difference(directive->instances, directive->light);
  if (!directive->light)
    return;
  directive->error_squares = exclusive ? 0 : light_error(directive);
  double light = (double)directive->light, work = 0, span = 0;
  if (directive->stood) {
    work = (double)directive->stood_work / (double)directive->stood * light;
    span = (double)directive->stood_span / (double)directive->stood * light;
  } else if (followed && !exclusive) {
    work = (double)directive->work / (double)followed * light;
    span = (double)directive->span / (double)followed * light;
  }
  if (directive->kind != DIRECTIVE_PARALLEL)
    model_add(&directive->work, model_rounded(work));
  model_add(&directive->span, model_rounded(exclusive ? work : span));
}

/* Copies the file's directives.  An invalid record keeps its number and counts as the program. */
static void take_directives(struct stitch *stitch, uint64_t faults[FAULTS])
{
  struct profile_workspan *workspan = &stitch->map.process->workspan;
  const struct format_directive *records = read_records(stitch->map.file, FORMAT_DIRECTIVES);
  uint32_t count = read_count(stitch->map.file, FORMAT_DIRECTIVES);
  workspan->directives = xcalloc((size_t)count + 1, sizeof *workspan->directives);
  workspan->directives_count = count ? count : 1;
  for (uint32_t i = 0; i < workspan->directives_count; i++) {
    struct profile_directive *directive = &workspan->directives[i];
    if (i)
      directive->stored = records[i];
    else if (count)
      directive->device_time = records[i].device_time;
    add_light(directive);
    uint32_t kind = directive->kind, module = directive->module;
    bool valid = i && kind > DIRECTIVE_PROGRAM && construct_is_directive(kind);
    bool placed = module && module < read_count(stitch->map.file, FORMAT_MODULES);
    faults[FAULT_KIND] += i && (!valid || (module && !placed));
    directive->kind = valid ? kind : DIRECTIVE_PROGRAM;
    directive->device_time = valid || !i ? directive->device_time : 0;
    if (directive->device > DEVICES_MOST && directive->device != DEVICE_NONE)
      directive->device = 0;
    directive->module = placed ? stitch->map.modules[module] : MODEL_NONE;
    directive->name = xstrdup(valid ? read_string(stitch->map.file, directive->stored.name) : "");
  }
}

/* The merged context of a contribution, MODEL_NONE if it has none or is at the root. */
static uint32_t contribution_context(struct stitch *stitch, const struct format_contribution *from, uint32_t position,
                                     uint64_t faults[FAULTS])
{
  if (!from->thread)
    return MODEL_NONE;
  uint32_t found = position == MODEL_NONE ? MODEL_NONE : node_map_context(&stitch->map, position, from->node);
  faults[FAULT_CONTEXT] += found == MODEL_NONE;
  return found ? found : MODEL_NONE;
}

/* Copies the contributions of this part's threads to the span, cut off where the sum of all exceeds it.  The first part
 * takes those without a thread as well; what is missing becomes a share of the program.  Invariant: sum of the shares
 * of all parts = span. */
static void take_contributions(struct stitch *stitch, uint64_t faults[FAULTS])
{
  assert(stitch->map.threads);
  const struct profile_workspan *workspan = &stitch->map.process->workspan;
  uint64_t remaining = workspan->span;
  const struct format_contribution *records = read_records(stitch->map.file, FORMAT_CONTRIBUTIONS);
  for (uint32_t i = 0; i < read_count(stitch->map.file, FORMAT_CONTRIBUTIONS); i++) {
    struct format_contribution from = records[i];
    uint64_t amount = MIN(from.amount, remaining);
    uint32_t position = from.thread ? profile_thread_position(stitch->map.process, from.thread) : MODEL_NONE;
    remaining -= amount;
    if (position == MODEL_NONE ? stitch->map.first : !node_map_owns(&stitch->map, position))
      continue;
    bool known = from.directive < workspan->directives_count &&
                 (!from.directive || workspan->directives[from.directive].kind != DIRECTIVE_PROGRAM);
    faults[FAULT_DIRECTIVE] += !known;
    faults[FAULT_EXCESS] += from.amount > amount;
    struct context_share share = {.owner = stitch->map.process->number,
                                  .directive = known ? from.directive : 0,
                                  .context = contribution_context(stitch, &from, position, faults),
                                  .position = i,
                                  .amount = amount};
    if (share.amount)
      contexts_add_share(stitch->map.contexts, &share);
  }
  struct context_share unattributed = {
      .owner = stitch->map.process->number, .context = MODEL_NONE, .position = MODEL_NONE, .amount = remaining};
  if (remaining && !stitch->map.first)
    contexts_add_share(stitch->map.contexts, &unattributed);
}

static void release(struct stitch *stitch)
{
  node_map_release(&stitch->map);
  free(stitch->columns);
  free(stitch->roles);
  exact_waits_close(&stitch->amounts);
  free(stitch->constructs.all);
}

/* What is wrong with the threads of a part. */
struct part_faults {
  struct problems problems;
  uint64_t workspan[FAULTS];
};

/* What the workers share that stitch the parts of a process. */
struct run {
  const struct stitch *stitch; /* without threads */
  struct contexts *contexts;   /* [worker] */
  struct part_faults faults[PARTS_MAX];
  uint32_t parts;
};

static void stitch_part(void *argument, uint32_t number, unsigned worker)
{
  struct run *run = argument;
  struct stitch part = *run->stitch;
  struct node_map *map = &part.map;
  uint64_t threads = map->process->threads_count;
  map->file = read_another(map->file);
  map->contexts = &run->contexts[worker];
  map->problems = &run->faults[number].problems;
  map->first = (uint32_t)(threads * number / run->parts);
  map->end = (uint32_t)(threads * (number + 1) / run->parts);
  node_map_init_threads(map);
  for (uint32_t i = map->first; i < map->end; i++)
    stitch_thread(&part, i);
  if (map->process->workspan.known)
    take_contributions(&part, run->faults[number].workspan);
  node_map_release_threads(map);
  free(map->file);
}

static void stitch_parts(struct stitch *stitch, struct contexts *contexts, unsigned workers)
{
  assert(workers);
  const struct node_map *map = &stitch->map;
  struct run run = {.stitch = stitch, .contexts = contexts, .parts = map->process->threads_count / PART_THREADS};
  run.parts = MIN(MAX(run.parts, 1), PARTS_MAX);
  struct profile_workspan *workspan = &map->process->workspan;
  for (uint32_t i = 0; i < map->process->threads_count && workspan->known;
       i++) /* of a killed one only times are used */
    model_add(&workspan->work, map->process->threads[i].work);
  take_directives(stitch, run.faults[0].workspan);
  construct_records_read(map->file, map->process, map->problems, &stitch->constructs);
  workers_run(workers, run.parts, stitch_part, &run);
  uint64_t sum[FAULTS] = {0};
  for (uint32_t i = 0; i < run.parts; i++) {
    problems_append(map->problems, &run.faults[i].problems);
    for (int k = 0; k < FAULTS; k++)
      sum[k] += run.faults[i].workspan[k];
  }
  for (int k = 0; k < FAULTS; k++)
    if (sum[k])
      problems_add(map->problems, "%s: %s: %llu", map->process->path, fault_text[k], (unsigned long long)sum[k]);
}

void stitch_file(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                 enum profile_baseline baseline, struct contexts *contexts, unsigned workers, struct problems *problems)
{
  assert(contexts->count && workers);
  struct stitch stitch = {.map = {.file = file, .process = process, .catalog = catalog, .problems = problems},
                          .baseline = baseline};
  intern_tables(&stitch);
  if (stitch.shares != MODEL_NONE)
    exact_waits_open(file, process, baseline, problems, &stitch.amounts);
  if (stitch.idleness != MODEL_NONE && stitch.amounts.unseen_ns)
    contexts_value(contexts, 0, stitch.idleness, stitch.amounts.unseen_ns);
  if (stitch.idleness != MODEL_NONE) {
    process->unblamed_idle_ns = stitch.amounts.unseen_ns;
    memcpy(process->unseen_ns, stitch.amounts.unseen_while, sizeof process->unseen_ns);
  }
  stitch_parts(&stitch, contexts, workers);
  release(&stitch);
}

struct stitch *stitch_open(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                           struct contexts *contexts)
{
  assert(contexts->count);
  struct stitch *stitch = xcalloc(1, sizeof *stitch);
  stitch->map = (struct node_map){.file = file,
                                  .process = process,
                                  .catalog = catalog,
                                  .contexts = contexts,
                                  .problems = &stitch->map.ignored,
                                  .only_find = true};
  node_map_init_threads(&stitch->map);
  intern_tables(stitch);
  return stitch;
}

void stitch_close(struct stitch *stitch)
{
  release(stitch);
  free(stitch);
}

/* Appends the values of a thread's nodes in one of the file's columns. */
static void take_amounts(struct stitch *stitch, uint32_t position, struct thread_values *values, uint32_t column,
                         struct stitch_amounts *amounts)
{
  assert(stitch->roles && stitch->map.threads[position].nodes);
  values->shares_unread = values->shares_count;
  const struct node_map_thread *thread = &stitch->map.threads[position];
  const struct exact_waits_thread *waits = stitch->shares == MODEL_NONE ? NULL : &stitch->amounts.threads[position];
  bool lockwait = waits && stitch->roles[column] == COLUMN_LOCKWAIT;
  bool overhead = waits && stitch->roles[column] == COLUMN_OVERHEAD;
  uint32_t columns = read_columns_count(stitch->map.file);
  size_t needed = (size_t)amounts->count + thread->count + (waits ? waits->count : 0);
  xarray_reserve(&amounts->amounts, &amounts->room, needed, sizeof *amounts->amounts);
  for (uint32_t i = 0; i < thread->count; i++) {
    uint32_t value = thread->nodes[i].value;
    const uint64_t *cells = value && value < values->count ? values->values + (size_t)value * columns : NULL;
    uint64_t amount = 0;
    if (cells)
      amount = lockwait ? waiting_of(stitch, position, values, cells).lock_ns : cells[column];
    uint32_t context = amount ? node_map_context(&stitch->map, position, i) : MODEL_NONE;
    if (context != MODEL_NONE)
      amounts->amounts[amounts->count++] = (struct stitch_amount){.context = context, .amount = amount};
  }
  for (uint32_t i = 0; (lockwait || overhead) && i < waits->count; i++) {
    const struct exact_wait *wait = &waits->waits[i];
    uint64_t amount = 0;
    if (overhead)
      amount = wait->runtime_ns;
    else if (wait->lock)
      amount = wait->unseen_ns;
    if (amount)
      amounts->amounts[amounts->count++] =
          (struct stitch_amount){.context = waiting_node(stitch, position, wait), .amount = amount};
  }
}

void stitch_amounts(struct stitch *stitch, uint32_t position, uint32_t column, struct stitch_amounts *amounts)
{
  assert(position < stitch->map.process->threads_count);
  struct thread_values values;
  amounts->count = 0;
  node_map_resolve_thread(&stitch->map, position);
  if (stitch->shares != MODEL_NONE && !stitch->amounts.threads)
    exact_waits_open(stitch->map.file, stitch->map.process, BASELINE_THREAD, stitch->map.problems, &stitch->amounts);
  load_values(stitch, position, &values);
  for (uint32_t i = 0; i < read_columns_count(stitch->map.file); i++)
    if (stitch->columns[i] == column)
      take_amounts(stitch, position, &values, i, amounts);
  release_values(&values);
  node_map_unload(&stitch->map, position);
}

void stitch_find(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                 struct contexts *contexts, const struct stitch_node *nodes, uint32_t count, uint32_t *found)
{
  assert(nodes || !count);
  struct stitch *stitch = stitch_open(file, process, catalog, contexts);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t position = profile_thread_position(stitch->map.process, nodes[i].thread);
    uint32_t context = position == MODEL_NONE ? 0 : node_map_find(&stitch->map, position, nodes[i].node);
    found[i] = context ? context : MODEL_NONE;
  }
  stitch_close(stitch);
}
