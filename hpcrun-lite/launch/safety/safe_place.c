#include "hpcrun-lite/launch/safety/safe_place.h"

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

bool safe_place_check(const char *place, bool exclusive, char *reason, size_t size)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", place);
  errno = 0;
  for (char *slash; (slash = strrchr(path, '/')) != NULL && slash > path; *slash = '\0')
    if (!check_one(path, exclusive, reason, size))
      return false;
  return check_one("/", exclusive, reason, size);
}

bool safe_place_nameable(const char *path)
{
  return !strpbrk(path, " :$;\t\n");
}

static bool take(const char *place, bool nameable, char *path, size_t size, char *reason, size_t reason_size)
{
  char real[PATH_MAX];
  if (!realpath(place, real)) {
    snprintf(reason, reason_size, "'%.300s': %s", place, strerror(errno));
    return false;
  }
  if (nameable && !safe_place_nameable(real)) {
    snprintf(reason, reason_size, "LD_PRELOAD cannot contain '%.300s'", real);
    return false;
  }
  return safe_place_check(real, true, reason, reason_size) && snprintf(path, size, "%s", real) < (int)size;
}

bool safe_place_temporary(bool nameable, char *path, size_t size, char *reason, size_t reason_size)
{
  const char *place = getenv("TMPDIR");
  bool taken = place && place[0] == '/' && take(place, nameable, path, size, reason, reason_size);
  return taken || take("/tmp", nameable, path, size, reason, reason_size);
}
