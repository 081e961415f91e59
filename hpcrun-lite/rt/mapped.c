#include "hpcrun-lite/rt/mapped.h"

#include "common/format.h"
#include "hpcrun-lite/rt/sys.h"

enum { TRIES = 100000 };

enum file_state { FILE_NONE, FILE_MAKING, FILE_MADE, FILE_FAILED };

bool mapped_start(struct mapped_file *file, const char *path)
{
  size_t length = __builtin_strlen(path);
  bool fits = length < sizeof file->path;
  if (fits)
    __builtin_memcpy(file->path, path, length + 1);
  atomic_store(&file->state, fits ? FILE_NONE : FILE_FAILED);
  atomic_store(&file->length, 0);
  return fits;
}

/* Whoever comes first makes the file. */
static int open_file(struct mapped_file *file)
{
  int none = FILE_NONE, fd = -1;
  if (atomic_compare_exchange_strong(&file->state, &none, FILE_MAKING)) {
    fd = file->path[0] ? sys_open_own(file->path, true) : -1;
    atomic_store(&file->state, fd < 0 ? FILE_FAILED : FILE_MADE);
  } else {
    for (int i = 0; i < TRIES && atomic_load(&file->state) == FILE_MAKING; i++)
      sys_yield();
    if (atomic_load(&file->state) == FILE_MADE)
      fd = sys_open_own(file->path, false);
  }
  return fd < 0 ? -1 : sys_move_fd(fd, SYS_HIGH_FD);
}

/* What has been written into a place that could not be mapped is nobody's. */
static void disown(int fd, uint64_t offset, size_t size)
{
  const struct format_chunk head = {.magic = FORMAT_MAGIC,
                                    .version = FORMAT_VERSION,
                                    .table = FORMAT_FREE,
                                    .flags = FORMAT_LIVE,
                                    .stored_size = size - sizeof head};
  sys_write_at(fd, offset, &head, sizeof head);
}

/* at: what is there moves into the file, and is replaced by the part.  A place that was taken and is not used is given
 * back, unless others have taken theirs behind it: then zeros, or the end of the file, stand there. */
static void *take_part(struct mapped_file *file, void *at, size_t size)
{
  int fd = open_file(file);
  if (fd < 0)
    return NULL;
  uint64_t offset = atomic_fetch_add(&file->length, size), end = offset + size;
  bool reserved = sys_reserve(fd, offset, size), written = reserved && at && sys_write_at(fd, offset, at, size);
  void *part = reserved && (written || !at) ? sys_map_file(at, fd, offset, size) : NULL;
  if (!part && reserved && at)
    disown(fd, offset, size);
  else if (!part)
    atomic_compare_exchange_strong(&file->length, &end, offset);
  sys_close(fd);
  return part;
}

void *mapped_part(struct mapped_file *file, size_t size_bytes)
{
  return take_part(file, NULL, size_bytes);
}

bool mapped_adopt(struct mapped_file *file, void *memory, size_t size_bytes)
{
  return take_part(file, memory, size_bytes);
}

bool mapped_made(const struct mapped_file *file)
{
  return atomic_load(&file->state) == FILE_MADE;
}

void mapped_remove(struct mapped_file *file)
{
  if (atomic_exchange(&file->state, FILE_FAILED) == FILE_MADE)
    sys_unlink(file->path);
}

void mapped_renew(struct mapped_file *file)
{
  atomic_store(&file->state, FILE_NONE);
  atomic_store(&file->length, 0);
}
