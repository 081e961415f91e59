#include "hpcprof-lite/input/read.h"

#include "common/array.h"
#include "common/format.h"
#include "hpcprof-lite/input/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)CONTEXT_KINDS == FORMAT_KINDS && (int)CONTEXT_USER_REGION == FORMAT_KIND_USER_REGION, "same kinds");
_Static_assert((int)CONTEXT_LINK == FORMAT_KIND_LINK && (int)CONTEXT_RUNTIME == FORMAT_KIND_RUNTIME, "same kinds");
_Static_assert((int)DIRECTIVE_KINDS == FORMAT_DIRECTIVE_KINDS, "same directives");
_Static_assert((int)DIRECTIVE_ORDERED == FORMAT_DIRECTIVE_ORDERED, "same directives");
_Static_assert((int)COLUMN_EVENT == FORMAT_ROLE_EVENT && (int)COLUMN_SHARES == FORMAT_ROLE_SHARES, "same roles");
_Static_assert((int)READ_WAIT_PARKED == FORMAT_WAIT_PARKED && (int)READ_WAIT_LOCK == FORMAT_WAIT_LOCK, "same kinds");
_Static_assert((int)MODULE_ANON == FORMAT_MODULE_ANON && (int)THREAD_OPENMP == FORMAT_THREAD_OPENMP, "same flags");
_Static_assert((int)PROCESS_ONLINE == FORMAT_PROCESS_ONLINE, "same flags");

/* The most records that a table may have: far more than hpcrun-lite writes.  Bounds memory where a damaged file claims
 * more. */
static const uint32_t table_max[FORMAT_TABLES] = {
    [FORMAT_PROCESS] = 1,           [FORMAT_STRINGS] = 64u << 20,
    [FORMAT_METRICS] = 64,          [FORMAT_MODULES] = 1u << 20,
    [FORMAT_REGIONS] = 4u << 20,    [FORMAT_THREAD] = 1u << 20,
    [FORMAT_NODES] = 4u << 20,      [FORMAT_VALUES] = 4u << 20,
    [FORMAT_DIRECTIVES] = 1u << 16, [FORMAT_CONTRIBUTIONS] = 4u << 20,
    [FORMAT_WAITS] = 1u << 12,      [FORMAT_SHARES] = 16u << 20,
};
static const size_t table_bytes_max = 512u << 20;

/* A file may decompress to budget_floor + budget_factor * (its size) bytes: more than any sound file does. */
static const size_t budget_floor_bytes = 16u << 20, budget_factor = 64;

/* The records of one table, put together from its chunks; records that no chunk holds are zero. */
struct table {
  uint8_t *data;
  uint32_t count, room;
  uint32_t gap_first, gap_end; /* the first gap; gap_end 0: none */
};

/* A chunk of a thread's tree or values that is decoded later. */
struct chunk_ref {
  uint32_t owner, table;
  size_t offset;
};

struct read_file {
  const char *path; /* the caller's */
  struct load load;
  uint64_t budget_bytes; /* that may still be decompressed */
  bool incomplete;       /* see read_incomplete() */
  size_t live_size;      /* bytes of the live file; the file of its ended threads follows.  0: not a live file */
  struct table process, strings, metrics, modules, regions, threads, directives, contributions;
  struct chunk_ref *refs; /* sorted by owner, table, offset */
  size_t refs_count, refs_room;
};

/* Grows the table to `count` records; new ones are zero.  Returns 0 or ERR_NOMEM. */
static int table_grow(struct table *table, uint32_t count, size_t record_size)
{
  if (count <= table->count)
    return 0;
  if (count > table->room) {
    uint32_t room = table->room && count < table->room * 2 ? table->room * 2 : count;
    uint8_t *data = calloc(room, record_size);
    if (!data)
      return ERR_NOMEM;
    if (table->count)
      memcpy(data, table->data, table->count * record_size);
    free(table->data);
    table->data = data;
    table->room = room;
  }
  table->count = count;
  return 0;
}

/* Takes bytes off the budget; false if it does not suffice. */
static bool spend(struct read_file *file, uint64_t bytes)
{
  bool enough = bytes <= file->budget_bytes;
  file->budget_bytes -= enough ? bytes : 0;
  return enough;
}

