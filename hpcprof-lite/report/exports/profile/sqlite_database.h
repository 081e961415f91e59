/* The SQLite database of a run: a table of contexts, and a table for each of some other views, with the columns of its
 * CSV.
 *
 * Context: BATCH, the main thread; one database at a time.  doc/exports.md documents the tables.  Functions return 0,
 * or ERR_INPUT with a message in the database.  Rows are inserted as they come.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_PROFILE_SQLITE_DATABASE_H
#define HPCPROF_LITE_REPORT_EXPORTS_PROFILE_SQLITE_DATABASE_H

#include "hpcprof-lite/report/report.h"

struct sqlite_library;

struct sqlite_database {
  const struct sqlite_library *library;
  char message[512];
};

/* Creates the database in an empty file.  sqlite_database_close() in any case. */
int sqlite_database_open(struct sqlite_database *database, const char *path);

/* Adds a table with the columns of a view's, whose types are those of its description, and with its rows, if it has a
 * source. */
int sqlite_database_add(struct sqlite_database *database, const char *name, const struct table *table);

/* Adds the table of contexts: the rows of the report's tree. */
int sqlite_database_add_contexts(struct sqlite_database *database, const struct report *report);

int sqlite_database_close(struct sqlite_database *database);

#endif
