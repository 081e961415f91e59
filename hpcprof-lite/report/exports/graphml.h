/* The graph of grains as GraphML, which networkx, yEd and Gephi read.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_GRAPHML_H
#define HPCPROF_LITE_REPORT_EXPORTS_GRAPHML_H

#include "hpcprof-lite/report/report.h"

/* Returns 0. */
int graphml_write(const struct report *report);

#endif
