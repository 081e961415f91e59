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

/* The place that was taken is not used: given back, or, if others have taken theirs behind it, marked as free. */
static void give_back(struct mapped_file *file, int fd, uint64_t offset, size_t size)
{
  uint64_t end = offset + size;
  struct format_chunk head = {.magic = FORMAT_MAGIC,
                              .version = FORMAT_VERSION,
                              .table = FORMAT_FREE,
                              .flags = FORMAT_LIVE,
                              .stored_size = size - sizeof head};
  if (!atomic_compare_exchange_strong(&file->length, &end, offset))
    sys_write_at(fd, offset, &head, sizeof head);
}

void *mapped_part(struct mapped_file *file, size_t size_bytes, uint64_t *offset)
{
  int fd = open_file(file);
  if (fd < 0)
    return NULL;
  *offset = atomic_fetch_add(&file->length, size_bytes);
  void *part = sys_reserve(fd, *offset, size_bytes) ? sys_map_file(fd, *offset, size_bytes) : NULL;
  if (!part)
    give_back(file, fd, *offset, size_bytes);
  sys_close(fd);
  return part;
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

bool mapped_renew(struct mapped_file *file)
{
  int fd = file->path[0] && atomic_load(&file->length) ? sys_open_own(file->path, true) : -1;
  if (fd < 0)
    return false;
  sys_close(fd);
  atomic_store(&file->state, FILE_MADE);
  return true;
}

bool mapped_restore(struct mapped_file *file, void *part, uint64_t offset, size_t size_bytes)
{
  int fd = open_file(file);
  if (fd < 0)
    return false;
  bool done = sys_reserve(fd, offset, size_bytes) && sys_write_at(fd, offset, part, size_bytes) &&
              sys_map_file_over(part, fd, offset, size_bytes);
  sys_close(fd);
  return done;
}