/* Whether a table may have the records of the chunk, beginning with `first`, and the budget suffices for them. */
static bool plausible(struct read_file *file, const struct table *table, const struct format_chunk *head,
                      uint32_t first, size_t record_size)
{
  uint32_t max = table_max[head->table];
  if (first > max || head->count > max - first || (first + head->count) * record_size > table_bytes_max)
    return false;
  uint32_t end = first + head->count;
  return end <= table->count || spend(file, (end - table->count) * (uint64_t)record_size);
}

/* Reports the first gap in a table, unless it is among the losses of the process. */
static void report_gap(const struct read_file *file, const struct table *table, enum format_table which,
                       struct problems *problems)
{
  if (table->gap_end && !file->incomplete)
    problems_add(problems, "%s: section '%s' lacks records %u to %u: what refers to them is incomplete", file->path,
                 format_table_name(which), table->gap_first, table->gap_end - 1);
}

/* Copies a chunk's records into the table, beginning at `first`.  Notes a gap, and reports an impossible place.
 * Returns 0 or ERR_NOMEM. */
static int table_put(struct read_file *file, struct table *table, const struct format_view *view, uint32_t first,
                     size_t record_size, struct problems *problems)
{
  const struct format_chunk *head = &view->head;
  if (!head->count)
    return 0;
  if (!plausible(file, table, head, first, record_size)) {
    problems_add(problems, "%s: section '%s' claims records %u to %llu, more than any run has: left out", file->path,
                 format_table_name(head->table), first, (unsigned long long)first + head->count);
    return 0;
  }
  if (first > table->count && !table->gap_end) {
    table->gap_first = table->count;
    table->gap_end = first;
  }
  if (table_grow(table, first + head->count, record_size))
    return ERR_NOMEM;
  for (uint32_t i = 0; i < head->count; i++)
    format_record(view, i, table->data + (size_t)(first + i) * record_size, record_size);
  return 0;
}

bool read_incomplete(const struct read_file *file)
{
  return file->incomplete;
}

/* The string at that offset, "" if the offset is invalid.  end_strings() ensures that it ends inside the table. */
static const char *string_at(const struct read_file *file, uint32_t offset)
{
  return offset < file->strings.count ? (const char *)file->strings.data + offset : "";
}

static int add_ref(struct read_file *file, const struct format_chunk *head, size_t offset)
{
  if (!array_reserve(&file->refs, &file->refs_room, file->refs_count + 1, sizeof *file->refs))
    return ERR_NOMEM;
  file->refs[file->refs_count++] = (struct chunk_ref){.owner = head->owner, .table = head->table, .offset = offset};
  return 0;
}

