/* The pipeline of the HTML report, which shows many views at once.
 *
 * Context: BATCH, the main thread.  Each view's table is made by a child process, because a pipeline fills a job that
 * it has to itself; all share the profile and the top-down tree that were made before.  A child that fails, also by a
 * signal, costs the page one table, and the page tells why.
 */
#ifndef HPCPROF_LITE_PAGE_PAGE_PIPELINE_H
#define HPCPROF_LITE_PAGE_PAGE_PIPELINE_H

#include "hpcprof-lite/job.h"

enum page_content { PAGE_CSV, PAGE_JSON, PAGE_COMPARED, PAGE_INTERVALS };

/* Fills the report of a view and writes its CSV or JSON, or the CSV of its comparison to the runs of --compare, to the
 * report's stream; intervals are left to interval_tables.h.  Returns 0, or the exit status after it has printed the
 * reason. */
typedef int page_view_writer(struct job *job, enum options_view view, enum page_content content);

/* Writes the page to the report's stream.  Requires tree_begin() with the top-down tree.  Returns 0, ERR_NOMEM, or
 * ERR_INPUT after it has printed which table is missing, and why. */
int page_write(struct job *job, page_view_writer *write_view);

#endif
