/* Rows of named cells as CSV (RFC 4180) or JSON.
 *
 * Context: BATCH.  Cells are given in the order of the columns, exactly as many; each row is written as it comes.  Text
 * from measurements is hostile: common/escape.h says which characters are escaped; so a row of CSV is a line.  JSON has
 * escapes of its own.  In CSV, text that a spreadsheet could take for a formula gets a "'" before it, and so does text
 * that begins with one; numbers never do.  CSV does not tell text from numbers: for a program that must know, all text
 * can be quoted.
 */
#ifndef HPCPROF_LITE_REPORT_ROW_WRITER_H
#define HPCPROF_LITE_REPORT_ROW_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct row_writer {
  FILE *stream;
  bool json;
  const char *const *columns;
  size_t columns_count;
  size_t column; /* of the next cell; 0: the row has not begun */
  uint64_t rows;
};

/* Writes a character of a text, or its escape, as in CSV.  Returns the address after it. */
const char *row_writer_character(FILE *stream, const char *text);

/* From now on, writers of this process quote the text in CSV, also where it is empty, and nothing else. */
void row_writer_quote_text(void);

/* From now on, writers of this process put no "'" before text in CSV. */
void row_writer_keep_names(void);

/* Writes the CSV header.  In JSON: the columns, and the beginning of the array "rows" of an object that the caller
 * opened. */
void row_writer_begin(struct row_writer *writer, FILE *stream, bool json, const char *const *columns,
                      size_t columns_count);

void row_writer_text(struct row_writer *writer, const char *text); /* NULL or "": empty */
void row_writer_uint(struct row_writer *writer, uint64_t value);
void row_writer_int(struct row_writer *writer, int64_t value);
void row_writer_ns(struct row_writer *writer, uint64_t ns);                            /* as seconds with 9 decimals */
void row_writer_decimal(struct row_writer *writer, uint64_t value, unsigned decimals); /* value / 10^decimals */
void row_writer_real(struct row_writer *writer, double value, int decimals);

/* An amount of work in the unit of the run: time as seconds, or a count. */
void row_writer_work(struct row_writer *writer, uint64_t amount, bool is_time);

/* part / whole in percent with 4 decimals; 0 if whole is 0 */
void row_writer_percent(struct row_writer *writer, uint64_t part, uint64_t whole);
void row_writer_empty(struct row_writer *writer);
void row_writer_optional(struct row_writer *writer, bool known, uint64_t value); /* empty unless known */

/* Ends the array; the caller closes the object. */
void row_writer_end(struct row_writer *writer);

/* Puts value / 10^decimals before `end`, without a NUL; returns where it begins.  For decimals below 20, it takes at
 * most 21 bytes. */
char *row_writer_digits(char *end, uint64_t value, unsigned decimals);

/* The same, to a stream. */
void row_writer_number(FILE *stream, uint64_t value, unsigned decimals);

/* A JSON string with its quotes. */
void row_writer_json_string(FILE *stream, const char *text);

/* What stands around a text: quotation marks, and in CSV the mark of text that is no formula. */
struct row_writer_marks {
  bool quote, mark;
};

/* Returns the length of a text whose characters all stand for themselves; 0 of any other. */
size_t row_writer_plain(const char *text, bool json, struct row_writer_marks *marks);

/* Returns a copy of a text with the escapes of CSV, which the caller frees, and sets *size; NULL without memory. */
char *row_writer_escaped(const char *text, size_t *size);

/* Writes a text as a cell. */
void row_writer_put_text(FILE *stream, const char *text, bool json);

#endif
