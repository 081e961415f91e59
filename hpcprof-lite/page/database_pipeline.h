/* The pipeline of the SQLite database, which holds all views at once.
 *
 * Context: BATCH, the main thread.  Each view's table but that of contexts is added to the file by a child process
 * (view_child.h), one after another.  A view for which the run has no data has a table without rows, so that queries
 * are the same for all runs.  Rows of single grains and intervals are added where --view asks for them.
 */
#ifndef HPCPROF_LITE_PAGE_DATABASE_PIPELINE_H
#define HPCPROF_LITE_PAGE_DATABASE_PIPELINE_H

#include "hpcprof-lite/page/view_child.h"

/* Writes the database to an empty file.  Requires tree_begin() with the top-down tree.  Returns 0, or ERR_INPUT with a
 * message, unless the reason has been printed. */
int database_write(struct job *job, const char *path, char *message, size_t size);

#endif
