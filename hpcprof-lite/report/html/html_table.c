#include "hpcprof-lite/report/html/html_table.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

static const int64_t EMPTY = INT64_MIN;

/* DIGITS_MAX: numbers with more digits stay text, as those of JavaScript are exact up to 15 digits. */
enum { DIGITS_MAX = 15, CELL_BYTES_MAX = 8, COMPRESSION = 6, NUMBER_MAX = 400 };
static const uint64_t WHOLE_MAX = 1000000000000000;

/* ---- cells ---- */

static int64_t cell_at(const struct html_column *column, uint32_t row)
{
  assert(column->cell_size);
  int64_t value;
  switch (column->cell_size) {
  case 1:
    value = ((const int8_t *)column->cells)[row];
    return value == INT8_MIN ? EMPTY : value;
  case 2:
    value = ((const int16_t *)column->cells)[row];
    return value == INT16_MIN ? EMPTY : value;
  case 4:
    value = ((const int32_t *)column->cells)[row];
    return value == INT32_MIN ? EMPTY : value;
  default:
    return ((const int64_t *)column->cells)[row];
  }
}

/* The lowest number of each size means "empty". */
static unsigned needed_size(int64_t value)
{
  if (value == EMPTY || (value > INT8_MIN && value <= INT8_MAX))
    return 1;
  if (value > INT16_MIN && value <= INT16_MAX)
    return 2;
  return value > INT32_MIN && value <= INT32_MAX ? 4 : 8;
}

static void store_cell(struct html_column *column, uint32_t row, int64_t value)
{
  switch (column->cell_size) {
  case 1:
    ((int8_t *)column->cells)[row] = value == EMPTY ? INT8_MIN : (int8_t)value;
    break;
  case 2:
    ((int16_t *)column->cells)[row] = value == EMPTY ? INT16_MIN : (int16_t)value;
    break;
  case 4:
    ((int32_t *)column->cells)[row] = value == EMPTY ? INT32_MIN : (int32_t)value;
    break;
  default:
    ((int64_t *)column->cells)[row] = value;
  }
}

/* Gives the cells of the first rows another size. */
static void widen(struct html_column *column, uint32_t rows, unsigned size)
{
  assert(size > column->cell_size);
  struct html_column wide = {.cell_size = size};
  xarray_reserve(&wide.cells, &wide.room, (size_t)rows + 1, size);
  for (uint32_t row = 0; row < rows; row++)
    store_cell(&wide, row, cell_at(column, row));
  free(column->cells);
  column->cells = wide.cells;
  column->room = wide.room;
  column->cell_size = size;
}

/* Sets the cell of a row; those of all rows before it are set. */
static void set_cell(struct html_column *column, uint32_t row, int64_t value)
{
  unsigned size = needed_size(value);
  if (size > column->cell_size)
    widen(column, row, size);
  xarray_reserve(&column->cells, &column->room, (size_t)row + 1, column->cell_size);
  store_cell(column, row, value);
}

/* Reads the digits of a number; false if there are too many. */
static bool parse_number(const char *text, int64_t *value, unsigned *decimals)
{
  unsigned digits = 0;
  bool negative = *text == '-', point = false;
  *value = 0, *decimals = 0;
  for (text += negative; *text; text++) {
    if (*text == '.' && !point) {
      point = true;
    } else if (*text >= '0' && *text <= '9' && digits < DIGITS_MAX) {
      *value = *value * 10 + (*text - '0');
      *decimals += point;
      digits++;
    } else {
      return false;
    }
  }
  if (negative)
    *value = -*value;
  return true;
}

static bool is_string(const struct html_column *column, uint32_t number, const char *text, size_t size)
{
  assert(number < column->strings_count);
  const char *known = column->strings + column->starts[number];
  return !memcmp(known, text, size) && known[size] == '\n';
}

/* Returns the position of a string + 1, after adding it if it is new. */
static uint32_t string_number(struct html_column *column, const char *text, size_t size)
{
  uint64_t key = hash_map_key_bytes(1, text, size);
  uint32_t found = HASH_MAP_FIND(&column->map, key, i, is_string(column, i - 1, text, size));
  if (found)
    return found;
  if (column->strings_size + size + 1 > UINT32_MAX)
    xalloc_die();
  xarray_reserve(&column->strings, &column->strings_room, column->strings_size + size + 1, 1);
  *XAPPEND(column->starts, column->strings_count, column->starts_room) = (uint32_t)column->strings_size;
  hash_map_add(&column->map, key, column->strings_count);
  memcpy(column->strings + column->strings_size, text, size);
  column->strings[column->strings_size + size] = '\n';
  column->strings_size += size + 1;
  return column->strings_count;
}

