/* Modules without symbols or source lines that take much time, and interpreters of functions without a name.
 *
 * Context: BATCH.  Pure: the tree is only read, the caller owns the result.
 */
#ifndef HPCPROF_LITE_ANALYSIS_UNNAMED_MODULES_H
#define HPCPROF_LITE_ANALYSIS_UNNAMED_MODULES_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/tree.h"

enum { UNNAMED_MODULES_MAX = 4 };

/* What a module lacks: source lines; names, of functions in which most of its time is; those of functions of Python,
 * which it interprets. */
enum unnamed_what { UNNAMED_LINES, UNNAMED_FUNCTIONS, UNNAMED_PYTHON };

struct unnamed_module {
  uint32_t module;
  uint64_t weight; /* sum of the exclusive values of its rows */
  enum unnamed_what what;
};

/* Fills modules[] with the modules that have at least 1 % of all time, the largest first, and sets *count. */
void unnamed_modules(const struct tree *tree, const struct tree_columns *columns, const struct names *names,
                     struct unnamed_module modules[UNNAMED_MODULES_MAX], uint32_t *count);

#endif
