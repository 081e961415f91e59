#include "hpcprof-lite/input/read.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/file_tables.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert((int)CONTEXT_KINDS == FORMAT_KINDS && (int)CONTEXT_USER_REGION == FORMAT_KIND_USER_REGION, "same kinds");
_Static_assert((int)CONTEXT_FILTERED == FORMAT_KIND_FILTERED && (int)CONTEXT_MPI == FORMAT_KIND_MPI, "same kinds");
_Static_assert((int)CONTEXT_LINK == FORMAT_KIND_LINK && (int)CONTEXT_RUNTIME == FORMAT_KIND_RUNTIME, "same kinds");
_Static_assert((int)COLUMN_EVENT == FORMAT_ROLE_EVENT && (int)COLUMN_SHARES == FORMAT_ROLE_SHARES, "same roles");
_Static_assert((int)MODULE_ANON == FORMAT_MODULE_ANON && (int)THREAD_OPENMP == FORMAT_THREAD_OPENMP &&
                   (int)THREAD_HELPER == FORMAT_THREAD_HELPER && (int)THREAD_OF_MPI == FORMAT_THREAD_OF_MPI,
               "same flags");

struct read_file {
  struct file_tables tables;
  bool incomplete;               /* see read_incomplete() */
  const struct read_part *parts; /* see read_replace() */
  uint32_t parts_count;
  struct read_columns columns; /* of the parts */
};

/* ---- a part of the run ---- */

void read_replace(struct read_file *file, const struct read_part *parts, uint32_t count, struct read_columns columns)
{
  assert(parts && !file->parts);
  file->parts = parts;
  file->parts_count = count;
  file->columns = columns;
}

bool read_replaced(const struct read_file *file)
{
  return file->parts != NULL;
}

void read_part_release(struct read_part *part)
{
  for (unsigned i = 0; i < FORMAT_TABLES; i++)
    free(part->tables[i].records);
  *part = (struct read_part){0};
}

ORDER(by_thread, struct read_part, COMPARE(x->thread, y->thread))

/* The tables that take the place of a thread's, NULL: none. */
static const struct read_part *part_of(const struct read_file *file, uint32_t thread)
{
  static const struct read_part nothing;
  if (!file->parts)
    return NULL;
  const struct read_part key = {.thread = thread};
  const struct read_part *part = bsearch(&key, file->parts, file->parts_count, sizeof *part, by_thread);
  return part ? part : &nothing;
}

/* ---- the file ---- */

uint32_t read_count(const struct read_file *file, enum format_table table)
{
  assert(table < FORMAT_TABLES);
  return file->tables.tables[table].count;
}

const void *read_records(const struct read_file *file, enum format_table table)
{
  assert(table < FORMAT_TABLES);
  return file->tables.tables[table].data;
}

/* Reports the first gap in a table, unless it is among the losses of the process. */
static void report_gap(const struct read_file *file, const struct file_table *table, enum format_table which,
                       struct problems *problems)
{
  if (table->gap_end && !file->incomplete)
    problems_add(problems, "%s: section '%s' lacks records %u to %u: what refers to them is incomplete",
                 file->tables.path, format_table_name(which), table->gap_first, table->gap_end - 1);
}

bool read_incomplete(const struct read_file *file)
{
  return file->incomplete;
}

size_t read_stem(const char *path)
{
  assert(path);
  static const char *const suffixes[] = {FORMAT_SUFFIX, FORMAT_LIVE_SUFFIX, FORMAT_PART_SUFFIX};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (format_has_suffix(path, suffixes[i]))
      return strlen(path) - strlen(suffixes[i]);
  return strlen(path);
}

bool read_is_measured(const char *path)
{
  uint64_t magic = 0;
  struct stat status;
  int fd = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  bool measured = fd >= 0 && read(fd, &magic, sizeof magic) == sizeof magic && magic == FORMAT_MAGIC;
  if (fd >= 0)
    close(fd);
  return measured;
}

