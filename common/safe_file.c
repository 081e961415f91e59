#define _GNU_SOURCE
#include "common/safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100 };

int safe_file_open_directory(const char *path)
{
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int safe_file_open(int directory, const char *name, int access, uid_t owner)
{
  struct stat status;
  int fd = openat(directory, name, access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ELOOP || errno == EISDIR || errno == ENXIO) /* a link, a directory, a socket */
      errno = EPERM;
    return -1;
  }
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == owner)
    return fd;
  close(fd);
  errno = EPERM;
  return -1;
}

/* Without the system's random numbers the name can be guessed, but never leads to another file: that only takes
 * further tries. */
static uint64_t random_number(void)
{
  uint64_t number;
  struct timespec now;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) == (ssize_t)sizeof number)
    return number;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_nsec * 2654435769u ^ (uint64_t)getpid();
}

int safe_file_make(int directory, char *name, size_t suffix_length)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  char *at = name + strlen(name) - suffix_length - SAFE_FILE_RANDOM;
  int fd = -1;
  errno = EEXIST;
  for (int i = 0; i < TRIES && fd < 0 && errno == EEXIST; i++) {
    uint64_t number = random_number();
    for (int k = 0; k < SAFE_FILE_RANDOM; k++, number /= sizeof letters - 1)
      at[k] = letters[number % (sizeof letters - 1)];
    fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  }
  return fd;
}

bool safe_file_is_open_as(int directory, const char *name, int fd)
{
  struct stat opened, named;
  return fstat(fd, &opened) == 0 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void safe_file_remove(int directory, const char *name, int fd)
{
  if (safe_file_is_open_as(directory, name, fd))
    unlinkat(directory, name, 0);
}
