/* A symbolic link to the installation, for LD_PRELOAD, which cannot name every path.
 *
 * The link lies in a directory that only this user can change, hpcrun-lite-UID-HASH in a safe directory: never in a
 * measurement directory, which may be another user's.  HASH is that of the installation's path, so that all launches
 * use the same link; it stays, because children of the program may need it at any time.
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_SAFETY_INSTALLATION_LINK_H
#define HPCRUN_LITE_LAUNCH_SAFETY_INSTALLATION_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* Finds or makes the link to the target and writes its path.  Returns false with a message. */
bool installation_link(const char *target, char *path, size_t size, char *message, size_t message_size);

#endif
