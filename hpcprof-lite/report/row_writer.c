#include "hpcprof-lite/report/row_writer.h"

#include <inttypes.h>
#include <string.h>

/* Bytes of the UTF-8 sequence that begins here, 0 if it is not a valid one. */
static size_t sequence(const unsigned char *s)
{
  if (s[0] < 0x80)
    return 1;
  size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  if (s[0] < 0xc2 || s[0] > 0xf4)
    return 0;
  for (size_t i = 1; i < length; i++)
    if ((s[i] & 0xc0) != 0x80)
      return 0;
  bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
  return overlong || beyond ? 0 : length;
}

void row_writer_json_string(FILE *stream, const char *text)
{
  const unsigned char *s = (const unsigned char *)text;
  putc('"', stream);
  while (*s) {
    size_t length = sequence(s);
    if (!length)
      fputs("\xef\xbf\xbd", stream);
    else if (*s == '"' || *s == '\\')
      fprintf(stream, "\\%c", *s);
    else if (*s < ' ' || *s == 127)
      fprintf(stream, "\\u%04x", *s);
    else
      fwrite(s, 1, length, stream);
    s += length ? length : 1;
  }
  putc('"', stream);
}

static void csv_string(FILE *stream, const char *text)
{
  bool quote = strpbrk(text, ",\"") || *text == ' ' || (*text && text[strlen(text) - 1] == ' ');
  if (quote)
    putc('"', stream);
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    size_t length = sequence(s);
    if (!length)
      fputs("\xef\xbf\xbd", stream);
    else if (*s < ' ' || *s == 127)
      putc('?', stream);
    else if (*s == '"')
      fputs("\"\"", stream);
    else
      fwrite(s, 1, length, stream);
    s += length ? length : 1;
  }
  if (quote)
    putc('"', stream);
}

void row_writer_begin(struct row_writer *row_writer, FILE *stream, bool json, const char *const *columns,
                      size_t columns_count)
{
  *row_writer = (struct row_writer){.stream = stream, .json = json, .columns = columns, .columns_count = columns_count};
  if (json)
    fputs("\"columns\":[", stream);
  for (size_t i = 0; i < columns_count; i++) {
    if (i)
      putc(',', stream);
    if (json)
      row_writer_json_string(stream, columns[i]);
    else
      csv_string(stream, columns[i]);
  }
  fputs(json ? "],\n\"rows\":[" : "\n", stream);
}

/* What stands before a cell. */
static void open_cell(struct row_writer *row_writer)
{
  if (row_writer->json) {
    if (!row_writer->column)
      fputs(row_writer->rows ? ",\n{" : "\n{", row_writer->stream);
    else
      putc(',', row_writer->stream);
    row_writer_json_string(row_writer->stream, row_writer->columns[row_writer->column]);
    putc(':', row_writer->stream);
  } else if (row_writer->column) {
    putc(',', row_writer->stream);
  }
}

static void close_cell(struct row_writer *row_writer)
{
  if (++row_writer->column < row_writer->columns_count)
    return;
  putc(row_writer->json ? '}' : '\n', row_writer->stream);
  row_writer->column = 0;
  row_writer->rows++;
}

void row_writer_text(struct row_writer *row_writer, const char *text)
{
  if (!text || !*text) {
    row_writer_empty(row_writer);
    return;
  }
  open_cell(row_writer);
  if (row_writer->json)
    row_writer_json_string(row_writer->stream, text);
  else
    csv_string(row_writer->stream, text);
  close_cell(row_writer);
}

void row_writer_uint(struct row_writer *row_writer, uint64_t value)
{
  open_cell(row_writer);
  fprintf(row_writer->stream, "%" PRIu64, value);
  close_cell(row_writer);
}

void row_writer_int(struct row_writer *row_writer, int64_t value)
{
  open_cell(row_writer);
  fprintf(row_writer->stream, "%" PRId64, value);
  close_cell(row_writer);
}

void row_writer_ns(struct row_writer *row_writer, uint64_t ns)
{
  open_cell(row_writer);
  fprintf(row_writer->stream, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
  close_cell(row_writer);
}

void row_writer_real(struct row_writer *row_writer, double value, int decimals)
{
  open_cell(row_writer);
  fprintf(row_writer->stream, "%.*f", decimals, value);
  close_cell(row_writer);
}

void row_writer_work(struct row_writer *row_writer, uint64_t amount, bool is_time)
{
  if (is_time)
    row_writer_ns(row_writer, amount);
  else
    row_writer_uint(row_writer, amount);
}

void row_writer_percent(struct row_writer *row_writer, uint64_t part, uint64_t whole)
{
  row_writer_real(row_writer, whole ? 100.0 * (double)part / (double)whole : 0.0, 4);
}

void row_writer_empty(struct row_writer *row_writer)
{
  open_cell(row_writer);
  if (row_writer->json)
    fputs("null", row_writer->stream);
  close_cell(row_writer);
}

void row_writer_end(struct row_writer *row_writer)
{
  if (row_writer->json)
    fputs("\n]", row_writer->stream);
}
