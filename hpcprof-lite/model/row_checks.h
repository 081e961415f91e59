/* Checks of what a report shows: trees of rows, and tables.
 *
 * Context: BATCH.  As in model/checks.h. */
#ifndef HPCPROF_LITE_MODEL_ROW_CHECKS_H
#define HPCPROF_LITE_MODEL_ROW_CHECKS_H

#include "hpcprof-lite/model/table.h"
#include "hpcprof-lite/model/tree.h"

/* Parents come before their children, and every row but the root is once in the list of its parent. */
bool check_tree(const struct tree *tree);

/* The same of a tree that tree_finish() has numbered, and depths, order and ends agree with each other. */
bool check_finished_tree(const struct tree *tree);

/* Inclusive values are the exclusive ones and the inclusive ones of the children: in a top-down tree. */
bool check_tree_sums(const struct tree *tree);

/* Names of columns of a part differ; parts, selected columns and columns by which text is laid out are those of the
 * table. */
bool check_table(const struct table *table);

#endif
