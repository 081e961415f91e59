/* Files of the measurement directory, which is pinned: the process remembers which directory its path has led to, and
 * every file is created, opened, renamed and removed relative to a descriptor of that directory.  If another directory
 * or a link has taken its place, nothing is read or written there: the functions return ESTALE.
 *
 * A file that this process has created is known by its identity from then on: another file of its name, and one that
 * has got a second name, are neither used nor removed.  Only if the program takes the directory's number in the moment
 * of the creation, the next empty file of that name and this user counts as the one that was made.  A file of another
 * process is used only if it is a regular one with one name and belongs to the user that the calling thread runs as;
 * the caller checks its contents.
 *
 * Context: RT and CTL.  The first path pins its directory, before the process has threads; children made by fork keep
 * it.  No descriptor stays open.  Functions that return int return 0 or errno.  The caller owns the structures. */
#ifndef HPCRUN_LITE_RT_CORE_PINNED_H
#define HPCRUN_LITE_RT_CORE_PINNED_H

#include "hpcrun-lite/rt/core/sys.h"

enum { PINNED_PATH_BYTES = 4096 + 300 };

struct pinned_file {
  char path[PINNED_PATH_BYTES]; /* "": none */
  uint64_t device, inode;       /* of the file; inode 0: it is not made yet */
  uint32_t owner;               /* that it was made for */
};

/* CTL: sets which inode the directory has, before the first path pins it: if it has another one, it is not used. */
void pinned_expect(uint64_t inode);

/* CTL: names a file that will be made.  Returns false, and names none, if the path is too long. */
bool pinned_name(struct pinned_file *file, const char *path);

/* Makes the file, which must not exist, and opens it. */
int pinned_create(struct pinned_file *file, struct sys_own *opened);

/* Copies a part of another file to the same offset.  At offset 0 it makes the file, which must not exist.  After a
 * failure there is none. */
int pinned_copy(struct pinned_file *file, const struct sys_own *from, uint64_t offset, uint64_t size_bytes);

/* Opens the file that was made. */
int pinned_open(const struct pinned_file *file, struct sys_own *opened);

/* Opens a file of another process. */
int pinned_find(const char *path, struct sys_own *opened);

/* Removes the file that was made; there is none afterwards, unless that fails. */
int pinned_remove(struct pinned_file *file);

/* Removes the file of that path if it is the one that is open. */
void pinned_remove_opened(const char *path, const struct sys_own *opened);

/* Renames the file that was made, in the place of `replaced` (NULL, or not made: of none). */
int pinned_rename(struct pinned_file *file, const char *path, const struct pinned_file *replaced);

#endif
