/* The user's settings of debuginfod, and its client library, which asks the servers in DEBUGINFOD_URLS for debug files.
 *
 * Context: BATCH.  The library is loaded when the first file is asked for, and never without the option.
 */
#ifndef HPCPROF_LITE_DEBUGINFOD_CLIENT_H
#define HPCPROF_LITE_DEBUGINFOD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/* Makes reports search the cache of debuginfod for debug files and, if `ask`, its servers.  Called before there are
 * threads.  Returns false with a message if there are no servers to be asked. */
bool debuginfod_client_start(bool ask, char *message, size_t size);

#endif
