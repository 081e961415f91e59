/* Files of which parts are mapped, shared, as they are needed: what is stored into a part is in the file at once,
 * whatever becomes of the program.
 *
 * Context: RT; what is marked, CTL.  Any thread may ask for a part.  The space of a part is reserved before it is
 * mapped, so that a full disk is a failure here and no signal later.  A descriptor is open for a few system calls only,
 * at a number that programs do not use: they may close those that they do not know.  The file is opened by its path
 * each time, made by whoever comes first, and left alone where another is there already.
 */
#ifndef HPCRUN_LITE_RT_CORE_MAPPED_H
#define HPCRUN_LITE_RT_CORE_MAPPED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped_file {
  char path[4096 + 300]; /* "": there is none           */
  atomic_int state;
  _Atomic uint64_t length; /* given to parts: whole pages */
};

/* CTL: a new process begins with a new file, which is made with its first part.  False: the path is too long. */
bool mapped_start(struct mapped_file *file, const char *path);

/* Is there a file? */
bool mapped_made(const struct mapped_file *file);

/* CTL: no further part is given; the file is removed if there is one, and lives on for who has mapped it. */
void mapped_remove(struct mapped_file *file);

/* CTL: after mapped_remove(), a new file of that name may be made. */
void mapped_renew(struct mapped_file *file);

/* A new part of that size (whole pages), zeroed; NULL on failure. */
void *mapped_part(struct mapped_file *file, size_t size_bytes);

/* The same with the contents of that memory, and in its place.  Nobody may write there meanwhile. */
bool mapped_adopt(struct mapped_file *file, void *memory, size_t size_bytes);

#endif
