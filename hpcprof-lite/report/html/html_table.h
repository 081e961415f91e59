/* A table of the HTML report, kept column by column.
 *
 * Context: BATCH.  Cells are what the table of a view has in them, so that the page shows exactly what its CSV holds,
 * with the same escapes; columns of text are those of the table.  A number of more than 15 digits, or with other
 * decimals than those before it, turns its column into text, as numbers of JavaScript are exact up to 15 digits.
 * Columns of whole numbers can also be filled directly, for tables of millions of rows.  The table owns its memory: a
 * cell takes as many bytes as the widest one of its column needs.
 *
 * Written form, read by page/table_data.js: the length of the header (4 bytes, little-endian), the header (JSON), then
 * for each column its cells and, for text, its strings.  A cell is a number of 1 to 8 bytes.  All first (lowest) bytes
 * of the column stand before all second ones and so on, which gzip compresses better than whole numbers.
 *   number: value = (minimum + cell) / 10^decimals; the largest cell means "empty" in columns that are marked so
 *   text:   cell = position in the strings, each of which ends in a line feed; 0 = empty
 *   parents: no cells.  Rows stand depth-first: a row's parent_id is the id of the last row before it whose depth is
 *           smaller by one; at depth 0 it is empty
 */
#ifndef HPCPROF_LITE_REPORT_HTML_HTML_TABLE_H
#define HPCPROF_LITE_REPORT_HTML_HTML_TABLE_H

#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/table.h"

#include <stdio.h>

struct html_column {
  char *name;
  const char *help; /* what it holds; NULL: that is not known */
  bool is_text, has_empty, has_number;
  bool is_parents; /* cells follow from the columns id and depth; set by html_table_write() */
  unsigned decimals;
  int64_t minimum, maximum; /* of numbers */
  void *cells;              /* [row] number, "empty", or position of the string + 1; as wide as the widest one needs */
  unsigned cell_size;       /* bytes: 1, 2, 4 or 8; 0: no cells yet */
  size_t room;
  char *strings; /* of text */
  size_t strings_size, strings_room;
  uint32_t *starts; /* [string] position in `strings` */
  size_t starts_room;
  uint32_t strings_count;
  struct hash_map map; /* of strings, by their hash */
};

struct html_table {
  struct html_column *columns;
  size_t columns_room;
  uint32_t columns_count, rows;
};

/* Adds the columns and rows of a table to an empty one.  Returns 0, or what the table's source returned. */
int html_table_add(struct html_table *html, const struct table *table);

/* Writes bytes, compressed by gzip, in base64. */
void html_table_write_bytes(const void *bytes, size_t size, FILE *stream);

/* Instead of a table: adds columns of whole numbers, which are numbered from 0, before the first row; then rows of as
 * many values. */
void html_table_add_column(struct html_table *table, const char *name);
void html_table_add_row(struct html_table *table, const int64_t *values);

/* Writes the table, compressed by gzip, in base64. */
void html_table_write(struct html_table *table, FILE *stream);

void html_table_release(struct html_table *table);

#endif
