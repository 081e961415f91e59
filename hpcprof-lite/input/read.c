#include "hpcprof-lite/input/read.h"

#include "common/format.h"
#include "hpcprof-lite/input/file_tables.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert((int)CONTEXT_KINDS == FORMAT_KINDS && (int)CONTEXT_USER_REGION == FORMAT_KIND_USER_REGION, "same kinds");
_Static_assert((int)CONTEXT_FILTERED == FORMAT_KIND_FILTERED, "same kinds");
_Static_assert((int)CONTEXT_LINK == FORMAT_KIND_LINK && (int)CONTEXT_RUNTIME == FORMAT_KIND_RUNTIME, "same kinds");
_Static_assert((int)DIRECTIVE_KINDS == FORMAT_DIRECTIVE_KINDS, "same directives");
_Static_assert((int)CONSTRUCT_KINDS == FORMAT_CONSTRUCT_KINDS && (int)CONSTRUCT_ATOMIC == FORMAT_CONSTRUCT_ATOMIC &&
                   (int)CONSTRUCT_TASK_BUCKETS == FORMAT_TASK_BUCKETS,
               "same constructs");
_Static_assert((int)DIRECTIVE_ORDERED == FORMAT_DIRECTIVE_ORDERED, "same directives");
_Static_assert((int)COLUMN_EVENT == FORMAT_ROLE_EVENT && (int)COLUMN_SHARES == FORMAT_ROLE_SHARES, "same roles");
_Static_assert((int)READ_MARK == FORMAT_MARK && (int)READ_PHASE == FORMAT_PHASE, "same kinds");
_Static_assert((int)READ_WAIT_PARKED == FORMAT_WAIT_PARKED && (int)READ_WAIT_LOCK == FORMAT_WAIT_LOCK, "same kinds");
_Static_assert((int)MODULE_ANON == FORMAT_MODULE_ANON && (int)THREAD_OPENMP == FORMAT_THREAD_OPENMP, "same flags");
_Static_assert((int)PROCESS_ONLINE == FORMAT_PROCESS_ONLINE, "same flags");

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
  free(part->values);
  free(part->waits);
  free(part->shares);
  free(part->constructs);
  free(part->tasks);
  free(part->user_counts);
  free(part->nodes);
  *part = (struct read_part){0};
}

static int by_thread(const void *key, const void *element)
{
  uint32_t thread = *(const uint32_t *)key, other = ((const struct read_part *)element)->thread;
  return (thread > other) - (thread < other);
}

/* The tables that take the place of a thread's, NULL: none. */
static const struct read_part *part_of(const struct read_file *file, uint32_t thread)
{
  static const struct read_part nothing;
  if (!file->parts)
    return NULL;
  const struct read_part *part = bsearch(&thread, file->parts, file->parts_count, sizeof *part, by_thread);
  return part ? part : &nothing;
}

/* Sets *into to a copy of an array.  Returns 0 or ERR_NOMEM. */
static int copy(const void *array, uint32_t count, size_t size, void *into)
{
  void *made = calloc((size_t)count + 1, size);
  if (made && count)
    memcpy(made, array, count * size);
  memcpy(into, &made, sizeof made);
  return made ? 0 : ERR_NOMEM;
}

/* ---- the file ---- */

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
  static const char *const suffixes[] = {READ_SUFFIX, READ_LIVE_SUFFIX, READ_PART_SUFFIX};
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
static int take_workspan(const struct read_file *file, const struct format_process *record,
                         struct profile_workspan *workspan)
{
  const char *unit = file_tables_string(&file->tables, record->work_unit);
  workspan->known = *unit != 0;
  workspan->unit = strdup(unit);
  workspan->is_time = !strcmp(unit, "s");
  workspan->span = record->span;
  workspan->burdened = record->span_burdened;
  workspan->unseen = record->unseen;
  workspan->tick_ns = (double)record->tick_scale / 4294967296.0;
  workspan->cost_fork = record->cost_fork;
  workspan->cost_task = record->cost_task;
  workspan->cost_join = record->cost_join;
  return workspan->unit ? 0 : ERR_NOMEM;
}