/* Copies work and span from the record; without a unit they were not computed. */
static void take_workspan(const struct read_file *file, const struct format_process *record,
                          struct profile_workspan *workspan)
{
  const char *unit = file_tables_string(&file->tables, record->work_unit);
  workspan->known = *unit != 0;
  workspan->unit = xstrdup(unit);
  workspan->is_time = !strcmp(unit, "s");
  workspan->span = record->span;
  workspan->burdened = record->span_burdened;
  workspan->unseen = record->unseen;
  workspan->tick_ns = (double)record->tick_scale / 4294967296.0;
}

/* Computes what a process records at its end from its threads, up to their last samples. */
static void derive_process(struct profile_process *process)
{
  uint64_t cpu_ns = 0;
  process->regions = 0;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    cpu_ns += thread->cpu_ns;
    process->regions += thread->regions;
    process->wall_ns = MAX(process->wall_ns, thread->start_ns + thread->wall_ns);
    process->threads_registered = MAX(process->threads_registered, thread->index);
  }
  process->cpu_ns = MAX(process->cpu_ns, cpu_ns);
}

ORDER(by_index, struct profile_thread, COMPARE(x->index, y->index))

/* A hidden helper of the OpenMP runtime: where it slept or was ready to run, it mostly had no task. */
static void take_helper(struct profile_thread *thread)
{
  thread->flags &= ~(uint32_t)FORMAT_THREAD_OPENMP;
  thread->blocked_ns = thread->blocked_since = thread->run_delay_ns = thread->unsampled_ns = 0;
  thread->unsampled_cpu_ns = thread->unsampled_delay_ns = 0;
  thread->switched_seen = thread->switched_preempted = thread->switched_wakes = 0;
  thread->call_preempted = thread->call_wakes = 0;
}

static void take_thread(const struct format_thread *record, struct profile_thread *thread)
{
  static const uint64_t codes_max = (uint64_t)UINT32_MAX * FORMAT_TIMES; /* of constructs, see construct_open */
  thread->stored = *record;
  thread->paused_ns = MIN(record->paused_ns, record->wall_ns);
  /* a thread's first sample stands for a period at least, which may be longer than its life */
  thread->tool_ns = MIN(record->tool_ns, profile_measured_ns(record->wall_ns, thread->paused_ns));
  thread->events_ns = MIN(record->events_ns, record->wall_ns);
  thread->mpi_ns = MIN(record->mpi_ns, record->wall_ns);
  thread->mpi_sampled_ns = MIN(record->mpi_sampled_ns, thread->mpi_ns);
  thread->device_ns = MIN(record->device_ns, record->wall_ns);
  thread->device_sampled_ns = MIN(record->device_sampled_ns, thread->device_ns);
  thread->construct_since = record->construct_open < codes_max ? record->construct_since : 0;
  thread->construct_open = record->construct_open % (codes_max + FORMAT_TIMES);
  if (record->flags & FORMAT_THREAD_HELPER)
    take_helper(thread);
}

/* Appends the threads that have a tree but no record to the `count` sorted ones.  Returns their number. */
static uint32_t append_unrecorded(const struct read_file *file, struct profile_thread *threads, uint32_t count)
{
  uint32_t added = 0;
  for (size_t i = 0; i < file->tables.refs_count; i++) {
    if (i && file->tables.refs[i].owner == file->tables.refs[i - 1].owner)
      continue;
    struct profile_thread key = {.index = file->tables.refs[i].owner};
    if (bsearch(&key, threads, count, sizeof key, by_index))
      continue;
    threads[count + added++] = key;
  }
  return added;
}

