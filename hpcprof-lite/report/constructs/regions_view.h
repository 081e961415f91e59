/* The views regions and region-tree: times of constructs, as text and as tables.
 *
 * Context: BATCH.  Functions that write tables return 0 or ERR_NOMEM, as those of table.h.
 */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_REGIONS_VIEW_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_REGIONS_VIEW_H

#include "hpcprof-lite/report/report.h"

/* Returns the columns of the table of regions. */
const char *const *regions_view_headers(size_t *count);

int regions_view_table(const struct report *report, bool json);
void regions_view_text(const struct report *report);
int regions_view_tree_table(const struct report *report, bool json);
void regions_view_tree_text(const struct report *report);

#endif
