/* The source lines of a run, with the values that belong to each and the constructs that begin there.
 *
 * Context: BATCH.  Pure: the profile and the top-down tree are only read.  The lines are a tree of their own: below its
 * root is a row for each line of a file, and one for the time of each function whose line is not known; below each of
 * these rows are the functions to which its values belong.  The values of all rows directly below the root add up to
 * those of the top-down tree.
 *
 * A function means what the user wrote: what compilers make of a construct counts as the function that contains it, and
 * the instances of a template as one function, named by the one that costs most.
 */
#ifndef HPCPROF_LITE_VIEWS_SOURCE_SOURCE_LINES_H
#define HPCPROF_LITE_VIEWS_SOURCE_SOURCE_LINES_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

struct source_lines {
  struct tree tree;     /* finished: in the order of files and lines; rows without a line have `line` 0 */
  uint32_t *directives; /* [row] a bit for each kind of directive that begins in the line */
  uint32_t *function;   /* [row below the root] number of its function, MODEL_NONE: only the name is known */
  const char **name;    /* [row below the root] of its function */
  uint32_t *same;       /* [function] the function that stands for it and all other instances of a template */
  uint32_t *line_of;    /* [row of the top-down tree] the row below the root that has its own values, or MODEL_NONE */
};

/* Fills *lines.  contexts: the top-down tree, made with TOPDOWN_LINES_OF_CALLS and finished.  Requires
 * construct_names(), and source_lines_release() afterwards. */
void source_lines_build(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                        const struct tree *contexts, struct source_lines *lines);
void source_lines_release(struct source_lines *lines);

/* Whether a row is one of those below the root that reports show: it has values, or a construct begins there. */
bool source_lines_shown(const struct source_lines *lines, uint32_t row);

#endif
