#include "hpcprof-lite/grains/scratch_file.h"

#include "common/xalloc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *directory(void)
{
  const char *given = getenv("TMPDIR");
  return given && *given ? given : "/tmp";
}

static bool fail(struct scratch_file *file, const char *what, int error)
{
  if (!file->failed)
    problems_add(file->problems, "cannot %s a temporary file in %s (TMPDIR): %s", what, directory(), strerror(error));
  file->failed = true;
  return false;
}

/* Some file systems have no O_TMPFILE. */
static int open_unnamed(void)
{
  int fd = open(directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return fd;
  char *name = xasprintf("%s/hpcprof-lite-XXXXXX", directory());
  fd = mkostemp(name, O_CLOEXEC);
  if (fd >= 0)
    unlink(name);
  free(name);
  return fd;
}

void scratch_file_init(struct scratch_file *file, struct problems *problems)
{
  *file = (struct scratch_file){.fd = -1, .problems = problems};
}

void scratch_file_release(struct scratch_file *file)
{
  if (file->fd >= 0)
    close(file->fd);
  *file = (struct scratch_file){.fd = -1};
}

uint64_t scratch_file_append(struct scratch_file *file, const void *bytes, size_t size)
{
  assert(size);
  const uint8_t *next = bytes;
  uint64_t offset = file->size;
  if (file->failed)
    return UINT64_MAX;
  if (file->fd < 0 && (file->fd = open_unnamed()) < 0) {
    fail(file, "make", errno);
    return UINT64_MAX;
  }
  while (size) {
    ssize_t done = pwrite(file->fd, next, size, (off_t)file->size);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      fail(file, "write to", done ? errno : ENOSPC);
      return UINT64_MAX;
    }
    next += done;
    size -= (size_t)done;
    file->size += (uint64_t)done;
  }
  return offset;
}

bool scratch_file_read(struct scratch_file *file, void *bytes, size_t size, uint64_t offset)
{
  assert(size && size <= file->size && offset <= file->size - size);
  uint8_t *next = bytes;
  if (file->failed || file->fd < 0)
    return false;
  while (size) {
    ssize_t done = pread(file->fd, next, size, (off_t)offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return fail(file, "read", done ? errno : EIO);
    next += done;
    size -= (size_t)done;
    offset += (uint64_t)done;
  }
  return true;
}

bool scratch_file_damaged(struct scratch_file *file, uint64_t offset)
{
  if (!file->failed)
    problems_add(file->problems,
                 "cannot use a temporary file in %s (TMPDIR): its bytes at offset %" PRIu64
                 " are not those that were written; set TMPDIR to a directory on another disk",
                 directory(), offset);
  file->failed = true;
  return false;
}
