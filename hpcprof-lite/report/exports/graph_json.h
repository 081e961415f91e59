/* The graph of grains as JSON.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_GRAPH_JSON_H
#define HPCPROF_LITE_REPORT_EXPORTS_GRAPH_JSON_H

#include "hpcprof-lite/report/report.h"

/* Returns 0. */
int graph_json(const struct report *report);

#endif
