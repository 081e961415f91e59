/* Numbers and text of cells, as CSV (RFC 4180) and JSON show them.
 *
 * Context: BATCH.  Text from measurements is hostile: common/escape.h says which characters are escaped; so a row of
 * CSV is a line.  JSON has escapes of its own.  In CSV, text that a spreadsheet could take for a formula gets a "'"
 * before it, and so does text that begins with one; numbers never do.
 */
#ifndef HPCPROF_LITE_REPORT_ROW_WRITER_H
#define HPCPROF_LITE_REPORT_ROW_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes a character of a text, or its escape, as in CSV.  Returns the address after it. */
const char *row_writer_character(FILE *stream, const char *text);

/* Writes a text; characters that have a replacement are replaced, others are written as in CSV. */
void row_writer_replaced(FILE *stream, const char *text, const char *const replacements[UINT8_MAX + 1]);

/* From now on, this process puts no "'" before text in CSV. */
void row_writer_keep_names(void);

/* Puts value / 10^decimals before `end`, without a NUL; returns where it begins.  For decimals below 20, it takes at
 * most 21 bytes. */
char *row_writer_digits(char *end, uint64_t value, unsigned decimals);

/* The same, to a stream. */
void row_writer_number(FILE *stream, uint64_t value, unsigned decimals);

/* A JSON string with its quotes. */
void row_writer_json_string(FILE *stream, const char *text);

/* What stands around a text: quotation marks, and in CSV the mark of text that is not a formula. */
struct row_writer_marks {
  bool quote, mark;
};

/* Returns the length of a text whose characters all stand for themselves; 0 for any other text. */
size_t row_writer_plain(const char *text, bool json, struct row_writer_marks *marks);

/* Returns a copy of a text with the escapes of CSV, which the caller frees, and sets *size. */
char *row_writer_escaped(const char *text, size_t *size);

/* Writes a text as a cell. */
void row_writer_put_text(FILE *stream, const char *text, bool json);

#endif
