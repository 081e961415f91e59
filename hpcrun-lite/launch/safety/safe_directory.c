#include "hpcrun-lite/launch/safety/safe_directory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool check_one(const char *path, bool exclusive, char *reason, size_t size)
{
  struct stat status;
  if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
    snprintf(reason, size, "'%.300s' cannot be examined: %s", path, strerror(errno ? errno : ENOTDIR));
    return false;
  }
  bool sticky = status.st_mode & S_ISVTX, root = geteuid() == 0;
  if (status.st_uid != geteuid() && status.st_uid != 0 && (!sticky || exclusive))
    snprintf(reason, size, "'%.300s' belongs to uid %u", path, (unsigned)status.st_uid);
  else if ((status.st_mode & S_IWOTH) && !sticky)
    snprintf(reason, size, "all users may write to '%.300s', which has no sticky bit", path);
  else if ((status.st_mode & S_IWGRP) && !sticky && root)
    snprintf(reason, size, "a group may write to '%.300s', which has no sticky bit", path);
  else
    return true;
  return false;
}

bool safe_directory_check(const char *directory, bool exclusive, char *reason, size_t size)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", directory);
  errno = 0;
  for (char *slash; (slash = strrchr(path, '/')) != NULL && slash > path; *slash = '\0')
    if (!check_one(path, exclusive, reason, size))
      return false;
  return check_one("/", exclusive, reason, size);
}

bool safe_directory_nameable(const char *path)
{
  return !strpbrk(path, " :$;\t\n");
}

static bool take(const char *directory, bool nameable, char *path, size_t size, char *reason, size_t reason_size)
{
  char real[PATH_MAX];
  if (!realpath(directory, real)) {
    snprintf(reason, reason_size, "'%.300s': %s", directory, strerror(errno));
    return false;
  }
  if (nameable && !safe_directory_nameable(real)) {
    snprintf(reason, reason_size, "LD_PRELOAD cannot contain '%.300s'", real);
    return false;
  }
  return safe_directory_check(real, true, reason, reason_size) && snprintf(path, size, "%s", real) < (int)size;
}

bool safe_directory_temporary(bool nameable, char *path, size_t size, char *reason, size_t reason_size)
{
  const char *directory = getenv("TMPDIR");
  bool taken = directory && directory[0] == '/' && take(directory, nameable, path, size, reason, reason_size);
  return taken || take("/tmp", nameable, path, size, reason, reason_size);
}
