#include "hpcrun-lite/process/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/escape.h"
#include "hpcrun-lite/process/libc.h"

static struct stat stderr_at_start;
static bool stderr_known;

const char *message_error(int error)
{
  return error == ESTALE ? "another file or directory has taken its place" : strerror(error);
}

void message_start(void)
{
  stderr_known = fstat(STDERR_FILENO, &stderr_at_start) == 0;
}

/* Has the program closed standard error?  Then the descriptor may be another file of the program. */
static bool stderr_replaced(void)
{
  struct stat now;
  return stderr_known && (fstat(STDERR_FILENO, &now) != 0 || now.st_ino != stderr_at_start.st_ino ||
                          now.st_dev != stderr_at_start.st_dev);
}

void message_print(const char *format, ...)
{
  static const char prefix[] = "hpcrun-lite: ";
  static char text[5000], line[sizeof prefix + sizeof text + 1024]; /* not on the stack, which may be small */
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  strcpy(line, prefix);
  escape_text(length < 0 ? "" : text, line + strlen(line), sizeof line - strlen(line) - 1); /* room for the newline */
  size_t at = strlen(line);
  line[at++] = '\n';
  if (stderr_replaced())
    return;
  ssize_t (*real_write)(int, const void *, size_t) = libc_real(LIBC_write);
  real_write(STDERR_FILENO, line, at);
}
