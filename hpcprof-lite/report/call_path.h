/* The calling context of a row of the top-down tree, in one line: "main > solve > parallel @ solve.c:42".
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_CALL_PATH_H
#define HPCPROF_LITE_REPORT_CALL_PATH_H

#include "hpcprof-lite/model/tree.h"
#include "hpcprof-lite/report/terminal.h"

enum { CALL_PATH_TEXT_MAX = 4096 + 16 };

/* Writes the innermost part of the context that fits into `width` columns; "" for the root. */
void call_path_text(const struct terminal *terminal, const struct tree *tree, uint32_t row, unsigned width,
                    char out[CALL_PATH_TEXT_MAX]);

#endif
