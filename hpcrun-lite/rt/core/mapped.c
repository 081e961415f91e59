#include "hpcrun-lite/rt/core/mapped.h"

#include "common/format.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/core/touch.h"

enum { TRIES = 100000, PAGE = 4096 };

enum file_state { FILE_NONE, FILE_MAKING, FILE_MADE, FILE_FAILED };

bool mapped_start(struct mapped_file *file, const char *path)
{
  bool fits = pinned_name(&file->at, path);
  atomic_store(&file->state, fits ? FILE_NONE : FILE_FAILED);
  atomic_store(&file->length, 0);
  return fits;
}

/* Marks a part of the file as unused, so that a reader skips it. */
static bool disown(const struct sys_own *opened, uint64_t offset, size_t size)
{
  const struct format_extent head = {.magic = FORMAT_MAGIC,
                                     .version = FORMAT_VERSION,
                                     .table = FORMAT_FREE,
                                     .flags = FORMAT_LIVE,
                                     .stored_size = size - sizeof head};
  int error;
  return sys_write_at(opened, offset, &head, sizeof head, &error) == sizeof head;
}

/* Makes the file.  One that cannot even hold its first header, on a full disk, is removed; the next part tries again.
 */
static bool make_file(struct mapped_file *file, struct sys_own *opened)
{
  if (!file->at.path[0] || pinned_create(&file->at, opened) != 0) {
    atomic_store(&file->state, FILE_FAILED);
    return false;
  }
  bool begun = sys_reserve(opened, 0, PAGE) && disown(opened, 0, PAGE);
  if (!begun && sys_is_own(opened)) {
    sys_close_own(opened);
    pinned_remove(&file->at);
    atomic_store(&file->state, FILE_NONE);
    return false;
  }
  atomic_store(&file->state, FILE_MADE);
  return true;
}

/* The first thread makes the file; others wait for it, for a bounded time, and open it. */
static bool open_file(struct mapped_file *file, struct sys_own *opened)
{
  int none = FILE_NONE;
  if (atomic_compare_exchange_strong(&file->state, &none, FILE_MAKING))
    return make_file(file, opened);
  for (int i = 0; i < TRIES && atomic_load(&file->state) == FILE_MAKING; i++)
    sys_yield();
  return atomic_load(&file->state) == FILE_MADE && pinned_open(&file->at, opened) == 0;
}

/* Reserves, unless that is done, and maps one part; with `at`, writes what is there to it first and maps over it.
 * *written says whether the file has contents at that offset, mapped or not. */
static void *map_part(const struct sys_own *opened, void *at, uint64_t offset, size_t size, bool reserved,
                      bool *written)
{
  int error;
  if (!reserved && !sys_reserve(opened, offset, size))
    return NULL;
  *written = at != NULL;
  bool filled = !at || sys_write_at(opened, offset, at, size, &error) == size;
  void *part = filled ? sys_map_file(at, opened, offset, size) : NULL;
  if (!part && at)
    disown(opened, offset, size);
  return part;
}

/* The same in the file that was opened; opens it again where the program has reused the descriptor. */
static void *map_in_file(struct mapped_file *file, struct sys_own *opened, void *at, uint64_t offset, size_t size,
                         bool reserved, bool *written)
{
  void *part = NULL;
  bool again = true;
  for (int i = 0; i < SYS_TRIES && again; i++) {
    part = map_part(opened, at, offset, size, reserved, written);
    again = !part && !sys_is_own(opened) && open_file(file, opened);
  }
  sys_close_own(opened);
  if (part)
    touch_pages(part, size);
  return part;
}

/* Takes a part of the file; at: see map_part().  On failure the part's offset is given back, unless another thread has
 * taken the bytes behind it: then a reader finds zeros there, or the end of the file. */
static void *take_part(struct mapped_file *file, void *at, size_t size, uint64_t *offset)
{
  struct sys_own opened;
  bool written = false;
  if (!open_file(file, &opened))
    return NULL;
  *offset = atomic_fetch_add(&file->length, size);
  uint64_t end = *offset + size;
  void *part = map_in_file(file, &opened, at, *offset, size, false, &written);
  if (!part && !written)
    atomic_compare_exchange_strong(&file->length, &end, *offset);
  return part;
}

void *mapped_part(struct mapped_file *file, size_t size_bytes, uint64_t *offset)
{
  return take_part(file, NULL, size_bytes, offset);
}

void *mapped_range(struct mapped_file *file, uint64_t offset, size_t size_bytes, bool reserved)
{
  struct sys_own opened;
  bool written;
  if (!open_file(file, &opened))
    return NULL;
  void *part = map_in_file(file, &opened, NULL, offset, size_bytes, reserved, &written);
  uint64_t length = atomic_load(&file->length), end = offset + size_bytes;
  while (part && length < end && !atomic_compare_exchange_weak(&file->length, &length, end))
    ;
  return part;
}

bool mapped_adopt(struct mapped_file *file, void *memory, size_t size_bytes)
{
  uint64_t offset;
  return take_part(file, memory, size_bytes, &offset);
}

bool mapped_made(const struct mapped_file *file)
{
  return atomic_load(&file->state) == FILE_MADE;
}

void mapped_remove(struct mapped_file *file)
{
  if (atomic_exchange(&file->state, FILE_FAILED) == FILE_MADE)
    pinned_remove(&file->at);
}

void mapped_renew(struct mapped_file *file)
{
  atomic_store(&file->state, FILE_NONE);
  atomic_store(&file->length, 0);
}
