#include "hpcrun-lite/packer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/control.h"
#include "hpcrun-lite/rt/log.h"
#include "hpcrun-lite/rt/sys.h"
#include "hpcrun-lite/writer.h"

/* Both files, and a window in both forms; mapped, since this may run in a program whose heap is locked. */
struct packing {
  int from, to;
  uint8_t *window, *packed;
  size_t packed_size;
  unsigned chunks; /* packed */
};

static char packed_path[4096 + 320];

static bool read_at(const struct packing *packing, uint64_t offset, void *bytes, size_t size)
{
  ssize_t got;
  do
    got = pread(packing->from, bytes, size, (off_t)offset);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)size;
}

static bool write_all(int fd, const uint8_t *bytes, size_t size)
{
  while (size) {
    ssize_t got = write(fd, bytes, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    bytes += got;
    size -= (size_t)got;
  }
  return true;
}

static bool pack_chunk(struct packing *packing, const struct format_chunk *head, uint64_t offset)
{
  if (head->table != FORMAT_GRAPH_LOG || !head->count)
    return true;
  if (!read_at(packing, offset + sizeof *head, packing->window, head->count))
    return false;
  size_t size = format_pack(head, packing->window, writer_compressor(), packing->packed, packing->packed_size);
  packing->chunks++;
  return size && write_all(packing->to, packing->packed, size);
}

/* Where no chunk begins is a place that nobody could use: the next may begin at any page. */
static bool pack_chunks(struct packing *packing)
{
  uint64_t length = log_length();
  struct format_chunk head;
  for (uint64_t offset = 0; offset < length;) {
    if (!read_at(packing, offset, &head, sizeof head))
      return false;
    uint64_t size = sizeof head + head.stored_size;
    bool sound = head.magic == FORMAT_MAGIC && size <= LOG_WINDOW_MAX && head.count <= head.stored_size;
    if (sound && !pack_chunk(packing, &head, offset))
      return false;
    offset += sound ? size : LOG_PAGE;
  }
  return true;
}

static bool pack(void)
{
  size_t packed_size = format_pack_bound(LOG_WINDOW_MAX);
  struct packing packing = {
      .window = sys_map(LOG_WINDOW_MAX), .packed = sys_map(packed_size), .packed_size = packed_size};
  packing.from = open(log_path(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  packing.to = packing.from < 0 ? -1 : open(packed_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool done = packing.window && packing.packed && packing.to >= 0 && pack_chunks(&packing);
  if (packing.to >= 0)
    done &= close(packing.to) == 0;
  if (packing.from >= 0)
    close(packing.from);
  if (packing.window)
    sys_unmap(packing.window, LOG_WINDOW_MAX);
  if (packing.packed)
    sys_unmap(packing.packed, packed_size);
  if (done && packing.chunks)
    return rename(packed_path, log_path()) == 0;
  int error = errno;
  if (packing.to >= 0)
    unlink(packed_path);
  errno = error;
  return done && unlink(log_path()) == 0;
}

void packer_run(void)
{
  if (!log_length())
    return;
  int stem = (int)(strlen(log_path()) - strlen(FORMAT_GRAPH_SUFFIX));
  snprintf(packed_path, sizeof packed_path, "%.*s.packing" FORMAT_GRAPH_SUFFIX, stem, log_path());
  if (!pack() && control.config.log)
    control_say("cannot pack %s: %s; it stays as it is", log_path(), strerror(errno));
}

void packer_discard(void)
{
  log_stop();
  if (log_length())
    unlink(log_path());
}
