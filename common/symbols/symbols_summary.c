#include "common/symbols/symbols_summary.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/order.h"
#include "common/xalloc.h"
#include "common/symbols/symbols_child.h"

#define MAGIC 0x31786469u

enum { CHAIN_MAX = 200 }; /* functions inlined into one another; of a longer chain the outer ones are left out */

/* Written first.  The arrays follow in the order of their counts, then the text. */
struct header {
  uint32_t magic, flags, missing_units, missing_file;
  uint64_t rows, pieces, routines, functions, files, text;
};

struct file_number {
  const char *path;
  uint32_t number;
};

uint32_t symbols_draft_text(struct symbols_draft *draft, const char *text)
{
  size_t length = text ? strnlen(text, SYMBOLS_NAME_MAX) : 0, offset = MAX(draft->text_size, 1);
  if (!length || length >= SYMBOLS_NAME_MAX)
    return 0;
  if (offset + length + 1 >= SYMBOLS_NONE)
    xalloc_die();
  xarray_reserve(&draft->text, &draft->text_room, offset + length + 1, 1);
  draft->text[0] = 0;
  memcpy(draft->text + offset, text, length + 1);
  draft->text_size = offset + length + 1;
  return (uint32_t)offset;
}

ORDER(compare_paths, struct file_number, strcmp(x->path, y->path))

uint32_t symbols_draft_file(struct symbols_draft *draft, const char *first, const char *second, const char *third)
{
  const char *path = symbols_join(&draft->paths, first, second, third);
  if (!path)
    return SYMBOLS_NONE;
  struct file_number *wanted = xmalloc(sizeof *wanted);
  *wanted = (struct file_number){path, (uint32_t)draft->file_count};
  struct file_number **slot = tsearch(wanted, &draft->file_numbers, compare_paths);
  if (!slot)
    xalloc_die();
  if (*slot != wanted) {
    free(wanted);
    return (*slot)->number;
  }
  *XAPPEND(draft->files, draft->file_count, draft->file_room) = symbols_draft_text(draft, path);
  return wanted->number;
}

uint32_t symbols_draft_function(struct symbols_draft *draft, struct symbols_function function)
{
  *XAPPEND(draft->functions, draft->function_count, draft->function_room) = function;
  return (uint32_t)(draft->function_count - 1);
}

uint32_t symbols_draft_routine(struct symbols_draft *draft, struct symbols_routine routine)
{
  *XAPPEND(draft->routines, draft->routine_count, draft->routine_room) = routine;
  return (uint32_t)(draft->routine_count - 1);
}

void symbols_draft_row(struct symbols_draft *draft, size_t first, struct symbols_row row, bool statement)
{
  size_t count = draft->row_count;
  bool same = count > first && draft->rows[count - 1].low == row.low;
  if (same && statement && !draft->statement && (count == first + 1 || draft->rows[count - 2].low != row.low)) {
    draft->rows[count - 1] = row;
    draft->statement = true;
    return;
  }
  draft->statement = statement || (same && draft->statement);
  if (count > first + 1 && draft->rows[count - 1].low == row.low && draft->rows[count - 2].low == row.low) {
    draft->rows[count - 1] = row;
    return;
  }
  *XAPPEND(draft->rows, draft->row_count, draft->row_room) = row;
}

ORDER(compare_rows, struct symbols_row,
      COMPARE(x->low, y->low) ?: COMPARE(x->line, y->line) ?: COMPARE(x->file, y->file))

void symbols_draft_sequence(struct symbols_draft *draft, size_t first, uint64_t end, bool keep)
{
  size_t count = draft->row_count - first, i = 1;
  while (i < count && draft->rows[first + i - 1].low <= draft->rows[first + i].low)
    i++;
  if (i < count)
    qsort(draft->rows + first, count, sizeof *draft->rows, compare_rows);
  if (!keep || !count || end <= draft->rows[first].low) {
    draft->row_count = first;
    return;
  }
  *XAPPEND(draft->sequences, draft->sequence_count, draft->sequence_room) =
      (struct symbols_sequence){draft->rows[first].low, end, first, count};
}

ORDER(compare_sequences, struct symbols_sequence, COMPARE(x->start, y->start) ?: COMPARE(x->first, y->first))

/* Puts all sequences into one ascending list of rows, with rows for the gaps between them.  A sequence that overlaps
 * the next one is cut where that begins.  Returns the number of rows. */
