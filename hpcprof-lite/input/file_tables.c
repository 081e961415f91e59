#include "hpcprof-lite/input/file_tables.h"

#include "common/array.h"
#include "common/format.h"
#include "hpcprof-lite/model/profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most records that a table may have: far more than hpcrun-lite writes.  Bounds memory where a damaged file claims
 * more. */
static const uint32_t table_max[FORMAT_TABLES] = {
    [FORMAT_PROCESS] = 1,           [FORMAT_STRINGS] = 64u << 20,
    [FORMAT_METRICS] = 64,          [FORMAT_MODULES] = 1u << 20,
    [FORMAT_REGIONS] = 4u << 20,    [FORMAT_THREAD] = 1u << 20,
    [FORMAT_NODES] = 4u << 20,      [FORMAT_VALUES] = 4u << 20,
    [FORMAT_DIRECTIVES] = 1u << 16, [FORMAT_CONTRIBUTIONS] = 4u << 20,
    [FORMAT_WAITS] = 1u << 12,      [FORMAT_SHARES] = 16u << 20,
    [FORMAT_CONSTRUCTS] = 1u << 20, [FORMAT_TASKS] = 1u << 16,
    [FORMAT_MARKS] = 1u << 20,      [FORMAT_USER_COUNTS] = 1u << 20,
    [FORMAT_COUNTS] = 1u << 20,
};
static const size_t table_bytes_max = 512u << 20;

/* A file may decompress to budget_floor + budget_factor * (its size) bytes: more than any sound file does. */
static const size_t budget_floor_bytes = 16u << 20, budget_factor = 64;

/* Grows the table to `count` records; new ones are zero.  Returns 0 or ERR_NOMEM. */
static int table_grow(struct file_table *table, uint32_t count, size_t record_size)
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
static bool spend(struct file_tables *tables, uint64_t bytes)
{
  bool enough = bytes <= tables->budget_bytes;
  tables->budget_bytes -= enough ? bytes : 0;
  return enough;
}

/* Whether a table may have the records of the chunk, beginning with `first`, and the budget suffices for them. */
static bool plausible(struct file_tables *tables, const struct file_table *table, const struct format_chunk *head,
                      uint32_t first, size_t record_size)
{
  uint32_t max = table_max[head->table];
  if (first > max || head->count > max - first || (first + head->count) * record_size > table_bytes_max)
    return false;
  uint32_t end = first + head->count;
  return end <= table->count || spend(tables, (end - table->count) * (uint64_t)record_size);
}

/* Copies a chunk's records into the table, beginning at `first`.  Notes a gap, and reports an impossible place.
 * Returns 0 or ERR_NOMEM. */
