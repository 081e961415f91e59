/* Where the file of a module is looked for: in the directories of --symbols, at the path that was measured, then among
 * the files that --keep-symbols has put into the measurement.
 *
 * Context: BATCH.  Keeps no state.  A file is used only if it is the one that was measured (symbols_identity.h).
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_SEARCH_H
#define COMMON_SYMBOLS_SYMBOLS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/symbols/symbols_cursor.h"
#include "common/symbols/symbols_request.h"

/* Finds the file of the request's module, with its code.  Returns false if none is the one that was measured. */
bool symbols_search_program(const struct symbols_request *request, char *path, size_t size);

/* Writes the path, from number 0 on, at which a directory of --symbols may have the debug file of a module with that
 * build id.  Returns false behind the last one. */
bool symbols_search_debug(const struct symbols_request *request, struct symbols_bytes id, unsigned number, char *path,
                          size_t size);

#endif
