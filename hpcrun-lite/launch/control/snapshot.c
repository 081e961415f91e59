#define _GNU_SOURCE
#include "hpcrun-lite/launch/control/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/format.h"
#include "common/kept_file.h"
#include "common/safe_file.h"
#include "hpcrun-lite/launch/safety/known_file.h"

/* A process's tables move from .live to .part when a thread ends, and from both to .hpcrun at the end of the process.
 * Files are copied in the order of these moves, so that nothing is missed, and what was copied twice is the same
 * thread, which the reader takes once.  An extent's header is copied before its payload, and counts of records only
 * grow: so every counted record is there. */
static const char *const passes[] = {KEPT_FILE_PREFIX,    FORMAT_PERF_MAP_SUFFIX, FORMAT_GRAPH_SUFFIX,
                                     FORMAT_TRACE_SUFFIX, FORMAT_FLUSH_SUFFIX,    FORMAT_LIVE_SUFFIX,
                                     FORMAT_PART_SUFFIX,  FORMAT_SUFFIX};
static const char *const of_running[] = {FORMAT_FLUSH_SUFFIX, FORMAT_LIVE_SUFFIX, FORMAT_PART_SUFFIX};
enum { BLOCK_BYTES = 64 << 10, PASSES = sizeof passes / sizeof *passes, NUMBER_MAX = 100000 };

static bool is_zero(const char *block, size_t size)
{
  return !block[0] && memcmp(block, block + 1, size - 1) == 0;
}

/* Copies the bytes; holes and zeros stay holes.  Returns 0 or errno. */
static int copy_bytes(int from, int to)
{
  static char block[BLOCK_BYTES];
  off_t at = 0;
  for (;;) {
    off_t data = lseek(from, at, SEEK_DATA); /* past a hole, where the file system knows them */
    bool ended = data < 0 && errno == ENXIO;
    at = data > at ? data : at;
    ssize_t got = ended ? 0 : pread(from, block, sizeof block, at);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return errno;
    if (got == 0) {
      off_t size = lseek(from, 0, SEEK_END);
      return ftruncate(to, size > at ? size : at) == 0 ? 0 : errno;
    }
    errno = ENOSPC; /* where less was written */
    if (!is_zero(block, (size_t)got) && pwrite(to, block, (size_t)got, at) != got)
      return errno;
    at += got;
  }
}

/* Copies a file of the same name, in the place of an earlier copy.  One that has vanished meanwhile is left out.
 * Returns EPERM where a process has not made it. */