static size_t flatten_rows(struct symbols_draft *draft, struct symbols_row **out)
{
  size_t count = 0;
  *out = xmalloc((draft->row_count + draft->sequence_count) * sizeof **out);
  if (draft->sequence_count)
    qsort(draft->sequences, draft->sequence_count, sizeof *draft->sequences, compare_sequences);
  for (size_t i = 0; i < draft->sequence_count; i++) {
    const struct symbols_sequence *s = &draft->sequences[i];
    uint64_t next = i + 1 < draft->sequence_count ? s[1].start : UINT64_MAX, end = MIN(s->end, next);
    for (size_t j = s->first; j < s->first + s->count && draft->rows[j].low < end; j++)
      (*out)[count++] = draft->rows[j];
    if (end < next)
      (*out)[count++] = (struct symbols_row){end, SYMBOLS_NONE, 0};
  }
  return count;
}

void symbols_draft_write(struct symbols_draft *draft, int out)
{
  struct symbols_row *rows;
  size_t row_count = flatten_rows(draft, &rows);
  symbols_ranges_build(&draft->ranges);
  const struct header header = {.magic = MAGIC,
                                .flags = draft->flags,
                                .missing_units = draft->missing_units,
                                .missing_file = draft->missing_file,
                                .rows = row_count,
                                .pieces = draft->ranges.piece_count,
                                .routines = draft->routine_count,
                                .functions = draft->function_count,
                                .files = draft->file_count,
                                .text = draft->text_size};
  symbols_child_write(out, &header, sizeof header);
  symbols_child_write(out, rows, row_count * sizeof *rows);
  symbols_child_write(out, draft->ranges.pieces, draft->ranges.piece_count * sizeof *draft->ranges.pieces);
  symbols_child_write(out, draft->routines, draft->routine_count * sizeof *draft->routines);
  symbols_child_write(out, draft->functions, draft->function_count * sizeof *draft->functions);
  symbols_child_write(out, draft->files, draft->file_count * sizeof *draft->files);
  symbols_child_write(out, draft->text, draft->text_size);
}

/* The readable names of a function, which are found when it is first looked up. */
struct names {
  const char *readable, *raw;
  bool known;
};

struct symbols_summary {
  uint8_t *bytes; /* the memory of all arrays but names */
  size_t size;
  const struct symbols_row *rows;
  struct symbols_ranges ranges; /* only pieces */
  const struct symbols_routine *routines;
  const struct symbols_function *functions;
  const uint32_t *files;
  const char *text;
  struct names *names; /* parallel to functions */
  struct header header;
};

/* Takes the next array off the bytes.  False if it reaches beyond them. */
static bool take_array(const uint8_t **next, size_t *left, uint64_t count, size_t size, const void **array)
{
  if (count >= SYMBOLS_NONE || count > *left / size)
    return false;
  *array = *next;
  *next += count * size;
  *left -= count * size;
  return true;
}

/* Sets the pointers to the arrays, whose sizes must add up to all bytes.  Arrays with 64-bit numbers come first, so
 * that all are aligned. */
static bool find_arrays(struct symbols_summary *summary, size_t size)
{
  const uint8_t *next = summary->bytes + sizeof summary->header;
  size_t left = size - sizeof summary->header;
  const struct header *h = &summary->header;
  const void *rows, *pieces, *routines, *functions, *files, *text;
  if (!take_array(&next, &left, h->rows, sizeof *summary->rows, &rows) ||
      !take_array(&next, &left, h->pieces, sizeof *summary->ranges.pieces, &pieces) ||
      !take_array(&next, &left, h->routines, sizeof *summary->routines, &routines) ||
      !take_array(&next, &left, h->functions, sizeof *summary->functions, &functions) ||
      !take_array(&next, &left, h->files, sizeof *summary->files, &files) ||
      !take_array(&next, &left, h->text, 1, &text) || left)
    return false;
  summary->rows = rows;
  summary->ranges.pieces = (struct symbols_piece *)(uintptr_t)pieces;
  summary->ranges.piece_count = h->pieces;
  summary->routines = routines;
  summary->functions = functions;
  summary->files = files;
  summary->text = text;
  return !h->text || (!summary->text[0] && !summary->text[h->text - 1]);
}

static bool file_fits(const struct symbols_summary *summary, uint32_t file)
{
  return file < summary->header.files || file == SYMBOLS_NONE;
}

static bool text_fits(const struct symbols_summary *summary, uint32_t text)
{
  return text < summary->header.text || !text;
}

/* Whether every number is valid.  A parent must have a smaller number, so that every chain ends.  The order of arrays
 * is not checked: a wrong order only makes look-ups fail. */
