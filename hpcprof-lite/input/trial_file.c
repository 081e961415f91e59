#include "hpcprof-lite/input/trial_file.h"

#include "common/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_BYTES_MAX = 16 << 20 };

/* Returns the whole file as text, without what is behind a NUL in it; NULL with errno if it cannot be read. */
static char *read_text(int fd)
{
  struct stat status;
  if (fstat(fd, &status) != 0)
    return NULL;
  errno = S_ISREG(status.st_mode) ? EFBIG : EINVAL;
  if (!S_ISREG(status.st_mode) || status.st_size > RECORD_BYTES_MAX)
    return NULL;
  size_t size = (size_t)status.st_size, done = 0;
  char *text = xmalloc(size + 1);
  for (ssize_t length; done < size && (length = read(fd, text + done, size - done)) != 0;) {
    if (length < 0 && errno != EINTR) {
      free(text);
      return NULL;
    }
    done += length > 0 ? (size_t)length : 0;
  }
  text[done] = '\0';
  return text;
}

bool trial_file_read(const char *directory, struct trial *trial, struct problems *problems)
{
  char *path = xasprintf("%s/" TRIAL_FILE, directory), *text = NULL;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  bool found = fd >= 0 || errno != ENOENT;
  *trial = (struct trial){0};
  if (fd >= 0)
    text = read_text(fd);
  if (found && !text)
    problems_add(problems, "cannot read '%s': %s", path, strerror(errno));
  unsigned line = text ? trial_read(text, trial) : 0;
  if (line)
    problems_add(problems, "'%s', line %u: this is not what hpcrun-lite --try writes; it and what follows are left out",
                 path, line);
  if (fd >= 0)
    close(fd);
  free(text);
  free(path);
  return found;
}
