/* A library to preload: opening a measurement takes 30 ms, without CPU time, and adds a byte to the file $OPENED. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int open64(const char *path, int flags, ...)
{
  static int (*real)(const char *, int, ...);
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (!real)
    real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
  size_t length = strlen(path);
  if (length > 7 && !strcmp(path + length - 7, ".hpcrun")) {
    int log = real(getenv("OPENED"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (write(log, "+", 1) != 1)
      _exit(99);
    close(log);
    usleep(30000);
  }
  return real(path, flags, mode);
}
