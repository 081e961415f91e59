#include "common/symbols/debug_store.h"

#include "common/format.h"
#include "common/order.h"
#include "common/safe_file.h"
#include "common/xalloc.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define FILE_BYTES_MAX ((off_t)64 << 20) /* of a file that is read                                                 */
#define KEPT_BYTES_MAX (16u << 20)       /* of all entries in a file that is written, before they are packed       */

/* A payload begins with the size of its key, as 8 bytes; then follow the key and the bytes. */
enum { HEAD = sizeof(uint64_t) };

struct entry {
  uint8_t *payload;
  size_t key_size, size; /* size: of the payload */
  bool used, added;      /* by this report */
  bool chosen;           /* to be written  */
};

/* The entries are guarded by the lock. */
struct debug_store {
  pthread_mutex_t lock;
  int directory;
  bool writable; /* the name of the file is free, or an earlier one or an empty file has it */
  struct entry *entries;
  size_t count, room;
};

/* ---- reading ---- */

/* Reads a whole file.  Returns NULL if it is too large or cannot be read. */
static uint8_t *read_file(int fd, size_t *size)
{
  struct stat status;
  if (fstat(fd, &status) || status.st_size > FILE_BYTES_MAX)
    return NULL;
  *size = (size_t)status.st_size;
  uint8_t *bytes = xmalloc(*size);
  if (pread(fd, bytes, *size, 0) == (ssize_t)*size)
    return bytes;
  free(bytes);
  return NULL;
}

/* Takes over the payload of an extent. */
static void take_entry(struct debug_store *store, struct format_view *view)
{
  uint64_t key_size = 0;
  size_t size = (size_t)view->head.count * view->head.record_size;
  bool whole = view->head.table == FORMAT_DEBUG_DATA && size >= HEAD;
  if (whole)
    memcpy(&key_size, view->data, sizeof key_size);
  if (!whole || key_size > size - HEAD) {
    free(view->data);
    return;
  }
  *XAPPEND(store->entries, store->count, store->room) =
      (struct entry){.payload = view->data, .key_size = key_size, .size = size};
}

static void read_entries(struct debug_store *store, const uint8_t *file, size_t size)
{
  static const uint64_t magic = FORMAT_MAGIC;
  struct format_view view;
  size_t offset = 0, total = 0;
  char message[256];
  store->writable = !size || (size >= sizeof magic && !memcmp(file, &magic, sizeof magic));
  while (offset < size && total <= KEPT_BYTES_MAX)
    if (format_next(file, size, &offset, &view, message, sizeof message) == FORMAT_OK) {
      total += (size_t)view.head.count * view.head.record_size;
      take_entry(store, &view);
    }
}

/* Opens the file if it is this user's, or that of the directory's owner, who has written the measurements, too. */
static int open_file(struct debug_store *store)
{
  struct stat status;
  int fd = safe_file_open(store->directory, FORMAT_DEBUG_DATA_NAME, O_RDONLY, geteuid());
  store->writable = fd < 0 && errno == ENOENT;
  if (fd < 0 && errno == EPERM && !fstat(store->directory, &status))
    fd = safe_file_open(store->directory, FORMAT_DEBUG_DATA_NAME, O_RDONLY, status.st_uid);
  return fd;
}

struct debug_store *debug_store_open(const char *directory)
{
  struct debug_store *store = xcalloc(1, sizeof *store);
  size_t size;
  pthread_mutex_init(&store->lock, NULL);
  store->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int fd = store->directory < 0 ? -1 : open_file(store);
  if (fd < 0)
    return store;
  uint8_t *bytes = read_file(fd, &size);
  if (bytes)
    read_entries(store, bytes, size);
  free(bytes);
  close(fd);
  return store;
}

/* ---- entries ---- */

bool debug_store_find(struct debug_store *store, const void *key, size_t key_size, uint8_t **bytes, size_t *size)
{
  assert(key_size % 8 == 0);
  bool found = false;
  pthread_mutex_lock(&store->lock);
  for (size_t i = 0; i < store->count && !found; i++) {
    struct entry *entry = &store->entries[i];
    if (entry->key_size != key_size || memcmp(entry->payload + HEAD, key, key_size) != 0)
      continue;
    found = entry->used = true;
    *size = entry->size - HEAD - key_size;
    *bytes = xmalloc(*size);
    memcpy(*bytes, entry->payload + HEAD + key_size, *size);
  }
  pthread_mutex_unlock(&store->lock);
  return found;
}

