/* The symbols of modules (common/symbols), in a module of the launcher.
 *
 * It is loaded for filters that name code, and for nothing else: the libraries that read debug data, which it brings
 * along, would take a tenth of the CPU time of every launch.
 *
 * Context: BATCH (the launcher).  A module is found by its path relative to the launcher, so that both can be moved.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_CODE_SYMBOLS_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_CODE_SYMBOLS_H

#include "common/symbols/symbols.h"

/* See common/symbols/symbols.h. */
struct code_symbols {
  __typeof__(symbols_open) *open;
  __typeof__(symbols_visit) *visit;
  __typeof__(symbols_free) *release;
};

/* What the module defines, by the name "code_symbols". */
extern const struct code_symbols code_symbols;

/* Loads the module, once.  Returns NULL with a message if it cannot be loaded. */
const struct code_symbols *code_symbols_load(char *message, size_t message_size);

#endif
