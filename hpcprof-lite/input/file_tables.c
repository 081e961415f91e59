#include "hpcprof-lite/input/file_tables.h"

#include "common/format.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the records of a table are kept. */
enum destination {
  NOWHERE, /* as extents of an owner of which no table is wanted */
  PROCESS, /* decoded when the file is opened */
  THREAD,  /* decoded on demand */
  OTHER    /* not in a measurement file */
};

/* max: the most records that a table may have, far more than hpcrun-lite writes.  Bounds memory where a damaged file
 * claims more. */
static const struct {
  enum destination destination;
  uint32_t max;
} kept[FORMAT_TABLES] = {
    [FORMAT_PROCESS] = {PROCESS, 1},
    [FORMAT_STRINGS] = {PROCESS, 64u << 20},
    [FORMAT_METRICS] = {PROCESS, 64},
    [FORMAT_MODULES] = {PROCESS, 1u << 20},
    [FORMAT_REGIONS] = {PROCESS, 4u << 20},
    [FORMAT_THREAD] = {PROCESS, 1u << 20},
    [FORMAT_NODES] = {THREAD, 4u << 20},
    [FORMAT_VALUES] = {THREAD, 4u << 20},
    [FORMAT_DIRECTIVES] = {PROCESS, 1u << 16},
    [FORMAT_CONTRIBUTIONS] = {PROCESS, 4u << 20},
    [FORMAT_WAITS] = {THREAD, 1u << 12},
    [FORMAT_SHARES] = {THREAD, 16u << 20},
    [FORMAT_CONSTRUCTS] = {THREAD, 1u << 20},
    [FORMAT_TASKS] = {THREAD, 1u << 16},
    [FORMAT_MARKS] = {PROCESS, 1u << 20},
    [FORMAT_USER_COUNTS] = {THREAD, 1u << 20},
    [FORMAT_COUNTS] = {THREAD, 1u << 20},
    [FORMAT_CODE] = {PROCESS, 1u << 20},
    [FORMAT_LOCKS] = {THREAD, 1u << 13},
    [FORMAT_MPI] = {THREAD, 1u << 13},
    [FORMAT_DEVICES] = {PROCESS, 1u << 12},
    [FORMAT_DEVICE_TIMES] = {PROCESS, 1u << 20},
    [FORMAT_GRAPH_LOG] = {OTHER, 0},
    [FORMAT_TRACE] = {OTHER, 0},
};

#define SIZE(enumerator, name, type) sizeof(type),
static const size_t record_sizes[FORMAT_TABLES] = {FORMAT_TABLE_LIST(SIZE)};
static const size_t table_bytes_max = 512u << 20;

size_t file_tables_record_size(enum format_table table)
{
  assert(table < FORMAT_TABLES);
  return record_sizes[table];
}

/* A file may decompress to budget_floor_bytes + budget_factor * (its size): more than any sound file does. */
static const size_t budget_floor_bytes = 16u << 20, budget_factor = 64;

/* Grows the table to `count` records; new ones are zero. */
static void table_grow(struct file_table *table, uint32_t count, size_t record_size)
{
  assert(record_size);
  if (count <= table->count)
    return;
  if (count > table->room) {
    uint32_t room = table->room && count < table->room * 2 ? table->room * 2 : count;
    uint8_t *data = xcalloc(room, record_size);
    if (table->count)
      memcpy(data, table->data, table->count * record_size);
    free(table->data);
    table->data = data;
    table->room = room;
  }
  table->count = count;
}

/* Takes bytes off the budget; false if it does not suffice. */
static bool spend(struct file_tables *tables, uint64_t bytes)
{
  bool enough = bytes <= tables->budget_bytes;
  tables->budget_bytes -= enough ? bytes : 0;
  return enough;
}

/* Whether a table may have the records of the extent, beginning with `first`, and the budget suffices for them. */
static bool plausible(struct file_tables *tables, const struct file_table *table, const struct format_extent *head,
                      uint32_t first, size_t record_size)
{
  assert(head->table < FORMAT_TABLES);
  uint32_t max = kept[head->table].max;
  if (first > max || head->count > max - first || (first + head->count) * record_size > table_bytes_max)
    return false;
  uint32_t end = first + head->count;
  return end <= table->count || spend(tables, (end - table->count) * (uint64_t)record_size);
}

/* Copies an extent's records into the table, beginning at `first`.  Notes a gap, and reports an impossible place. */
static void table_put(struct file_tables *tables, struct file_table *table, const struct format_view *view,
                      uint32_t first, size_t record_size, struct problems *problems)
{
  assert(view->head.table < FORMAT_TABLES && record_size);
  const struct format_extent *head = &view->head;
  if (!head->count)
    return;
  if (!plausible(tables, table, head, first, record_size)) {
    problems_add(problems, "%s: section '%s' claims records %u to %llu, more than any run has: left out", tables->path,
                 format_table_name(head->table), first, (unsigned long long)first + head->count);
    return;
  }
  if (first > table->count && !table->gap_end) {
    table->gap_first = table->count;
    table->gap_end = first;
  }
  table_grow(table, first + head->count, record_size);
  for (uint32_t i = 0; i < head->count; i++)
    format_record(view, i, table->data + (size_t)(first + i) * record_size, record_size);
}

