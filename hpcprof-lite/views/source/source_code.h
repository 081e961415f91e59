/* Finds the machine code of blocks of source lines, for the command that disassembles it.
 *
 * Context: BATCH.  The symbols of the modules are only read.
 */
#ifndef HPCPROF_LITE_VIEWS_SOURCE_SOURCE_CODE_H
#define HPCPROF_LITE_VIEWS_SOURCE_SOURCE_CODE_H

#include "hpcprof-lite/views/source/source_blocks.h"

/* Sets `code` of the blocks, which have been arranged: the function in the module, as the compiler made it, in which
 * most of the block's time was spent. */
void source_code_find(const struct source_request *request, struct source_blocks *blocks);

#endif