static bool numbers_fit(const struct symbols_summary *summary)
{
  bool fit = text_fits(summary, summary->header.missing_file);
  for (size_t i = 0; i < summary->header.rows; i++)
    fit = fit && file_fits(summary, summary->rows[i].file);
  for (size_t i = 0; i < summary->header.pieces; i++) {
    uint32_t routine = summary->ranges.pieces[i].value;
    fit = fit && (routine < summary->header.routines || routine == SYMBOLS_NONE);
  }
  for (size_t i = 0; i < summary->header.routines; i++) {
    const struct symbols_routine *s = &summary->routines[i];
    fit = fit && (s->function < summary->header.functions || s->function == SYMBOLS_NONE) &&
          (s->parent < i || s->parent == SYMBOLS_NONE) && file_fits(summary, s->call_file);
  }
  for (size_t i = 0; i < summary->header.functions; i++) {
    const struct symbols_function *f = &summary->functions[i];
    fit = fit && text_fits(summary, f->name) && text_fits(summary, f->linkage) && file_fits(summary, f->decl_file);
  }
  for (size_t i = 0; i < summary->header.files; i++)
    fit = fit && text_fits(summary, summary->files[i]);
  return fit;
}

struct symbols_summary *symbols_summary_new(uint8_t *bytes, size_t size)
{
  struct symbols_summary *summary = xcalloc(1, sizeof *summary);
  summary->bytes = bytes;
  summary->size = size;
  if (size >= sizeof summary->header)
    memcpy(&summary->header, bytes, sizeof summary->header);
  if (summary->header.magic == MAGIC && find_arrays(summary, size) && numbers_fit(summary)) {
    summary->names = xcalloc(summary->header.functions, sizeof *summary->names);
    return summary;
  }
  symbols_summary_free(summary);
  return NULL;
}

void symbols_summary_free(struct symbols_summary *summary)
{
  if (!summary)
    return;
  free(summary->names);
  free(summary->bytes);
  free(summary);
}

const uint8_t *symbols_summary_bytes(const struct symbols_summary *summary, size_t *size)
{
  *size = summary->size;
  return summary->bytes;
}

uint32_t symbols_summary_flags(const struct symbols_summary *summary)
{
  return summary->header.flags;
}

static const char *text_of(const struct symbols_summary *summary, uint32_t text)
{
  return text ? summary->text + text : NULL;
}

uint32_t symbols_summary_missing(const struct symbols_summary *summary, const char **file)
{
  *file = text_of(summary, summary->header.missing_file);
  return *file ? summary->header.missing_units : 0;
}

static const char *file_of(const struct symbols_summary *summary, uint32_t file)
{
  return file == SYMBOLS_NONE ? NULL : text_of(summary, summary->files[file]);
}

/* The row that covers the address, the last one if there are several; NULL if there is none. */
static const struct symbols_row *find_row(const struct symbols_summary *summary, uint64_t address)
{
  size_t above = FIRST_WHERE(i, summary->header.rows, summary->rows[i].low > address);
  return above ? &summary->rows[above - 1] : NULL;
}

/* The names of a function.  It is named by its linkage name if that tells more (parameters, routines), else by its
 * plain name. */
static const struct names *names_of(struct symbols_summary *summary, struct symbols_pool *pool, uint32_t number)
{
  struct names *names = &summary->names[number];
  const char *name = text_of(summary, summary->functions[number].name),
             *linkage = text_of(summary, summary->functions[number].linkage);
  const char *raw = linkage ? linkage : name;
  if (names->known)
    return names;
  names->known = true;
  names->readable = symbols_readable_in(pool, linkage);
  if (name && (!names->readable || names->readable == linkage))
    names->readable = symbols_readable_in(pool, name);
  names->raw = raw && names->readable && strcmp(raw, names->readable) ? raw : NULL;
  return names;
}

/* Sets the declaration of a function that has none, because the compiler made it (such as gcc's outlined ones), to the
 * first line of its first instruction, which is that of the construct.  If that instruction has one line only and
 * belongs to an inlined function, the line of the call is used. */
static void set_declaration(const struct symbols_summary *summary, const struct symbols_routine *routine,
                            struct symbols_location *location)
{
  const struct symbols_routine *inlined = NULL;
  if (routine->parent != SYMBOLS_NONE || location->decl_line)
    return;
  const struct symbols_row *row = find_row(summary, routine->low);
  bool several = row && row > summary->rows && row[-1].low == routine->low;
  if (several)
    row--;
  for (uint32_t s = symbols_ranges_find(&summary->ranges, routine->low);
       !several && s != SYMBOLS_NONE && &summary->routines[s] != routine; s = summary->routines[s].parent)
    inlined = &summary->routines[s];
  bool by_call = inlined && inlined->call_line;
  uint32_t file = row ? row->file : SYMBOLS_NONE;
  if (by_call)
    file = inlined->call_file;
  if (file == SYMBOLS_NONE)
    return;
  location->decl_file = file_of(summary, file);
  location->decl_line = by_call ? inlined->call_line : row->line;
}