/* Turns the numbers of a column into text. */
static void make_text(struct html_column *column, uint32_t rows)
{
  assert(!column->is_text);
  /* cells are replaced one by one: numbers of strings must not need wider ones */
  if (column->cell_size && column->cell_size < sizeof(uint32_t))
    widen(column, rows, sizeof(uint32_t));
  column->is_text = true;
  for (uint32_t row = 0; row < rows; row++) {
    int64_t value = cell_at(column, row);
    char text[48];
    if (value == EMPTY)
      continue;
    uint64_t amount = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = 1;
    for (unsigned i = 0; i < column->decimals; i++)
      unit *= 10;
    int size = snprintf(text, sizeof text, "%s%" PRIu64, value < 0 ? "-" : "", amount / unit);
    if (column->decimals)
      size += snprintf(text + size, sizeof text - (size_t)size, ".%0*" PRIu64, (int)column->decimals, amount % unit);
    set_cell(column, row, string_number(column, text, (size_t)size));
  }
}

/* Whether the column can hold a number with so many decimals. */
static bool takes_number(const struct html_column *column, unsigned decimals)
{
  return !column->is_text && (!column->has_number || column->decimals == decimals);
}

static void add_number(struct html_column *column, uint32_t row, int64_t value, unsigned decimals)
{
  column->minimum = column->has_number ? MIN(column->minimum, value) : value;
  column->maximum = column->has_number ? MAX(column->maximum, value) : value;
  column->decimals = decimals;
  column->has_number = true;
  set_cell(column, row, value);
}

/* Adds a text, after turning a column of numbers into one of text. */
static void add_text(struct html_column *column, uint32_t row, const char *text, size_t size)
{
  if (!column->is_text)
    make_text(column, row);
  set_cell(column, row, string_number(column, text, size));
}

/* The same of any text, as CSV shows it. */
static void add_escaped(struct html_column *column, uint32_t row, const char *text)
{
  struct row_writer_marks marks;
  size_t size = row_writer_plain(text, false, &marks);
  char *escaped = size ? NULL : row_writer_escaped(text, &size);
  add_text(column, row, escaped ? escaped : text, size);
  free(escaped);
}

static void add_real(struct html_column *column, uint32_t row, const struct cell *cell)
{
  char text[NUMBER_MAX];
  int64_t value;
  unsigned decimals;
  int size = snprintf(text, sizeof text, "%.*f", cell->decimals, cell_value(cell));
  if (parse_number(text, &value, &decimals) && takes_number(column, decimals))
    add_number(column, row, value, decimals);
  else
    add_text(column, row, text, (size_t)size);
}

/* A number with too many digits, or with other decimals than those before, becomes text. */
static void add_whole(struct html_column *column, uint32_t row, uint64_t whole, bool negative, unsigned decimals)
{
  char text[48], *end = text + sizeof text, *at;
  if (whole < WHOLE_MAX && takes_number(column, decimals)) {
    add_number(column, row, negative ? -(int64_t)whole : (int64_t)whole, decimals);
    return;
  }
  at = row_writer_digits(end, whole, decimals);
  if (negative)
    *--at = '-';
  add_text(column, row, at, (size_t)(end - at));
}

static void add_cell(struct html_column *column, uint32_t row, const struct cell *cell)
{
  bool negative = cell->kind == CELL_SIGNED && cell->number < 0;
  switch (cell->kind) {
  case CELL_TEXT:
    add_escaped(column, row, cell->text);
    break;
  case CELL_NUMBER:
    add_whole(column, row, cell->whole, false, cell->decimals);
    break;
  case CELL_SIGNED:
    add_whole(column, row, negative ? -(uint64_t)cell->number : (uint64_t)cell->number, negative, 0);
    break;
  case CELL_REAL:
  case CELL_PERCENT:
    add_real(column, row, cell);
    break;
  default:
    column->has_empty = true;
    set_cell(column, row, EMPTY);
  }
}

