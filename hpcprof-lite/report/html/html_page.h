/* The HTML report: one file that holds everything it shows.
 *
 * Context: BATCH.  The page's style, script and frame come from report/html/page/, which the build puts into the
 * program; its data are tables (html_table.h), each in an element of its own.  The page's security policy allows
 * nothing but its own script and style, which it names by their hashes: text of a measurement can be neither.
 */
#ifndef HPCPROF_LITE_REPORT_HTML_HTML_PAGE_H
#define HPCPROF_LITE_REPORT_HTML_HTML_PAGE_H

#include "hpcprof-lite/report/report.h"

/* Writes the page up to its data. */
void html_page_open(const struct report *report);

/* Begins the element of a table; html_table_write() writes its contents, and html_page_close_table() ends it. */
void html_page_open_table(FILE *stream, const char *name);
void html_page_close_table(FILE *stream);

/* Writes the contents of a table, whose source does not fail. */
void html_page_write_table(FILE *stream, const struct table *table);

/* A table whose rows lie one after another. */
struct html_part {
  const char *name;
  const struct schema *schema;
  const void *rows;
  size_t count, size; /* size: of a row */
};

/* Ends the element of the table before, and writes the next one but for the end of its element. */
void html_page_next_table(FILE *stream, const struct html_part *part, const void *context);

/* Marks what was written of the open table as unfit to be read. */
void html_page_spoil_table(FILE *stream);

/* Writes what follows the data. */
void html_page_close(FILE *stream);

#endif