static void add_ref(struct file_tables *tables, const struct format_extent *head, size_t offset)
{
  *XAPPEND(tables->refs, tables->refs_count, tables->refs_room) =
      (struct extent_ref){.owner = head->owner, .table = head->table, .offset = offset};
}

ORDER(by_owner, struct extent_ref,
      COMPARE(x->owner, y->owner) ?: COMPARE(x->table, y->table) ?: COMPARE(x->offset, y->offset))

static enum destination destination_of(uint32_t table)
{
  return table < FORMAT_TABLES ? kept[table].destination : NOWHERE;
}

static const uint64_t magic = FORMAT_MAGIC;

/* Fills in the head of the extent at `offset`.  False if no extent is there, or not all of it: it is left to
 * format_next(). */
static bool peek(const struct file_tables *tables, size_t offset, struct format_extent *head)
{
  if (offset >= tables->load.size || tables->load.size - offset < sizeof *head)
    return false;
  memcpy(head, tables->load.bytes + offset, sizeof *head);
  return head->magic == magic && head->stored_size <= tables->load.size - offset - sizeof *head;
}

/* Whether the extent at `offset` need not be decoded now: it holds a table of a thread, and another extent or the
 * end of the file follows it.  All other extents are left to format_next(). */
static bool skippable(const struct file_tables *tables, size_t offset, struct format_extent *head)
{
  if (!peek(tables, offset, head) || head->version != FORMAT_VERSION || destination_of(head->table) != THREAD)
    return false;
  size_t rest = tables->load.size - offset - sizeof *head - head->stored_size;
  return rest == 0 ||
         (rest >= sizeof magic && !memcmp(tables->load.bytes + tables->load.size - rest, &magic, sizeof magic));
}

/* Whether the extent at `offset` decompresses to more than the budget allows. */
static bool excessive(struct file_tables *tables, size_t offset, struct format_extent *head)
{
  return peek(tables, offset, head) && head->flags & FORMAT_ZSTD &&
         !spend(tables, (uint64_t)head->count * head->record_size);
}

/* Work and span as of the last flush, which come behind the live file.  The live record of the process has none. */
static void take_flush(struct file_tables *tables, const struct format_view *view)
{
  assert(tables->live_size);
  struct file_table *process = &tables->tables[FORMAT_PROCESS];
  struct format_process flushed, *live = (struct format_process *)(void *)process->data;
  if (!process->count || view->head.count != 1)
    return;
  format_record(view, 0, &flushed, sizeof flushed);
#define TAKE(type, name) live->name = flushed.name;
  FORMAT_WORKSPAN_FIELDS(TAKE)
#undef TAKE
}

/* Whether the extent is in the file of ended threads but describes the whole process, as the live file already does. */
static bool repeats_live_file(const struct file_tables *tables, const struct format_view *view, size_t offset)
{
  uint32_t table = view->head.table;
  return tables->tables[FORMAT_PROCESS].count && offset >= tables->flush_end && tables->live_size &&
         (table == FORMAT_PROCESS || table == FORMAT_REGIONS || table == FORMAT_DIRECTIVES ||
          table == FORMAT_CONTRIBUTIONS || table == FORMAT_MARKS || table == FORMAT_DEVICES);
}

/* Moves *offset beyond free space between live extents: a table that was freed, or zeros where no extent was begun.
 * Returns false if there is none at *offset. */
