/* Tables as CSV, as JSON, and as lines of JSON.
 *
 * Context: BATCH.  Each row is written as it comes from the table's source, with the escapes of row_writer.h.
 */
#ifndef HPCPROF_LITE_REPORT_TABLE_WRITER_H
#define HPCPROF_LITE_REPORT_TABLE_WRITER_H

#include "hpcprof-lite/report/report.h"

enum table_format { TABLE_CSV, TABLE_JSON, TABLE_JSONL };

/* Writes the table of a view to the report's stream; as JSON also those after it, as further arrays.  names: CSV has a
 * line with the names of the columns.  Returns 0 or what the table's source returned. */
int table_write(const struct report *report, table_maker *make, enum table_format format, bool names);

/* Writes rows of a table, without what stands around them; in JSON as an array with that name. */
int table_write_rows(const struct table *table, FILE *stream, enum table_format format, const char *name);

#endif
