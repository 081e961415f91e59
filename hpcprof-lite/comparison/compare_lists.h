/* Comparison of the views that are lists: threads, and those of constructs.
 *
 * Context: BATCH, the main thread.  The runs are only read.  Functions that return a status return 0, or the exit
 * status after they have printed the reason.
 */
#ifndef HPCPROF_LITE_COMPARISON_COMPARE_LISTS_H
#define HPCPROF_LITE_COMPARISON_COMPARE_LISTS_H

#include "hpcprof-lite/comparison/comparison.h"

/* Whether the view is a list. */
bool compare_lists_has(enum options_view view);

/* Fills the report of a run, in which tree_begin() has made the top-down tree, with all rows of the view. */
int compare_lists_load(struct job *run, view_pipeline *pipeline);

/* Joins the tables of the runs, and fills the result with the lines that are shown.  one_build: both sides are of one.
 */
int compare_lists(struct job *job, struct comparison *comparison, bool one_build);

void compare_lists_release(struct comparison *comparison);

#endif
