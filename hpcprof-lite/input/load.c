#include "hpcprof-lite/input/load.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/profile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 << 10 };

/* Reads the part of the file that belongs at [from, end) of the bytes, where the file itself begins at `base`.  False
 * if the file ends before (errno is 0) or cannot be read (errno says why).  Zeros are not copied, because the memory is
 * zero already: so holes take no memory even if the file system does not report them. */
static bool load_range(struct load *load, int fd, size_t base, size_t from, size_t end)
{
  assert(from <= end && end <= load->room && base <= from);
  uint8_t block[BLOCK_BYTES];
  for (load->size = from; load->size < end;) {
    size_t want = MIN(end - load->size, sizeof block);
    ssize_t got = pread(fd, block, want, (off_t)(load->size - base));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) {
      errno = got ? errno : 0;
      return false;
    }
    if (block[0] || memcmp(block, block + 1, (size_t)got - 1))
      memcpy(load->bytes + load->size, block, (size_t)got);
    load->size += (size_t)got;
  }
  return true;
}

/* Reads the file except for its holes. */
static void load_all(struct load *load, int fd, const char *path, struct problems *problems)
{
  assert(load->size <= load->room);
  size_t base = load->size;
  while (load->size < load->room) {
    off_t data = lseek(fd, (off_t)(load->size - base), SEEK_DATA);
    bool hole = data < 0 && errno == ENXIO;
    off_t end = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
    size_t from = load->size, to = load->room;
    if (data >= 0)
      from = base + (size_t)data;
    if (end >= 0)
      to = base + (size_t)end;
    if (hole || from > load->room)
      from = to = load->room;
    if (load_range(load, fd, base, from, MIN(to, load->room)))
      continue;
    if (errno)
      problems_add(problems, "cannot read %s after %zu bytes: %s", path, load->size - base, strerror(errno));
    return;
  }
}

int load_file(struct load *load, const char *path, struct problems *problems)
{
  assert(load->size <= load->room);
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat stat;
  int status = ERR_INPUT;
  if (fd < 0 || fstat(fd, &stat)) {
    problems_add(problems, "cannot read %s: %s", path, strerror(errno));
    goto out;
  }
  if (!S_ISREG(stat.st_mode)) {
    problems_add(problems, "cannot read %s: not a regular file", path);
    goto out;
  }
  size_t room = load->size + (size_t)stat.st_size;
  uint8_t *bytes = calloc(room ? room : 1, 1); /* does not touch them, so that holes take no memory */
  if (!bytes) {                                /* a sparse file may have any size */
    problems_add(problems, "cannot read %s: not enough memory for its %zu bytes", path, (size_t)stat.st_size);
    goto out;
  }
  status = 0;
  load->room = room;
  if (load->bytes)
    memcpy(bytes, load->bytes, load->size);
  free(load->bytes);
  load->bytes = bytes;
  load_all(load, fd, path, problems);
out:
  if (fd >= 0)
    close(fd);
  return status;
}

void load_release(struct load *load)
{
  free(load->bytes);
  *load = (struct load){0};
}
