/* Streams: what the threads of the process append to one file, each through a window of the file that only it has
 * mapped.  The graph log (span/graph_log.h) and the trace (construct/trace.h) are such files.
 *
 * Context: RT, inside rt_enter() or with `inside` raised; functions marked CTL are called by CTL only.  The writer of a
 * stream is its thread, or CTL once the threads have stopped.  A window is an extent in the live form of
 * common/format.h: what is published in it is in the file at once, also if the program is killed.  The space of a
 * window is reserved before it is mapped, so a full disk makes the mapping fail; without that, a later store would
 * raise a signal.  Memory: one window for each thread.  Without a further window the stream ends.
 *
 * When a thread ends, its window is cut to its content, and what is left of it becomes the window of another stream. So
 * a file grows with its content, not with the number of threads.
 *
 * A file may have a limit.  Beyond it streams end, or the oldest windows are used again.  A stream for which threads
 * have left none looks for one again from time to time. */
#ifndef HPCRUN_LITE_RT_CORE_STREAM_H
#define HPCRUN_LITE_RT_CORE_STREAM_H

#include "common/format.h"
#include "hpcrun-lite/rt/core/assertion.h"
#include "hpcrun-lite/rt/core/mapped.h"

enum {
  STREAM_WINDOW_FIRST = 16 << 10,   /* a stream's windows grow from this size */
  STREAM_WINDOW_LIMITED = 64 << 10, /* all windows of a file with a limit have this one */
  STREAM_WINDOW_MAX = 256 << 10,
  STREAM_REST_MIN = 4 << 10, /* what is left of a window and is smaller is not used */
  STREAM_RESTS = 2048,       /* so many are kept */
  STREAM_PAGE = 4096
};

struct stream_file {
  struct mapped_file file;
  uint16_t table;          /* enum format_table */
  bool keep_last;          /* beyond the limit */
  uint32_t slots;          /* windows up to the limit; 0: no limit */
  _Atomic uint8_t *in_use; /* [slot]: a thread has it mapped */
  _Atomic uint64_t given;  /* windows given out, some of them again */
  /* What ended threads have left of their windows: offset / FORMAT_UNIT << 16 | size / FORMAT_UNIT; 0: free.  Writer:
   * CTL, under the CTL lock; any thread takes one.  Their slots stay in use. */
  _Atomic uint64_t rests[STREAM_RESTS];
  atomic_uint rest_count;
};

struct stream {
  uint8_t *at, *end;            /* free room in the window */
  struct format_extent *extent; /* the window; NULL: none */
  uint32_t extents;             /* windows until now */
  uint64_t offset;              /* in the file: of the pages that are mapped for the window */
  uint64_t again;               /* ticks: there was no slot, so a window is sought again then; 0: there was one */
  bool ended;                   /* a window is missing, so nothing further is written */
};

/* CTL: sets up the file, which is made with its first window.  limit: bytes, 0: none.  Returns false if the path is too
 * long, or without memory: then the file gives no windows. */
bool stream_start(struct stream_file *file, const char *path, enum format_table table, uint64_t limit, bool keep_last);

/* CTL: the file's length. */
uint64_t stream_length(const struct stream_file *file);

/* Continues a stream of that owner in a new window, whose first bytes the caller writes to stream->at before it calls
 * stream_begin(); now: ticks.  Returns false if there is none.  Sets *lost where there is none from now on, or an older
 * window was dropped for this one: to be counted.  An extent number is left out where there was none for some time. */
bool stream_next(struct stream_file *file, struct stream *stream, uint32_t owner, uint64_t now, bool *lost);
void stream_begin(struct stream *stream, uint8_t *at);

/* Unmaps the window, whose thread goes on in another one, or in the parent of this process. */
void stream_close(struct stream_file *file, struct stream *stream);

/* CTL, under the CTL lock: the same where the thread has ended: others may use what is left of the window. */
void stream_end(struct stream_file *file, struct stream *stream);

/* CTL: the window of another thread's stream stays mapped and in use, and the stream goes on without it. */
void stream_leave(struct stream *stream);

/* What is before `at` is complete. */
static inline void stream_publish(struct stream *stream, uint8_t *at)
{
  RT_ASSERT(at >= stream->at && at <= stream->end);
  stream->at = at;
  __atomic_store_n(&stream->extent->count, (uint32_t)(at - (uint8_t *)(stream->extent + 1)), __ATOMIC_RELEASE);
}

/* Is there room for so many bytes? */
static inline bool stream_has_room(const struct stream *stream, size_t bytes)
{
  return (size_t)(stream->end - stream->at) >= bytes;
}

#endif