/* Fills in the threads, each once, sorted by index, including those of which only the tree was found. */
static void take_threads(const struct read_file *file, struct profile_process *process, struct problems *problems)
{
  const struct format_thread *records = read_records(file, FORMAT_THREAD);
  uint32_t recorded = read_count(file, FORMAT_THREAD);
  struct profile_thread *threads = xcalloc(recorded + file->tables.refs_count, sizeof *threads);
  for (uint32_t i = 0; i < recorded; i++)
    take_thread(&records[i], &threads[i]);
  qsort(threads, recorded, sizeof *threads, by_index);
  uint32_t count = 0;
  for (uint32_t i = 0; i < recorded; i++) {
    bool repeated = count && threads[count - 1].index == threads[i].index;
    if (repeated && file->tables.live_size) { /* it ended just before the kill, so it is in both files */
      if (threads[i].wall_ns > threads[count - 1].wall_ns)
        threads[count - 1] = threads[i];
      continue;
    }
    if (repeated) {
      problems_add(problems, "%s: thread %u is recorded twice: one record is left out", file->tables.path,
                   threads[i].index);
      continue;
    }
    threads[count++] = threads[i];
  }
  uint32_t extra = append_unrecorded(file, threads, count);
  if (extra && !file->incomplete)
    problems_add(problems, "%s: threads with contexts but without a record, whose own times are unknown: %u",
                 file->tables.path, extra);
  process->threads = threads;
  process->threads_count = count + extra;
  qsort(threads, process->threads_count, sizeof *threads, by_index);
}

/* Fills in the process from its record, if it has one, and from its threads. */
static void take_process(struct read_file *file, struct profile_process *process, struct problems *problems)
{
  struct format_process record = {.rank = -1};
  if (read_count(file, FORMAT_PROCESS))
    memcpy(&record, read_records(file, FORMAT_PROCESS), sizeof record);
  else
    problems_add(problems, "%s: no record of the process: its command, host and times are unknown", file->tables.path);
  process->stored = record;
  process->paused_ns = MIN(record.paused_ns, record.wall_ns);
  process->unsampled_ns = MIN(record.unsampled_ns, record.wall_ns);
  process->threads_registered = record.threads;
  file->incomplete = process->unfinished && process->lost[LOSS_UNKEPT];
  for (unsigned i = 0; i < FORMAT_TABLES; i++)
    report_gap(file, &file->tables.tables[i], i, problems);
  process->host = xstrdup(file_tables_string(&file->tables, record.host));
  process->command = xstrdup(file_tables_string(&file->tables, record.command));
  process->runtime = xstrdup(file_tables_string(&file->tables, record.runtime));
  process->notes = xstrdup(file_tables_string(&file->tables, record.notes));
  process->limits = xstrdup(file_tables_string(&file->tables, record.limits));
  process->mpi_library = xstrdup(file_tables_string(&file->tables, record.mpi_library));
  take_workspan(file, &record, &process->workspan);
  take_threads(file, process, problems);
  if (file->tables.live_size)
    derive_process(process);
}

int read_open_again(const char *path, struct problems *problems, struct read_file **out)
{
  struct read_file *file = xcalloc(1, sizeof *file);
  char *part = NULL, *flush = NULL;
  if (format_has_suffix(path, FORMAT_LIVE_SUFFIX)) {
    part = xasprintf("%.*s" FORMAT_PART_SUFFIX, (int)read_stem(path), path);
    flush = xasprintf("%.*s" FORMAT_FLUSH_SUFFIX, (int)read_stem(path), path);
  }
  int status = file_tables_open(&file->tables, path, flush, part, problems);
  free(flush);
  free(part);
  if (status) {
    read_close(file);
    file = NULL;
  }
  *out = file;
  return status;
}

int read_open(const char *path, struct problems *problems, struct profile_process *process, struct read_file **out)
{
  assert(process->path || path);
  int status = read_open_again(path, problems, out);
  if (status)
    return status;
  take_process(*out, process, problems);
  if ((*out)->tables.refs_count && !read_count(*out, FORMAT_METRICS))
    problems_add(problems, "%s: no section 'metrics': its values have no meaning and are left out", path);
  return 0;
}

struct read_file *read_another(const struct read_file *file)
{
  struct read_file *another = xmalloc(sizeof *another);
  *another = *file;
  return another;
}