void html_table_add_column(struct html_table *table, const char *name)
{
  xarray_reserve_zero(&table->columns, &table->columns_room, (size_t)table->columns_count + 1, sizeof *table->columns);
  size_t size;
  table->columns[table->columns_count++].name = row_writer_escaped(name, &size);
}

/* ---- rows of tables ---- */

struct adding {
  struct html_table *html;
  const struct table *table;
};

static int take_row(void *to, const struct cell *cells)
{
  const struct adding *adding = to;
  struct html_table *html = adding->html;
  for (uint32_t i = 0; i < html->columns_count; i++)
    add_cell(&html->columns[i], html->rows, &cells[adding->table->selected[i]]);
  html->rows++;
  return 0;
}

int html_table_add(struct html_table *html, const struct table *table)
{
  assert(!html->columns_count);
  struct adding adding = {html, table};
  for (uint32_t i = 0; i < table->selected_count; i++) {
    const struct table_column *column = table_column(table, table->selected[i]);
    html_table_add_column(html, column->name);
    html->columns[i].help = column->help;
    html->columns[i].is_text = column->type == COLUMN_TEXT || column->type == COLUMN_FILE;
  }
  assert(check_table(table));
  return table_each(table, take_row, &adding);
}

/* ---- rows of numbers ---- */

void html_table_add_row(struct html_table *table, const int64_t *values)
{
  assert(table->columns_count && values);
  for (uint32_t i = 0; i < table->columns_count; i++)
    add_number(&table->columns[i], table->rows, values[i], 0);
  table->rows++;
}

/* ---- columns that follow from others ---- */

/* Returns the column of that name if all of its cells are whole numbers, or empty if `empty` allows; else NULL. */
static struct html_column *whole_numbers(const struct html_table *table, const char *name, bool empty)
{
  for (uint32_t i = 0; i < table->columns_count; i++) {
    struct html_column *column = &table->columns[i];
    if (!strcmp(column->name, name))
      return column->is_text || column->decimals || (column->has_empty && !empty) ? NULL : column;
  }
  return NULL;
}

/* Whether each row's parent is the last row before it that is less deep by one.  `path` has an id for each depth. */
static bool parents_follow(const struct html_column *ids, const struct html_column *depths,
                           const struct html_column *parents, uint32_t rows, int64_t *path)
{
  int64_t before = -1;
  for (uint32_t row = 0; row < rows; row++) {
    int64_t depth = cell_at(depths, row);
    if (depth < 0 || depth > before + 1 || cell_at(parents, row) != (depth ? path[depth - 1] : EMPTY))
      return false;
    path[depth] = cell_at(ids, row);
    before = depth;
  }
  return true;
}

/* Marks the column parent_id if it follows from others. */
static void find_parents(struct html_table *table)
{
  const struct html_column *ids = whole_numbers(table, "id", false), *depths = whole_numbers(table, "depth", false);
  struct html_column *parents = whole_numbers(table, "parent_id", true);
  if (!table->rows || !ids || !depths || !parents || depths->maximum >= table->rows)
    return;
  int64_t *path = xmalloc(((size_t)depths->maximum + 1) * sizeof *path);
  parents->is_parents = parents_follow(ids, depths, parents, table->rows, path);
  free(path);
}

/* ---- the written form ---- */

/* Returns the largest cell, with one value more where a column has empty cells. */
static uint64_t largest_cell(const struct html_column *column)
{
  if (column->is_text)
    return column->strings_count;
  uint64_t range = column->has_number ? (uint64_t)column->maximum - (uint64_t)column->minimum : 0;
  return range + column->has_empty;
}

static unsigned cell_bytes(const struct html_column *column)
{
  assert(column->is_text || !column->has_number || column->minimum <= column->maximum);
  unsigned bytes = !column->is_parents;
  while (bytes && bytes < CELL_BYTES_MAX && largest_cell(column) >> (8 * bytes))
    bytes++;
  return bytes;
}

static uint64_t encoded(const struct html_column *column, uint32_t row, unsigned bytes)
{
  int64_t cell = cell_at(column, row);
  if (column->is_text)
    return cell == EMPTY ? 0 : (uint64_t)cell;
  return cell == EMPTY ? UINT64_MAX >> (64 - 8 * bytes) : (uint64_t)cell - (uint64_t)column->minimum;
}

