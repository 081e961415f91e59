/* Tables as text for people: aligned columns, and one column of text that takes the rest of the line.
 *
 * Context: BATCH.  The view prints what stands between rows: sentences, bars, further lines of a row.
 */
#ifndef HPCPROF_LITE_REPORT_TEXT_TABLE_H
#define HPCPROF_LITE_REPORT_TEXT_TABLE_H

#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/table.h"
#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

enum { TEXT_TABLE_FIGURE = 32 }; /* bytes of a figure in a column of 31 or less */

/* A column that is shown. */
struct text_column {
  uint32_t number; /* in the table */
  const struct table_column *column;
  unsigned width;
  bool rest; /* it takes the rest of the line: text, as the last one */
};

struct text_table {
  const struct report *report;
  struct terminal terminal;
  struct table table;
  struct text_column *columns; /* in order */
  uint32_t columns_count;
  struct cell *cells;    /* of the row that was filled last */
  unsigned decimals;     /* of seconds */
  bool plain;            /* its headings are not coloured as categories of time */
  unsigned rest_at;      /* column at which the last one begins, if it takes the rest of the line */
  uint32_t omitted;      /* columns for which there is too little room */
  bool marked;           /* a figure of a row had a mark */
  struct hash_map shown; /* the text that stands for a name -> the name, as hashes */
};

/* Prepares the table of a view, which must be released. */
void text_table_init(struct text_table *text, const struct report *report, table_maker *make);

void text_table_release(struct text_table *text);

/* Whether the table shows a column. */
bool text_table_shows(const struct text_table *text, const char *name);

/* Prints the headings. */
void text_table_heading(const struct text_table *text);

/* Prints a row; in a line below it, the name that reads as another one did, when it comes first.  indent: columns by
 * which the text that takes the rest of the line is moved to the right; before: text that stands before it. */
void text_table_row(struct text_table *text, const void *row);
void text_table_row_below(struct text_table *text, const void *row, unsigned indent, const char *before);

/* The same, with a text at the right edge if there is room for it. */
void text_table_row_beside(struct text_table *text, const void *row, unsigned indent, const char *before,
                           const char *aside);

/* The columns of the line that are left for the last column. */
unsigned text_table_room(const struct text_table *text, unsigned indent);

/* Seconds in 6 columns. */
void text_table_short_seconds(uint64_t ns, char out[TEXT_TABLE_FIGURE]);

#endif
