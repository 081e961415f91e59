/* First thread 2, which touches SOON new pages and ends.  It meets no construct.  Then three phases of two threads: one
 * that touches no memory, one that touches 2 * PAGES new pages and counts 2 * ITEMS values of 3, and again one like the
 * first, which counts one value. */
#define _GNU_SOURCE
#include <hpcrun-lite.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 4096, PAGES = 1500, ITEMS = 10, SOON = 50 };

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static __attribute__((noinline)) void spin(double seconds)
{
  for (double end = now() + seconds; now() < end;)
    ;
}

static __attribute__((noinline)) void touch(char *memory)
{
  for (int i = 0; i < PAGES; i++) {
    memory[(long)i * PAGE] = 1;
    spin(20e-6);
    if (i % (PAGES / ITEMS) == 0)
      hpcrun_lite_counter("items", 3);
  }
}

static char *pages(long count)
{
  char *memory = mmap(NULL, (size_t)count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    exit(2);
  madvise(memory, (size_t)count * PAGE, MADV_NOHUGEPAGE);
  return memory;
}

static void *end_soon(void *unused)
{
  char *memory = pages(SOON);
  for (long i = 0; i < SOON; i++)
    memory[i * PAGE] = 1;
  return unused;
}

int main(void)
{
  char *memory = pages(2L * PAGES);
  pthread_t thread;
  if (pthread_create(&thread, NULL, end_soon, NULL) || pthread_join(thread, NULL))
    return 2;
  hpcrun_lite_phase("first");
#pragma omp parallel num_threads(2)
  spin(0.05);
  hpcrun_lite_phase("second");
#pragma omp parallel num_threads(2)
  touch(memory + (long)omp_get_thread_num() * PAGES * PAGE);
  hpcrun_lite_phase("third");
  hpcrun_lite_counter("items", 1);
#pragma omp parallel num_threads(2)
  spin(0.02);
  hpcrun_lite_phase(NULL);
  return 0;
}
