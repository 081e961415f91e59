/* Bytes of files, one behind the other, in memory of our own: a mapping would turn a file cut short meanwhile into
 * SIGBUS.
 *
 * Context: BATCH.  Holes are not read and take no memory.  What cannot be read is named in problems and reads as zero.
 */
#ifndef HPCPROF_LITE_INPUT_LOAD_H
#define HPCPROF_LITE_INPUT_LOAD_H

#include "hpcprof-lite/model/problems.h"

#include <stddef.h>
#include <stdint.h>

/* Zeroed by the caller. */
struct load {
  uint8_t *bytes;
  size_t size, room; /* room: taken for bytes */
};

/* Appends what there is of a regular file.  0, ERR_INPUT or ERR_NOMEM; load_release() in any case. */
int load_file(struct load *load, const char *path, struct problems *problems);
void load_release(struct load *load);

#endif