void symbols_summary_first(const struct symbols_summary *summary, uint64_t address, const char **file, uint32_t *line)
{
  const struct symbols_row *row = find_row(summary, address);
  bool here = row && row->low == address;
  if (here && row > summary->rows && row[-1].low == address)
    row--;
  *file = here ? file_of(summary, row->file) : NULL;
  *line = here ? row->line : 0;
}

/* Fills in a location, except for its source position. */
static void set_function(struct symbols_summary *summary, struct symbols_pool *pool,
                         const struct symbols_routine *routine, struct symbols_location *location)
{
  *location = (struct symbols_location){.low = routine->low, .inlined = routine->parent != SYMBOLS_NONE};
  if (routine->function != SYMBOLS_NONE) {
    const struct symbols_function *function = &summary->functions[routine->function];
    const struct names *names = names_of(summary, pool, routine->function);
    location->function = names->readable;
    location->raw = names->raw;
    location->decl_file = file_of(summary, function->decl_file);
    location->decl_line = function->decl_line;
  }
  set_declaration(summary, routine, location);
}

/* Whether a row can tell the line of code in a routine.  Compilers give line 0 to code that they have made of several
 * lines, and no row to code without a line, which then seems to have that of a function inlined before it, perhaps of
 * another file. */
static bool is_plausible(const struct symbols_summary *summary, const struct symbols_row *row, uint32_t routine)
{
  const struct symbols_routine *at = &summary->routines[routine];
  const struct symbols_function *function = at->function == SYMBOLS_NONE ? NULL : &summary->functions[at->function];
  const struct symbols_row *first = at->parent == SYMBOLS_NONE ? find_row(summary, at->low) : NULL;
  if (!row->line)
    return false;
  if (function && function->decl_line && function->decl_file != SYMBOLS_NONE)
    return row->file == function->decl_file;
  return !first || first->file == SYMBOLS_NONE || row->file == first->file;
}

/* The nearest row with a line of the same instance of a function, before the row or else after it; NULL if none is
 * near. */
static const struct symbols_row *nearest_line(const struct symbols_summary *summary, const struct symbols_row *row,
                                              uint32_t routine)
{
  enum { NEAR = 64 };
  for (int step = -1; step <= 1; step += 2) {
    const struct symbols_row *at = row;
    for (int i = 0; i < NEAR; i++) {
      if (step < 0 ? at == summary->rows : at + 1 == summary->rows + summary->header.rows)
        break;
      at += step;
      if (at->file == SYMBOLS_NONE)
        break;
      if (is_plausible(summary, at, routine) && symbols_ranges_find(&summary->ranges, at->low) == routine)
        return at;
    }
  }
  return NULL;
}

void symbols_summary_starts(const struct symbols_summary *summary, uint64_t **starts, size_t *count, size_t *room)
{
  if (!summary)
    return;
  symbols_ranges_starts(&summary->ranges, starts, count, room);
  xarray_reserve(starts, room, *count + summary->header.rows, sizeof **starts);
  for (uint64_t i = 0; i < summary->header.rows; i++)
    (*starts)[(*count)++] = summary->rows[i].low;
}

int symbols_summary_find(struct symbols_summary *summary, struct symbols_pool *pool, uint64_t address,
                         struct symbols_location *locations, int max, const char **file, uint32_t *line)
{
  const struct symbols_row *row = find_row(summary, address), *near = NULL;
  uint32_t chain[CHAIN_MAX], length = 0, routine = symbols_ranges_find(&summary->ranges, address);
  if (row && row->file != SYMBOLS_NONE && routine != SYMBOLS_NONE && !is_plausible(summary, row, routine))
    near = nearest_line(summary, row, routine);
  row = near ? near : row;
  *file = row ? file_of(summary, row->file) : NULL;
  *line = row ? row->line : 0;
  for (uint32_t s = routine; s != SYMBOLS_NONE && length < CHAIN_MAX; s = summary->routines[s].parent)
    chain[length++] = s;
  int count = 0;
  for (uint32_t i = length; i-- > 0 && count < max; count++) {
    struct symbols_location *location = &locations[count];
    set_function(summary, pool, &summary->routines[chain[i]], location);
    if (!i) {
      location->file = *file;
      location->line = *line;
      location->near = near;
    } else if (summary->routines[chain[i - 1]].call_line) {
      location->file = file_of(summary, summary->routines[chain[i - 1]].call_file);
      location->line = summary->routines[chain[i - 1]].call_line;
    }
  }
  return count;
}
