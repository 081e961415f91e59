/* The view overheads, as text and as tables.
 *
 * Context: BATCH.  Functions that write tables return 0 or ERR_NOMEM, as those of table.h.
 */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_OVERHEADS_VIEW_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_OVERHEADS_VIEW_H

#include "hpcprof-lite/report/report.h"

int overheads_view_table(const struct report *report, bool json);
void overheads_view_text(const struct report *report);

#endif
