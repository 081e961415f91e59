/* Directorys in which another user cannot replace a directory of this user by another one.
 *
 * That holds if each directory from the directory up to / belongs to this user or to root, and if others can write to
 * it only with the sticky bit; for root this includes its group.  The owner of a directory with the sticky bit can
 * still rename what is in it: such a directory is accepted for a measurement directory of an ordinary user only.
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_SAFETY_SAFE_DIRECTORY_H
#define HPCRUN_LITE_LAUNCH_SAFETY_SAFE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the directory, a path without links, is such a one.  exclusive: also the owner of a directory with the sticky
 * bit must be this user or root.  Otherwise writes which directory is at fault, and why. */
bool safe_directory_check(const char *directory, bool exclusive, char *reason, size_t size);

/* The real path of a safe directory for what only this user may change: that of TMPDIR, or else /tmp.  nameable: it
 * must be one that LD_PRELOAD can name.  Returns false with the reason. */
bool safe_directory_temporary(bool nameable, char *path, size_t size, char *reason, size_t reason_size);

/* Can LD_PRELOAD name the path? */
bool safe_directory_nameable(const char *path);

#endif
