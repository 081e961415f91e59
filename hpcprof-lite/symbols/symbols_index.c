#include "hpcprof-lite/symbols/symbols_index.h"

#include "common/array.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "hpcprof-lite/symbols/symbols_child.h"

#define MAGIC 0x31786469u

enum { CHAIN_MAX = 200 }; /* functions inlined into one another; the outer ones of longer chains are left out */

/* What is written: this, then the arrays in the order of their counts, then the text. */
struct header {
  uint32_t magic, flags;
  uint64_t rows, segments, scopes, functions, files, text;
};

struct file_number {
  const char *path;
  uint32_t number;
};

/* Makes room for one more element of an array whose elements are numbered by 32 bits; false where there is none. */
static bool reserve(struct symbols_draft *draft, void *array, size_t count, size_t *room, size_t size)
{
  if (count >= SYMBOLS_NONE - 1 || !array_reserve(array, room, count + 1, size))
    draft->failed = true;
  return !draft->failed;
}

uint32_t symbols_draft_text(struct symbols_draft *d, const char *text)
{
  size_t length = text ? strnlen(text, SYMBOLS_NAME_MAX) : 0, offset = d->text_size ? d->text_size : 1;
  if (!length || length >= SYMBOLS_NAME_MAX || d->failed)
    return 0;
  if (offset + length + 1 >= SYMBOLS_NONE || !array_reserve(&d->text, &d->text_room, offset + length + 1, 1)) {
    d->failed = true;
    return 0;
  }
  d->text[0] = 0;
  memcpy(d->text + offset, text, length + 1);
  d->text_size = offset + length + 1;
  return (uint32_t)offset;
}

static int compare_paths(const void *left, const void *right)
{
  const struct file_number *a = left, *b = right;
  return strcmp(a->path, b->path);
}

uint32_t symbols_draft_file(struct symbols_draft *d, const char *first, const char *second, const char *third)
{
  const char *path = symbols_join(&d->paths, first, second, third);
  struct file_number *wanted = path ? malloc(sizeof *wanted) : NULL;
  if (!wanted)
    return SYMBOLS_NONE;
  *wanted = (struct file_number){path, (uint32_t)d->file_count};
  struct file_number **slot = tsearch(wanted, &d->file_numbers, compare_paths);
  if (!slot || *slot != wanted) {
    free(wanted);
    return slot ? (*slot)->number : SYMBOLS_NONE;
  }
  if (!reserve(d, &d->files, d->file_count, &d->file_room, sizeof *d->files))
    return SYMBOLS_NONE;
  d->files[d->file_count++] = symbols_draft_text(d, path);
  return wanted->number;
}

uint32_t symbols_draft_function(struct symbols_draft *d, struct symbols_function function)
{
  if (!reserve(d, &d->functions, d->function_count, &d->function_room, sizeof *d->functions))
    return SYMBOLS_NONE;
  d->functions[d->function_count] = function;
  return (uint32_t)d->function_count++;
}

uint32_t symbols_draft_scope(struct symbols_draft *d, struct symbols_scope scope)
{
  if (!reserve(d, &d->scopes, d->scope_count, &d->scope_room, sizeof *d->scopes))
    return SYMBOLS_NONE;
  d->scopes[d->scope_count] = scope;
  return (uint32_t)d->scope_count++;
}

void symbols_draft_row(struct symbols_draft *d, size_t first, struct symbols_row row)
{
  struct symbols_row *last = d->row_count > first ? &d->rows[d->row_count - 1] : NULL;
  if (last && last->low == row.low) {
    *last = row;
    return;
  }
  if (reserve(d, &d->rows, d->row_count, &d->row_room, sizeof *d->rows))
    d->rows[d->row_count++] = row;
}

static int compare_rows(const void *left, const void *right)
{
  const struct symbols_row *a = left, *b = right;
  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return (a->file > b->file) - (a->file < b->file);
}

void symbols_draft_sequence(struct symbols_draft *d, size_t first, uint64_t end, bool keep)
{
  size_t count = d->row_count - first, i = 1;
  while (i < count && d->rows[first + i - 1].low < d->rows[first + i].low)
    i++;
  if (i < count)
    qsort(d->rows + first, count, sizeof *d->rows, compare_rows);
  if (!keep || !count || end <= d->rows[first].low) {
    d->row_count = first;
    return;
  }
  if (reserve(d, &d->sequences, d->sequence_count, &d->sequence_room, sizeof *d->sequences))
    d->sequences[d->sequence_count++] = (struct symbols_sequence){d->rows[first].low, end, first, count};
}

