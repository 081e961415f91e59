/* LD_PRELOAD in the environment of programs that the process executes: without this library where the program's loader
 * cannot load it (foreign_loader.h).  Items of the user stay.
 *
 * Context: CTL, also in a vfork() child: only system calls that bypass libc, and memory of the caller.
 */
#ifndef HPCRUN_LITE_INTERPOSE_CHILD_PRELOAD_H
#define HPCRUN_LITE_INTERPOSE_CHILD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* The file to execute: below a directory's descriptor or AT_FDCWD, or in PATH as execvp() finds it. */
struct child_image {
  int directory; /* without a path: the file itself */
  const char *path;
  bool search;
};

/* How many bytes child_preload_change() needs for the environment; 0: it stays as it is. */
size_t child_preload_bytes(const struct child_image *image, char *const envp[]);

/* Makes the changed environment in that memory, of so many bytes and aligned for pointers.  Returns envp if another
 * thread has changed that meanwhile, so that it does not fit. */
char *const *child_preload_change(void *memory, size_t bytes, char *const envp[]);

#endif
