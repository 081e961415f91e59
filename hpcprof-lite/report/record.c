#include "hpcprof-lite/report/record.h"

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

void record_json_string(FILE *stream, const char *text)
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

void record_begin(struct record *record, FILE *stream, bool json, const char *const *columns, size_t columns_count)
{
  *record = (struct record){.stream = stream, .json = json, .columns = columns, .columns_count = columns_count};
  if (json)
    fputs("\"columns\":[", stream);
  for (size_t i = 0; i < columns_count; i++) {
    if (i)
      putc(',', stream);
    if (json)
      record_json_string(stream, columns[i]);
    else
      csv_string(stream, columns[i]);
  }
  fputs(json ? "],\n\"rows\":[" : "\n", stream);
}

/* What stands before a cell. */
static void open_cell(struct record *record)
{
  if (record->json) {
    if (!record->column)
      fputs(record->rows ? ",\n{" : "\n{", record->stream);
    else
      putc(',', record->stream);
    record_json_string(record->stream, record->columns[record->column]);
    putc(':', record->stream);
  } else if (record->column) {
    putc(',', record->stream);
  }
}

static void close_cell(struct record *record)
{
  if (++record->column < record->columns_count)
    return;
  putc(record->json ? '}' : '\n', record->stream);
  record->column = 0;
  record->rows++;
}

void record_text(struct record *record, const char *text)
{
  if (!text || !*text) {
    record_empty(record);
    return;
  }
  open_cell(record);
  if (record->json)
    record_json_string(record->stream, text);
  else
    csv_string(record->stream, text);
  close_cell(record);
}

void record_uint(struct record *record, uint64_t value)
{
  open_cell(record);
  fprintf(record->stream, "%" PRIu64, value);
  close_cell(record);
}

void record_int(struct record *record, int64_t value)
{
  open_cell(record);
  fprintf(record->stream, "%" PRId64, value);
  close_cell(record);
}

void record_ns(struct record *record, uint64_t ns)
{
  open_cell(record);
  fprintf(record->stream, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
  close_cell(record);
}

void record_real(struct record *record, double value, int decimals)
{
  open_cell(record);
  fprintf(record->stream, "%.*f", decimals, value);
  close_cell(record);
}

void record_work(struct record *record, uint64_t amount, bool is_time)
{
  if (is_time)
    record_ns(record, amount);
  else
    record_uint(record, amount);
}

void record_percent(struct record *record, uint64_t part, uint64_t whole)
{
  record_real(record, whole ? 100.0 * (double)part / (double)whole : 0.0, 4);
}

void record_empty(struct record *record)
{
  open_cell(record);
  if (record->json)
    fputs("null", record->stream);
  close_cell(record);
}

void record_end(struct record *record)
{
  if (record->json)
    fputs("\n]", record->stream);
}
