#include "hpcrun-lite/launch/safety/installation_link.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/safe_file.h"
#include "hpcrun-lite/launch/safety/safe_directory.h"

#define NAME "installation"
enum { NAMES = 9 }; /* of directories that are tried: others may have taken the first */

/* Sees to it that only this user can change the directory; false if it is another user's. */
static bool make_private(int directory)
{
  struct stat status;
  if (fstat(directory, &status) != 0 || status.st_uid != geteuid())
    return false;
  return (status.st_mode & 0777) == 0700 || fchmod(directory, 0700) == 0;
}

static bool leads_to(int directory, const char *target)
{
  char found[PATH_MAX];
  ssize_t length = readlinkat(directory, NAME, found, sizeof found);
  return length == (ssize_t)strlen(target) && memcmp(found, target, (size_t)length) == 0;
}

/* Makes the link, or finds it as another launch has made it.  One that leads elsewhere is replaced. */
static bool put_link(int directory, const char *target)
{
  if (symlinkat(target, directory, NAME) == 0 || (errno == EEXIST && leads_to(directory, target)))
    return true;
  return errno == EEXIST && unlinkat(directory, NAME, 0) == 0 && symlinkat(target, directory, NAME) == 0;
}

/* Returns 0, or errno; EPERM: the directory is not private. */
static int try_directory(const char *path, const char *target)
{
  if (mkdir(path, 0700) != 0 && errno != EEXIST)
    return errno;
  int directory = safe_file_open_directory(path);
  if (directory < 0)
    return EPERM;
  errno = EPERM;
  int error = make_private(directory) && put_link(directory, target) ? 0 : errno;
  close(directory);
  return error;
}

bool installation_link(const char *target, char *path, size_t size, char *message, size_t message_size)
{
  char directory[PATH_MAX], reason[PATH_MAX + 64], number[16] = "";
  uint64_t hash = hash_bytes(HASH_START, target, strlen(target));
  if (!safe_directory_temporary(true, directory, sizeof directory, reason, sizeof reason)) {
    snprintf(
        message, message_size,
        "LD_PRELOAD cannot contain the path of the installation, %.300s (spaces, ':', ';' or '$'), and there is no "
        "place for a link to it: %.400s; set TMPDIR to a directory of yours",
        target, reason);
    return false;
  }
  int error = EPERM;
  for (int i = 1; i <= NAMES && error == EPERM; i++) {
    snprintf(path, size, "%.3800s/hpcrun-lite-%u-%016" PRIx64 "%s", directory, (unsigned)geteuid(), hash, number);
    error = try_directory(path, target);
    snprintf(number, sizeof number, "-%d", i + 1);
  }
  if (!error) {
    snprintf(path + strlen(path), size - strlen(path), "/" NAME);
    return true;
  }
  snprintf(
      message, message_size,
      "cannot put a link to the installation, whose path LD_PRELOAD cannot contain, into '%.400s': %s; set TMPDIR to "
      "a directory of yours",
      path, error == EPERM ? "it is not a directory that only you may change" : strerror(error));
  return false;
}