static int by_owner(const void *a, const void *b)
{
  const struct chunk_ref *x = a, *y = b;
  if (x->owner != y->owner)
    return x->owner < y->owner ? -1 : 1;
  if (x->table != y->table)
    return x->table < y->table ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Whether the chunk at `offset` need not be decoded now: it holds nodes or values of a thread, and another chunk or the
 * end of the file follows it.  All other chunks are left to format_next(). */
static bool skippable(const struct read_file *file, size_t offset, struct format_chunk *head)
{
  static const uint64_t magic = FORMAT_MAGIC;
  if (file->load.size - offset < sizeof *head)
    return false;
  memcpy(head, file->load.bytes + offset, sizeof *head);
  if (head->magic != magic || head->version != FORMAT_VERSION)
    return false;
  if (head->table != FORMAT_NODES && head->table != FORMAT_VALUES && head->table != FORMAT_WAITS &&
      head->table != FORMAT_SHARES)
    return false;
  size_t rest = file->load.size - offset - sizeof *head;
  if (head->stored_size > rest)
    return false;
  rest -= head->stored_size;
  return rest == 0 ||
         (rest >= sizeof magic && !memcmp(file->load.bytes + file->load.size - rest, &magic, sizeof magic));
}

/* Whether the chunk at `offset` decompresses to more than the budget allows; *next is then the offset behind it. */
static bool excessive(struct read_file *file, size_t offset, struct format_chunk *head, size_t *next)
{
  static const uint64_t magic = FORMAT_MAGIC;
  if (file->load.size - offset < sizeof *head)
    return false;
  memcpy(head, file->load.bytes + offset, sizeof *head);
  if (head->magic != magic || !(head->flags & FORMAT_ZSTD) ||
      head->stored_size > file->load.size - offset - sizeof *head)
    return false;
  *next = offset + sizeof *head + head->stored_size;
  return !spend(file, (uint64_t)head->count * head->record_size);
}

/* Whether the chunk is in the file of ended threads but describes the whole process, as the live file already does. */
static bool repeats_live_file(const struct read_file *file, const struct format_view *view, size_t offset)
{
  uint32_t table = view->head.table;
  return file->process.count && offset >= file->live_size && file->live_size &&
         (table == FORMAT_PROCESS || table == FORMAT_REGIONS || table == FORMAT_DIRECTIVES ||
          table == FORMAT_CONTRIBUTIONS);
}

/* Moves *offset beyond free space between live chunks: a table that was freed, or zeros where no chunk was begun.
 * Returns false if there is none at *offset. */
static bool skip_free_space(const struct read_file *file, size_t *offset)
{
  static const uint64_t magic = FORMAT_MAGIC;
  struct format_chunk head;
  if (*offset >= file->live_size || *offset % FORMAT_UNIT || file->live_size - *offset < sizeof head)
    return false;
  memcpy(&head, file->load.bytes + *offset, sizeof head);
  size_t rest = file->live_size - *offset - sizeof head;
  if (!head.magic)
    *offset += FORMAT_UNIT;
  else if (head.magic == magic && head.version == FORMAT_VERSION && head.table == FORMAT_FREE &&
           head.stored_size <= rest)
    *offset += sizeof head + head.stored_size;
  else
    return false;
  return true;
}

/* Whether the chunk is the last one, which was being written when the process was killed. */
static bool cut_off(const struct read_file *file, size_t offset, size_t next)
{
  return file->live_size && offset >= file->live_size && next >= file->load.size;
}

/* Adds a decoded chunk to its table, or notes where it is.  Each thread's record is a chunk of its own with `first` 0,
 * so it is appended. */
static int take_chunk(struct read_file *file, const struct format_view *view, size_t offset, struct problems *problems)
{
  uint32_t first = view->head.first;
  if (repeats_live_file(file, view, offset))
    return 0;
  switch (view->head.table) {
  case FORMAT_PROCESS:
    return table_put(file, &file->process, view, first, sizeof(struct format_process), problems);
  case FORMAT_STRINGS:
    if (view->head.record_size == 1)
      return table_put(file, &file->strings, view, first, 1, problems);
    problems_add(problems, "%s: section 'strings' at offset %zu has records of %u bytes instead of 1: left out",
                 file->path, offset, view->head.record_size);
    return 0;
  case FORMAT_METRICS:
    return table_put(file, &file->metrics, view, first, sizeof(struct format_metric), problems);
  case FORMAT_MODULES:
    return table_put(file, &file->modules, view, first, sizeof(struct format_module), problems);
  case FORMAT_REGIONS:
    return table_put(file, &file->regions, view, first, sizeof(struct format_region), problems);
  case FORMAT_THREAD:
    return table_put(file, &file->threads, view, file->threads.count, sizeof(struct format_thread), problems);
  case FORMAT_DIRECTIVES:
    return table_put(file, &file->directives, view, first, sizeof(struct format_directive), problems);
  case FORMAT_CONTRIBUTIONS:
    return table_put(file, &file->contributions, view, first, sizeof(struct format_contribution), problems);
  case FORMAT_GRAPH_LOG: /* belongs into a .graph file */
    return 0;
  default:
    return add_ref(file, &view->head, offset);
  }
}

/* Reads all chunks of the file: decodes the tables of the process, and lists the chunks of threads. */
static int scan(struct read_file *file, struct problems *problems)
{
  size_t offset = 0;
  for (;;) {
    struct format_chunk head;
    size_t start = offset;
    if (skip_free_space(file, &offset))
      continue;
    if (start < file->load.size && excessive(file, start, &head, &offset)) {
      problems_add(problems, "%s: section '%s' at offset %zu decompresses to more than any run has: left out",
                   file->path, format_table_name(head.table), start);
      continue;
    }
    offset = start;
    if (start < file->load.size && skippable(file, start, &head)) {
      offset += sizeof head + head.stored_size;
      if (add_ref(file, &head, start))
        return ERR_NOMEM;
      continue;
    }
    struct format_view view;
    char message[256];
    enum format_error error = format_next(file->load.bytes, file->load.size, &offset, &view, message, sizeof message);
    if (error == FORMAT_END)
      break;
    if (error == FORMAT_NOMEM)
      return ERR_NOMEM;
    if (error && cut_off(file, start, offset))
      break;
    if (error) {
      problems_add(problems, "%s: %s", file->path, message);
      if (offset <= start)
        break;
      continue;
    }
    size_t found = offset - sizeof head - view.head.stored_size;
    int status = take_chunk(file, &view, found, problems);
    free(view.data);
    if (status)
      return status;
  }
  if (file->refs_count)
    qsort(file->refs, file->refs_count, sizeof *file->refs, by_owner);
  return 0;
}

static bool has_suffix(const char *path, const char *suffix)
{
  size_t length = strlen(path), end = strlen(suffix);
  return length > end && !strcmp(path + length - end, suffix);
}

size_t read_stem(const char *path)
{
  static const char *const suffixes[] = {READ_SUFFIX, READ_LIVE_SUFFIX, READ_PART_SUFFIX};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (has_suffix(path, suffixes[i]))
      return strlen(path) - strlen(suffixes[i]);
  return strlen(path);
}

/* Loads the file, and behind a live one the file of its ended threads. */
static int load_files(struct read_file *file, struct problems *problems)
{
  int status = load_file(&file->load, file->path, problems);
  char *part;
  file->budget_bytes = budget_floor_bytes + budget_factor * (uint64_t)file->load.size;
  if (status || !has_suffix(file->path, READ_LIVE_SUFFIX))
    return status;
  file->live_size = file->load.size;
  if (asprintf(&part, "%.*s" READ_PART_SUFFIX, (int)read_stem(file->path), file->path) < 0)
    return ERR_NOMEM;
  if (access(part, F_OK) == 0)
    status = load_file(&file->load, part, problems);
  free(part);
  file->budget_bytes = budget_floor_bytes + budget_factor * (uint64_t)file->load.size;
  return status == ERR_NOMEM ? status : 0;
}

/* Copies work and span from the record; without a unit they were not computed. */
static int take_workspan(const struct read_file *file, const struct format_process *record,
                         struct profile_workspan *workspan)
{
  const char *unit = string_at(file, record->work_unit);
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
  report_gap(file, &file->strings, FORMAT_STRINGS, problems);
  report_gap(file, &file->metrics, FORMAT_METRICS, problems);
  report_gap(file, &file->modules, FORMAT_MODULES, problems);
  report_gap(file, &file->regions, FORMAT_REGIONS, problems);
  report_gap(file, &file->directives, FORMAT_DIRECTIVES, problems);
  report_gap(file, &file->contributions, FORMAT_CONTRIBUTIONS, problems);
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
      .blocked_ns = record->blocked_ns,
      .region_ns = record->region_ns,
      .regions = record->regions,
      .work = record->work,
      .per_busy_ns = record->per_busy_ns,
      .in_use_ns = record->in_use_ns,
      .run_delay_ns = record->run_delay_ns,
  };
  memcpy(thread->lost, record->lost, sizeof thread->lost);
}

