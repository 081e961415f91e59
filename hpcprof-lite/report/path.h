/* The path of callers that ends in a row of the top-down tree, in one line: "main > solve > parallel @ solve.c:42".
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_REPORT_PATH_H
#define HPCPROF_REPORT_PATH_H

#include "hpcprof-lite/report/screen.h"
#include "hpcprof-lite/model/tree.h"

enum { PATH_TEXT_MAX = 4096 + 16 };

/* Writes the path, as many of the inner steps as fit into width columns; "" for the root. */
void path_text(const struct screen *screen, const struct tree *tree, uint32_t row, unsigned width,
               char out[PATH_TEXT_MAX]);

#endif
