/* A file that is mapped part by part.  What is stored into a part is in the file at once, even if the program is killed
 * afterwards.
 *
 * Context: RT; functions marked CTL are called by CTL only.  Any thread may ask for a part at any time.  The caller
 * provides the structure and unmaps the parts.  The space of a part is reserved before the part is mapped, so a full
 * disk makes the function fail; without that, a later store would raise a signal.
 *
 * No descriptor stays open: each function opens the file in its directory (rt/core/pinned.h), at a descriptor number
 * that programs do not use, and closes it again, because a program may close descriptors that it does not know.  The
 * first thread that needs the file makes it, and at once writes the header of an unused extent: a file without magic
 * was left by a process that was killed in between.  If another file has taken its name, that is left alone. */
#ifndef HPCRUN_LITE_RT_CORE_MAPPED_H
#define HPCRUN_LITE_RT_CORE_MAPPED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hpcrun-lite/rt/core/pinned.h"

struct mapped_file {
  struct pinned_file at;
  atomic_int state;
  _Atomic uint64_t length; /* bytes given to parts: whole pages */
};

/* CTL: sets the path, for a new process.  The file is made with its first part.  Returns false if the path is too long.
 */
bool mapped_start(struct mapped_file *file, const char *path);

/* Whether the file has been made. */
bool mapped_made(const struct mapped_file *file);

/* CTL: removes the file, if any, and gives no further parts.  Parts that are mapped stay usable. */
void mapped_remove(struct mapped_file *file);

/* CTL: allows the file to be made again, after mapped_remove(). */
void mapped_renew(struct mapped_file *file);

/* Returns a new part of that size (whole pages), zeroed, but for the header of an unused extent at the file's start;
 * NULL on failure.  Sets *offset to where it lies in the file. */
void *mapped_part(struct mapped_file *file, size_t size_bytes, uint64_t *offset);

/* Returns the part of that size at that offset, for files whose parts the caller chooses itself: new, or one that it
 * has unmapped, with any contents.  reserved: it lies within such parts, and what is in it stays: where the file system
 * cannot reserve space, zeros are written for that.  NULL on failure. */
void *mapped_range(struct mapped_file *file, uint64_t offset, size_t size_bytes, bool reserved);

/* Moves the memory's contents into a new part, which replaces the memory in place.  No thread may write to the memory
 * meanwhile.  Returns false on failure; the memory is then unchanged. */
bool mapped_adopt(struct mapped_file *file, void *memory, size_t size_bytes);

#endif