/* Appends the threads that have a tree but no record to the `count` sorted ones.  Returns their number. */
static uint32_t append_unrecorded(const struct read_file *file, struct profile_thread *threads, uint32_t count)
{
  uint32_t added = 0;
  for (size_t i = 0; i < file->refs_count; i++) {
    if (i && file->refs[i].owner == file->refs[i - 1].owner)
      continue;
    struct profile_thread key = {.index = file->refs[i].owner};
    if (bsearch(&key, threads, count, sizeof key, by_index))
      continue;
    threads[count + added++] = key;
  }
  return added;
}

/* Fills in the threads, each once, sorted by index, including those of which only the tree was found. */
static int take_threads(const struct read_file *file, struct profile_process *process, struct problems *problems)
{
  struct profile_thread *threads = calloc(file->threads.count + file->refs_count + 1, sizeof *threads);
  if (!threads)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < file->threads.count; i++)
    take_thread((const struct format_thread *)file->threads.data + i, &threads[i]);
  qsort(threads, file->threads.count, sizeof *threads, by_index);
  uint32_t count = 0;
  for (uint32_t i = 0; i < file->threads.count; i++) {
    bool repeated = count && threads[count - 1].index == threads[i].index;
    if (repeated && file->live_size) { /* it ended just before the kill, so it is in both files */
      if (threads[i].wall_ns > threads[count - 1].wall_ns)
        threads[count - 1] = threads[i];
      continue;
    }
    if (repeated) {
      problems_add(problems, "%s: thread %u is recorded twice: one record is left out", file->path, threads[i].index);
      continue;
    }
    threads[count++] = threads[i];
  }
  uint32_t extra = append_unrecorded(file, threads, count);
  if (extra && !file->incomplete)
    problems_add(problems, "%s: threads with contexts but without a record, whose own times are unknown: %u",
                 file->path, extra);
  process->threads = threads;
  process->threads_count = count + extra;
  qsort(threads, process->threads_count, sizeof *threads, by_index);
  return 0;
}