static int table_put(struct file_tables *tables, struct file_table *table, const struct format_view *view,
                     uint32_t first, size_t record_size, struct problems *problems)
{
  const struct format_chunk *head = &view->head;
  if (!head->count)
    return 0;
  if (!plausible(tables, table, head, first, record_size)) {
    problems_add(problems, "%s: section '%s' claims records %u to %llu, more than any run has: left out", tables->path,
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

static int add_ref(struct file_tables *tables, const struct format_chunk *head, size_t offset)
{
  if (!array_reserve(&tables->refs, &tables->refs_room, tables->refs_count + 1, sizeof *tables->refs))
    return ERR_NOMEM;
  tables->refs[tables->refs_count++] = (struct chunk_ref){.owner = head->owner, .table = head->table, .offset = offset};
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
static bool skippable(const struct file_tables *tables, size_t offset, struct format_chunk *head)
{
  static const uint64_t magic = FORMAT_MAGIC;
  if (tables->load.size - offset < sizeof *head)
    return false;
  memcpy(head, tables->load.bytes + offset, sizeof *head);
  if (head->magic != magic || head->version != FORMAT_VERSION)
    return false;
  if (head->table != FORMAT_NODES && head->table != FORMAT_VALUES && head->table != FORMAT_WAITS &&
      head->table != FORMAT_SHARES && head->table != FORMAT_CONSTRUCTS && head->table != FORMAT_TASKS &&
      head->table != FORMAT_USER_COUNTS && head->table != FORMAT_COUNTS)
    return false;
  size_t rest = tables->load.size - offset - sizeof *head;
  if (head->stored_size > rest)
    return false;
  rest -= head->stored_size;
  return rest == 0 ||
         (rest >= sizeof magic && !memcmp(tables->load.bytes + tables->load.size - rest, &magic, sizeof magic));
}

/* Whether the chunk at `offset` decompresses to more than the budget allows; *next is then the offset behind it. */
static bool excessive(struct file_tables *tables, size_t offset, struct format_chunk *head, size_t *next)
{
  static const uint64_t magic = FORMAT_MAGIC;
  if (tables->load.size - offset < sizeof *head)
    return false;
  memcpy(head, tables->load.bytes + offset, sizeof *head);
  if (head->magic != magic || !(head->flags & FORMAT_ZSTD) ||
      head->stored_size > tables->load.size - offset - sizeof *head)
    return false;
  *next = offset + sizeof *head + head->stored_size;
  return !spend(tables, (uint64_t)head->count * head->record_size);
}

/* Work and span as of the last flush, which come behind the live file.  The live record of the process has none. */
static void take_flush(struct file_tables *tables, const struct format_view *view)
{
  struct format_process flushed, *live = (struct format_process *)tables->process.data;
  if (!tables->process.count || view->head.count != 1)
    return;
  format_record(view, 0, &flushed, sizeof flushed);
  live->span = flushed.span;
  live->span_burdened = flushed.span_burdened;
  live->work_unit = flushed.work_unit;
  live->unseen = flushed.unseen;
  live->tick_scale = flushed.tick_scale;
  live->cost_fork = flushed.cost_fork;
  live->cost_task = flushed.cost_task;
  live->cost_join = flushed.cost_join;
}

/* Whether the chunk is in the file of ended threads but describes the whole process, as the live file already does. */
static bool repeats_live_file(const struct file_tables *tables, const struct format_view *view, size_t offset)
{
  uint32_t table = view->head.table;
  return tables->process.count && offset >= tables->flush_end && tables->live_size &&
         (table == FORMAT_PROCESS || table == FORMAT_REGIONS || table == FORMAT_DIRECTIVES ||
          table == FORMAT_CONTRIBUTIONS || table == FORMAT_MARKS);
}

/* Moves *offset beyond free space between live chunks: a table that was freed, or zeros where no chunk was begun.
 * Returns false if there is none at *offset. */
static bool skip_free_space(const struct file_tables *tables, size_t *offset)
{
  static const uint64_t magic = FORMAT_MAGIC;
  struct format_chunk head;
  if (*offset >= tables->live_size || *offset % FORMAT_UNIT || tables->live_size - *offset < sizeof head)
    return false;
  memcpy(&head, tables->load.bytes + *offset, sizeof head);
  size_t rest = tables->live_size - *offset - sizeof head;
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
static bool cut_off(const struct file_tables *tables, size_t offset, size_t next)
{
  return tables->live_size && offset >= tables->flush_end && next >= tables->load.size;
}

/* Adds a decoded chunk to its table, or notes where it is.  Each thread's record is a chunk of its own with `first` 0,
 * so it is appended. */
static int take_chunk(struct file_tables *tables, const struct format_view *view, size_t offset,
                      struct problems *problems)
{
  uint32_t first = view->head.first;
  if (repeats_live_file(tables, view, offset))
    return 0;
  if (offset >= tables->live_size && offset < tables->flush_end && view->head.table == FORMAT_PROCESS) {
    take_flush(tables, view);
    return 0;
  }
  switch (view->head.table) {
  case FORMAT_PROCESS:
    return table_put(tables, &tables->process, view, first, sizeof(struct format_process), problems);
  case FORMAT_STRINGS:
    if (view->head.record_size == 1)
      return table_put(tables, &tables->strings, view, first, 1, problems);
    problems_add(problems, "%s: section 'strings' at offset %zu has records of %u bytes instead of 1: left out",
                 tables->path, offset, view->head.record_size);
    return 0;
  case FORMAT_METRICS:
    return table_put(tables, &tables->metrics, view, first, sizeof(struct format_metric), problems);
  case FORMAT_MODULES:
    return table_put(tables, &tables->modules, view, first, sizeof(struct format_module), problems);
  case FORMAT_REGIONS:
    return table_put(tables, &tables->regions, view, first, sizeof(struct format_region), problems);
  case FORMAT_THREAD:
    return table_put(tables, &tables->threads, view, tables->threads.count, sizeof(struct format_thread), problems);
  case FORMAT_DIRECTIVES:
    return table_put(tables, &tables->directives, view, first, sizeof(struct format_directive), problems);
  case FORMAT_CONTRIBUTIONS:
    return table_put(tables, &tables->contributions, view, first, sizeof(struct format_contribution), problems);
  case FORMAT_MARKS:
    return table_put(tables, &tables->marks, view, first, sizeof(struct format_mark), problems);
  case FORMAT_GRAPH_LOG: /* belongs into a .graph file, the trace into a .trace file */
  case FORMAT_TRACE:
    return 0;
  default:
    return add_ref(tables, &view->head, offset);
  }
}

/* Reads all chunks of the file: decodes the tables of the process, and lists the chunks of threads. */
static int scan(struct file_tables *tables, struct problems *problems)
{
  size_t offset = 0;
  for (;;) {
    struct format_chunk head;
    size_t start = offset;
    if (skip_free_space(tables, &offset))
      continue;
    if (start < tables->load.size && excessive(tables, start, &head, &offset)) {
      problems_add(problems, "%s: section '%s' at offset %zu decompresses to more than any run has: left out",
                   tables->path, format_table_name(head.table), start);
      continue;
    }
    offset = start;
    if (start < tables->load.size && skippable(tables, start, &head)) {
      offset += sizeof head + head.stored_size;
      if (add_ref(tables, &head, start))
        return ERR_NOMEM;
      continue;
    }
    struct format_view view;
    char message[256];
    enum format_error error =
        format_next(tables->load.bytes, tables->load.size, &offset, &view, message, sizeof message);
    if (error == FORMAT_END)
      break;
    if (error == FORMAT_NOMEM)
      return ERR_NOMEM;
    if (error && cut_off(tables, start, offset))
      break;
    if (error) {
      problems_add(problems, "%s: %s", tables->path, message);
      if (offset <= start)
        break;
      continue;
    }
    size_t found = offset - sizeof head - view.head.stored_size;
    int status = take_chunk(tables, &view, found, problems);
    free(view.data);
    if (status)
      return status;
  }
  if (tables->refs_count)
    qsort(tables->refs, tables->refs_count, sizeof *tables->refs, by_owner);
  return 0;
}

/* Terminates the last string, so that every offset inside the table names a terminated string. */
static int end_strings(struct file_tables *tables)
{
  if (tables->strings.count && tables->strings.data[tables->strings.count - 1]) {
    if (table_grow(&tables->strings, tables->strings.count + 1, 1))
      return ERR_NOMEM;
  }
  return 0;
}

/* Appends a file that need not exist. */
static int load_further(struct file_tables *tables, const char *path, struct problems *problems)
{
  return access(path, F_OK) == 0 && load_file(&tables->load, path, problems) == ERR_NOMEM ? ERR_NOMEM : 0;
}

/* Loads the file, and behind a live one its last flush and the file of its ended threads. */
static int load_files(struct file_tables *tables, const char *flush, const char *part, struct problems *problems)
{
  int status = load_file(&tables->load, tables->path, problems);
  if (!status && part) {
    tables->live_size = tables->load.size;
    status = load_further(tables, flush, problems);
    tables->flush_end = tables->load.size;
    if (!status)
      status = load_further(tables, part, problems);
  }
  tables->budget_bytes = budget_floor_bytes + budget_factor * (uint64_t)tables->load.size;
  return status;
}

int file_tables_open(struct file_tables *tables, const char *path, const char *flush, const char *part,
                     struct problems *problems)
{
  tables->path = path;
  int status = load_files(tables, flush, part, problems);
  if (!status && !tables->load.size && !part) {
    problems_add(problems, "%s: empty: the program was killed before anything was written, or the disk was full", path);
    status = ERR_INPUT;
  }
  if (!status)
    status = scan(tables, problems);
  if (!status && !tables->process.count && !tables->refs_count && !tables->threads.count) {
    if (!part) /* a live one is empty if the process was killed as it started */
      problems_add(problems, "%s: nothing in it can be used", path);
    status = ERR_INPUT;
  }
  return status ? status : end_strings(tables);
}

void file_tables_release(struct file_tables *tables)
{
  load_release(&tables->load);
  free(tables->process.data);
  free(tables->strings.data);
  free(tables->metrics.data);
  free(tables->modules.data);
  free(tables->regions.data);
  free(tables->threads.data);
  free(tables->directives.data);
  free(tables->contributions.data);
  free(tables->marks.data);
  free(tables->refs);
}

/* end_strings() ensures that the string ends inside the table. */
const char *file_tables_string(const struct file_tables *tables, uint32_t offset)
{
  return offset < tables->strings.count ? (const char *)tables->strings.data + offset : "";
}

int file_tables_of_thread(struct file_tables *tables, uint32_t thread, uint32_t which, size_t record_size,
                          struct problems *problems, struct file_table *table)
{
  struct chunk_ref key = {.owner = thread, .table = which};
  size_t low = 0, high = tables->refs_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_owner(&tables->refs[middle], &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < tables->refs_count && tables->refs[low].owner == thread && tables->refs[low].table == which; low++) {
    size_t offset = tables->refs[low].offset;
    struct format_view view;
    char message[256];
    enum format_error error =
        format_next(tables->load.bytes, tables->load.size, &offset, &view, message, sizeof message);
    if (error == FORMAT_NOMEM)
      return ERR_NOMEM;
    if (error) {
      problems_add(problems, "%s: thread %u: %s", tables->path, thread, message);
      continue;
    }
    int status = view.head.table == which ? table_put(tables, table, &view, view.head.first, record_size, problems) : 0;
    free(view.data);
    if (status)
      return status;
  }
  return 0;
}
