/* Reads whole files into memory, one behind the other.
 *
 * Files are read, not mapped: a mapped file that is truncated meanwhile would raise SIGBUS.
 *
 * Context: BATCH.  The caller owns the structure, and load_release() frees its bytes.  The holes of a sparse file are
 * not read and take no memory.  Where reading a file fails midway, the failure is reported in `problems` and the bytes
 * end there.
 */
#ifndef HPCPROF_LITE_INPUT_LOAD_H
#define HPCPROF_LITE_INPUT_LOAD_H

#include "hpcprof-lite/model/problems.h"

#include <stddef.h>
#include <stdint.h>

/* The caller initialises it to zero. */
struct load {
  uint8_t *bytes;
  size_t size, room; /* bytes that are read; bytes that are allocated */
};

/* Appends the contents of a regular file.  Returns 0, or ERR_INPUT if it cannot be opened or is not a regular file;
 * the caller calls load_release() in any case. */
int load_file(struct load *load, const char *path, struct problems *problems);
void load_release(struct load *load);

#endif
