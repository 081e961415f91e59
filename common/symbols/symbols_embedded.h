/* The symbol table that distributions leave in stripped files: an ELF file, compressed by xz, in the section
 * .gnu_debugdata ("MiniDebugInfo").
 *
 * Context: BATCH.  The caller owns the file that is returned.  The section is hostile: its size is bounded.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_EMBEDDED_H
#define COMMON_SYMBOLS_SYMBOLS_EMBEDDED_H

#include "common/symbols/symbols_elf.h"

/* Opens the embedded file of `outer`.  Returns NULL if it has none, or with *fault set to why it cannot be used. */
struct symbols_elf *symbols_embedded_open(struct symbols_elf *outer, const char **fault);

#endif
