/* Modules without symbols or source lines that take much time.
 *
 * Context: BATCH.  Pure: the tree is only read, the caller owns the result.
 */
#ifndef HPCPROF_LITE_ANALYSIS_UNNAMED_MODULES_H
#define HPCPROF_LITE_ANALYSIS_UNNAMED_MODULES_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/tree.h"

enum { UNNAMED_MODULES_MAX = 4 };

struct unnamed_module {
  uint32_t module;
  uint64_t weight; /* sum of the exclusive values of its rows */
  bool unnamed;    /* most of its time is in functions without a name; otherwise, it has no source lines */
};

/* Fills modules[] with the modules that have at least 1 % of all time, the largest first, and sets *count. */
void unnamed_modules(const struct tree *tree, const struct tree_columns *columns, const struct names *names,
                     struct unnamed_module modules[UNNAMED_MODULES_MAX], uint32_t *count);

#endif
