#include "hpcrun-lite/output/packer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/output/writer.h"

/* Both files, and a window in both forms: mapped, since the program's heap may be locked (its handler may have ended
 * the process inside malloc()). */
struct packing {
  struct stream_file *file;
  struct sys_own from, to;
  uint8_t *window, *packed;
  size_t packed_size;
  uint64_t written;
  int error;
};

static struct pinned_file packed_file;

static bool pack_extent(struct packing *packing, const struct format_extent *head, uint64_t offset)
{
  if (head->table != packing->file->table || !head->count)
    return true;
  if (!sys_read_at(&packing->from, offset + sizeof *head, packing->window, head->count))
    return false;
  size_t size = format_pack(head, packing->window, writer_compressor(), packing->packed, packing->packed_size);
  size_t done = sys_write_at(&packing->to, packing->written, packing->packed, size, &packing->error);
  packing->written += done;
  return size && done == size;
}

/* Where no extent begins, no thread could use the window, or what another one has left of it.  With a limit all windows
 * have one size, otherwise the next extent may begin at any page. */
static bool pack_extents(struct packing *packing)
{
  uint64_t length = stream_length(packing->file), step = packing->file->slots ? STREAM_WINDOW_LIMITED : STREAM_PAGE;
  struct format_extent head;
  for (uint64_t offset = 0; offset < length;) {
    if (!sys_read_at(&packing->from, offset, &head, sizeof head))
      return false;
    uint64_t size = sizeof head + head.stored_size;
    bool sound = head.magic == FORMAT_MAGIC && size <= STREAM_WINDOW_MAX && head.count <= head.stored_size;
    if (sound && !pack_extent(packing, &head, offset))
      return false;
    offset = sound ? offset + size : (offset / step + 1) * step;
  }
  return true;
}

/* Removes the packed file unless something was written to it.  Returns 0 or errno. */
static int pack_files(struct packing *packing)
{
  int error = pinned_open(&packing->file->file.at, &packing->from);
  if (error)
    return error;
  error = pinned_create(&packed_file, &packing->to);
  if (error)
    goto out;
  bool packed = pack_extents(packing);
  error = sys_close_own(&packing->to);
  if (!packed)
    error = packing->error ? packing->error : EIO;
  if (error || !packing->written)
    pinned_remove(&packed_file);
out:
  sys_close_own(&packing->from);
  return error;
}

/* Returns 0 or errno. */
static int pack(struct stream_file *file)
{
  size_t packed_size = format_pack_bound(STREAM_WINDOW_MAX);
  struct packing packing = {
      .file = file, .window = sys_map(STREAM_WINDOW_MAX), .packed = sys_map(packed_size), .packed_size = packed_size};
  int error = packing.window && packing.packed ? pack_files(&packing) : ENOMEM;
  if (packing.window)
    sys_unmap(packing.window, STREAM_WINDOW_MAX);
  if (packing.packed)
    sys_unmap(packing.packed, packed_size);
  if (error)
    return error;
  if (!packing.written)
    return pinned_remove(&file->file.at);
  error = pinned_rename(&packed_file, file->file.at.path, &file->file.at);
  if (error)
    pinned_remove(&packed_file);
  return error;
}

void packer_run(struct stream_file *file)
{
  static char name[PINNED_PATH_BYTES];
  const char *path = file->file.at.path, *suffix = strrchr(path, '.');
  if (!stream_length(file))
    return;
  int length = snprintf(name, sizeof name, "%.*s.packing%s", (int)(suffix - path), path, suffix);
  bool named = length < (int)sizeof name && pinned_name(&packed_file, name);
  int error = named ? pack(file) : ENAMETOOLONG;
  if (error && config.verbosity)
    message_print("cannot pack %s: %s; the file stays as it is", path, message_error(error));
}

void packer_discard(struct stream_file *file)
{
  if (stream_length(file))
    pinned_remove(&file->file.at);
}
