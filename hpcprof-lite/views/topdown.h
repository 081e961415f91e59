/* Makes the top-down tree of rows out of merged contexts and their names.
 *
 * Context: BATCH.  What happens on the way:
 *  - call sites of one function within one caller become one row; inlined functions get rows of their own;
 *  - frames of the tool and of the OpenMP runtime are left out; so are the system's outermost ones (_start, libc's
 * start-up code, a thread's start), unless a context has no others;
 *  - the entry into a parallel region or task and the function that the compiler made of its body become one row, named
 * by its source line; clang's inner copies of that function are absorbed;
 *  - what was seen of a region outside its body (the runtime's overhead, tasks) goes to the row of the body that was
 * entered from the same place; to a row named by the call site where there is none, or more than one.
 */
#ifndef HPCPROF_LITE_VIEWS_TOPDOWN_H
#define HPCPROF_LITE_VIEWS_TOPDOWN_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

/* Fills *tree (not yet sorted).  With `lines`, a function's own values stand in rows of kind line below it.  row_of, if
 * not NULL, receives the row that every context's own values are in, or would be; PROFILE_NONE where there is none.  0,
 * or ERR_NOMEM; the caller releases *tree in any case. */
int topdown_build(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                  const char *root_name, bool lines, struct tree *tree, uint32_t *row_of);

/* Adds what of the critical path has no context: the program's to the root's own, a construct's to a row of its own
 * below the root, of kind partial: its callers are not known.  row_of[number of contexts + directive] receives the
 * row.  0, or ERR_NOMEM. */
int topdown_critical_path(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                          struct tree *tree, uint32_t *row_of);

#endif
