/* What identifies the file of a module, from its image in memory: the file may be replaced before a report is made.
 *
 * Context: RT.  No state; all memory is the caller's.  What cannot be read stays 0, which means "not known". */
#ifndef HPCRUN_LITE_RT_CORE_MODULE_IDENTITY_H
#define HPCRUN_LITE_RT_CORE_MODULE_IDENTITY_H

#include "common/format.h"

/* Fills in the build id, and without one the checksum of the headers and FORMAT_MODULE_CHANGED; size and time of the
 * file that has the path now; of the executable, of the file that runs. */
void module_identity_read(struct format_module *module, const char *path);

/* Fills in the checksum of the page of code that has an address, an offset in the module.  Returns false if it cannot
 * be read, or may be written to. */
bool module_identity_page(const struct format_module *module, uint64_t offset, struct format_code *code);

#endif
