/* Makes the tree of constructs that reports show from the times of constructs and the names of their places.
 *
 * Context: BATCH.  Constructs that are copies of the same code become one.  Siblings are sorted by their time in all
 * threads, the longest first.
 */
#ifndef HPCPROF_LITE_VIEWS_CONSTRUCT_ROWS_H
#define HPCPROF_LITE_VIEWS_CONSTRUCT_ROWS_H

#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/tree.h"

/* Fills *result.  contexts: the top-down tree, finished; row_of[context] is its row.  Its root names the program.
 * The caller calls construct_tree_release(). */
void construct_rows(const struct profile *profile, struct names *names, const struct tree *contexts,
                    const uint32_t *row_of, struct construct_tree *result);

/* Fills *result with a list of the constructs of a tree, each once: children of the first entry, sorted likewise. Equal
 * constructs have the context of the one with the longest time. */
void construct_rows_flat(const struct construct_tree *tree, struct names *names, struct construct_tree *result);

#endif
