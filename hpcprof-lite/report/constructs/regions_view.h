/* The views regions and region-tree: times of constructs.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_REGIONS_VIEW_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_REGIONS_VIEW_H

#include "hpcprof-lite/report/report.h"

extern const struct schema regions_schema, region_tree_schema;
int regions_table(const struct report *report, struct table *table);
int region_tree_table(const struct report *report, struct table *table);
void regions_view_text(const struct report *report);
void regions_view_tree_text(const struct report *report);

#endif
