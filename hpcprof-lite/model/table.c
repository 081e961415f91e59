#include "hpcprof-lite/model/table.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_add(struct table *table, const struct schema *schema, const void *context)
{
  assert(schema->columns || !schema->count);
  assert(table->parts_count < TABLE_PARTS_MAX);
  uint32_t *selected = xrealloc(table->selected, ((size_t)table->columns_count + schema->count + 1) * sizeof *selected);
  table->selected = selected;
  struct table_part *part = &table->parts[table->parts_count++];
  *part = (struct table_part){schema->columns, schema->count, schema->fill, context, false};
  for (uint32_t i = 0; i < schema->count; i++)
    if (!schema->columns[i].text_only) {
      selected[table->selected_count++] = table->columns_count + i;
      part->used = true;
    }
  table->columns_count += schema->count;
}

void *table_own(struct table *table, void *memory)
{
  assert(memory);
  return *XAPPEND(table->owned, table->owned_count, table->owned_room) = memory;
}

void *table_memory(struct table *table, size_t size)
{
  return table_own(table, xcalloc(1, size));
}

const char *table_name(struct table *table, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *name = xvasprintf(format, arguments);
  va_end(arguments);
  return table_own(table, name);
}

struct table *table_further(struct table *table, const char *name)
{
  assert(name);
  while (table->further)
    table = table->further;
  table->further = xcalloc(1, sizeof *table->further);
  table->further->name = name;
  return table->further;
}

void table_release(struct table *table)
{
  if (table->further)
    table_release(table->further);
  free(table->further);
  for (size_t i = 0; i < table->owned_count; i++)
    free(table->owned[i]);
  free(table->owned);
  free(table->selected);
  *table = (struct table){0};
}

void table_select(struct table *table, const uint32_t *columns, uint32_t count)
{
  assert(!table->parts_count || columns || !count);
  uint32_t *selected = xmalloc(((size_t)count + 1) * sizeof *selected), first = 0;
  memcpy(selected, columns, count * sizeof *selected);
  free(table->selected);
  table->selected = selected;
  table->selected_count = count;
  for (uint32_t i = 0; i < table->parts_count; first += table->parts[i++].count) {
    table->parts[i].used = false;
    for (uint32_t j = 0; j < count; j++)
      table->parts[i].used |= selected[j] >= first && selected[j] < first + table->parts[i].count;
  }
}

const struct table_column *table_column(const struct table *table, uint32_t number)
{
  const struct table_part *part = table->parts;
  assert(number < table->columns_count);
  for (; number >= part->count; part++)
    number -= part->count;
  return &part->columns[number];
}

uint32_t table_number(const struct table *table, const char *name)
{
  assert(name);
  uint32_t number = 0;
  while (number < table->columns_count && strcmp(table_column(table, number)->name, name) != 0)
    number++;
  return number < table->columns_count ? number : MODEL_NONE;
}

bool table_names(const char *names, const char *name)
{
  assert(name && *name);
  size_t length = strlen(name);
  for (const char *at = names; at && (at = strstr(at, name)); at += length)
    if ((at == names || at[-1] == ' ') && (!at[length] || at[length] == ' '))
      return true;
  return false;
}

uint32_t table_shown(const struct table *table, uint32_t *numbers)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < table->columns_count; i++) {
    const struct table_column *column = table_column(table, i);
    uint32_t at = count;
    if (!column->shown || table_names(table->hidden, column->name))
      continue;
    for (; at && table_column(table, numbers[at - 1])->shown > column->shown; at--)
      numbers[at] = numbers[at - 1];
    numbers[at] = i;
    count++;
  }
  return count;
}

void table_cells(const struct table *table, const void *row, struct cell *cells)
{
  assert(row && cells);
  for (uint32_t i = 0; i < table->parts_count; i++) {
    const struct table_part *part = &table->parts[i];
    if (part->used)
      part->fill(part->context, row, cells);
    cells += part->count;
  }
}

/* What takes the cells of the rows of a table. */
struct taker {
  const struct table *table;
  struct cell *cells;
  int (*take)(void *to, const struct cell *cells);
  void *to;
};

static int take_row(void *to, const void *row)
{
  const struct taker *taker = to;
  table_cells(taker->table, row, taker->cells);
  return taker->take(taker->to, taker->cells);
}

int table_each(const struct table *table, int (*take)(void *to, const struct cell *cells), void *to)
{
  assert(table->each && take);
  struct taker taker = {table, xcalloc(table->columns_count, sizeof *taker.cells), take, to};
  int status = table->each(table->source, take_row, &taker);
  free(taker.cells);
  return status;
}

/* ---- sorting ---- */

