/* Names and places of constructs, as all views show them.
 *
 * Context: BATCH.  A construct is named by the innermost function that contains it, as the user wrote it.  Compilers
 * make copies of a construct, by unrolling a loop for example: they get the same name, and `first` tells which ones
 * belong together.  Two constructs of one file and line whose inlined calls differ are not copies of each other.
 */
#ifndef HPCPROF_LITE_VIEWS_CONSTRUCT_NAMES_H
#define HPCPROF_LITE_VIEWS_CONSTRUCT_NAMES_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

/* Fills in names->directives.  tree: top-down. */
void construct_names(const struct profile *profile, const struct tree *tree, struct names *names);

#endif
