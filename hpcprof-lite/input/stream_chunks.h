/* The chunks of a file to which the threads of a process have appended their streams: the graph log and the trace.
 *
 * Context: BATCH.  The structure belongs to its caller; several threads may decode chunks at the same time.  All input
 * is hostile: what is damaged is left out and reported.  Memory: a list of the chunks.  The first files keep a
 * descriptor; of many, each is opened only while a chunk is read.
 */
#ifndef HPCPROF_LITE_INPUT_STREAM_CHUNKS_H
#define HPCPROF_LITE_INPUT_STREAM_CHUNKS_H

#include "hpcprof-lite/model/problems.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { STREAM_CHUNKS_MAX = 16 << 20 }; /* bytes of one decoded chunk */

struct stream_chunk {
  uint32_t owner, first; /* thread; number of the chunk in the thread's stream */
  uint32_t bytes;        /* decoded; as the header says */
  size_t offset;
};

struct stream_chunks {
  char *path; /* NULL: there is no such file */
  int fd;     /* -1: it is opened when a chunk is read */
  dev_t device;
  ino_t inode;
  size_t size;
  struct stream_chunk *chunks; /* by owner and number */
  size_t count, room;
  uint64_t digest; /* of the headers, which have checksums of the chunks */
};

/* Opens the file beside a measurement file that has that suffix, and lists the chunks of a table.  Returns 0, also if
 * there is no such file, or ERR_INPUT if it cannot be read; stream_chunks_release() in any case. */
int stream_chunks_open(const char *measurement, const char *suffix, unsigned table, struct problems *problems,
                       struct stream_chunks *file);

/* The same, but lists no more than the first chunk of that owner, and those of others before it. */
int stream_chunks_open_first(const char *measurement, const char *suffix, unsigned table, uint32_t owner,
                             struct problems *problems, struct stream_chunks *file);
void stream_chunks_release(struct stream_chunks *file);

/* Returns the position of an owner's chunk with that number, or else of the next one in the order of both. */
size_t stream_chunks_find(const struct stream_chunks *file, uint64_t owner, uint32_t first);

/* Decodes a chunk of at most that size into *bytes, which the caller frees, and *size.  Returns NULL, or the fault,
 * which may be part of `message`; then both are zero. */
const char *stream_chunks_decode(const struct stream_chunks *file, const struct stream_chunk *chunk, size_t most,
                                 uint8_t **bytes, size_t *size, char message[256]);

#endif
