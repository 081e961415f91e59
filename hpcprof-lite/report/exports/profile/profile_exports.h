/* The exports of profiles: each writes the top-down tree of the report in the format of another tool.
 *
 * Context: BATCH, the main thread.  Functions return 0, or ERR_INPUT where a write has failed.  They write while they
 * walk over the tree (tree_walk.h), and need memory for the different frames only.  doc/exports.md tells what each
 * format holds.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_PROFILE_PROFILE_EXPORTS_H
#define HPCPROF_LITE_REPORT_EXPORTS_PROFILE_PROFILE_EXPORTS_H

#include "hpcprof-lite/report/report.h"

/* Folded stacks of one metric: that which report->trees.metric names, which there must be, or the first one. */
int folded_write(const struct report *report);

int speedscope_write(const struct report *report);
int pprof_write(const struct report *report);
int callgrind_write(const struct report *report);
int hatchet_write(const struct report *report);

#endif
