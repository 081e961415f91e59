/* Grains: single ones as a table, groups of them as a table and as text.
 *
 * Context: BATCH.  The rows of single grains come while the grains are read.
 */
#ifndef HPCPROF_LITE_REPORT_GRAINS_VIEW_H
#define HPCPROF_LITE_REPORT_GRAINS_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema grains_schema, grain_groups_schema;

/* Rows are struct grain_row. */
int grains_table(const struct report *report, struct table *table);

/* Rows are struct grain_group; as JSON, with the array "curve". */
int grain_groups_table(const struct report *report, struct table *table);

/* Of groups.  Returns 0 or ERR_NOMEM. */
int grains_view_text(const struct report *report);

#endif
