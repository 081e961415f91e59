/* The source view: the lines of functions and files with their figures.
 *
 * Context: BATCH.  See report.h.
 */
#ifndef HPCPROF_LITE_REPORT_SOURCE_SOURCE_VIEW_H
#define HPCPROF_LITE_REPORT_SOURCE_SOURCE_VIEW_H

#include "hpcprof-lite/report/report.h"

void source_view_text(const struct report *report);

extern const struct schema source_view_schema;

/* Of all selected lines that have figures or in which a construct begins. */
int source_view_table(const struct report *report, struct table *table);

#endif
