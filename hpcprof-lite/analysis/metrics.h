/* Figures derived from the merged profile: totals, the hottest functions, what could not be named, the order of
 * threads.
 *
 * Context: BATCH.  Pure: the profile and the trees are only read; results belong to the caller.
 */
#ifndef HPCPROF_LITE_ANALYSIS_METRICS_H
#define HPCPROF_LITE_ANALYSIS_METRICS_H

#include "hpcprof-lite/report/report.h"

enum { METRICS_HOT = 6, METRICS_MODULES = 4, METRICS_PATH = 3 };

/* Sums over all processes and threads; the baseline is what idleness was counted against.  0, or ERR_NOMEM;
 * metrics_run_release() in any case. */
int metrics_run(const struct profile *profile, const struct tree_columns *columns, enum profile_baseline baseline,
                struct report_run *run);
void metrics_run_release(struct report_run *run);

/* What the root row is called: the commands that ran. */
char *metrics_command(const struct profile *profile);

/* The functions with most time of their own, and for each its heaviest context.  Returns their number. */
uint32_t metrics_hot(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                     struct report_hot hot[METRICS_HOT]);

/* The functions with most of the critical path of their own, 1 % at least: rows of the flat tree.  Returns their
 * number. */
uint32_t metrics_path(const struct tree *flat, const struct tree_columns *columns, uint32_t path[METRICS_PATH]);

/* The modules without symbols or source lines that weigh more than one percent.  *count of them.  0, or ERR_NOMEM. */
int metrics_modules(const struct tree *tree, const struct tree_columns *columns, const struct names *names,
                    struct report_module modules[METRICS_MODULES], uint32_t *count);

/* All threads of usable processes (free()), sorted by a column of the threads view, NULL = process and thread.
 * ERR_INPUT where there is no such column. */
int metrics_threads(const struct profile *profile, const char *sort, uint64_t **order, uint32_t *count);

#endif
