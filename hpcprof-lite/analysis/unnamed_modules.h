/* Modules whose functions or source lines could not be named.
 *
 * Context: BATCH.  Pure: the tree is only read.
 */
#ifndef HPCPROF_LITE_ANALYSIS_UNNAMED_MODULES_H
#define HPCPROF_LITE_ANALYSIS_UNNAMED_MODULES_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/tree.h"

enum { UNNAMED_MODULES_MAX = 4 };

struct unnamed_module {
  uint32_t module;
  uint64_t weight; /* of the module's own rows             */
  bool unnamed;    /* no symbols; else no source lines     */
};

/* The modules without symbols or source lines that weigh more than one percent.  *count of them.  0, or ERR_NOMEM. */
int unnamed_modules(const struct tree *tree, const struct tree_columns *columns, const struct names *names,
                    struct unnamed_module modules[UNNAMED_MODULES_MAX], uint32_t *count);

#endif
