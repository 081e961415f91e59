/* The context in which most of some amounts lie.
 *
 * Context: BATCH.  Memory: 16 bytes for each row of the tree.
 */
#ifndef HPCPROF_LITE_ALGORITHMS_HOT_PATH_H
#define HPCPROF_LITE_ALGORITHMS_HOT_PATH_H

#include "hpcprof-lite/model/tree.h"

struct hot_path {
  uint64_t *amounts; /* [row]: of the row and those below it */
  uint32_t *heaviest, *seen;
  uint32_t seen_count;
};

void hot_path_init(struct hot_path *path, const struct tree *tree);
void hot_path_release(struct hot_path *path);

/* Adds an amount of a row of a top-down tree. */
void hot_path_add(struct hot_path *path, const struct tree *tree, uint32_t row, uint64_t amount);

/* Goes down from the root as long as one child has at least half of what its parent has.  Returns where that ends, or
 * MODEL_NONE if that is the root, or nothing was added; begins anew. */
uint32_t hot_path_end(struct hot_path *path, const struct tree *tree);

#endif