void read_close(struct read_file *file)
{
  if (!file)
    return;
  file_tables_release(&file->tables);
  free(file);
}

uint32_t read_columns_count(const struct read_file *file)
{
  assert(!file->parts || file->columns.from <= read_count(file, FORMAT_METRICS));
  uint32_t all = read_count(file, FORMAT_METRICS);
  return file->parts ? file->columns.before + all - file->columns.from : all;
}

static const struct format_metric *metric_of(const struct read_file *file, uint32_t column)
{
  assert(column < read_columns_count(file));
  if (file->parts && column >= file->columns.before)
    column += file->columns.from - file->columns.before;
  return (const struct format_metric *)read_records(file, FORMAT_METRICS) + column;
}

/* Figures that reports show as one are columns with the same identity, so that they are added up. */
static struct read_column usage_column(uint32_t usage)
{
  static const struct read_column columns[FORMAT_USAGES] = {
      [FORMAT_USAGE_USER] = {.name = "user", .unit = "ns", .role = COLUMN_USER_CPU},
      [FORMAT_USAGE_SYSTEM] = {.name = "system", .unit = "ns", .role = COLUMN_SYSTEM_CPU},
      [FORMAT_USAGE_MINOR_FAULTS] = {.name = "page_faults", .unit = "", .role = COLUMN_PAGE_FAULTS},
      [FORMAT_USAGE_MAJOR_FAULTS] = {.name = "page_faults", .unit = "", .role = COLUMN_PAGE_FAULTS},
      [FORMAT_USAGE_GIVEN_UP] = {.name = "switches", .unit = "", .role = COLUMN_SWITCHES},
      [FORMAT_USAGE_SWITCHED_OUT] = {.name = "switches", .unit = "", .role = COLUMN_SWITCHES},
      [FORMAT_USAGE_CREATED] = {.name = "threads_created", .unit = "", .role = COLUMN_CREATED},
      [FORMAT_USAGE_CREATING] = {.name = "create", .unit = "ns", .role = COLUMN_CREATING}};
  return columns[usage];
}

struct read_column read_column(const struct read_file *file, uint32_t column)
{
  static const char *const fixed[COLUMN_STORED] = {
      [COLUMN_SAMPLES] = "samples",   [COLUMN_WORK] = "work",         [COLUMN_OVERHEAD] = "overhead",
      [COLUMN_LOCKWAIT] = "lockwait", [COLUMN_PER_BUSY] = "per busy", [COLUMN_IN_USE] = "in use",
      [COLUMN_SHARES] = "shares"};
  const struct format_metric *metric = metric_of(file, column);
  struct read_column found = {.role = metric->role, .period = metric->period};
  if (found.role < COLUMN_STORED && fixed[found.role]) { /* a fixed meaning, which does not need the strings */
    found.name = fixed[found.role];
    found.unit = found.role == COLUMN_SAMPLES ? "" : "ns";
    return found;
  }
  if (found.role - FORMAT_ROLE_USAGE < FORMAT_USAGES)
    return usage_column(found.role - FORMAT_ROLE_USAGE);
  if (found.role == FORMAT_ROLE_BLOCKED)
    return (struct read_column){.name = "blocked", .unit = "ns", .role = COLUMN_BLOCKED};
  if (found.role == FORMAT_ROLE_BLOCKED_NEAR)
    return (struct read_column){.name = "blocked near", .unit = "ns", .role = COLUMN_BLOCKED_NEAR};
  if (found.role == FORMAT_ROLE_BLOCKED_BYTES)
    return (struct read_column){.name = "blocked bytes", .unit = "", .role = COLUMN_BLOCKED_BYTES};
  found.role = COLUMN_EVENT;
  found.counted = metric->role == FORMAT_ROLE_COUNTED;
  found.name =
      *file_tables_string(&file->tables, metric->name) ? file_tables_string(&file->tables, metric->name) : "event";
  found.unit = file_tables_string(&file->tables, metric->unit);
  return found;
}

