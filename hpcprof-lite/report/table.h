/* Trees as CSV or JSON, with the same columns.
 *
 * Context: BATCH.  The views of work and span: parallelism.h, whatif_view.h, speedup_view.h.  Functions return 0 or
 * ERR_NOMEM.
 */
#ifndef HPCPROF_LITE_REPORT_TABLE_H
#define HPCPROF_LITE_REPORT_TABLE_H

#include "hpcprof-lite/report/report.h"

int table_tree(const struct report *report, bool json);

#endif