static bool skip_free_space(const struct file_tables *tables, size_t *offset)
{
  struct format_extent head;
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

/* Whether the extent is the last one, which was being written when the process was killed. */
static bool cut_off(const struct file_tables *tables, size_t offset, size_t next)
{
  return tables->live_size && offset >= tables->flush_end && next >= tables->load.size;
}

/* Adds a decoded extent to its table, or notes where it is.  Each thread's record is an extent of its own with `first`
 * 0, so it is appended. */
static void take_extent(struct file_tables *tables, const struct format_view *view, size_t offset,
                        struct problems *problems)
{
  uint32_t which = view->head.table;
  enum destination destination = destination_of(which);
  if (repeats_live_file(tables, view, offset) || destination == OTHER)
    return;
  if (offset >= tables->live_size && offset < tables->flush_end && which == FORMAT_PROCESS) {
    take_flush(tables, view);
    return;
  }
  if (destination != PROCESS) {
    add_ref(tables, &view->head, offset);
    return;
  }
  if (which == FORMAT_STRINGS && view->head.record_size != 1) {
    problems_add(problems, "%s: section 'strings' at offset %zu has records of %u bytes instead of 1: left out",
                 tables->path, offset, view->head.record_size);
    return;
  }
  struct file_table *table = &tables->tables[which];
  uint32_t first = which == FORMAT_THREAD ? table->count : view->head.first;
  table_put(tables, table, view, first, record_sizes[which], problems);
}

/* Decodes the extent at *offset and moves that behind it.  Ends the program where memory is missing. */
static enum format_error next_extent(const struct file_tables *tables, size_t *offset, struct format_view *view,
                                     char message[256])
{
  enum format_error error = format_next(tables->load.bytes, tables->load.size, offset, view, message, 256);
  if (error == FORMAT_NOMEM)
    xalloc_die();
  return error;
}

/* Reads all extents of the file: decodes the tables of the process, and lists the extents of threads. */
static void scan(struct file_tables *tables, struct problems *problems)
{
  size_t offset = 0;
  for (;;) {
    struct format_extent head;
    size_t start = offset;
    if (skip_free_space(tables, &offset))
      continue;
    if (excessive(tables, start, &head)) {
      offset += sizeof head + head.stored_size;
      problems_add(problems, "%s: section '%s' at offset %zu decompresses to more than any run has: left out",
                   tables->path, format_table_name(head.table), start);
      continue;
    }
    if (skippable(tables, start, &head)) {
      offset += sizeof head + head.stored_size;
      add_ref(tables, &head, start);
      continue;
    }
    struct format_view view;
    char message[256];
    enum format_error error = next_extent(tables, &offset, &view, message);
    if (error == FORMAT_END || (error && cut_off(tables, start, offset)))
      break;
    if (error) {
      problems_add(problems, "%s: %s", tables->path, message);
      if (offset <= start)
        break;
      continue;
    }
    take_extent(tables, &view, offset - sizeof head - view.head.stored_size, problems);
    free(view.data);
  }
  if (tables->refs_count)
    qsort(tables->refs, tables->refs_count, sizeof *tables->refs, by_owner);
}

/* Appends a file that need not exist. */
static void load_further(struct file_tables *tables, const char *path, struct problems *problems)
{
  assert(tables->load.size <= tables->load.room);
  if (access(path, F_OK) == 0)
    load_file(&tables->load, path, problems);
}

int file_tables_open(struct file_tables *tables, const char *path, const char *flush, const char *part,
                     struct problems *problems)
{
  assert(path && (!part == !flush));
  tables->path = path;
  int status = load_file(&tables->load, path, problems);
  if (status)
    return status;
  if (!tables->load.size && !part) {
    problems_add(problems, "%s: empty: the program was killed before anything was written, or the disk was full", path);
    return ERR_INPUT;
  }
  if (part) {
    tables->live_size = tables->load.size;
    load_further(tables, flush, problems);
    tables->flush_end = tables->load.size;
    load_further(tables, part, problems);
  }
  tables->budget_bytes = budget_floor_bytes + budget_factor * (uint64_t)tables->load.size;
  scan(tables, problems);
  if (!tables->tables[FORMAT_PROCESS].count && !tables->refs_count && !tables->tables[FORMAT_THREAD].count) {
    if (!part) /* a live one is empty if the process was killed as it started */
      problems_add(problems, "%s: nothing in it can be used", path);
    return ERR_INPUT;
  }
  struct file_table *strings = &tables->tables[FORMAT_STRINGS];
  if (strings->count && strings->data[strings->count - 1])
    table_grow(strings, strings->count + 1, 1); /* every offset inside the table names a terminated string */
  return 0;
}

void file_tables_release(struct file_tables *tables)
{
  load_release(&tables->load);
  for (unsigned i = 0; i < FORMAT_TABLES; i++)
    free(tables->tables[i].data);
  free(tables->refs);
}

/* The last string ends inside the table: see file_tables_open(). */
const char *file_tables_string(const struct file_tables *tables, uint32_t offset)
{
  const struct file_table *strings = &tables->tables[FORMAT_STRINGS];
  return offset < strings->count ? (const char *)strings->data + offset : "";
}

void file_tables_of_thread(struct file_tables *tables, uint32_t thread, enum format_table which, size_t numbers,
                           struct problems *problems, struct file_table *table)
{
  assert(which < FORMAT_TABLES && numbers && !table->data);
  size_t record_size = record_sizes[which] * numbers;
  struct extent_ref key = {.owner = thread, .table = which};
  const struct extent_ref *refs = tables->refs;
  size_t first = FIRST_WHERE(i, tables->refs_count, by_owner(&refs[i], &key) >= 0);
  for (size_t i = first; i < tables->refs_count && refs[i].owner == thread && refs[i].table == which; i++) {
    size_t offset = refs[i].offset;
    struct format_view view;
    char message[256];
    if (next_extent(tables, &offset, &view, message)) {
      problems_add(problems, "%s: thread %u: %s", tables->path, thread, message);
      continue;
    }
    if (view.head.table == which)
      table_put(tables, table, &view, view.head.first, record_size, problems);
    free(view.data);
  }
}
