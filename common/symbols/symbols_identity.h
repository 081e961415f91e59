/* Whether a file is the one that was measured.  The build id decides; without one, size, headers and code as they were
 * recorded (common/file_identity.h), and whether calls stand before the return addresses that were recorded.
 *
 * Context: BATCH.  Keeps no state.  Every file is hostile.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_IDENTITY_H
#define COMMON_SYMBOLS_SYMBOLS_IDENTITY_H

#include "common/symbols/symbols_elf.h"
#include "common/symbols/symbols_request.h"

enum { SYMBOLS_ID_BYTES = 64, SYMBOLS_ID_TEXT = 2 * SYMBOLS_ID_BYTES + 1 };

/* Writes the first bytes of a build id in hexadecimal digits. */
void symbols_identity_text(struct symbols_bytes id, char text[SYMBOLS_ID_TEXT]);

/* Returns whether the file with that path, which is open, is the one of the request; if not, writes the reason. */
bool symbols_identity_check(struct symbols_elf *file, const char *path, const struct symbols_request *request,
                            char *reason, size_t size);

#endif
