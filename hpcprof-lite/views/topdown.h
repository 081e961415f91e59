/* Makes the top-down tree of rows from the merged contexts and their names.
 *
 * Context: BATCH.  The profile is only read; new strings are added to the names.  The rules are:
 *
 *  - Calls of one function from one caller become one row.  Inlined functions have rows.
 *  - Frames of the tool and of the OpenMP runtime are left out.  So are the outermost system frames (_start, libc's
 *    start-up code, a thread's start), unless a context has no other frames.
 *  - The entry into a parallel region or task and the outlined function of its body become one row, named by its source
 *    line.  The inner copies that clang makes of an outlined function are merged into it.
 *  - Time in a region or task but outside its body (the runtime's overhead, tasks) goes to the row of the body that was
 *    entered from the same call site.  If there is no such body or more than one, it goes to a row named by the call
 *    site.
 *  - Frames of the Python interpreter that follow one another become one row.  If the program's map of generated code
 *    names the function of Python that they execute, its row has their time.
 */
#ifndef HPCPROF_LITE_VIEWS_TOPDOWN_H
#define HPCPROF_LITE_VIEWS_TOPDOWN_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

/* Which rows of kind line there are: none; below a function, for its own values; also below rows of the OpenMP runtime,
 * regions and tasks, for the values that belong to a call, by the line of that call. */
enum topdown_lines { TOPDOWN_NO_LINES, TOPDOWN_LINES, TOPDOWN_LINES_OF_CALLS };

/* What is shown of the frames. */
struct topdown_choice {
  enum topdown_lines lines;
  bool python_frames; /* the functions of the Python interpreter have rows of their own */
};

/* Fills *tree, not sorted.  Sets row_of[context], unless NULL, to the row for the context's own values, or to
 * MODEL_NONE if it has no row.  The caller releases *tree. */
void topdown_build(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                   const char *root_name, struct topdown_choice choice, struct tree *tree, uint32_t *row_of);

/* Adds the shares of the critical path that have no context: those of the program to the root, those of a construct to
 * a row of kind partial below the root, because its callers are not known.  Sets row_of[number of contexts + directive]
 * to the directive's row. */
void topdown_critical_path(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                           struct tree *tree, uint32_t *row_of);

#endif
