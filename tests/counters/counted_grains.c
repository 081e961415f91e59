/* Grains with known page faults: counted_grains [short|awaited].  The i-th task touches i new pages, and so does its
 * child; a task that enters a critical section 7 times touches 7; the chunk of iteration i touches i pages. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, TASKS = 12, CHUNKS = 9, SECTIONS = 7, SHORT = 60000, EVERY = 16 };

static char *pages(long count)
{
  char *memory = mmap(NULL, (size_t)(count + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    exit(2);
  madvise(memory, (size_t)(count + 1) * PAGE, MADV_NOHUGEPAGE);
  return memory;
}

static __attribute__((noinline)) void touch(long count)
{
  char *memory = pages(count);
  for (long i = 0; i < count; i++)
    memory[i * PAGE] = 1;
}

static void sections(void)
{
  char *memory = pages(SECTIONS);
  for (long i = 0; i < SECTIONS; i++)
#pragma omp critical
    memory[i * PAGE] = 1;
}

static void tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 1; i <= TASKS; i++) {
#pragma omp task firstprivate(i) /* parent */
    {
#pragma omp task firstprivate(i) /* child */
      touch(i);
      touch(i);
#pragma omp taskwait
    }
#pragma omp task /* critical */
    sections();
  }
}

/* The first tasks that a thread creates also have the faults of the runtime's code and memory. */
static void warm_up(void)
{
#pragma omp parallel num_threads(2)
  {
    for (int i = 0; i < 50; i++)
#pragma omp task
      touch(0);
#pragma omp taskwait
  }
}

static void chunks(void)
{
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (int i = 0; i < CHUNKS; i++)
    touch(i);
}

/* A thread sleeps before each task that it gets. */
static void awaited_tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < TASKS; i++) {
    usleep(3000);
#pragma omp task /* awaited */
    touch(1);
  }
}

static void short_tasks(void)
{
  static volatile double sum;
  char *memory = pages(SHORT / EVERY);
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < SHORT; i++)
#pragma omp task firstprivate(i) /* short */
  {
    if (i % EVERY == 0)
      memory[(long)i / EVERY * PAGE] = 1;
    for (int k = 0; k < 20; k++)
      sum += k;
  }
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "short")) {
    short_tasks();
    return 0;
  }
  warm_up();
  if (argc > 1 && !strcmp(argv[1], "awaited")) {
    awaited_tasks();
    return 0;
  }
  tasks(); /* the other first calls as well */
  tasks();
  chunks();
  return 0;
}
