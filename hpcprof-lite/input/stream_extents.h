/* The extents of a file to which the threads of a process have appended their streams: the graph log and the trace.
 *
 * Context: BATCH.  The structure belongs to its caller; several threads may decode extents at the same time.  All input
 * is hostile: what is damaged is left out and reported.  Memory: a list of the extents.  The first files keep a
 * descriptor; of many, each is opened only while an extent is read.
 */
#ifndef HPCPROF_LITE_INPUT_STREAM_EXTENTS_H
#define HPCPROF_LITE_INPUT_STREAM_EXTENTS_H

#include "hpcprof-lite/model/problems.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { STREAM_EXTENTS_MAX = 16 << 20 }; /* bytes of one decoded extent */

struct stream_extent {
  uint32_t owner, first; /* thread; number of the extent in the thread's stream */
  uint32_t bytes;        /* decoded; as the header says */
  size_t offset;
};

struct stream_extents {
  char *path; /* NULL: there is no such file */
  int fd;     /* -1: it is opened when an extent is read */
  dev_t device;
  ino_t inode;
  size_t size;
  struct stream_extent *extents; /* by owner and number */
  size_t count, room;
  uint64_t digest; /* of the headers, which have checksums of the extents */
};

/* Opens the file beside a measurement file that has that suffix, and lists the extents of a table.  Returns 0, also if
 * there is no such file, or ERR_INPUT if it cannot be read; stream_extents_release() in any case. */
int stream_extents_open(const char *measurement, const char *suffix, unsigned table, struct problems *problems,
                        struct stream_extents *file);

/* The same, but lists the first extent only. */
int stream_extents_open_first(const char *measurement, const char *suffix, unsigned table, struct problems *problems,
                              struct stream_extents *file);
void stream_extents_release(struct stream_extents *file);

/* Returns the position of an owner's extent with that number, or else of the next one in the order of both. */
size_t stream_extents_find(const struct stream_extents *file, uint64_t owner, uint32_t first);

/* Decodes an extent of at most that size into *bytes, which the caller frees, and *size.  Returns NULL, or the fault,
 * which may be part of `message`; then both are zero. */
const char *stream_extents_decode(const struct stream_extents *file, const struct stream_extent *extent, size_t most,
                                  uint8_t **bytes, size_t *size, char message[256]);

#endif
