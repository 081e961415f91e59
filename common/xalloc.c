#define _GNU_SOURCE
#include "common/xalloc.h"

#include "common/array.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*on_failure)(void);
static atomic_flag dying = ATOMIC_FLAG_INIT;

void xalloc_on_failure(void (*failed)(void))
{
  on_failure = failed;
}

void xalloc_die(void)
{
  while (atomic_flag_test_and_set(&dying))
    pause(); /* another thread ends the process */
  if (on_failure)
    on_failure();
  _exit(EXIT_FAILURE);
}

static void *checked(void *memory)
{
  if (!memory)
    xalloc_die();
  return memory;
}

void *xmalloc(size_t size)
{
  return checked(malloc(size));
}

void *xcalloc(size_t count, size_t size)
{
  return checked(calloc(count, size));
}

void *xrealloc(void *memory, size_t size)
{
  return checked(realloc(memory, size));
}

char *xstrdup(const char *text)
{
  return checked(strdup(text));
}

char *xstrndup(const char *text, size_t length)
{
  return checked(strndup(text, length));
}

char *xvasprintf(const char *format, va_list arguments)
{
  char *text;
  return checked(vasprintf(&text, format, arguments) < 0 ? NULL : text);
}

char *xasprintf(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *text = xvasprintf(format, arguments);
  va_end(arguments);
  return text;
}

FILE *xopen_memstream(char **text, size_t *length)
{
  return checked(open_memstream(text, length));
}

void xclose(FILE *stream, char *const *text)
{
  bool failed = ferror(stream);
  if (fclose(stream) || failed || !*text) /* without memory glibc may leave no text, and report nothing */
    xalloc_die();
}

void xarray_grow(void *array, size_t *room, size_t needed, size_t size)
{
  if (!array_reserve(array, room, needed, size))
    xalloc_die();
}

void xarray_reserve_zero(void *array, size_t *room, size_t needed, size_t size)
{
  if (!array_reserve_zero(array, room, needed, size))
    xalloc_die();
}
