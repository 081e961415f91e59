/* A program with its own malloc, which counts allocations and has a lock that no signal handler may take.  Freed blocks
 * are kept in lists by size. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaf_work.h"

enum { CLASSES = 40, ROOM = 256 << 20 };

struct block {
  size_t size_class;
  struct block *next;
};

static char room[ROOM] __attribute__((aligned(64)));
static size_t used;
static struct block *lists[CLASSES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;

/* Each block has a header of 64 bytes, so that all are aligned. */
static void *give(size_t size)
{
  size_t size_class = 0;
  while (((size_t)64 << size_class) < size)
    size_class++;
  pthread_mutex_lock(&lock);
  struct block *block = lists[size_class];
  if (block) {
    lists[size_class] = block->next;
  } else if (used + 64 + ((size_t)64 << size_class) <= ROOM) {
    block = (struct block *)(room + used);
    used += 64 + ((size_t)64 << size_class);
    block->size_class = size_class;
  }
  balance += block != NULL;
  pthread_mutex_unlock(&lock);
  if (!block)
    errno = ENOMEM;
  return block ? (char *)block + 64 : NULL;
}

void *malloc(size_t size)
{
  return give(size);
}

void free(void *memory)
{
  if (!memory)
    return;
  struct block *block = (struct block *)((char *)memory - 64);
  pthread_mutex_lock(&lock);
  block->next = lists[block->size_class];
  lists[block->size_class] = block;
  balance--;
  pthread_mutex_unlock(&lock);
}

void *calloc(size_t count, size_t size)
{
  void *memory = give(count * size);
  return memory ? memset(memory, 0, count * size) : NULL;
}

void *realloc(void *memory, size_t size)
{
  void *other = give(size);
  if (memory && other) {
    size_t before = (size_t)64 << ((struct block *)((char *)memory - 64))->size_class;
    memcpy(other, memory, before < size ? before : size);
    free(memory);
  }
  return other;
}

void *aligned_alloc(size_t alignment, size_t size)
{
  if (alignment <= 64)
    return give(size);
  char *memory = give(size + alignment + 64); /* larger blocks are rare and never freed */
  return memory ? (void *)(((uintptr_t)memory + alignment) / alignment * alignment) : NULL;
}

void *memalign(size_t alignment, size_t size)
{
  return aligned_alloc(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
  *memory = aligned_alloc(alignment, size);
  return *memory ? 0 : ENOMEM;
}

int main(void)
{
  long before = balance, kept = 0;
#pragma omp parallel num_threads(4) reduction(+ : kept)
  for (int i = 0; i < 20000; i++) {
    void *blocks[8];
    for (int k = 0; k < 8; k++)
      blocks[k] = malloc((size_t)(i % 1000 + k));
    for (int k = 0; k < 8; k++) {
      kept += blocks[k] != NULL;
      free(blocks[k]);
    }
  }
  leaf_work(0.1);
  printf("%ld given, %s\n", kept, balance - before < 1000 ? "balanced" : "leaking");
  return 0;
}
