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
  atomic_store(&file->rest_count, 0);
  for (unsigned i = 0; i < STREAM_RESTS; i++)
    if (atomic_load_explicit(&file->rests[i], memory_order_relaxed)) /* the memory of most is never touched */
      atomic_store(&file->rests[i], 0);
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

/* The size of what is mapped for a window: it begins in the first page, and ends with the last one. */
static size_t mapped_size(const struct stream *stream)
{
  return (size_t)((uintptr_t)stream->end - ((uintptr_t)stream->extent & -(uintptr_t)STREAM_PAGE));
}

static void unmap(const struct stream *stream)
{
  size_t size = mapped_size(stream);
  sys_unmap(stream->end - size, size);
  budget_give(size);
}

static void leave_slot(struct stream_file *file, uint64_t offset)
{
  if (file->slots)
    atomic_store(&file->in_use[offset / STREAM_WINDOW_LIMITED], 0);
}

void stream_close(struct stream_file *file, struct stream *stream)
{
  const struct stream left = *stream;
  stream_leave(stream); /* before it is unmapped: a forked child unmaps what it finds here */
  if (!left.extent)
    return;
  unmap(&left);
  leave_slot(file, left.offset);
}

/* ---- what is left of windows ---- */

/* Cuts the window to its content.  Returns what is left of it, as in stream_file.rests; 0: too little.  Another extent
 * may begin there, so that the place must not look like one before the window is cut. */
static uint64_t cut_off(const struct stream *stream)
{
  struct format_extent *extent = stream->extent, *next;
  size_t used = (sizeof *extent + extent->count + FORMAT_UNIT - 1) / FORMAT_UNIT * FORMAT_UNIT;
  next = (struct format_extent *)((uint8_t *)extent + used);
  size_t left = (size_t)(stream->end - (uint8_t *)extent) > used ? (size_t)(stream->end - (uint8_t *)next) : 0;
  if (left < STREAM_REST_MIN)
    return 0;
  __atomic_store_n(&next->magic, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&extent->stored_size, used - sizeof *extent, __ATOMIC_RELEASE);
  uint64_t end = stream->offset + mapped_size(stream);
  return (end - left) / FORMAT_UNIT << 16 | left / FORMAT_UNIT;
}

/* Returns false where too many are kept. */
static bool rest_keep(struct stream_file *file, uint64_t rest)
{
  for (unsigned i = 0; i < STREAM_RESTS; i++) {
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&file->rests[i], &none, rest)) {
      atomic_fetch_add(&file->rest_count, 1);
      return true;
    }
  }
  return false;
}

static uint64_t rest_take(struct stream_file *file)
{
  for (unsigned i = 0; i < STREAM_RESTS && atomic_load(&file->rest_count); i++) {
    uint64_t rest = atomic_load(&file->rests[i]);
    if (rest && atomic_compare_exchange_strong(&file->rests[i], &rest, 0)) {
      atomic_fetch_sub(&file->rest_count, 1);
      return rest;
    }
  }
  return 0;
}

void stream_end(struct stream_file *file, struct stream *stream)
{
  const struct stream ended = *stream;
  stream_leave(stream);
  if (!ended.extent)
    return;
  uint64_t rest = cut_off(&ended);
  unmap(&ended);
  if (!rest || !rest_keep(file, rest))
    leave_slot(file, ended.offset);
}

/* ---- new windows ---- */

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
  uint64_t slot = number % file->slots;
  stream->offset = slot * STREAM_WINDOW_LIMITED;
  return atomic_compare_exchange_strong(&file->in_use[slot], &free, 1);
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
 * an older one is dropped for it, of which nothing must stay: the new one may be cut. */
static void *limited_window(struct stream_file *file, struct stream *stream, bool *lost)
{
  uint64_t number = take_slot(file, stream);
  if (number == UINT64_MAX)
    return NULL;
  struct format_extent *extent = mapped_range(&file->file, stream->offset, STREAM_WINDOW_LIMITED, false);
  if (!extent) {
    leave_slot(file, stream->offset);
    stream->ended = true;
    return NULL;
  }
  *lost = number >= file->slots;
  __atomic_store_n(&extent->magic, 0, __ATOMIC_RELEASE);
  if (*lost)
    __builtin_memset(extent, 0, STREAM_WINDOW_LIMITED);
  return extent;
}

static size_t window_size(const struct stream_file *file, const struct stream *stream)
{
  size_t size = STREAM_WINDOW_FIRST;
  for (uint32_t i = 0; i < stream->extents && size < STREAM_WINDOW_MAX; i++)
    size *= 2;
  return file->slots ? STREAM_WINDOW_LIMITED : size;
}

/* A window that is what an ended thread has left of its own; *size: its bytes.  Returns NULL if there is none. */
static struct format_extent *window_in_rest(struct stream_file *file, struct stream *stream, size_t *size)
{
  uint64_t rest = rest_take(file);
  if (!rest)
    return NULL;
  uint64_t begin = (rest >> 16) * FORMAT_UNIT;
  *size = (rest & 0xffff) * FORMAT_UNIT;
  stream->offset = begin / STREAM_PAGE * STREAM_PAGE;
  size_t mapped = begin - stream->offset + *size;
  bool afforded = budget_take(mapped);
  uint8_t *pages = afforded ? mapped_range(&file->file, stream->offset, mapped, true) : NULL;
  if (pages)
    return (struct format_extent *)(pages + (begin - stream->offset));
  if (afforded)
    budget_give(mapped);
  if (!rest_keep(file, rest))
    leave_slot(file, stream->offset);
  return NULL;
}

/* A window of that size, which has not been one before unless the file is at its limit. */
static struct format_extent *whole_window(struct stream_file *file, struct stream *stream, size_t size, bool *lost)
{
  stream->ended = !budget_take(size);
  if (stream->ended)
    return NULL;
  struct format_extent *extent;
  if (file->slots) {
    extent = limited_window(file, stream, lost);
  } else {
    extent = mapped_part(&file->file, size, &stream->offset);
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
  struct format_extent *extent = window_in_rest(file, stream, &size);
  if (!extent)
    extent = whole_window(file, stream, size, lost);
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