/* Computes what a process records at its end from its threads, up to their last samples. */
static void derive_process(struct profile_process *process)
{
  uint64_t cpu_ns = 0, regions = 0;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    uint64_t end_ns = thread->start_ns + thread->wall_ns;
    cpu_ns += thread->cpu_ns;
    regions += thread->regions;
    if (end_ns > process->wall_ns)
      process->wall_ns = end_ns;
    if (thread->index > process->threads_registered)
      process->threads_registered = thread->index;
  }
  process->regions = regions;
  if (cpu_ns > process->cpu_ns)
    process->cpu_ns = cpu_ns;
}

static void report_gaps(const struct read_file *file, struct problems *problems)
{
  report_gap(file, &file->tables.strings, FORMAT_STRINGS, problems);
  report_gap(file, &file->tables.metrics, FORMAT_METRICS, problems);
  report_gap(file, &file->tables.modules, FORMAT_MODULES, problems);
  report_gap(file, &file->tables.regions, FORMAT_REGIONS, problems);
  report_gap(file, &file->tables.directives, FORMAT_DIRECTIVES, problems);
  report_gap(file, &file->tables.contributions, FORMAT_CONTRIBUTIONS, problems);
  report_gap(file, &file->tables.marks, FORMAT_MARKS, problems);
}

static int by_index(const void *a, const void *b)
{
  uint32_t x = ((const struct profile_thread *)a)->index, y = ((const struct profile_thread *)b)->index;
  return (x > y) - (x < y);
}