/* Returns the header, which the caller frees. */
static char *make_header(const struct html_table *table, size_t *size)
{
  char *header = NULL;
  FILE *stream = xopen_memstream(&header, size);
  fprintf(stream, "{\"rows\":%" PRIu32 ",\"columns\":[", table->rows);
  for (uint32_t i = 0; i < table->columns_count; i++) {
    const struct html_column *column = &table->columns[i];
    fprintf(stream, "%s{\"name\":", i ? "," : "");
    row_writer_json_string(stream, column->name);
    if (column->help) {
      fputs(",\"help\":", stream);
      row_writer_json_string(stream, column->help);
    }
    fprintf(stream, ",\"bytes\":%u,", cell_bytes(column));
    if (column->is_parents)
      fputs("\"minimum\":0,\"decimals\":0,\"empty\":true,\"parents\":true}", stream);
    else if (column->is_text)
      fprintf(stream, "\"strings\":%zu}", column->strings_size);
    else
      fprintf(stream, "\"minimum\":%" PRId64 ",\"decimals\":%u,\"empty\":%s}", column->minimum, column->decimals,
              column->has_empty ? "true" : "false");
  }
  fputs("]}", stream);
  xclose(stream, &header);
  return header;
}

/* Returns the written form before compression, which the caller frees. */
static unsigned char *make_bytes(const struct html_table *table, size_t *size)
{
  size_t header_size, at = 4;
  char *header = make_header(table, &header_size);
  *size = 4 + header_size;
  for (uint32_t i = 0; i < table->columns_count; i++)
    *size += (size_t)table->rows * cell_bytes(&table->columns[i]) + table->columns[i].strings_size;
  unsigned char *bytes = xmalloc(*size);
  for (unsigned i = 0; i < 4; i++)
    bytes[i] = (unsigned char)(header_size >> (8 * i));
  memcpy(bytes + at, header, header_size);
  at += header_size;
  for (uint32_t i = 0; i < table->columns_count; i++) {
    const struct html_column *column = &table->columns[i];
    unsigned width = cell_bytes(column);
    for (unsigned byte = 0; byte < width; byte++)
      for (uint32_t row = 0; row < table->rows; row++)
        bytes[at++] = (unsigned char)(encoded(column, row, width) >> (8 * byte));
    if (column->strings_size)
      memcpy(bytes + at, column->strings, column->strings_size);
    at += column->strings_size;
  }
  free(header);
  return bytes;
}

static void write_base64(const unsigned char *bytes, size_t size, FILE *stream)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    uint32_t group = (uint32_t)bytes[i] << 16;
    group |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
    group |= i + 2 < size ? bytes[i + 2] : 0;
    putc_unlocked(digits[group >> 18], stream);
    putc_unlocked(digits[group >> 12 & 63], stream);
    putc_unlocked(i + 1 < size ? digits[group >> 6 & 63] : '=', stream);
    putc_unlocked(i + 2 < size ? digits[group & 63] : '=', stream);
  }
}

void html_table_write_bytes(const void *bytes, size_t size, FILE *stream)
{
  assert(bytes || !size);
  struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(COMPRESSION);
  if (!compressor)
    xalloc_die();
  size_t bound = libdeflate_gzip_compress_bound(compressor, size);
  unsigned char *packed = xmalloc(bound);
  write_base64(packed, libdeflate_gzip_compress(compressor, bytes, size, packed, bound), stream);
  libdeflate_free_compressor(compressor);
  free(packed);
}

void html_table_write(struct html_table *table, FILE *stream)
{
  size_t size;
  find_parents(table);
  for (uint32_t i = 0; i < table->columns_count; i++) /* an empty column has no type */
    table->columns[i].is_text &= table->columns[i].strings_count > 0;
  unsigned char *bytes = make_bytes(table, &size);
  html_table_write_bytes(bytes, size, stream);
  free(bytes);
}

void html_table_release(struct html_table *table)
{
  for (uint32_t i = 0; i < table->columns_count; i++) {
    struct html_column *column = &table->columns[i];
    free(column->name);
    free(column->cells);
    free(column->strings);
    free(column->starts);
    hash_map_release(&column->map);
  }
  free(table->columns);
  *table = (struct html_table){0};
}