static int compare_sequences(const void *left, const void *right)
{
  const struct symbols_sequence *a = left, *b = right;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

/* Puts all sequences into one ascending list of rows, with gaps between them.  A sequence that reaches into the next
 * one ends there.  Returns the number of rows; *out is NULL without memory. */
static size_t flatten_rows(struct symbols_draft *d, struct symbols_row **out)
{
  size_t count = 0;
  *out = malloc((d->row_count + d->sequence_count + 1) * sizeof **out);
  if (!*out)
    return 0;
  if (d->sequence_count)
    qsort(d->sequences, d->sequence_count, sizeof *d->sequences, compare_sequences);
  for (size_t i = 0; i < d->sequence_count; i++) {
    const struct symbols_sequence *s = &d->sequences[i];
    uint64_t next = i + 1 < d->sequence_count ? s[1].start : UINT64_MAX, end = s->end < next ? s->end : next;
    for (size_t j = s->first; j < s->first + s->count && d->rows[j].low < end; j++)
      (*out)[count++] = d->rows[j];
    if (end < next)
      (*out)[count++] = (struct symbols_row){end, SYMBOLS_NONE, 0};
  }
  return count;
}

void symbols_draft_write(struct symbols_draft *d, int out)
{
  struct symbols_row *rows;
  size_t row_count = flatten_rows(d, &rows);
  if (!rows || !symbols_ranges_build(&d->ranges) || d->failed)
    symbols_child_give_up();
  const struct header header = {.magic = MAGIC,
                                .flags = d->flags,
                                .rows = row_count,
                                .segments = d->ranges.segment_count,
                                .scopes = d->scope_count,
                                .functions = d->function_count,
                                .files = d->file_count,
                                .text = d->text_size};
  symbols_child_write(out, &header, sizeof header);
  symbols_child_write(out, rows, row_count * sizeof *rows);
  symbols_child_write(out, d->ranges.segments, d->ranges.segment_count * sizeof *d->ranges.segments);
  symbols_child_write(out, d->scopes, d->scope_count * sizeof *d->scopes);
  symbols_child_write(out, d->functions, d->function_count * sizeof *d->functions);
  symbols_child_write(out, d->files, d->file_count * sizeof *d->files);
  symbols_child_write(out, d->text, d->text_size);
}

/* Readable names of a function, found out when it is first asked for. */
struct names {
  const char *readable, *raw;
  bool known;
};

struct symbols_index {
  uint8_t *bytes; /* what the others point into */
  const struct symbols_row *rows;
  struct symbols_ranges ranges; /* its segments lie in bytes */
  const struct symbols_scope *scopes;
  const struct symbols_function *functions;
  const uint32_t *files;
  const char *text;
  struct names *names; /* parallel to functions */
  struct header header;
};

/* Takes the next array off the bytes; false where it reaches beyond them. */
static bool take(const uint8_t **next, size_t *left, uint64_t count, size_t size, const void **array)
{
  if (count >= SYMBOLS_NONE || count > *left / size)
    return false;
  *array = *next;
  *next += count * size;
  *left -= count * size;
  return true;
}

/* Sets where the arrays lie; their sizes must make up all bytes.  All begin at a multiple of 8 but the last ones, of
 * 32-bit numbers. */
static bool lay_out(struct symbols_index *x, size_t size)
{
  const uint8_t *next = x->bytes + sizeof x->header;
  size_t left = size - sizeof x->header;
  const struct header *h = &x->header;
  const void *rows, *segments, *scopes, *functions, *files, *text;
  if (!take(&next, &left, h->rows, sizeof *x->rows, &rows) ||
      !take(&next, &left, h->segments, sizeof *x->ranges.segments, &segments) ||
      !take(&next, &left, h->scopes, sizeof *x->scopes, &scopes) ||
      !take(&next, &left, h->functions, sizeof *x->functions, &functions) ||
      !take(&next, &left, h->files, sizeof *x->files, &files) || !take(&next, &left, h->text, 1, &text) || left)
    return false;
  x->rows = rows;
  x->ranges.segments = (struct symbols_segment *)(uintptr_t)segments;
  x->ranges.segment_count = h->segments;
  x->scopes = scopes;
  x->functions = functions;
  x->files = files;
  x->text = text;
  return !h->text || (!x->text[0] && !x->text[h->text - 1]);
}

static bool file_fits(const struct symbols_index *x, uint32_t file)
{
  return file < x->header.files || file == SYMBOLS_NONE;
}

static bool text_fits(const struct symbols_index *x, uint32_t text)
{
  return text < x->header.text || !text;
}

/* Whether every number leads somewhere.  Parents have smaller numbers, so that chains end.  Arrays out of order make
 * look-ups miss, no worse. */
static bool numbers_fit(const struct symbols_index *x)
{
  bool fit = true;
  for (size_t i = 0; i < x->header.rows; i++)
    fit = fit && file_fits(x, x->rows[i].file);
  for (size_t i = 0; i < x->header.segments; i++) {
    uint32_t scope = x->ranges.segments[i].value;
    fit = fit && (scope < x->header.scopes || scope == SYMBOLS_NONE);
  }
  for (size_t i = 0; i < x->header.scopes; i++) {
    const struct symbols_scope *s = &x->scopes[i];
    fit = fit && (s->function < x->header.functions || s->function == SYMBOLS_NONE) &&
          (s->parent < i || s->parent == SYMBOLS_NONE) && file_fits(x, s->call_file);
  }
  for (size_t i = 0; i < x->header.functions; i++) {
    const struct symbols_function *f = &x->functions[i];
    fit = fit && text_fits(x, f->name) && text_fits(x, f->linkage) && file_fits(x, f->decl_file);
  }
  for (size_t i = 0; i < x->header.files; i++)
    fit = fit && text_fits(x, x->files[i]);
  return fit;
}

struct symbols_index *symbols_index_new(uint8_t *bytes, size_t size)
{
  struct symbols_index *x = calloc(1, sizeof *x);
  if (!x || size < sizeof x->header) {
    free(bytes);
    free(x);
    return NULL;
  }
  x->bytes = bytes;
  memcpy(&x->header, bytes, sizeof x->header);
  bool fine = x->header.magic == MAGIC && lay_out(x, size) && numbers_fit(x);
  x->names = fine ? calloc(x->header.functions + 1, sizeof *x->names) : NULL;
  if (!x->names) {
    symbols_index_free(x);
    return NULL;
  }
  return x;
}

void symbols_index_free(struct symbols_index *x)
{
  if (!x)
    return;
  free(x->names);
  free(x->bytes);
  free(x);
}

uint32_t symbols_index_flags(const struct symbols_index *x)
{
  return x->header.flags;
}

static const char *text_of(const struct symbols_index *x, uint32_t text)
{
  return text ? x->text + text : NULL;
}

static const char *file_of(const struct symbols_index *x, uint32_t file)
{
  return file == SYMBOLS_NONE ? NULL : text_of(x, x->files[file]);
}

/* The row that covers address, NULL without. */
static const struct symbols_row *find_row(const struct symbols_index *x, uint64_t address)
{
  size_t low = 0, high = x->header.rows;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (x->rows[middle].low <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? &x->rows[low - 1] : NULL;
}

/* Names a function: by its linkage name where that says more than the plain one (parameters, scopes), else by its
 * plain name. */
static const struct names *names_of(struct symbols_index *x, struct symbols_pool *pool, uint32_t number)
{
  struct names *names = &x->names[number];
  const char *name = text_of(x, x->functions[number].name), *linkage = text_of(x, x->functions[number].linkage);
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

/* Functions that the compiler made (gcc's outlined ones) have no declaration: the line of their first instruction
 * stands in, which is the line of the construct; where something inlined begins there, the line of its call. */
static void set_declaration(const struct symbols_index *x, const struct symbols_scope *scope,
                            struct symbols_place *place)
{
  const struct symbols_scope *inlined = NULL;
  if (scope->parent != SYMBOLS_NONE || place->decl_line)
    return;
  for (uint32_t s = symbols_ranges_find(&x->ranges, scope->low); s != SYMBOLS_NONE && &x->scopes[s] != scope;
       s = x->scopes[s].parent)
    inlined = &x->scopes[s];
  const struct symbols_row *row = find_row(x, scope->low);
  uint32_t file = inlined && inlined->call_line ? inlined->call_file : row ? row->file : SYMBOLS_NONE;
  if (file == SYMBOLS_NONE)
    return;
  place->decl_file = file_of(x, file);
  place->decl_line = inlined && inlined->call_line ? inlined->call_line : row->line;
}

static void set_function(struct symbols_index *x, struct symbols_pool *pool, const struct symbols_scope *scope,
                         struct symbols_place *place)
{
  *place = (struct symbols_place){.low = scope->low, .inlined = scope->parent != SYMBOLS_NONE};
  if (scope->function != SYMBOLS_NONE) {
    const struct symbols_function *function = &x->functions[scope->function];
    const struct names *names = names_of(x, pool, scope->function);
    place->function = names->readable;
    place->raw = names->raw;
    place->decl_file = file_of(x, function->decl_file);
    place->decl_line = function->decl_line;
  }
  set_declaration(x, scope, place);
}

int symbols_index_find(struct symbols_index *x, struct symbols_pool *pool, uint64_t address,
                       struct symbols_place *places, int max, const char **file, uint32_t *line)
{
  const struct symbols_row *row = find_row(x, address);
  uint32_t chain[CHAIN_MAX], length = 0;
  *file = row ? file_of(x, row->file) : NULL;
  *line = row ? row->line : 0;
  for (uint32_t s = symbols_ranges_find(&x->ranges, address); s != SYMBOLS_NONE && length < CHAIN_MAX;
       s = x->scopes[s].parent)
    chain[length++] = s;
  int count = 0;
  for (uint32_t i = length; i-- > 0 && count < max; count++) {
    const struct symbols_scope *inner = i ? &x->scopes[chain[i - 1]] : NULL;
    set_function(x, pool, &x->scopes[chain[i]], &places[count]);
    places[count].file = !inner ? *file : inner->call_line ? file_of(x, inner->call_file) : NULL;
    places[count].line = inner ? inner->call_line : *line;
  }
  return count;
}