uint32_t read_column_of(const struct read_file *file, enum column_role role)
{
  for (uint32_t i = 0; i < read_columns_count(file); i++)
    if (read_column(file, i).role == role)
      return i;
  return MODEL_NONE;
}

uint64_t read_period(const struct read_file *file, uint32_t column)
{
  return column == MODEL_NONE ? 0 : read_column(file, column).period;
}

const char *read_string(const struct read_file *file, uint32_t offset)
{
  return file_tables_string(&file->tables, offset);
}

unsigned read_counters(const struct read_file *file, const char *names[COUNTERS_MAX])
{
  unsigned count = 0;
  for (uint32_t i = 0; i < read_columns_count(file) && count < COUNTERS_MAX; i++)
    if (read_column(file, i).counted)
      names[count++] = read_column(file, i).name;
  return count;
}

/* ---- the tables of threads ---- */

/* The numbers in a record of a table whose records have no structure, else 1; 0: such a table has no meaning. */
static size_t numbers_of(const struct read_file *file, enum format_table table)
{
  assert(table < FORMAT_TABLES);
  const char *names[COUNTERS_MAX];
  unsigned counters;
  switch (table) {
  case FORMAT_VALUES:
    return read_count(file, FORMAT_METRICS);
  case FORMAT_COUNTS:
    counters = read_counters(file, names);
    return counters ? 2 * counters + 1 : 0;
  default:
    return 1;
  }
}

/* Light regions only count executions of these; their time is in FORMAT_CONSTRUCT_LIST's light_ticks. */
static bool is_light_inside(uint32_t kind)
{
  return kind == FORMAT_DIRECTIVE_FOR || kind == FORMAT_DIRECTIVE_SECTIONS || kind == FORMAT_DIRECTIVE_SINGLE ||
         kind == FORMAT_DIRECTIVE_MASKED || kind == FORMAT_DIRECTIVE_BARRIER;
}

static uint64_t sum_ticks(const struct format_construct *record)
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < FORMAT_TIMES; i++)
    model_add(&sum, record->ticks[i]);
  return sum;
}

/* Multiplies a record's times, its executions having been followed for only a part of the time.  Returns what that
 * adds. */
static uint64_t scale_times(struct format_construct *record, double factor)
{
  uint64_t before = sum_ticks(record);
  for (unsigned i = 0; i < FORMAT_TIMES; i++)
    record->ticks[i] = model_rounded((double)record->ticks[i] * factor);
  record->wait_own = MIN(model_rounded((double)record->wait_own * factor), record->ticks[FORMAT_TIME_WAIT]);
  record->wait_spare = MIN(model_rounded((double)record->wait_spare * factor), record->ticks[FORMAT_TIME_WAIT]);
  return model_difference(sum_ticks(record), before);
}

/* Divides the time of light regions among the region and what is in it, as that of those that were followed. region_of:
 * the record of the region that each belongs to, 0: none. */
static void divide_light(struct format_construct *constructs, uint32_t count, uint32_t *region_of)
{
  double *followed = xcalloc(count, sizeof *followed);
  uint64_t *added = xcalloc(count, sizeof *added);
  for (uint32_t i = 1; i < count; i++) {
    uint32_t parent = constructs[i].parent;
    region_of[i] = is_light_inside(constructs[i].kind) && parent < i ? region_of[parent] : 0;
    if (constructs[i].light_ticks)
      region_of[i] = i;
    followed[region_of[i]] += (double)sum_ticks(&constructs[i]);
  }
  for (uint32_t i = 1; i < count; i++) {
    uint32_t region = region_of[i];
    if (region && followed[region] > 0)
      model_add(&added[region],
                scale_times(&constructs[i], 1 + (double)constructs[region].light_ticks / followed[region]));
  }
  for (uint32_t i = 1; i < count; i++) /* what rounding has left, or all where none was followed */
    if (constructs[i].light_ticks)
      model_add(&constructs[i].ticks[FORMAT_TIME_BODY], model_difference(constructs[i].light_ticks, added[i]));
  free(added);
  free(followed);
}

