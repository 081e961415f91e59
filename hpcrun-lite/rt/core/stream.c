#include "hpcrun-lite/rt/core/stream.h"

#include "hpcrun-lite/rt/core/budget.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { AGAIN_TICKS = 1 << 21 }; /* about a millisecond */

bool stream_start(struct stream_file *file, const char *path, enum format_table table, uint64_t limit, bool keep_last)
{
  bool named = mapped_start(&file->file, path); /* first, so that a forked child forgets its parent's file */
  if (file->in_use)
    sys_unmap((void *)file->in_use, file->slots);
  file->table = (uint16_t)table;
  file->keep_last = keep_last;
  file->in_use = NULL;
  file->slots = 0;
  atomic_store(&file->given, 0);
  if (limit) {
    uint64_t slots = limit < STREAM_WINDOW_LIMITED ? 1 : limit / STREAM_WINDOW_LIMITED;
    slots = slots > INT32_MAX ? INT32_MAX : slots;
    file->in_use = sys_map(slots);
    if (!file->in_use)
      return false;
    file->slots = (uint32_t)slots;
  }
  return named;
}

uint64_t stream_length(const struct stream_file *file)
{
  return atomic_load(&file->file.length);
}

void stream_leave(struct stream *stream)
{
  stream->at = stream->end = NULL;
  stream->extent = NULL;
}

void stream_close(struct stream_file *file, struct stream *stream)
{
  struct format_extent *extent = stream->extent;
  stream_leave(stream); /* before it is unmapped: a forked child unmaps what it finds here */
  if (!extent)
    return;
  size_t size = sizeof *extent + extent->stored_size;
  sys_unmap(extent, size);
  budget_give(size);
  if (stream->slot < file->slots)
    atomic_store(&file->in_use[stream->slot], 0);
}

/* The number of the next window; UINT64_MAX: beyond the limit. */
static uint64_t next_number(struct stream_file *file)
{
  uint64_t number = atomic_load(&file->given);
  while (file->keep_last || number < file->slots)
    if (atomic_compare_exchange_weak(&file->given, &number, number + 1))
      return number;
  return UINT64_MAX;
}

static bool take(struct stream_file *file, struct stream *stream, uint64_t number)
{
  uint8_t free = 0;
  stream->slot = (uint32_t)(number % file->slots);
  return atomic_compare_exchange_strong(&file->in_use[stream->slot], &free, 1);
}

/* Takes a slot: a new one, or the oldest that no thread has mapped.  Threads that search at the same time may have
 * taken the numbers of those between them, so all are tried once more.  Returns its number; UINT64_MAX: none, and the
 * stream has ended unless others will be free again. */
static uint64_t take_slot(struct stream_file *file, struct stream *stream)
{
  for (uint32_t tries = 0; tries < file->slots; tries++) {
    uint64_t number = next_number(file);
    stream->ended = number == UINT64_MAX;
    if (stream->ended || take(file, stream, number))
      return number;
  }
  for (uint64_t number = file->slots; number < 2ull * file->slots; number++)
    if (take(file, stream, number))
      return number;
  return UINT64_MAX;
}

/* A window of a file with a limit.  It is marked before it is mapped, so that no two threads have one.  Sets *lost if
 * an older one is dropped for it. */
static void *limited_window(struct stream_file *file, struct stream *stream, bool *lost)
{
  uint64_t number = take_slot(file, stream);
  if (number == UINT64_MAX)
    return NULL;
  struct format_extent *extent =
      mapped_range(&file->file, (uint64_t)stream->slot * STREAM_WINDOW_LIMITED, STREAM_WINDOW_LIMITED);
  if (!extent) {
    atomic_store(&file->in_use[stream->slot], 0);
    stream->ended = true;
    return NULL;
  }
  *lost = number >= file->slots;
  __atomic_store_n(&extent->magic, 0, __ATOMIC_RELEASE);
  return extent;
}

static size_t window_size(const struct stream_file *file, const struct stream *stream)
{
  size_t size = STREAM_WINDOW_FIRST;
  for (uint32_t i = 0; i < stream->extents && size < STREAM_WINDOW_MAX; i++)
    size *= 2;
  return file->slots ? STREAM_WINDOW_LIMITED : size;
}

/* The next window, of that size unless the file has a limit. */
static struct format_extent *find_window(struct stream_file *file, struct stream *stream, size_t size, bool *lost)
{
  stream->ended = !budget_take(size);
  if (stream->ended)
    return NULL;
  struct format_extent *extent;
  if (file->slots) {
    extent = limited_window(file, stream, lost);
  } else {
    extent = mapped_part(&file->file, size);
    stream->ended |= !extent;
  }
  if (!extent)
    budget_give(size);
  return extent;
}

bool stream_next(struct stream_file *file, struct stream *stream, uint32_t owner, uint64_t now, bool *lost)
{
  bool missed = stream->again;
  *lost = false;
  if (stream->ended || (missed && now < stream->again))
    return false;
  stream_close(file, stream);
  size_t size = window_size(file, stream);
  struct format_extent *extent = find_window(file, stream, size, lost);
  if (!extent) {
    *lost = !missed;
    stream->again = now + AGAIN_TICKS;
    return false;
  }
  stream->extents += missed;
  stream->again = 0;
  *extent = (struct format_extent){.version = FORMAT_VERSION,
                                   .table = file->table,
                                   .flags = FORMAT_LIVE,
                                   .owner = owner,
                                   .first = stream->extents++,
                                   .record_size = 1,
                                   .stored_size = size - sizeof *extent};
  stream->at = (uint8_t *)(extent + 1);
  stream->end = (uint8_t *)extent + size;
  stream->extent = extent;
  return true;
}

void stream_begin(struct stream *stream, uint8_t *at)
{
  stream_publish(stream, at);
  __atomic_store_n(&stream->extent->magic, FORMAT_MAGIC, __ATOMIC_RELEASE);
}
