/* Views derived from the top-down tree: the part below some rows, the flat view and the bottom-up view.
 *
 * Context: BATCH.  Pure: the given tree must be finished (tree_finish()) and is only read.  The new tree refers to the
 * strings of the given one; the caller sorts it with tree_finish().  The inclusive values of a recursive function count
 * its outermost instances only.
 *
 * The caller releases the new tree, and the links.
 */
#ifndef HPCPROF_LITE_VIEWS_DERIVED_H
#define HPCPROF_LITE_VIEWS_DERIVED_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/selector.h"
#include "hpcprof-lite/model/tree.h"

/* Limit of the callers of a function in the bottom-up view: it bounds the view's size under deep recursion. */
enum { DERIVED_CALLERS_MAX = 400 };

/* For each row of the given tree, the rows of the view that include its inclusive values: into[first[row]] and the
 * following, count[row] in all. */
struct derived_links {
  uint32_t *first, *count;
  uint32_t *into, into_count;
  size_t into_room;
};

/* Copies the outermost rows that the selector matches, and all rows below these, with their IDs.  Sets *matches to the
 * number of outermost matches, and copy_of[row] to the copy of a row or MODEL_NONE. */
void derived_part(const struct tree *tree, const struct names *names, const struct selector *selector,
                  const char *root_name, struct tree *part, uint32_t *matches, uint32_t *copy_of);

/* Joins recursive calls: of the rows on a path that stand for the same function, region or task, the outermost one gets
 * the values of all.  Rows keep their IDs.  Sets copy_of[row] to the row of the new tree. */
void derived_collapsed(const struct tree *tree, struct tree *collapsed, uint32_t *copy_of);

/* Makes the flat view: one row for each function, with its lines below it.  Fills *links, unless NULL. */
void derived_flat(const struct tree *tree, const struct tree_columns *columns, struct tree *flat,
                  struct derived_links *links);

/* Makes the bottom-up view: each function that has exclusive values, with its callers below it.  The values of a caller
 * are those of the function when called on that path.  Fills *links, unless NULL; sets bottomup->truncated if there are
 * too many rows. */
void derived_bottomup(const struct tree *tree, const struct tree_columns *columns, struct tree *bottomup,
                      struct derived_links *links);

void derived_release_links(struct derived_links *links);

#endif
