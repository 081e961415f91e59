/* Programs into which the library cannot be preloaded: their dynamic loader would end them.  They are those of musl, of
 * a glibc older than the library needs, and of another machine or word size.
 *
 * Context: CTL, also in a vfork() child: only system calls that bypass libc, and the stack.  Keeps no state.
 */
#ifndef HPCRUN_LITE_INTERPOSE_FOREIGN_LOADER_H
#define HPCRUN_LITE_INTERPOSE_FOREIGN_LOADER_H

#include <stdbool.h>

/* Is the file, or the interpreter of a script, such a program?  directory: a descriptor or AT_FDCWD.  False if a file
 * that decides it cannot be read, and for static programs. */
bool foreign_loader(int directory, const char *path);

#endif
