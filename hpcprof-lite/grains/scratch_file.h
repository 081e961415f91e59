/* A temporary file: in TMPDIR, or /tmp, without a name, so that nothing remains however the program ends.
 *
 * Context: BATCH.  The owner appends blocks and reads them again by their offsets.  After the first failure all
 * functions fail.
 */
#ifndef HPCPROF_LITE_GRAINS_SCRATCH_FILE_H
#define HPCPROF_LITE_GRAINS_SCRATCH_FILE_H

#include "hpcprof-lite/model/problems.h"

#include <stdbool.h>
#include <stdint.h>

struct scratch_file {
  int fd; /* -1 until the first block */
  uint64_t size;
  struct problems *problems; /* the first failure is added to them */
  bool failed;
};

/* Prepares a file, which is made with its first block. */
void scratch_file_init(struct scratch_file *file, struct problems *problems);
void scratch_file_release(struct scratch_file *file);

/* Appends bytes.  Returns their offset, or UINT64_MAX. */
uint64_t scratch_file_append(struct scratch_file *file, const void *bytes, size_t size);

bool scratch_file_read(struct scratch_file *file, void *bytes, size_t size, uint64_t offset);

/* Reports that the bytes at this offset are not those that were written there.  Returns false. */
bool scratch_file_damaged(struct scratch_file *file, uint64_t offset);

#endif
