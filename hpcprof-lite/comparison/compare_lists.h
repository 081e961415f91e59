/* Comparison of the views that are lists: threads, and those of constructs.
 *
 * Context: BATCH, the main thread.  A list is joined as a tree of two levels, whose rows are those of the runs' tables:
 * columns that the view names identify them, and numbers are compared without their decimals.
 */
#ifndef HPCPROF_LITE_COMPARISON_COMPARE_LISTS_H
#define HPCPROF_LITE_COMPARISON_COMPARE_LISTS_H

#include "hpcprof-lite/comparison/comparison.h"

/* Whether the view is a list. */
bool compare_lists_has(enum options_view view);

/* Whether lists are compared by such a column, if all runs have measured it. */
bool compare_lists_is_number(const struct table_column *column);

/* Fills the report of a run, in which tree_begin() has made the top-down tree, with all rows of the view.  Returns 0,
 * or the exit status after it has printed the reason. */
int compare_lists_load(struct job *run, view_pipeline *pipeline);

/* Makes the columns of the result's list, and of the job, from the tables of the runs. */
void compare_lists_columns(struct job *job, struct comparison *comparison);

/* Adds the rows of all runs to their sides. */
void compare_lists_add(struct job *job, struct comparison *comparison);

/* Finds the column of --metric.  Returns 0, or the exit status after it has printed why there is none. */
int compare_lists_metric(struct job *job, struct comparison *comparison);

/* Computes and tests the figures of the joined rows. */
void compare_lists_test(struct comparison *comparison);

void compare_lists_release(struct comparison *comparison);

#endif
