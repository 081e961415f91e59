/* The signal handler: passes samples to RT, and the program's own signals to the program's handler.
 *
 * Context: CTL installs it; it runs in every thread of the program.
 */
#ifndef HPCRUN_LITE_HANDLER_H
#define HPCRUN_LITE_HANDLER_H

#include <stdbool.h>

/* Installs it.  Returns false on failure. */
bool handler_install(void);

#endif