void debug_store_add(struct debug_store *store, const void *key, size_t key_size, const void *bytes, size_t size)
{
  assert(key_size % 8 == 0);
  struct entry entry = {.key_size = key_size, .size = HEAD + key_size + size, .used = true, .added = true};
  uint64_t stored = key_size;
  if (entry.size > KEPT_BYTES_MAX)
    return;
  entry.payload = xmalloc(entry.size);
  memcpy(entry.payload, &stored, sizeof stored);
  memcpy(entry.payload + HEAD, key, key_size);
  if (size)
    memcpy(entry.payload + HEAD + key_size, bytes, size);
  pthread_mutex_lock(&store->lock);
  *XAPPEND(store->entries, store->count, store->room) = entry;
  pthread_mutex_unlock(&store->lock);
}

/* ---- writing ---- */

/* Whether hpcrun-lite has made the directory, for this user: then its launcher knows the file, and may remove it. */
static bool may_write(const struct debug_store *store)
{
  struct stat directory, marker;
  return store->writable && !fstat(store->directory, &directory) && directory.st_uid == geteuid() &&
         !fstatat(store->directory, FORMAT_LAUNCH_MARKER, &marker, AT_SYMLINK_NOFOLLOW) && S_ISREG(marker.st_mode);
}

/* Appends an entry.  Returns false on failure. */
static bool write_entry(int fd, const struct entry *entry, ZSTD_CCtx *zstd)
{
  const struct format_extent head = {.table = FORMAT_DEBUG_DATA, .count = (uint32_t)entry->size, .record_size = 1};
  size_t room = format_pack_bound(entry->size);
  uint8_t *packed = xmalloc(room);
  size_t size = format_pack(&head, entry->payload, zstd, packed, room);
  bool written = size && write(fd, packed, size) == (ssize_t)size;
  free(packed);
  return written;
}

/* Chooses the entries of this report, and earlier ones as long as there is room.  Returns whether one is new. */
static bool choose_entries(struct debug_store *store)
{
  size_t total = 0;
  bool any_new = false;
  for (int used = 1; used >= 0; used--)
    for (size_t i = 0; i < store->count; i++) {
      struct entry *entry = &store->entries[i];
      if (entry->used != used || entry->size > KEPT_BYTES_MAX - total)
        continue;
      total += entry->size;
      entry->chosen = true;
      any_new |= entry->added;
    }
  return any_new;
}

static bool write_entries(const struct debug_store *store, int fd)
{
  ZSTD_CCtx *zstd = ZSTD_createCCtx();
  bool fine = zstd;
  for (size_t i = 0; i < store->count && fine; i++)
    if (store->entries[i].chosen)
      fine = write_entry(fd, &store->entries[i], zstd);
  ZSTD_freeCCtx(zstd);
  return fine;
}

/* Removes the file of a report that was ended while it wrote: one that is older than the new one by more than a report
 * takes to write. */
static void remove_left(int directory, const char *name, const struct stat *new)
{
  enum { WRITING_S = 3600 };
  static const char whole[] = FORMAT_DEBUG_DATA_NAME "-";
  static const uint64_t magic = FORMAT_MAGIC;
  uint64_t found = 0;
  struct stat status;
  if (strncmp(name, whole, sizeof whole - 1) != 0 || strlen(name) != sizeof whole - 1 + SAFE_FILE_RANDOM)
    return;
  int fd = safe_file_open(directory, name, O_RDONLY, geteuid());
  if (fd < 0)
    return;
  bool ours = !fstat(fd, &status) && (!status.st_size || (pread(fd, &found, sizeof found, 0) > 0 && found == magic));
  if (ours && status.st_mtim.tv_sec < new->st_mtim.tv_sec - WRITING_S)
    safe_file_remove(directory, name, fd);
  close(fd);
}

/* fd: the new file. */
static void remove_all_left(int directory, int fd)
{
  struct stat status;
  int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = again < 0 ? NULL : fdopendir(again);
  if (!list && again >= 0)
    close(again);
  if (!list)
    return;
  if (!fstat(fd, &status))
    for (struct dirent *entry; (entry = readdir(list));)
      remove_left(directory, entry->d_name, &status);
  closedir(list);
}

/* Writes the file under another name, and renames it: it is complete, or not there, also after a loss of power. */
static void write_file(const struct debug_store *store)
{
  char name[] = FORMAT_DEBUG_DATA_NAME "-XXXXXX";
  int fd = safe_file_make(store->directory, name, 0);
  if (fd < 0)
    return;
  remove_all_left(store->directory, fd);
  bool fine = write_entries(store, fd) && !fdatasync(fd);
  fine = !close(fd) && fine;
  if (!fine || renameat(store->directory, name, store->directory, FORMAT_DEBUG_DATA_NAME))
    unlinkat(store->directory, name, 0);
}

void debug_store_close(struct debug_store *store)
{
  if (choose_entries(store) && may_write(store))
    write_file(store);
  if (store->directory >= 0)
    close(store->directory);
  for (size_t i = 0; i < store->count; i++)
    free(store->entries[i].payload);
  free(store->entries);
  pthread_mutex_destroy(&store->lock);
  free(store);
}
