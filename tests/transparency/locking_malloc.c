/* An allocator that locks a mutex for each call, as some do: a stack of memory that is never freed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *memory;
static size_t used;
enum { SIZE = 1 << 30, UNIT = 64 };

void *malloc(size_t size)
{
  pthread_mutex_lock(&mutex);
  if (!memory)
    memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char *at = memory + used + UNIT;
  used += (size + 2 * UNIT - 1) / UNIT * UNIT;
  pthread_mutex_unlock(&mutex);
  *(size_t *)(void *)(at - sizeof size) = size;
  return at;
}

void free(void *at)
{
  pthread_mutex_lock(&mutex);
  (void)at;
  pthread_mutex_unlock(&mutex);
}

void *calloc(size_t count, size_t size)
{
  return malloc(count * size); /* pages are zero, and none is used again */
}

void *realloc(void *old, size_t size)
{
  void *at = malloc(size);
  size_t before = old ? *(size_t *)(void *)((char *)old - sizeof before) : 0;
  return before ? memcpy(at, old, before < size ? before : size) : at;
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
  uintptr_t address = (uintptr_t)malloc(size + alignment);
  *at = (void *)((address + alignment - 1) / alignment * alignment);
  *(size_t *)(void *)((char *)*at - sizeof size) = size;
  return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
  void *at;
  posix_memalign(&at, alignment, size);
  return at;
}
