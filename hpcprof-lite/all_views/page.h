/* The pipelines of what shows all views at once: the HTML report and the SQLite database.
 *
 * Context: BATCH, the main thread.  Both require tree_begin() with the top-down tree, and return 0 or ERR_INPUT.
 */
#ifndef HPCPROF_LITE_ALL_VIEWS_PAGE_H
#define HPCPROF_LITE_ALL_VIEWS_PAGE_H

#include "hpcprof-lite/pipelines/job.h"

/* Writes the page to the report's stream; prints which table is missing, and why. */
int page_write(struct job *job);

/* Writes the database to an empty file; the message tells why not, unless that has been printed. */
int database_write(struct job *job, const char *path, char *message, size_t size);

#endif
