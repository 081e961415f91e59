/* The graph of grains as a drawing for Graphviz.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_DOT_H
#define HPCPROF_LITE_REPORT_EXPORTS_DOT_H

#include "hpcprof-lite/report/report.h"

/* Returns 0. */
int dot_write(const struct report *report);

#endif
