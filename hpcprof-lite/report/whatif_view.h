/* The spans of scenarios, as a table and as text.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_WHATIF_VIEW_H
#define HPCPROF_LITE_REPORT_WHATIF_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema whatif_schema;
int whatif_view_table(const struct report *report, struct table *table);
void whatif_view_text(const struct report *report);

#endif
