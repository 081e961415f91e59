#include "hpcprof-lite/merge/user_marks.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/hash_map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Strings of the file that are in the text. */
struct names {
  struct read_file *file;
  struct hash_map offsets; /* by string + 1; only the empty one is at 0 */
  size_t text_room;
  struct profile_marks *marks;
};

/* Appends a name to the text.  Returns its position. */
static uint32_t append(struct names *names, const char *name)
{
  struct profile_marks *marks = names->marks;
  size_t size = strlen(name) + 1;
  uint32_t offset = marks->text_size;
  if (size > UINT32_MAX - offset)
    xalloc_die();
  xarray_reserve(&marks->text, &names->text_room, offset + size, 1);
  memcpy(marks->text + offset, name, size);
  marks->text_size += (uint32_t)size;
  return offset;
}

/* Returns the position of a string in the text. */
static uint32_t name_of(struct names *names, uint32_t string)
{
  const char *name = read_string(names->file, string);
  if (!names->marks->text_size)
    append(names, "");
  if (!*name)
    return 0;
  uint32_t offset = hash_map_find(&names->offsets, (uint64_t)string + 1);
  if (!offset) {
    offset = append(names, name);
    hash_map_add(&names->offsets, (uint64_t)string + 1, offset);
  }
  return offset;
}

ORDER(by_time, struct profile_mark, COMPARE(x->at_ns, y->at_ns) ?: COMPARE(x->reserved, y->reserved))

static void read_marks(struct names *names, struct profile_process *process, struct problems *problems)
{
  struct profile_marks *marks = names->marks;
  const struct format_mark *records = read_records(names->file, FORMAT_MARKS);
  uint32_t count = read_count(names->file, FORMAT_MARKS), unknown = 0;
  double tick_ns = process->workspan.tick_ns;
  if (!count)
    return;
  marks->marks = xcalloc(count, sizeof *marks->marks);
  for (uint32_t i = 0; i < count; i++) {
    struct format_mark from = records[i];
    uint64_t ticks = model_difference(from.ticks, process->start_ticks);
    if (!from.ticks || from.kind > FORMAT_USER_PHASE) { /* 0: a gap in a damaged file */
      unknown++;
      continue;
    }
    struct profile_mark *mark = &marks->marks[marks->marks_count++];
    *mark = (struct profile_mark){.at_ns = model_rounded((double)ticks * tick_ns),
                                  .thread = from.thread,
                                  .user_phase = from.kind == FORMAT_USER_PHASE,
                                  .name = name_of(names, from.name),
                                  .reserved = i};
    marks->user_phases += mark->user_phase;
  }
  if (unknown)
    problems_add(problems, "%s: marks of a kind that does not exist, left out: %u", process->path, unknown);
  qsort(marks->marks, marks->marks_count, sizeof *marks->marks, by_time);
  for (uint32_t i = 0; i < marks->marks_count; i++)
    marks->marks[i].reserved = 0;
}

/* Adds what a thread counted in one context to its sums of all. */
static void add_count(struct names *names, size_t *room, uint32_t first, uint32_t thread,
                      const struct format_user_count *from)
{
  assert(from->count && first <= names->marks->counts_count);
  struct profile_marks *marks = names->marks;
  uint32_t name = name_of(names, from->name), at = first;
  while (at < marks->counts_count && marks->counts[at].name != name)
    at++;
  if (at == marks->counts_count && at - first == CATALOG_COLUMNS_MAX)
    return; /* damaged: a process has fewer counters */
  if (at == marks->counts_count)
    *XAPPEND(marks->counts, marks->counts_count, *room) =
        (struct profile_user_count){.thread = thread, .name = name, .least = UINT64_MAX};
  struct profile_user_count *to = &marks->counts[at];
  model_add(&to->count, from->count);
  model_add(&to->sum, from->sum);
  to->least = MIN(from->least, to->least);
  to->most = MAX(from->most, to->most);
}

static void add_counts(struct names *names, const struct profile_process *process)
{
  struct problems ignored = {0}; /* they are reported with the thread's values */
  size_t room = 0;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    uint32_t count, first = names->marks->counts_count, thread = process->threads[i].index;
    struct format_user_count *counts = read_table(names->file, thread, FORMAT_USER_COUNTS, &ignored, &count);
    for (uint32_t k = 0; k < count; k++)
      if (counts[k].count)
        add_count(names, &room, first, thread, &counts[k]);
    free(counts);
  }
  problems_release(&ignored);
}

void user_marks_read(struct read_file *file, struct profile_process *process, struct problems *problems)
{
  assert(!process->marks.text);
  struct names names = {.file = file, .marks = &process->marks};
  read_marks(&names, process, problems);
  add_counts(&names, process);
  hash_map_release(&names.offsets);
}

void user_marks_count(struct read_file *file, struct profile_process *process)
{
  struct names names = {.file = file, .marks = &process->marks};
  free(process->marks.counts);
  process->marks.counts = NULL;
  process->marks.counts_count = 0;
  add_counts(&names, process);
  hash_map_release(&names.offsets);
}

void user_marks_cut(struct profile_process *process, uint64_t from_ns, uint64_t to_ns)
{
  struct profile_marks *marks = &process->marks;
  uint32_t kept = 0, begun = MODEL_NONE;
  marks->counts_count = marks->user_phases = 0;
  for (uint32_t i = 0; i < marks->marks_count && marks->marks[i].at_ns < from_ns; i++)
    begun = marks->marks[i].user_phase ? i : begun;
  for (uint32_t i = 0; i < marks->marks_count; i++) {
    struct profile_mark mark = marks->marks[i];
    bool open = i == begun && mark.name;
    if ((mark.at_ns < from_ns && !open) || mark.at_ns >= to_ns)
      continue;
    mark.at_ns = open ? 0 : mark.at_ns - from_ns;
    marks->marks[kept++] = mark;
    marks->user_phases += mark.user_phase;
  }
  marks->marks_count = kept;
}