/* Fills in the process from its record, if it has one, and from its threads. */
static int take_process(struct read_file *file, struct profile_process *process, struct problems *problems)
{
  struct format_process record = {.rank = -1};
  if (file->process.count)
    memcpy(&record, file->process.data, sizeof record);
  else
    problems_add(problems, "%s: no record of the process: its command, host and times are unknown", file->path);
  process->pid = record.pid;
  process->parent_pid = record.parent_pid;
  process->rank = record.rank;
  process->flags = record.flags;
  process->start_ns = record.start_ns;
  process->wall_ns = record.wall_ns;
  process->cpu_ns = record.cpu_ns;
  process->cpus = record.cpus;
  process->threads_max = record.threads_max;
  process->threads_registered = record.threads;
  process->regions = record.regions;
  process->start_ticks = record.start_ticks;
  memcpy(process->lost, record.lost, sizeof process->lost);
  file->incomplete = process->unfinished && process->lost[LOSS_UNKEPT];
  report_gaps(file, problems);
  process->host = strdup(string_at(file, record.host));
  process->command = strdup(string_at(file, record.command));
  process->runtime = strdup(string_at(file, record.runtime));
  process->notes = strdup(string_at(file, record.notes));
  if (!process->host || !process->command || !process->runtime || !process->notes)
    return ERR_NOMEM;
  if (take_workspan(file, &record, &process->workspan))
    return ERR_NOMEM;
  int status = take_threads(file, process, problems);
  if (!status && file->live_size)
    derive_process(process);
  return status;
}

/* Terminates the last string, so that every offset inside the table names a terminated string. */
static int end_strings(struct read_file *file)
{
  if (file->strings.count && file->strings.data[file->strings.count - 1]) {
    if (table_grow(&file->strings, file->strings.count + 1, 1))
      return ERR_NOMEM;
  }
  return 0;
}

/* Loads the file and finds its tables.  *out is for read_close() also after a failure. */
static int open_tables(const char *path, struct problems *problems, struct read_file **out)
{
  struct read_file *file = calloc(1, sizeof *file);
  *out = file;
  if (!file)
    return ERR_NOMEM;
  file->path = path;
  int status = load_files(file, problems);
  bool live = has_suffix(path, READ_LIVE_SUFFIX);
  if (!status && !file->load.size && !live) {
    problems_add(problems, "%s: empty: the program was killed before anything was written, or the disk was full", path);
    status = ERR_INPUT;
  }
  if (!status)
    status = scan(file, problems);
  if (!status && !file->process.count && !file->refs_count && !file->threads.count) {
    if (!live) /* a live one is empty if the process was killed as it started */
      problems_add(problems, "%s: nothing in it can be used", path);
    status = ERR_INPUT;
  }
  return status ? status : end_strings(file);
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
  if (file->refs_count && !file->metrics.count)
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
  load_release(&file->load);
  free(file->process.data);
  free(file->strings.data);
  free(file->metrics.data);
  free(file->modules.data);
  free(file->regions.data);
  free(file->threads.data);
  free(file->directives.data);
  free(file->contributions.data);
  free(file->refs);
  free(file);
}

uint32_t read_columns_count(const struct read_file *file)
{
  return file->metrics.count;
}

struct read_column read_column(const struct read_file *file, uint32_t column)
{
  static const char *const fixed[COLUMN_STORED] = {
      [COLUMN_SAMPLES] = "samples",   [COLUMN_WORK] = "work",         [COLUMN_OVERHEAD] = "overhead",
      [COLUMN_LOCKWAIT] = "lockwait", [COLUMN_PER_BUSY] = "per busy", [COLUMN_IN_USE] = "in use",
      [COLUMN_SHARES] = "shares"};
  const struct format_metric *metric = (const struct format_metric *)file->metrics.data + column;
  struct read_column found = {.role = metric->role, .period = metric->period};
  if (found.role < COLUMN_STORED && fixed[found.role]) { /* a fixed meaning, which does not need the strings */
    found.name = fixed[found.role];
    found.unit = found.role == COLUMN_SAMPLES ? "" : "ns";
    return found;
  }
  found.role = COLUMN_EVENT;
  found.name = *string_at(file, metric->name) ? string_at(file, metric->name) : "event";
  found.unit = string_at(file, metric->unit);
  return found;
}

