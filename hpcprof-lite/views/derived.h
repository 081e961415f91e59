/* Views derived from the top-down tree: a part of it, its functions, their callers.
 *
 * Context: BATCH.  Pure functions: the given tree must be finished (tree_finish) and is not changed.  The new tree
 * shares its strings.  A recursive function's inclusive time counts its outermost instances only.
 */
#ifndef HPCPROF_LITE_VIEWS_DERIVED_H
#define HPCPROF_LITE_VIEWS_DERIVED_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/selector.h"
#include "hpcprof-lite/model/tree.h"

enum {
  DERIVED_CALLERS_MAX = 400
}; /* callers shown above a function at most: bounds bottom-up views of deep recursion */

/* Which rows of a view have the inclusive values of a row in theirs: into[first[row]], count[row] of them. */
struct derived_links {
  uint32_t *first, *count;
  uint32_t *into, into_count;
  size_t into_room;
};

/* The outermost rows that match and all below them, with their ids.  *matches counts them; copy_of[row] is the row of
 * the part, PROFILE_NONE where there is none.  0, or ERR_NOMEM. */
int derived_part(const struct tree *tree, const struct names *names, const struct selector *selector,
                 const char *root_name, struct tree *part, uint32_t *matches, uint32_t *copy_of);

/* One row for each function; lines stand below their function.  *links, unless NULL, is filled from zero; then
 * derived_release_links(), in any case. */
int derived_flat(const struct tree *tree, const struct tree_columns *columns, struct tree *flat,
                 struct derived_links *links);

/* Each function with time of its own, its callers below it; a caller's values are the function's, as called on that
 * path. */
int derived_bottomup(const struct tree *tree, const struct tree_columns *columns, struct tree *bottomup,
                     struct derived_links *links);

void derived_release_links(struct derived_links *links);

#endif
