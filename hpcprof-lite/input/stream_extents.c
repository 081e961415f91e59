#include "hpcprof-lite/input/stream_extents.h"

#include "common/format.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/hash_map.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* KEPT_OPEN: a file with a larger descriptor is opened for each extent, so that any number can be in use. */
enum { FIRST_WINDOW_BYTES = 128, WINDOW_BYTES = 64 << 10, KEPT_OPEN = 32 };

static int open_file(const char *path)
{
  return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Opens the file again.  Returns -1 if it is another one by now. */
static int open_again(const struct stream_extents *file)
{
  struct stat stat;
  int fd = open_file(file->path);
  if (fd < 0 || (!fstat(fd, &stat) && stat.st_dev == file->device && stat.st_ino == file->inode))
    return fd;
  close(fd);
  return -1;
}

static bool read_at(int fd, void *into, size_t size, size_t offset)
{
  assert(into);
  uint8_t *next = into;
  while (size) {
    ssize_t got = pread(fd, next, size, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    next += got;
    offset += (size_t)got;
    size -= (size_t)got;
  }
  return true;
}

/* The next offset at which an extent may begin.  It is mostly near: the first window is small, so that a file with many
 * such places is not read over and over. */
static size_t next_magic(const struct stream_extents *file, size_t from)
{
  assert(file->fd >= 0);
  static const uint64_t magic = FORMAT_MAGIC;
  uint8_t window[WINDOW_BYTES];
  for (size_t most = FIRST_WINDOW_BYTES; from + sizeof magic <= file->size; most = WINDOW_BYTES) {
    size_t take = MIN(file->size - from, most);
    if (!read_at(file->fd, window, take, from))
      break;
    const uint8_t *found = memmem(window, take, &magic, sizeof magic);
    if (found)
      return from + (size_t)(found - window);
    from += take - sizeof magic + 1;
  }
  return file->size;
}

static const char *header_fault(const struct format_extent *head, size_t rest)
{
  if (head->magic != FORMAT_MAGIC)
    return "no extent begins here";
  if (head->version != FORMAT_VERSION)
    return "written by another version of hpcrun-lite";
  if (head->stored_size > rest)
    return "cut off: the file ends before the extent does";
  if (head->table >= FORMAT_TABLES)
    return "unknown kind of extent";
  return NULL;
}

ORDER(by_owner, struct stream_extent,
      COMPARE(x->owner, y->owner) ?: COMPARE(x->first, y->first) ?: COMPARE(x->offset, y->offset))

/* Lists the extents, at most that many, by their headers, sorted by thread and number. */
static void find_extents(struct stream_extents *file, unsigned table, size_t most, struct problems *problems)
{
  assert(file->fd >= 0 && !file->extents);
  size_t offset = 0;
  while (offset < file->size && file->count < most) {
    struct format_extent head = {0};
    size_t rest = file->size - offset;
    bool whole = rest >= sizeof head && read_at(file->fd, &head, sizeof head, offset);
    const char *fault = "the file ends within an extent's header";
    if (whole)
      fault = header_fault(&head, rest - sizeof head);
    if (whole && !head.magic) { /* space for an extent that was never begun */
      offset = next_magic(file, offset + 1);
      continue;
    }
    if (fault) {
      problems_add(problems, "%s: cannot read the extent at offset %zu: %s: left out", file->path, offset, fault);
      offset = next_magic(file, offset + 1);
      continue;
    }
    file->digest = hash_map_key_bytes(file->digest, &head, sizeof head);
    if (head.table == table) {
      *XAPPEND(file->extents, file->count, file->room) =
          (struct stream_extent){.owner = head.owner, .first = head.first, .bytes = head.count, .offset = offset};
    }
    offset += sizeof head + head.stored_size;
  }
  if (file->count)
    qsort(file->extents, file->count, sizeof *file->extents, by_owner);
}

/* Reads an extent into *packed, which the caller frees.  Returns NULL, or the fault. */
static const char *read_extent(int fd, const struct stream_extent *extent, size_t most, uint8_t **packed,
                               size_t *stored)
{
  struct format_extent head;
  if (!read_at(fd, &head, sizeof head, extent->offset) || head.stored_size > STREAM_EXTENTS_MAX * 2 ||
      head.count > STREAM_EXTENTS_MAX || head.record_size != 1)
    return "too large, or no longer readable";
  if (head.count > most)
    return "longer than hpcrun-lite makes it";
  *stored = sizeof head + head.stored_size;
  *packed = xmalloc(*stored);
  return read_at(fd, *packed, *stored, extent->offset) ? NULL : "no longer readable";
}

size_t stream_extents_find(const struct stream_extents *file, uint64_t owner, uint32_t first)
{
  const struct stream_extent *extents = file->extents;
  return FIRST_WHERE(i, file->count,
                     extents[i].owner > owner || (extents[i].owner == owner && extents[i].first >= first));
}

const char *stream_extents_decode(const struct stream_extents *file, const struct stream_extent *extent, size_t most,
                                  uint8_t **bytes, size_t *size, char message[256])
{
  assert(extent >= file->extents && extent < file->extents + file->count);
  struct format_view view;
  size_t next = 0, stored = 0;
  uint8_t *packed = NULL;
  int fd = file->fd >= 0 ? file->fd : open_again(file);
  *bytes = NULL;
  *size = 0;
  const char *fault = read_extent(fd, extent, most, &packed, &stored);
  if (fd >= 0 && fd != file->fd)
    close(fd);
  if (fault) {
    free(packed);
    return fault;
  }
  enum format_error error = format_next(packed, stored, &next, &view, message, 256);
  free(packed);
  if (error == FORMAT_NOMEM)
    xalloc_die();
  if (error) {
    const char *reason = strstr(message, ": ");
    return reason ? reason + 2 : message;
  }
  *bytes = view.data;
  *size = view.head.count;
  return NULL;
}

static int open_most(const char *measurement, const char *suffix, unsigned table, size_t most,
                     struct problems *problems, struct stream_extents *file)
{
  struct stat stat;
  *file = (struct stream_extents){.fd = -1};
  file->path = xasprintf("%.*s%s", (int)read_stem(measurement), measurement, suffix);
  file->fd = open_file(file->path);
  if (file->fd < 0 && errno == ENOENT) {
    free(file->path);
    file->path = NULL;
    return 0;
  }
  if (file->fd < 0 || fstat(file->fd, &stat)) {
    problems_add(problems, "cannot read %s: %s", file->path, strerror(errno));
    return ERR_INPUT;
  }
  if (!S_ISREG(stat.st_mode)) {
    problems_add(problems, "cannot read %s: not a regular file", file->path);
    return ERR_INPUT;
  }
  file->size = (size_t)stat.st_size;
  file->device = stat.st_dev;
  file->inode = stat.st_ino;
  find_extents(file, table, most, problems);
  if (file->fd >= KEPT_OPEN) {
    close(file->fd);
    file->fd = -1;
  }
  return 0;
}

int stream_extents_open(const char *measurement, const char *suffix, unsigned table, struct problems *problems,
                        struct stream_extents *file)
{
  return open_most(measurement, suffix, table, SIZE_MAX, problems, file);
}

int stream_extents_open_first(const char *measurement, const char *suffix, unsigned table, struct problems *problems,
                              struct stream_extents *file)
{
  return open_most(measurement, suffix, table, 1, problems, file);
}

void stream_extents_release(struct stream_extents *file)
{
  if (file->fd >= 0)
    close(file->fd);
  free(file->path);
  free(file->extents);
  *file = (struct stream_extents){.fd = -1};
}
