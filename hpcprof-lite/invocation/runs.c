#include "hpcprof-lite/invocation/runs.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/find.h"
#include "hpcprof-lite/input/read.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID_BYTES = 512 };

/* A directory, and the run in it: id is "" if that is not known. */
struct run {
  dev_t device;
  ino_t inode;
  char id[ID_BYTES];
};

/* Whether a launch began after another one; of launches at the same time, the one with the later name counts. */
static bool is_later(const struct stat *launch, const char *name, const struct stat *than, const char *than_name)
{
  int order = COMPARE(launch->st_mtim.tv_sec, than->st_mtim.tv_sec)
                  ?: COMPARE(launch->st_mtim.tv_nsec, than->st_mtim.tv_nsec)
                  ?: strverscmp(name, than_name);
  return order > 0;
}

/* The latest of some launches; NULL: there is none. */
struct latest {
  char *name;
  struct stat launch;
};

/* Keeps a launch if it is later than the latest one. */
static void keep_later(struct latest *latest, const struct stat *launch, const char *name)
{
  assert(name);
  if (latest->name && !is_later(launch, name, &latest->launch, latest->name))
    return;
  free(latest->name);
  latest->name = xstrdup(name);
  latest->launch = *launch;
}

/* Reads the time of a launch into a directory.  Returns false if there is none. */
static bool read_launch(const char *name, struct stat *launch)
{
  if (*name == '.')
    return false;
  char *path = xasprintf("%s/" READ_LAUNCH, name);
  bool found = !stat(path, launch) && S_ISREG(launch->st_mode);
  free(path);
  return found;
}

int runs_newest(char **name, char **empty)
{
  assert(name && empty);
  struct latest measured = {0}, unmeasured = {0};
  struct stat launch;
  DIR *here = opendir(".");
  for (struct dirent *entry; here && (errno = 0, entry = readdir(here));)
    if (read_launch(entry->d_name, &launch))
      keep_later(find_any(entry->d_name) ? &measured : &unmeasured, &launch, entry->d_name);
  int error = errno;
  if (here)
    closedir(here);
  bool hides = unmeasured.name &&
               (!measured.name || is_later(&unmeasured.launch, unmeasured.name, &measured.launch, measured.name));
  *name = measured.name;
  *empty = hides ? unmeasured.name : NULL;
  if (!hides)
    free(unmeasured.name);
  return error;
}

/* Reads the file `launch`, if it is a regular file that fits. */
static void read_id(const char *directory, char id[ID_BYTES])
{
  struct stat stat;
  id[0] = '\0';
  char *path = xasprintf("%s/" READ_LAUNCH, directory);
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ssize_t length = 0;
  if (fd >= 0 && !fstat(fd, &stat) && S_ISREG(stat.st_mode))
    length = read(fd, id, ID_BYTES);
  id[length > 0 && length < ID_BYTES ? length : 0] = '\0';
  if (fd >= 0)
    close(fd);
  free(path);
}

/* Returns false if the directory holds no measurements. */
static bool read_run(const char *directory, struct run *run)
{
  struct stat status;
  if (!find_any(directory) || stat(directory, &status))
    return false;
  run->device = status.st_dev;
  run->inode = status.st_ino;
  read_id(directory, run->id);
  return true;
}

static bool same_run(const struct run *run, const struct run *other)
{
  return (run->device == other->device && run->inode == other->inode) || (*run->id && !strcmp(run->id, other->id));
}

bool runs_differ(char *const *directories, size_t count, const char **one, const char **other)
{
  assert(one && other);
  struct run first, next;
  *one = NULL;
  for (size_t i = 0; i < count && count > 1; i++) {
    if (!read_run(directories[i], *one ? &next : &first))
      continue;
    if (*one && !same_run(&first, &next)) {
      *other = directories[i];
      return true;
    }
    if (!*one)
      *one = directories[i];
  }
  return false;
}