double cell_value(const struct cell *cell)
{
  assert(cell->decimals < 10 || cell->kind == CELL_TEXT || cell->kind == CELL_REAL);
  static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  switch (cell->kind) {
  case CELL_NUMBER:
  case CELL_PARTIAL:
    return (double)cell->whole / powers[cell->decimals];
  case CELL_SIGNED:
    return (double)cell->number;
  case CELL_REAL:
    return cell->real;
  case CELL_PERCENT:
    return cell->of ? 100.0 * (double)cell->whole / (double)cell->of : 0;
  default:
    return 0;
  }
}

/* The smaller number first. */
static int by_value(const struct cell *a, const struct cell *b)
{
  if (a->kind == CELL_NUMBER && b->kind == CELL_NUMBER && a->decimals == b->decimals)
    return COMPARE(a->whole, b->whole);
  double x = cell_value(a), y = cell_value(b);
  return COMPARE(x, y);
}

static const char *text_of(const struct cell *cell)
{
  return cell->kind == CELL_TEXT ? cell->text : "";
}

static int by_text(const struct cell *a, const struct cell *b)
{
  if (a->kind == CELL_TEXT && b->kind == CELL_TEXT && a->by_number && b->by_number)
    return COMPARE(a->whole, b->whole);
  return strcmp(text_of(a), text_of(b));
}

/* Returns the column before which the part ends, with the cells of that part. */
static const struct table_part *find_part(const struct table *table, uint32_t *column)
{
  assert(*column < table->columns_count);
  const struct table_part *part = table->parts;
  for (; *column >= part->count; part++)
    *column -= part->count;
  return part;
}

void table_keys_init(struct table_keys *keys, const struct table *table, uint32_t column, const void *rows,
                     size_t count, size_t size)
{
  assert(rows || !count);
  assert(column < table->columns_count);
  const struct table_part *part = find_part(table, &column);
  if (column && part->columns[column - 1].type == COLUMN_FILE)
    column--;
  bool file = part->columns[column].type == COLUMN_FILE, passing = part->columns[column].passing;
  struct cell *cells = xcalloc(part->count, sizeof *cells);
  *keys = (struct table_keys){.type = part->columns[column].type,
                              .cells = xcalloc(count, sizeof *keys->cells),
                              .lines = file ? xcalloc(count, sizeof *keys->lines) : NULL,
                              .copies = passing ? count : 0};
  for (size_t i = 0; i < count; i++) {
    part->fill(part->context, (const char *)rows + i * size, cells);
    keys->cells[i] = cells[column];
    if (file)
      keys->lines[i] = cells[column + 1];
    if (passing)
      keys->cells[i].text = xstrdup(text_of(&cells[column]));
  }
  free(cells);
}

static bool has_number(const struct cell *cell)
{
  return cell->kind >= CELL_NUMBER && cell->kind <= CELL_PERCENT;
}

int table_keys_compare(const struct table_keys *keys, size_t a, size_t b)
{
  assert(keys->cells);
  const struct cell *x = &keys->cells[a], *y = &keys->cells[b];
  switch (keys->type) {
  case COLUMN_ID:
    return !has_number(x) - !has_number(y) ?: by_value(x, y);
  case COLUMN_TEXT:
    return by_text(x, y);
  case COLUMN_FILE:
    return by_text(x, y) ?: by_value(&keys->lines[a], &keys->lines[b]);
  case COLUMN_MIXED:
    return by_text(x, y) ?: by_value(y, x);
  default:
    return by_value(y, x);
  }
}

void table_keys_release(struct table_keys *keys)
{
  for (size_t i = 0; i < keys->copies; i++)
    free((char *)keys->cells[i].text);
  free(keys->cells);
  free(keys->lines);
  *keys = (struct table_keys){0};
}

static int by_key(const void *a, const void *b, void *keys)
{
  const uint32_t *x = a, *y = b;
  return table_keys_compare(keys, *x, *y) ?: COMPARE(*x, *y);
}

void table_sort(const struct table *table, uint32_t column, void *rows, size_t count, size_t size)
{
  assert(size && (rows || !count));
  struct table_keys keys;
  if (!count)
    return;
  uint32_t *order = xcalloc(count, sizeof *order);
  char *copy = xmalloc(count * size);
  table_keys_init(&keys, table, column, rows, count, size);
  for (uint32_t i = 0; i < count; i++)
    order[i] = i;
  qsort_r(order, count, sizeof *order, by_key, &keys);
  memcpy(copy, rows, count * size);
  for (size_t i = 0; i < count; i++)
    memcpy((char *)rows + i * size, copy + order[i] * size, size);
  table_keys_release(&keys);
  free(order);
  free(copy);
}