static void divide_all_light(struct format_construct *constructs, uint32_t count)
{
  bool any = false;
  for (uint32_t i = 1; i < count && !any; i++)
    any = constructs[i].light_ticks != 0;
  if (!any)
    return;
  uint32_t *region_of = xcalloc(count, sizeof *region_of);
  divide_light(constructs, count, region_of);
  free(region_of);
}

/* Adds the time of a construct's light executions, by those that stand for them.  What is around them has it, which for
 * a lock is right.  Where that is too little, the error is not known. */
static void add_light(struct format_construct *constructs, uint32_t record)
{
  struct format_construct *to = &constructs[record];
  struct format_construct *from = &constructs[to->parent < record ? to->parent : 0];
  bool exclusive =
      to->kind == FORMAT_DIRECTIVE_LOCK || to->kind == FORMAT_DIRECTIVE_CRITICAL || to->kind == FORMAT_CONSTRUCT_ATOMIC;
  if (!to->light || !to->stood || !exclusive)
    return;
  uint64_t ticks = model_rounded((double)to->stood_ticks / (double)to->stood * (double)to->light);
  if (to->kind != FORMAT_DIRECTIVE_LOCK) {
    uint64_t *around = &from->ticks[to->flags & FORMAT_CONSTRUCT_IN_WAIT ? FORMAT_TIME_WAIT : FORMAT_TIME_BODY];
    if (ticks > *around)
      to->stood_squares = UINT64_MAX;
    ticks = MIN(ticks, *around);
    *around -= ticks;
  }
  model_add(&to->ticks[FORMAT_TIME_BODY], ticks);
}

/* Removes what no record of a file has, and adds light executions. */
static void clean(enum format_table table, struct file_table *from)
{
  _Static_assert(sizeof(struct read_node) == sizeof(struct format_node) &&
                     offsetof(struct read_node, value) == offsetof(struct format_node, value) &&
                     offsetof(struct read_node, parent) == offsetof(struct format_node, parent),
                 "the same record");
  struct format_construct *constructs = (void *)from->data;
  struct format_tasks *tasks = (void *)from->data;
  struct read_node *nodes = (void *)from->data;
  for (uint32_t i = 0; i < from->count && table == FORMAT_NODES; i++)
    nodes[i].kind = nodes[i].kind < CONTEXT_KINDS ? nodes[i].kind : CONTEXT_FREE;
  for (uint32_t i = 0; i < from->count && table == FORMAT_CONSTRUCTS; i++)
    constructs[i].flags &= ~READ_CUT;
  if (table == FORMAT_CONSTRUCTS)
    divide_all_light(constructs, from->count);
  for (uint32_t i = 1; i < from->count && table == FORMAT_CONSTRUCTS; i++)
    add_light(constructs, i);
  for (uint32_t i = 0; i < from->count && table == FORMAT_TASKS; i++)
    tasks[i].reserved = 0;
}

void *read_table(struct read_file *file, uint32_t thread, enum format_table table, struct problems *problems,
                 uint32_t *count)
{
  assert(table < FORMAT_TABLES && count);
  const struct read_part *part = part_of(file, thread);
  struct file_table found = {0};
  size_t numbers = numbers_of(file, table), size = file_tables_record_size(table) * numbers;
  bool replaced = part && table != FORMAT_NODES && table != FORMAT_COUNTS;
  if (part && table == FORMAT_VALUES)
    size = read_columns_count(file) * sizeof(uint64_t);
  if (!replaced && numbers)
    file_tables_of_thread(&file->tables, thread, table, numbers, problems, &found);
  report_gap(file, &found, table, problems);
  clean(table, &found);
  uint32_t more = part ? part->tables[table].count : 0;
  if (more) {
    found.data = xrealloc(found.data, ((size_t)found.count + more) * size);
    memcpy(found.data + found.count * size, part->tables[table].records, more * size);
  }
  *count = found.count + more;
  return found.data ? found.data : xcalloc(1, 1);
}