uint32_t read_modules_count(const struct read_file *file)
{
  return file->modules.count;
}

const char *read_string(const struct read_file *file, uint32_t offset)
{
  return string_at(file, offset);
}

struct read_module read_module(const struct read_file *file, uint32_t module)
{
  const struct format_module *record = (const struct format_module *)file->modules.data + module;
  const uint32_t id_max = sizeof record->build_id;
  return (struct read_module){.path = string_at(file, record->path),
                              .build_id = record->build_id,
                              .build_id_size = record->build_id_size < id_max ? record->build_id_size : id_max,
                              .flags = record->flags};
}

uint32_t read_regions_count(const struct read_file *file)
{
  return file->regions.count;
}

struct read_region read_region(const struct read_file *file, uint32_t region)
{
  const struct format_region *record = (const struct format_region *)file->regions.data + region;
  return (struct read_region){.linked =
                                  record->state == FORMAT_REGION_PROVISIONAL || record->state == FORMAT_REGION_FINAL,
                              .open = record->word >> 31 & 1,
                              .owner = record->owner,
                              .link_node = record->link_node};
}

uint32_t read_directives_count(const struct read_file *file)
{
  return file->directives.count;
}

struct read_directive read_directive(const struct read_file *file, uint32_t directive)
{
  const struct format_directive *record = (const struct format_directive *)file->directives.data + directive;
  return (struct read_directive){.kind = record->kind,
                                 .module = record->module,
                                 .flags = record->flags,
                                 .name = string_at(file, record->name),
                                 .offset = record->offset,
                                 .instances = record->instances,
                                 .work = record->work,
                                 .span = record->span,
                                 .iterations = record->iterations,
                                 .lock_bound = record->lock_bound};
}

uint32_t read_contributions_count(const struct read_file *file)
{
  return file->contributions.count;
}

struct read_contribution read_contribution(const struct read_file *file, uint32_t contribution)
{
  const struct format_contribution *record =
      (const struct format_contribution *)file->contributions.data + contribution;
  return (struct read_contribution){
      .directive = record->directive, .thread = record->thread, .node = record->node, .amount = record->amount};
}

/* Decodes one table of one thread.  Returns 0 or ERR_NOMEM; the caller frees table->data in both cases. */
static int read_table(struct read_file *file, uint32_t thread, uint32_t which, size_t record_size,
                      struct problems *problems, struct table *table)
{
  struct chunk_ref key = {.owner = thread, .table = which};
  size_t low = 0, high = file->refs_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_owner(&file->refs[middle], &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < file->refs_count && file->refs[low].owner == thread && file->refs[low].table == which; low++) {
    size_t offset = file->refs[low].offset;
    struct format_view view;
    char message[256];
    enum format_error error = format_next(file->load.bytes, file->load.size, &offset, &view, message, sizeof message);
    if (error == FORMAT_NOMEM)
      return ERR_NOMEM;
    if (error) {
      problems_add(problems, "%s: thread %u: %s", file->path, thread, message);
      continue;
    }
    int status = view.head.table == which ? table_put(file, table, &view, view.head.first, record_size, problems) : 0;
    free(view.data);
    if (status)
      return status;
  }
  report_gap(file, table, which, problems);
  return 0;
}

int read_nodes(struct read_file *file, uint32_t thread, struct problems *problems, struct read_node **nodes,
               uint32_t *count)
{
  struct table table = {0};
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
  return 0;
}

int read_values(struct read_file *file, uint32_t thread, struct problems *problems, uint64_t **values, uint32_t *count)
{
  struct table table = {0};
  *values = NULL;
  *count = 0;
  if (!file->metrics.count)
    return 0;
  if (read_table(file, thread, FORMAT_VALUES, file->metrics.count * sizeof(uint64_t), problems, &table)) {
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
  struct table table = {0};
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

int read_shares(struct read_file *file, uint32_t thread, struct problems *problems, struct read_share **shares,
                uint32_t *count)
{
  struct table table = {0};
  _Static_assert(sizeof(struct read_share) == sizeof(struct format_share), "the same structure");
  int status = read_table(file, thread, FORMAT_SHARES, sizeof(struct format_share), problems, &table);
  if (status)
    free(table.data);
  *shares = status ? NULL : (struct read_share *)(void *)table.data;
  *count = status ? 0 : table.count;
  return status;
}
