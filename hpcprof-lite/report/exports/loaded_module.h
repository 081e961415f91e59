/* Modules of this program, each the only part that knows a library, which are loaded when they are needed.
 *
 * Context: BATCH, the main thread.  A module is found by its path relative to this program, so that both can be moved.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_LOADED_MODULE_H
#define HPCPROF_LITE_REPORT_EXPORTS_LOADED_MODULE_H

#include <stddef.h>

struct loaded_module {
  const char *path, *symbol;           /* relative to the directory of this program; what the module defines */
  const char *name, *package, *option; /* the library: its name in messages, its package, the option of the build */
};

/* Returns the module's table of functions, or NULL with a message. */
const void *loaded_module_open(const struct loaded_module *module, char *message, size_t size);

#endif