static void take_thread(const struct format_thread *record, struct profile_thread *thread)
{
  *thread = (struct profile_thread){
      .index = record->index,
      .tid = record->tid,
      .flags = record->flags,
      .start_ns = record->start_ns,
      .end_ns = record->end_ns,
      .samples = record->samples,
      .samples_idle = record->samples_idle,
      .samples_lockwait = record->samples_lockwait,
      .lockwait_sampled_ns = record->lockwait_sampled_ns,
      .idle_ns = record->idle_ns,
      .lockwait_ns = record->lockwait_ns,
      .tool_ns = record->tool_ns,
      .cpu_ns = record->cpu_ns,
      .wall_ns = record->wall_ns,
      .paused_ns = record->paused_ns < record->wall_ns ? record->paused_ns : record->wall_ns,
      .unsampled_ns = record->unsampled_ns,
      .unsampled_cpu_ns = record->unsampled_cpu_ns,
      .unsampled_delay_ns = record->unsampled_delay_ns,
      .blocked_ns = record->blocked_ns,
      .region_ns = record->region_ns,
      .regions = record->regions,
      .work = record->work,
      .per_busy_ns = record->per_busy_ns,
      .in_use_ns = record->in_use_ns,
      .run_delay_ns = record->run_delay_ns,
      .construct_since = record->construct_open / FORMAT_TIMES < UINT32_MAX ? record->construct_since : 0,
      .construct_open = (uint32_t)(record->construct_open / FORMAT_TIMES),
      .blocked_since = record->blocked_since,
      .construct_time = (uint32_t)(record->construct_open % FORMAT_TIMES),
  };
  memcpy(thread->lost, record->lost, sizeof thread->lost);
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
static int take_threads(const struct read_file *file, struct profile_process *process, struct problems *problems)
{
  struct profile_thread *threads = calloc(file->tables.threads.count + file->tables.refs_count + 1, sizeof *threads);
  if (!threads)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < file->tables.threads.count; i++)
    take_thread((const struct format_thread *)file->tables.threads.data + i, &threads[i]);
  qsort(threads, file->tables.threads.count, sizeof *threads, by_index);
  uint32_t count = 0;
  for (uint32_t i = 0; i < file->tables.threads.count; i++) {
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
  return 0;
}

/* Fills in the process from its record, if it has one, and from its threads. */
static int take_process(struct read_file *file, struct profile_process *process, struct problems *problems)
{
  struct format_process record = {.rank = -1};
  if (file->tables.process.count)
    memcpy(&record, file->tables.process.data, sizeof record);
  else
    problems_add(problems, "%s: no record of the process: its command, host and times are unknown", file->tables.path);
  process->pid = record.pid;
  process->parent_pid = record.parent_pid;
  process->rank = record.rank;
  process->flags = record.flags;
  process->start_ns = record.start_ns;
  process->wall_ns = record.wall_ns;
  process->paused_ns = record.paused_ns < record.wall_ns ? record.paused_ns : record.wall_ns;
  process->unsampled_ns = record.unsampled_ns < record.wall_ns ? record.unsampled_ns : record.wall_ns;
  process->cpu_ns = record.cpu_ns;
  process->cpus = record.cpus;
  process->threads_max = record.threads_max;
  process->threads_registered = record.threads;
  process->regions = record.regions;
  process->start_ticks = record.start_ticks;
  memcpy(process->lost, record.lost, sizeof process->lost);
  file->incomplete = process->unfinished && process->lost[LOSS_UNKEPT];
  report_gaps(file, problems);
  process->host = strdup(file_tables_string(&file->tables, record.host));
  process->command = strdup(file_tables_string(&file->tables, record.command));
  process->runtime = strdup(file_tables_string(&file->tables, record.runtime));
  process->notes = strdup(file_tables_string(&file->tables, record.notes));
  if (!process->host || !process->command || !process->runtime || !process->notes)
    return ERR_NOMEM;
  if (take_workspan(file, &record, &process->workspan))
    return ERR_NOMEM;
  int status = take_threads(file, process, problems);
  if (!status && file->tables.live_size)
    derive_process(process);
  return status;
}

/* Opens the file.  *out is for read_close() also after a failure. */
static int open_tables(const char *path, struct problems *problems, struct read_file **out)
{
  struct read_file *file = calloc(1, sizeof *file);
  char *part = NULL, *flush = NULL;
  *out = file;
  bool live = format_has_suffix(path, READ_LIVE_SUFFIX);
  if (!file || (live && asprintf(&part, "%.*s" READ_PART_SUFFIX, (int)read_stem(path), path) < 0))
    return ERR_NOMEM;
  if (live && asprintf(&flush, "%.*s" FORMAT_FLUSH_SUFFIX, (int)read_stem(path), path) < 0) {
    free(part);
    return ERR_NOMEM;
  }
  int status = file_tables_open(&file->tables, path, flush, part, problems);
  free(flush);
  free(part);
  return status;
}

int read_open_again(const char *path, struct problems *problems, struct read_file **out)
{
  int status = open_tables(path, problems, out);
  if (!status)
    return 0;
  read_close(*out);
  *out = NULL;
  return status;
}

int read_open(const char *path, struct problems *problems, struct profile_process *process, struct read_file **out)
{
  struct read_file *file;
  int status = open_tables(path, problems, &file);
  *out = NULL;
  if (!status)
    status = take_process(file, process, problems);
  if (status) {
    read_close(file);
    return status;
  }
  if (file->tables.refs_count && !file->tables.metrics.count)
    problems_add(problems, "%s: no section 'metrics': its values have no meaning and are left out", path);
  *out = file;
  return 0;
}

struct read_file *read_another(const struct read_file *file)
{
  struct read_file *another = malloc(sizeof *another);
  if (another)
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
  uint32_t all = file->tables.metrics.count;
  return file->parts ? file->columns.before + all - file->columns.from : all;
}

static const struct format_metric *metric_of(const struct read_file *file, uint32_t column)
{
  if (file->parts && column >= file->columns.before)
    column += file->columns.from - file->columns.before;
  return (const struct format_metric *)(const void *)file->tables.metrics.data + column;
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
  found.role = COLUMN_EVENT;
  found.counted = metric->role == FORMAT_ROLE_COUNTED;
  found.name =
      *file_tables_string(&file->tables, metric->name) ? file_tables_string(&file->tables, metric->name) : "event";
  found.unit = file_tables_string(&file->tables, metric->unit);
  return found;
}

uint32_t read_modules_count(const struct read_file *file)
{
  return file->tables.modules.count;
}

const char *read_string(const struct read_file *file, uint32_t offset)
{
  return file_tables_string(&file->tables, offset);
}

struct read_module read_module(const struct read_file *file, uint32_t module)
{
  const struct format_module *record = (const struct format_module *)file->tables.modules.data + module;
  const uint32_t id_max = sizeof record->build_id;
  return (struct read_module){.path = file_tables_string(&file->tables, record->path),
                              .build_id = record->build_id,
                              .build_id_size = record->build_id_size < id_max ? record->build_id_size : id_max,
                              .flags = record->flags};
}

uint32_t read_regions_count(const struct read_file *file)
{
  return file->tables.regions.count;
}

struct read_region read_region(const struct read_file *file, uint32_t region)
{
  const struct format_region *record = (const struct format_region *)file->tables.regions.data + region;
  return (struct read_region){.linked =
                                  record->state == FORMAT_REGION_PROVISIONAL || record->state == FORMAT_REGION_FINAL,
                              .open = record->word >> 31 & 1,
                              .owner = record->owner,
                              .link_node = record->link_node};
}

uint32_t read_directives_count(const struct read_file *file)
{
  return file->tables.directives.count;
}

struct read_directive read_directive(const struct read_file *file, uint32_t directive)
{
  const struct format_directive *record = (const struct format_directive *)file->tables.directives.data + directive;
  return (struct read_directive){.kind = record->kind,
                                 .module = record->module,
                                 .flags = record->flags,
                                 .name = file_tables_string(&file->tables, record->name),
                                 .offset = record->offset,
                                 .instances = record->instances,
                                 .work = record->work,
                                 .span = record->span,
                                 .iterations = record->iterations,
                                 .lock_bound = record->lock_bound};
}

uint32_t read_contributions_count(const struct read_file *file)
{
  return file->tables.contributions.count;
}

struct read_contribution read_contribution(const struct read_file *file, uint32_t contribution)
{
  const struct format_contribution *record =
      (const struct format_contribution *)file->tables.contributions.data + contribution;
  return (struct read_contribution){
      .directive = record->directive, .thread = record->thread, .node = record->node, .amount = record->amount};
}

/* Decodes one table of one thread.  Returns 0 or ERR_NOMEM; the caller frees table->data in both cases. */
static int read_table(struct read_file *file, uint32_t thread, uint32_t which, size_t record_size,
                      struct problems *problems, struct file_table *table)
{
  int status = file_tables_of_thread(&file->tables, thread, which, record_size, problems, table);
  if (!status)
    report_gap(file, table, which, problems);
  return status;
}

/* Appends the nodes that a part has in addition. */
static int append_nodes(const struct read_file *file, uint32_t thread, struct read_node **nodes, uint32_t *count)
{
  const struct read_part *part = part_of(file, thread);
  if (!part || !part->nodes_count)
    return 0;
  struct read_node *more = realloc(*nodes, ((size_t)*count + part->nodes_count) * sizeof *more);
  if (!more) {
    free(*nodes);
    *nodes = NULL;
    return ERR_NOMEM;
  }
  memcpy(more + *count, part->nodes, part->nodes_count * sizeof *more);
  *nodes = more;
  *count += part->nodes_count;
  return 0;
}

int read_nodes(struct read_file *file, uint32_t thread, struct problems *problems, struct read_node **nodes,
               uint32_t *count)
{
  struct file_table table = {0};
  *nodes = NULL;
  *count = 0;
  _Static_assert(sizeof(struct read_node) == sizeof(struct format_node), "converted in place");
  if (read_table(file, thread, FORMAT_NODES, sizeof(struct format_node), problems, &table)) {
    free(table.data);
    return ERR_NOMEM;
  }
  for (uint32_t i = 0; i < table.count; i++) {
    struct format_node stored;
    memcpy(&stored, table.data + i * sizeof stored, sizeof stored);
    uint32_t kind = stored.kind_what >> 24;
    struct read_node node = {.parent = stored.parent,
                             .what = stored.kind_what & FORMAT_WHAT_MAX,
                             .kind = kind < CONTEXT_KINDS ? kind : CONTEXT_FREE,
                             .offset = stored.offset,
                             .value = stored.value};
    memcpy(table.data + i * sizeof node, &node, sizeof node);
  }
  *nodes = (struct read_node *)table.data;
  *count = table.count;
  return append_nodes(file, thread, nodes, count);
}

int read_values(struct read_file *file, uint32_t thread, struct problems *problems, uint64_t **values, uint32_t *count)
{
  struct file_table table = {0};
  const struct read_part *part = part_of(file, thread);
  *values = NULL;
  *count = part ? part->values_count : 0;
  if (part)
    return copy(part->values, *count, read_columns_count(file) * sizeof **values, values);
  if (!file->tables.metrics.count)
    return 0;
  if (read_table(file, thread, FORMAT_VALUES, file->tables.metrics.count * sizeof(uint64_t), problems, &table)) {
    free(table.data);
    return ERR_NOMEM;
  }
  *values = (uint64_t *)table.data;
  *count = table.count;
  return 0;
}

int read_waits(struct read_file *file, uint32_t thread, struct problems *problems, struct read_wait **waits,
               uint32_t *count)
{
  struct file_table table = {0};
  const struct read_part *part = part_of(file, thread);
  if (part) {
    *count = part->waits_count;
    return copy(part->waits, *count, sizeof **waits, waits);
  }
  int status = read_table(file, thread, FORMAT_WAITS, sizeof(struct format_wait), problems, &table);
  *waits = status ? NULL : calloc((size_t)table.count + 1, sizeof **waits);
  *count = 0;
  for (; *waits && *count < table.count; ++*count) {
    const struct format_wait *stored = (const struct format_wait *)(const void *)table.data + *count;
    (*waits)[*count] = (struct read_wait){.kind = stored->kind,
                                          .module = stored->module,
                                          .node = stored->node,
                                          .offset = stored->offset,
                                          .count = stored->count,
                                          .idle = stored->idle,
                                          .runtime = stored->runtime,
                                          .since = stored->since,
                                          .shared_ns = stored->shared_ns,
                                          .tool_ns = stored->tool_ns};
  }
  free(table.data);
  return *waits ? 0 : ERR_NOMEM;
}

static struct read_construct construct_of(const struct format_construct *stored)
{
  _Static_assert((int)FORMAT_TIMES == (int)CONSTRUCT_TIMES && (int)FORMAT_TIME_WAIT == (int)CONSTRUCT_TIME_WAIT,
                 "times have the same numbers in the format");
  struct read_construct construct = {.parent = stored->parent,
                                     .kind = stored->kind,
                                     .directive = stored->directive,
                                     .linked = stored->flags & FORMAT_CONSTRUCT_LINK,
                                     .in_wait = stored->flags & FORMAT_CONSTRUCT_IN_WAIT,
                                     .owner = stored->owner,
                                     .link = stored->link,
                                     .node = stored->node,
                                     .count = stored->count,
                                     .chosen = stored->chosen,
                                     .unended = stored->unended,
                                     .wait_own = stored->wait_own,
                                     .wait_spare = stored->wait_spare};
  memcpy(construct.ticks, stored->ticks, sizeof construct.ticks);
  return construct;
}

int read_constructs(struct read_file *file, uint32_t thread, struct problems *problems,
                    struct read_construct **constructs, uint32_t *count)
{
  struct file_table table = {0};
  const struct read_part *part = part_of(file, thread);
  if (part) {
    *count = part->constructs_count;
    return copy(part->constructs, *count, sizeof **constructs, constructs);
  }
  int status = read_table(file, thread, FORMAT_CONSTRUCTS, sizeof(struct format_construct), problems, &table);
  const struct format_construct *stored = (const struct format_construct *)(const void *)table.data;
  *constructs = status ? NULL : calloc((size_t)table.count + 1, sizeof **constructs);
  for (*count = 0; *constructs && *count < table.count; ++*count)
    (*constructs)[*count] = construct_of(&stored[*count]);
  free(table.data);
  return *constructs ? 0 : ERR_NOMEM;
}

unsigned read_counters(const struct read_file *file, const char *names[COUNTERS_MAX])
{
  unsigned count = 0;
  for (uint32_t i = 0; i < read_columns_count(file) && count < COUNTERS_MAX; i++)
    if (read_column(file, i).counted)
      names[count++] = read_column(file, i).name;
  return count;
}

int read_counts(struct read_file *file, uint32_t thread, struct problems *problems, uint64_t **counts, uint32_t *count)
{
  struct file_table table = {0};
  const char *names[COUNTERS_MAX];
  size_t fields = 2 * read_counters(file, names) + 1;
  int status = fields > 1 ? read_table(file, thread, FORMAT_COUNTS, fields * sizeof **counts, problems, &table) : 0;
  *counts = (uint64_t *)(void *)table.data;
  *count = status ? 0 : table.count;
  return status;
}

static struct read_tasks tasks_of(const struct format_tasks *stored)
{
  struct read_tasks tasks = {.directive = stored->directive,
                             .created = stored->created,
                             .undeferred = stored->undeferred,
                             .untied = stored->untied,
                             .dependent = stored->dependent,
                             .created_at = stored->created_at,
                             .create_ticks = stored->create_ticks,
                             .create_timed = stored->create_timed,
                             .started = stored->started,
                             .started_at = stored->started_at,
                             .elsewhere = stored->elsewhere,
                             .ended = stored->ended,
                             .ticks = stored->ticks,
                             .shortest = stored->shortest,
                             .longest = stored->longest,
                             .suspended = stored->suspended};
  memcpy(tasks.histogram, stored->histogram, sizeof tasks.histogram);
  return tasks;
}

int read_tasks(struct read_file *file, uint32_t thread, struct problems *problems, struct read_tasks **tasks,
               uint32_t *count)
{
  struct file_table table = {0};
  const struct read_part *part = part_of(file, thread);
  if (part) {
    *count = part->tasks_count;
    return copy(part->tasks, *count, sizeof **tasks, tasks);
  }
  int status = read_table(file, thread, FORMAT_TASKS, sizeof(struct format_tasks), problems, &table);
  *tasks = status ? NULL : calloc((size_t)table.count + 1, sizeof **tasks);
  *count = 0;
  for (; *tasks && *count < table.count; ++*count)
    (*tasks)[*count] = tasks_of((const struct format_tasks *)(const void *)table.data + *count);
  free(table.data);
  return *tasks ? 0 : ERR_NOMEM;
}

int read_shares(struct read_file *file, uint32_t thread, struct problems *problems, struct read_share **shares,
                uint32_t *count)
{
  struct file_table table = {0};
  const struct read_part *part = part_of(file, thread);
  if (part) {
    *count = part->shares_count;
    return copy(part->shares, *count, sizeof **shares, shares);
  }
  _Static_assert(sizeof(struct read_share) == sizeof(struct format_share), "the same structure");
  int status = read_table(file, thread, FORMAT_SHARES, sizeof(struct format_share), problems, &table);
  if (status)
    free(table.data);
  *shares = status ? NULL : (struct read_share *)(void *)table.data;
  *count = status ? 0 : table.count;
  return status;
}

uint32_t read_marks_count(const struct read_file *file)
{
  return file->tables.marks.count;
}

struct read_mark read_mark(const struct read_file *file, uint32_t mark)
{
  const struct format_mark *record = (const struct format_mark *)(const void *)file->tables.marks.data + mark;
  return (struct read_mark){
      .ticks = record->ticks, .thread = record->thread, .kind = record->kind, .name = record->name};
}

int read_user_counts(struct read_file *file, uint32_t thread, struct problems *problems,
                     struct read_user_count **counts, uint32_t *count)
{
  const struct read_part *part = part_of(file, thread);
  if (part) {
    *count = part->user_counts_count;
    return copy(part->user_counts, *count, sizeof **counts, counts);
  }
  struct file_table table = {0};
  int status = read_table(file, thread, FORMAT_USER_COUNTS, sizeof(struct format_user_count), problems, &table);
  *counts = status ? NULL : calloc((size_t)table.count + 1, sizeof **counts);
  for (*count = 0; *counts && *count < table.count; ++*count) {
    const struct format_user_count *stored = (const struct format_user_count *)(const void *)table.data + *count;
    (*counts)[*count] = (struct read_user_count){.node = stored->node,
                                                 .name = stored->name,
                                                 .count = stored->count,
                                                 .sum = stored->sum,
                                                 .least = stored->least,
                                                 .most = stored->most};
  }
  free(table.data);
  return *counts ? 0 : ERR_NOMEM;
}
