/* The pipeline of the SQLite database, which holds many views at once.
 *
 * Context: BATCH, the main thread.  As for a page, a child process makes each view's table but that of contexts,
 * because a pipeline fills a job that it has to itself; this process stores them.
 */
#ifndef HPCPROF_LITE_PAGE_DATABASE_PIPELINE_H
#define HPCPROF_LITE_PAGE_DATABASE_PIPELINE_H

#include "hpcprof-lite/page/page_pipeline.h"

/* Writes the database to an empty file.  Requires tree_begin() with the top-down tree.  Returns 0, ERR_NOMEM, or
 * ERR_INPUT with a message, unless a child has printed the reason. */
int database_write(struct job *job, page_view_writer *write_view, const char *path, char *message, size_t size);

#endif
