/* A library to preload: allocation number FAIL_AT, counted from 1, fails; if FAIL_ALL is set, all later ones fail, too.
 * If FAIL_THREADS is set, no thread can be created.  At the end it writes the number of allocations to descriptor
 * FAIL_COUNT, if that is set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The functions of glibc, under the names by which replacements can call them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static atomic_ulong allocations;
static unsigned long fail_at;
static bool fail_all, counts;

__attribute__((constructor)) static void begin(void)
{
  const char *at = getenv("FAIL_AT");
  fail_at = at ? strtoul(at, NULL, 10) : 0;
  fail_all = getenv("FAIL_ALL") != NULL;
  counts = true;
}

__attribute__((destructor)) static void end(void)
{
  const char *descriptor = getenv("FAIL_COUNT");
  counts = false;
  if (descriptor)
    dprintf(atoi(descriptor), "%lu", (unsigned long)allocations);
}

static bool fails(void)
{
  unsigned long number = counts ? atomic_fetch_add(&allocations, 1) + 1 : 0;
  bool failed = fail_at && (number == fail_at || (fail_all && number > fail_at));
  if (failed)
    errno = ENOMEM;
  return failed;
}

void *malloc(size_t size)
{
  return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
  return fails() ? NULL : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size)
{
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(memory, bytes);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
  static void *(*next)(void *, size_t, int, int, int, off_t);
  if (!next)
    next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  return fails() ? MAP_FAILED : next(address, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument)
{
  int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  return getenv("FAIL_THREADS") ? EAGAIN : next(thread, attributes, begin, argument);
}
