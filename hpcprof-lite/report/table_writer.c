#include "hpcprof-lite/report/table_writer.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Room for a number; printf() may need more for one that is not finite or very large. */
enum { NUMBER_MAX = 400 };

/* What has been made of a line, and where it goes.  The headers are what stands before the cells. */
struct writer {
  const struct table *table;
  FILE *stream;
  enum table_format format;
  bool json; /* its rows are objects */
  char *line;
  size_t size, room;
  char *headers;       /* of all selected columns, one after another */
  size_t *headers_end; /* [selected column] */
  uint64_t rows;
};

static void reserve(struct writer *writer, size_t size)
{
  xarray_reserve(&writer->line, &writer->room, writer->size + size, 1);
}

static void put(struct writer *writer, const char *text, size_t size)
{
  assert(writer->size + size <= writer->room);
  memcpy(writer->line + writer->size, text, size);
  writer->size += size;
}

/* Writes what has been made of the line. */
static void flush(struct writer *writer)
{
  fwrite_unlocked(writer->line, 1, writer->size, writer->stream);
  writer->size = 0;
}

static void put_number(struct writer *writer, uint64_t value, unsigned decimals)
{
  char text[48], *end = text + sizeof text, *at = row_writer_digits(end, value, decimals);
  put(writer, at, (size_t)(end - at));
}

static void put_text(struct writer *writer, const char *text)
{
  assert(text);
  struct row_writer_marks marks;
  size_t length = row_writer_plain(text, writer->json, &marks);
  if (!length) {
    flush(writer);
    row_writer_put_text(writer->stream, text, writer->json);
    return;
  }
  reserve(writer, length + NUMBER_MAX);
  put(writer, "\"", marks.quote);
  put(writer, "'", marks.mark);
  put(writer, text, length);
  put(writer, "\"", marks.quote);
}

/* Puts a cell.  There is room for a number. */
static void put_cell(struct writer *writer, const struct cell *cell)
{
  switch (cell->kind) {
  case CELL_TEXT:
    put_text(writer, cell->text);
    break;
  case CELL_NUMBER:
    put_number(writer, cell->whole, cell->decimals);
    break;
  case CELL_SIGNED:
    if (cell->number < 0)
      put(writer, "-", 1);
    put_number(writer, cell->number < 0 ? -(uint64_t)cell->number : (uint64_t)cell->number, 0);
    break;
  case CELL_REAL:
  case CELL_PERCENT:
    writer->size += (size_t)snprintf(writer->line + writer->size, NUMBER_MAX, "%.*f", cell->decimals, cell_value(cell));
    break;
  default:
    if (writer->json)
      put(writer, "null", 4);
  }
}

/* Whether a cell has a number or text, outside text reports. */
static bool is_shown(const struct cell *cell)
{
  return cell->kind >= CELL_NUMBER && cell->kind <= CELL_TEXT;
}

static int write_row(void *to, const struct cell *cells)
{
  struct writer *writer = to;
  const struct table *table = writer->table;
  size_t header = 0;
  if (writer->format == TABLE_JSON)
    fputs_unlocked(writer->rows ? ",\n" : "\n", writer->stream);
  for (uint32_t i = 0; i < table->selected_count; i++) {
    size_t end = writer->headers_end[i];
    reserve(writer, end - header + NUMBER_MAX);
    put(writer, writer->headers + header, end - header);
    header = end;
    const struct cell *cell = &cells[table->selected[i]];
    put_cell(writer, cell);
    if (table->selected_count == 1 && !writer->json && !writer->size && !is_shown(cell))
      put(writer, "\"\"", 2); /* readers skip empty lines */
  }
  reserve(writer, 2);
  if (writer->json)
    put(writer, "}", 1);
  if (writer->format != TABLE_JSON)
    put(writer, "\n", 1);
  flush(writer);
  writer->rows++;
  return ferror(writer->stream) ? ERR_INPUT : 0;
}

/* Makes what stands before each cell of a row: a comma, and in JSON the name. */
static void make_headers(struct writer *writer)
{
  const struct table *table = writer->table;
  size_t size;
  writer->headers_end = xcalloc(table->selected_count, sizeof *writer->headers_end);
  FILE *stream = xopen_memstream(&writer->headers, &size);
  for (uint32_t i = 0; i < table->selected_count; i++) {
    assert(table_column(table, table->selected[i])->help); /* for the page and the manual */
    if (i)
      putc(',', stream);
    else if (writer->json)
      putc('{', stream);
    if (writer->json) {
      row_writer_json_string(stream, table_column(table, table->selected[i])->name);
      putc(':', stream);
    }
    fflush(stream);
    writer->headers_end[i] = size;
  }
  xclose(stream, &writer->headers);
}

/* Writes the names of the columns. */
static void write_names(const struct writer *writer)
{
  const struct table *table = writer->table;
  if (writer->json)
    fputs("\"columns\":[", writer->stream);
  for (uint32_t i = 0; i < table->selected_count; i++) {
    if (i)
      putc(',', writer->stream);
    row_writer_put_text(writer->stream, table_column(table, table->selected[i])->name, writer->json);
  }
  fputs(writer->json ? "],\n" : "\n", writer->stream);
}

int table_write_rows(const struct table *table, FILE *stream, enum table_format format, const char *name)
{
  assert(format != TABLE_JSON || name);
  struct writer writer = {.table = table, .stream = stream, .format = format, .json = format != TABLE_CSV};
  make_headers(&writer);
  if (format == TABLE_JSON) {
    row_writer_json_string(stream, name);
    fputs(":[", stream);
  }
  assert(check_table(table));
  int status = table_each(table, write_row, &writer);
  if (format == TABLE_JSON)
    fputs("\n]", stream);
  free(writer.headers);
  free(writer.headers_end);
  free(writer.line);
  return status;
}

int table_write(const struct report *report, table_maker *make, enum table_format format, bool names)
{
  assert(make && report->view);
  bool json = format == TABLE_JSON;
  struct table table = {0};
  make(report, &table);
  if (report->chosen_count)
    table_select(&table, report->chosen, report->chosen_count);
  document_open(report, json);
  if (json || (names && format == TABLE_CSV))
    write_names(&(struct writer){.table = &table, .stream = report->stream, .json = json});
  int status = table_write_rows(&table, report->stream, format, "rows");
  for (const struct table *further = table.further; json && further && !status; further = further->further) {
    fputs(",\n", report->stream);
    status = table_write_rows(further, report->stream, format, further->name);
  }
  document_close(report, json);
  table_release(&table);
  return status;
}
