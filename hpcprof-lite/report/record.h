/* Rows of named cells as CSV (RFC 4180) or JSON.
 *
 * Context: BATCH.  Cells are given in the order of the columns, exactly as many; each row is written as it comes.  Text
 * from measurements is hostile: what is no UTF-8 becomes U+FFFD, and in CSV control characters become '?', so that a
 * row is a line.
 */
#ifndef HPCPROF_REPORT_RECORD_H
#define HPCPROF_REPORT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct record {
  FILE *stream;
  bool json;
  const char *const *columns;
  size_t columns_count;
  size_t column; /* next cell of the row, 0 = row not begun */
  uint64_t rows;
};

/* Writes the CSV header.  In JSON: the columns, and the beginning of the array "rows" of an object that the caller
 * opened. */
void record_begin(struct record *record, FILE *stream, bool json, const char *const *columns, size_t columns_count);

void record_text(struct record *record, const char *text); /* NULL or "": empty */
void record_uint(struct record *record, uint64_t value);
void record_int(struct record *record, int64_t value);
void record_ns(struct record *record, uint64_t ns); /* as seconds with 9 decimals */
void record_real(struct record *record, double value, int decimals);

/* An amount of work in the unit of a graph: time as seconds, or a count. */
void record_work(struct record *record, uint64_t amount, bool is_time);

/* part of whole in percent with 4 decimals, 0 of nothing */
void record_percent(struct record *record, uint64_t part, uint64_t whole);
void record_empty(struct record *record);

/* Ends the array; the caller closes the object. */
void record_end(struct record *record);

/* A JSON string with its quotes. */
void record_json_string(FILE *stream, const char *text);

#endif
