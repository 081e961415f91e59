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

/* Writes what tells a row from others that read alike; "" if its whole name does, of which `shown` is shown.  details:
 * that of the table. */
typedef void text_table_detail(const void *details, const void *row, const char *shown, char out[TERMINAL_TEXT_MAX]);

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
  struct hash_map shown; /* the text that stands for names -> the first of the names; with a mark: -> another one; with
                            the name: -> the name.  With `detail`, also names and what is beside them, for rows; all as
                            hashes */
  text_table_detail *detail; /* NULL: rows differ by their names */
  const void *details;       /* for `detail`, the view's */
  bool expects;              /* all rows were noted in `shown` before the first one was printed */
};

/* Prepares the table of a view, which must be released. */
void text_table_init(struct text_table *text, const struct report *report, table_maker *make);

void text_table_release(struct text_table *text);

/* Whether the table shows a column. */
bool text_table_shows(const struct text_table *text, const char *name);

/* Prints the headings. */
void text_table_heading(const struct text_table *text);

/* Prints a row; in a line below it, what tells it from a row before it, or one that is expected, that reads alike.
 * indent: columns by which the text that takes the rest of the line is moved to the right; before: text that stands
 * before it. */
void text_table_row(struct text_table *text, const void *row);
void text_table_row_below(struct text_table *text, const void *row, unsigned indent, const char *before);

/* The same, with a text at the right edge if there is room for it. */
void text_table_row_beside(struct text_table *text, const void *row, unsigned indent, const char *before,
                           const char *aside);

/* Tells that a row will be printed so.  Call it for all rows, or for none: then only the second one of those that read
 * alike has a line below it, and a name that comes again has none. */
void text_table_expect(struct text_table *text, const void *row, unsigned indent, const char *before,
                       const char *aside);

/* The columns of the line that are left for the last column. */
unsigned text_table_room(const struct text_table *text, unsigned indent);

/* Seconds in 6 columns. */
void text_table_short_seconds(uint64_t ns, char out[TEXT_TABLE_FIGURE]);

#endif