static int copy_file(int directory, int copy, const char *name)
{
  struct stat status;
  int from = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (from < 0 && errno == ENOENT)
    return 0;
  if (from < 0)
    return errno == ELOOP ? EPERM : errno;
  if (fstat(from, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1) { /* 0: it has just vanished */
    close(from);
    return EPERM;
  }
  unlinkat(copy, name, 0);
  int to = openat(copy, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  int error = to < 0 ? errno : copy_bytes(from, to);
  close(from);
  if (to >= 0 && close(to) != 0 && !error)
    error = errno;
  return error;
}

/* The process of that file has ended: its whole measurement replaces the copies of what it had while it ran. */
static void drop_running(int copy, const char *name)
{
  char other[NAME_MAX + 1];
  int stem = (int)(strlen(name) - strlen(FORMAT_SUFFIX));
  for (size_t i = 0; i < sizeof of_running / sizeof *of_running; i++) {
    snprintf(other, sizeof other, "%.*s%s", stem, name, of_running[i]);
    unlinkat(copy, other, 0);
  }
}

/* Whether a file of that name is copied in that pass. */
static bool is_of_pass(const char *name, const char *pass)
{
  if (strcmp(pass, KEPT_FILE_PREFIX) == 0)
    return kept_file_name(name);
  return known_file_has_name(name, pass);
}

/* Copies the files of that pass.  failed: the name of the one for which an error is returned. */
static int copy_pass(int directory, int copy, const char *pass, unsigned *copied, char failed[NAME_MAX + 1])
{
  int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
  DIR *entries = again >= 0 ? fdopendir(again) : NULL;
  if (!entries) {
    error = errno;
    if (again >= 0)
      close(again);
    return error;
  }
  while (!error) {
    errno = 0;
    struct dirent *entry = readdir(entries);
    if (!entry) {
      error = errno;
      break;
    }
    if (!is_of_pass(entry->d_name, pass))
      continue;
    error = copy_file(directory, copy, entry->d_name);
    *copied += !error && strcmp(pass, KEPT_FILE_PREFIX);
    if (error)
      snprintf(failed, NAME_MAX + 1, "%s", entry->d_name);
    if (!error && !strcmp(pass, FORMAT_SUFFIX))
      drop_running(copy, entry->d_name);
  }
  closedir(entries);
  return error;
}

/* Removes what was copied, and nothing else. */
static void remove_copy(int copy, const char *path)
{
  int again = openat(copy, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = again >= 0 ? fdopendir(again) : NULL;
  for (struct dirent *entry; entries && (entry = readdir(entries));)
    for (size_t i = 0; i < PASSES; i++)
      if (is_of_pass(entry->d_name, passes[i]))
        unlinkat(copy, entry->d_name, 0);
  if (entries)
    closedir(entries);
  unlinkat(copy, FORMAT_SNAPSHOT_MARKER, 0);
  rmdir(path);
}

/* Writes which processes of this host run.  Returns 0 or errno. */
static int write_marker(int copy, const struct targets *targets)
{
  int marker = openat(copy, FORMAT_SNAPSHOT_MARKER, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (marker < 0)
    return errno;
  int error = dprintf(marker, FORMAT_SNAPSHOT_TITLE "%s\n", targets->host) < 0 ? errno : 0;
  for (size_t i = 0; i < targets->count && !error; i++)
    if (targets->items[i].here && dprintf(marker, "%ld\n", (long)targets->items[i].pid) < 0)
      error = errno;
  return close(marker) != 0 && !error ? errno : error;
}

static int copy_all(int directory, int copy, const struct targets *targets, char failed[NAME_MAX + 1])
{
  unsigned copied = 0;
  int error = 0;
  for (unsigned i = 0; i < PASSES && !error; i++)
    error = copy_pass(directory, copy, passes[i], &copied, failed);
  if (!error)
    error = write_marker(copy, targets);
  return !error && !copied ? ENOENT : error;
}

/* Whether the copy would lie in the measurement, or in a folder of it. */
static bool lies_in(const char *copy, const char *directory)
{
  char parent[PATH_MAX], real[PATH_MAX], whole[PATH_MAX];
  snprintf(parent, sizeof parent, "%s", copy);
  for (size_t length = strlen(parent); length > 1 && parent[length - 1] == '/';)
    parent[--length] = '\0';
  char *slash = strrchr(parent, '/');
  if (slash)
    slash[1] = '\0';
  if (!realpath(slash ? parent : ".", real) || !realpath(directory, whole))
    return false;
  size_t length = strlen(whole);
  return !strncmp(real, whole, length) && (!real[length] || real[length] == '/');
}

/* Makes the directory of the copy, and opens it if it is that one: another user may be able to replace it.  Returns -1
 * with a message. */
static int make_copy(const char *path, char *message, size_t message_size)
{
  struct stat status;
  const char *why = "it is not private: give a directory in another place";
  bool made = mkdir(path, 0700) == 0;
  int copy = made ? safe_file_open_directory(path) : -1;
  if (copy >= 0 && fstat(copy, &status) == 0 && status.st_uid == geteuid() && !(status.st_mode & 0022))
    return copy;
  if (copy < 0)
    why = strerror(errno);
  else
    close(copy);
  if (made)
    rmdir(path);
  snprintf(message, message_size, "cannot create '%.400s': %s", path, why);
  return -1;
}

static void explain(int error, const char *directory, const char *failed, char *message, size_t message_size)
{
  if (error == ENOENT)
    snprintf(message, message_size, "nothing was measured yet into '%.400s'", directory);
  else if (error == EPERM && failed[0])
    snprintf(message, message_size,
             "'%.300s' in '%.400s' is a link, or has a second hard link: remove it; nothing stays of the copy", failed,
             directory);
  else
    snprintf(message, message_size, "cannot copy '%.400s%s%.300s': %s; nothing stays of the copy", directory,
             failed[0] ? "/" : "", failed, strerror(error));
}

bool snapshot_take(const struct targets *targets, const char *copy, char *message, size_t message_size)
{
  char failed[NAME_MAX + 1] = "";
  const char *directory = targets->directory;
  if (lies_in(copy, directory)) {
    snprintf(message, message_size, "'%.400s' lies in the measurement; give a directory outside it", copy);
    return false;
  }
  int to = make_copy(copy, message, message_size);
  if (to < 0)
    return false;
  int error = copy_all(targets->at, to, targets, failed);
  if (error) {
    explain(error, directory, failed, message, message_size);
    remove_copy(to, copy);
  }
  close(to);
  return !error;
}

void snapshot_default_name(const char *directory, char *copy, size_t size)
{
  struct stat status;
  snprintf(copy, size, "%s-snapshot", directory);
  for (int number = 2; number <= NUMBER_MAX && lstat(copy, &status) == 0; number++)
    snprintf(copy, size, "%s-snapshot-%d", directory, number);
}
