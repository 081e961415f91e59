/* The pipeline of the HTML report, which shows many views at once.
 *
 * Context: BATCH, the main thread.  Each table is made by a child process (view_child.h); one that fails costs the page
 * a table, and the page tells why.
 */
#ifndef HPCPROF_LITE_PAGE_PAGE_PIPELINE_H
#define HPCPROF_LITE_PAGE_PAGE_PIPELINE_H

#include "hpcprof-lite/page/view_child.h"

/* Writes the page to the report's stream.  Requires tree_begin() with the top-down tree.  Returns 0, or ERR_INPUT after
 * it has printed which table is missing, and why. */
int page_write(struct job *job);

#endif
